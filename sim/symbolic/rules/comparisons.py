"""Comparisons: each is one of a sum with a number, and of sums that are multiples of each other the same one."""

from __future__ import annotations

from math import gcd

from isa.evaluate.smt_products import highest_corners, second_highest_product
from isa.lane import Binary, Constant, Field, Lane, Pick
from sim.symbolic.nodes import LinearSum, Simplifier, compared_with, is_condition, rule
from sim.symbolic.rules.sums import both, divided_by, primitive_of
from sim.symbolic.rules.windows import low_bits


@rule("equal")
def equal_conditions(s: Simplifier, node: Binary) -> Lane | None:
    """Two conditions are equal where not one of them holds alone."""
    if is_condition(node.a) and is_condition(node.b):
        return s.total(LinearSum({}, 1).plus(s.sum_of(s.computed("xor", node.a, node.b)), -1))
    return None


@rule("equal")
def equal_to_wrapped(s: Simplifier, node: Binary) -> Lane | None:
    """A number equals its own wrap where it is in the range of the type."""
    terms, constant = s.sum_of(node.a).plus(s.sum_of(node.b), -1)
    for term, times in terms.items():
        if isinstance(term, Field) and abs(times) == 1:
            rest = LinearSum({t: -times * k for t, k in terms.items() if t is not term}, -times * constant)
            element = term.element
            beside = s.sum_of(term.operand).plus(rest, -1)
            if low_bits(s, s.total(beside), element.bits).value == 0:
                number = s.total(rest)
                inside = s.sum_of(s.computed("less", number, element.high + 1))
                return s.total(inside.plus(s.sum_of(s.computed("less", number, element.low)), -1))
    return None


@rule("less")
def less_than_number(s: Simplifier, node: Binary) -> Lane | None:
    """Both sides are brought to one, the constant to the other; what divides all terms is divided out."""
    parts = s.sum_of(node.a).plus(s.sum_of(node.b), -1)
    whole = s.total(parts)
    if node.a.high < node.b.low or whole.high < 0:
        return s.number(1)
    if node.a.low >= node.b.high or whole.low >= 0:
        return s.number(0)
    parts = s.sum_of(whole)
    if not parts.terms:
        return s.number(int(parts.constant < 0))
    compared, content = primitive_of(s, parts), _content(s, parts)
    if content > 0:  # content * compared < -constant
        limit = -(parts.constant // content)
        if node.a is compared and isinstance(node.b, Constant) and node.b.low == limit:
            return None
        return s.computed("less", compared, limit)
    limit = parts.constant // -content + 1  # constant < -content * compared
    return s.total(LinearSum({}, 1).plus(s.sum_of(s.computed("less", compared, limit)), -1))


@rule("equal")
def equal_to_number(s: Simplifier, node: Binary) -> Lane | None:
    """Both sides are brought to one, the constant to the other; what divides all terms is divided out."""
    whole = s.difference(node.a, node.b)
    parts = s.sum_of(whole)
    if node.a.high < node.b.low or node.b.high < node.a.low or whole.low > 0 or whole.high < 0:
        return s.number(0)
    if not parts.terms:
        return s.number(int(parts.constant == 0))
    compared, content = primitive_of(s, parts), _content(s, parts)
    if parts.constant % content:
        return s.number(0)
    number = -(parts.constant // content)
    if node.a is compared and isinstance(node.b, Constant) and node.b.low == number:
        return None
    return s.computed("equal", compared, number)


def _content(s: Simplifier, parts: LinearSum) -> int:
    """What the primitive of a sum is multiplied with in it."""
    common = gcd(*parts.terms.values())
    return -common if parts.terms[min(parts.terms, key=s.order)] < 0 else common


@rule("less")
def compare_without_low_part(s: Simplifier, node: Binary) -> Lane | None:
    """A rest smaller than the power of two that divides all other terms and the limit does not count."""
    if not isinstance(node.b, Constant):
        return None
    terms, limit = s.sum_of(node.a).terms, node.b.low
    for power in sorted({times & -times for times in terms.values()} - {1}, reverse=True):
        upper = {term: times for term, times in terms.items() if times % power == 0}
        rest = s.total(LinearSum({term: times for term, times in terms.items() if term not in upper}, 0))
        if limit % power == 0 and rest.low >= 0 and rest.high < power:
            return s.computed("less", s.total(divided_by(LinearSum(upper, 0), power)), limit // power)
    return None


@rule("less", "equal")
def compare_out_of_range(s: Simplifier, node: Binary) -> Lane | None:
    """A comparison that the range of a number decides, or at its ends."""
    if not isinstance(node.b, Constant):
        return None
    compared, number = node.a, node.b.low
    if node.operator == "less":
        if not compared.low < number <= compared.high:
            return s.number(int(compared.high < number))
        if compared.high - compared.low == 1:
            return s.total(LinearSum({}, number).plus(s.sum_of(compared), -1))
        return None
    if not compared.low <= number <= compared.high:
        return s.number(0)
    if number == compared.low:
        return s.computed("less", compared, number + 1)
    if number == compared.high:
        return s.total(LinearSum({}, 1).plus(s.sum_of(s.computed("less", compared, number)), -1))
    return None


@rule("less", "equal")
def compare_shifted(s: Simplifier, node: Binary) -> Lane | None:
    """What is shifted right is below a number where it was below that number shifted left."""
    match node:
        case Binary(operator, Binary("shift_right", a, Constant(count)), Constant(number)):
            below = s.computed("less", a, number << count)
            if operator == "less":
                return below
            return s.difference(s.computed("less", a, (number + 1) << count), below)
    return None


@rule("less", "equal")
def compare_extreme(s: Simplifier, node: Binary) -> Lane | None:
    """Of a minimum or maximum with a number: the number says all, or nothing."""
    match node:
        case Binary(operator, Binary("minimum" | "maximum" as which, a, Constant(end)), Constant(number)):
            if operator == "equal":
                above = s.computed("less", node.a, number + 1)
                return s.difference(above, s.computed("less", node.a, number))
            if which == "minimum":
                return s.number(1) if end < number else s.computed("less", a, number)
            return s.computed("less", a, number) if end < number else s.number(0)
    return None


@rule("less", "equal")
def compare_choice(s: Simplifier, node: Binary) -> Lane | None:
    """A choice between two of which one is decided is a matter of conditions."""
    match node:
        case Binary(operator, Pick(index, (no,), yes), Constant() as number) if is_condition(index):
            one, other = (s.computed(operator, item, number) for item in (yes, no))
            if isinstance(one, Constant) or isinstance(other, Constant):
                return s.select(index, one, other)
    return None


@rule("less")
def compare_highest_product(s: Simplifier, node: Binary) -> Lane | None:
    """A product is higher than all but its highest only where both factors are those of the highest."""
    match node:
        case Binary("less", Binary("multiply", a, b), Constant(number)) if number > second_highest_product(a, b):
            corners = highest_corners(a, b)
            if len(corners) > 1:
                return None
            ((x, y),) = corners
            joined = both(s, s.sum_of(s.computed("equal", a, x)), s.sum_of(s.computed("equal", b, y)))
            return None if joined is None else s.total(LinearSum({}, 1).plus(joined, -1))
    return None


@rule("less", "equal")
def compare_with_its_condition(s: Simplifier, node: Binary) -> Lane | None:
    """A number to which something is added where it is itself below another: both cases are compared."""
    if not isinstance(node.b, Constant):
        return None
    parts, number = s.sum_of(node.a), node.b.low
    for term, times in parts.terms.items():
        if is_condition(term) and compared_with(term)[0] is not term:
            rest = LinearSum({other: k for other, k in parts.terms.items() if other is not term}, 0)
            if rest.terms and compared_with(term)[0] is primitive_of(s, rest):
                alone = s.total(rest)
                return s.select(
                    term, s.computed(node.operator, alone, number - times), s.computed(node.operator, alone, number)
                )
    return None
