"""Sums: addition, multiplication by a number, and what terms of one sum are together."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from isa.lane import Binary, Constant, Field, Int, Lane, Pick
from sim.symbolic.nodes import NOTHING, LinearSum, Simplifier, compared_with, factors, is_condition, rule, sum_rule
from sim.symbolic.rules.windows import comparisons_inside, low_bits, plain_wrap

MOST_TERMS = 16
"""Terms that a product of two sums of conditions may have."""


@rule("add", "subtract")
def add_sums(s: Simplifier, node: Binary) -> Lane:
    """Sums are added term by term."""
    return s.total(s.sum_of(node.a).plus(s.sum_of(node.b), 1 if node.operator == "add" else -1))


@rule("shift_left")
def shift_left_by_number(s: Simplifier, node: Binary) -> Lane | None:
    """A shift by a number multiplies."""
    if isinstance(node.b, Constant):
        return s.total(s.sum_of(node.a).times(1 << node.b.low))
    return None


@rule("multiply")
def multiply_by_number(s: Simplifier, node: Binary) -> Lane | None:
    """A number multiplies each term."""
    for one, other in ((node.a, node.b), (node.b, node.a)):
        if isinstance(one, Constant):
            return s.total(s.sum_of(other).times(one.low))
    return None


@rule("multiply")
def multiply_by_condition(s: Simplifier, node: Binary) -> Lane | None:
    """A condition takes the other factor or 0; so does each of two numbers between which one chooses."""
    for one, other in ((node.a, node.b), (node.b, node.a)):
        terms, constant = s.sum_of(one)
        if is_condition(one):
            return s.select(one, other, s.number(0))
        if len(terms) == 1 and constant:
            ((term, times),) = terms.items()
            if is_condition(term):
                chosen = s.select(term, other, s.number(0))
                return s.total(s.sum_of(chosen).times(times).plus(s.sum_of(other), constant))
    return None


@rule("multiply")
def multiply_without_content(s: Simplifier, node: Binary) -> Lane | None:
    """What divides all terms of a factor, and its sign, stand before the product; factors are in order."""
    content, parts = 1, []
    for factor in (node.a, node.b):
        terms, constant = s.sum_of(factor)
        common = gcd(constant, *terms.values())
        first = min(terms, key=s.order)
        common = -common if terms[first] < 0 else common
        content *= common
        parts.append(s.total(divided_by(LinearSum(terms, constant), common)))
    if content != 1 or s.sorted(parts) != [node.a, node.b]:
        return s.total(s.sum_of(s.computed("multiply", *s.sorted(parts))).times(content))
    return None


def divided_by(parts: LinearSum, divisor: int) -> LinearSum:
    """A sum of which all terms are multiples of the divisor."""
    return LinearSum({term: times // divisor for term, times in parts.terms.items()}, parts.constant // divisor)


def conjunction(s: Simplifier, conditions: Iterable[Lane]) -> LinearSum:
    """1 where all of these terms are."""
    kept: dict[Lane, Lane] = {}
    for condition in conditions:
        compared, number = compared_with(condition)
        known = kept.get(compared)
        if known is None or known is condition:
            kept[compared] = condition
            continue
        _, against = compared_with(known)
        assert isinstance(condition, Binary)
        assert isinstance(known, Binary)
        if condition.operator == known.operator == "less":
            kept[compared] = condition if number < against else known
        elif condition.operator == known.operator:  # equal to different numbers
            return NOTHING
        else:
            equal, number, limit = (
                (condition, number, against) if condition.operator == "equal" else (known, against, number)
            )
            if number >= limit:
                return NOTHING
            kept[compared] = equal
    made: Lane | None = None
    for condition in s.sorted(kept.values()):
        made = condition if made is None else s.kept(Binary("and", made, condition, 0, 1))
    return LinearSum({}, 1) if made is None else LinearSum({made: 1}, 0)


def both(s: Simplifier, a: LinearSum, b: LinearSum) -> LinearSum | None:
    """1 where both sums of conditions are 1; None where a term is none, or where that would be too many terms."""
    if not all(is_condition(term) for parts in (a, b) for term in parts.terms):
        return None
    constants = bool(a.constant), bool(b.constant)
    if (len(a.terms) + constants[0]) * (len(b.terms) + constants[1]) > MOST_TERMS:
        return None
    found = LinearSum({}, a.constant * b.constant)
    found = found.plus(LinearSum(a.terms, 0), b.constant).plus(LinearSum(b.terms, 0), a.constant)
    for one, times in a.terms.items():
        for other, more in b.terms.items():
            found = found.plus(conjunction(s, (*factors(one), *factors(other))), times * more)
    return found


@sum_rule
def steps_of_one_number(s: Simplifier, parts: LinearSum) -> LinearSum | None:
    """Comparisons of one number with several are steps at these; a step up and one down behind it is an equality."""
    groups: dict[Lane, list[Binary]] = {}
    for term in parts.terms:
        if isinstance(term, Binary) and term.operator in ("less", "equal") and isinstance(term.b, Constant):
            groups.setdefault(term.a, []).append(term)
    found = parts
    for compared, terms in groups.items():
        if len(terms) > 1:
            heights: dict[int, int] = {}
            before = NOTHING
            for term in terms:
                times, number = parts.terms[term], term.b.low
                before = before.plus(LinearSum({term: times}, 0))
                if term.operator == "less":
                    heights[number] = heights.get(number, 0) + times
                else:
                    heights[number + 1] = heights.get(number + 1, 0) + times
                    heights[number] = heights.get(number, 0) - times
            found = found.plus(before, -1).plus(_from_steps(s, compared, heights))
    return None if found == parts else found


def _from_steps(s: Simplifier, compared: Lane, heights: dict[int, int]) -> LinearSum:
    found = NOTHING
    for number in sorted(heights):
        times = heights[number]
        if not times:
            continue
        if heights.get(number + 1) == -times:
            found = found.plus(s.sum_of(s.computed("equal", compared, number)), -times)
            heights[number + 1] = 0
        else:
            found = found.plus(s.sum_of(s.computed("less", compared, number)), times)
    return found


@sum_rule
def choices_by_one_condition(s: Simplifier, parts: LinearSum) -> LinearSum | None:
    """Choices by the same condition are one choice of sums; the condition itself is one of them."""
    groups: dict[Lane, list[Pick]] = {}
    for term in parts.terms:
        if isinstance(term, Pick) and len(term.items) == 1 and is_condition(term.index):
            groups.setdefault(term.index, []).append(term)
    for index, choices in groups.items():
        own = parts.terms.get(index, 0)
        if len(choices) + bool(own) > 1:
            taken = {index, *choices}
            yes, no = LinearSum({}, own), NOTHING
            for choice in choices:
                yes = yes.plus(s.sum_of(choice.otherwise), parts.terms[choice])
                no = no.plus(s.sum_of(choice.items[0]), parts.terms[choice])
            rest = LinearSum({term: k for term, k in parts.terms.items() if term not in taken}, parts.constant)
            return rest.plus(s.sum_of(s.select(index, s.total(yes), s.total(no))))
    return None


@sum_rule
def steps_inside_wraps(s: Simplifier, parts: LinearSum) -> LinearSum | None:
    """The comparison of a wrapped number is taken apart where the number itself is compared beside it.

    So the flags of a subtraction become the comparison of its operands: N tells the sign of what is left of it, V
    whether that is all.
    """
    compared = dict[Lane, None]()
    for term in parts.terms:
        compared |= dict.fromkeys(compared_with(factor)[0] for factor in factors(term))
    found, changed = LinearSum({}, parts.constant), False
    for term, times in parts.terms.items():
        inner = LinearSum({}, 1)
        for factor in factors(term):
            steps = _steps_beside(s, factor, compared)
            changed |= steps is not None
            joined = both(s, inner, LinearSum({factor: 1}, 0) if steps is None else steps)
            if joined is None:
                return None
            inner = joined
        found = found.plus(inner, times)
    return found if changed else None


def _steps_beside(s: Simplifier, comparison: Lane, compared: Iterable[Lane]) -> LinearSum | None:
    """The comparison of a wrapped number as comparisons of another number that is the same modulo its size."""
    wrapped, limit = compared_with(comparison)
    if not isinstance(wrapped, Field) or not isinstance(comparison, Binary):
        return None
    inner, bits = s.sum_of(wrapped.operand), wrapped.element.bits
    normal, _, _ = plain_wrap(s, wrapped)
    for other in compared:
        # Of wraps that are the same but for a constant and the sign, one stands for the others.
        usable = normal is not wrapped and other is normal if isinstance(other, Field) else True
        for sign in (1, -1) if usable else ():
            moved = s.sum_of(other).times(sign)
            apart = s.sum_of(low_bits(s, s.total(inner.plus(moved, -1)), bits))
            if not apart.terms:
                number = s.total(moved.plus(apart))
                return comparisons_inside(s, comparison.operator, number, wrapped.element, limit)
    return None


def primitive_of(s: Simplifier, parts: LinearSum) -> Lane:
    """The sum that comparisons of this one with numbers compare: without constant, without content, first term up."""
    terms = LinearSum(parts.terms, 0)
    if not terms.terms:
        return s.number(0)
    content = gcd(*terms.terms.values())
    first = min(terms.terms, key=s.order)
    return s.total(divided_by(terms, -content if terms.terms[first] < 0 else content))


@sum_rule
def parts_of_one_number(s: Simplifier, parts: LinearSum) -> LinearSum | None:
    """Adjacent bits of one number, each at its place, are a longer part of it, or the number itself."""
    ends = {}
    for term in parts.terms:
        whole, first, element = _part(term)
        if element is not None and not element.signed:
            ends[whole, first + element.bits] = term
    for term, times in parts.terms.items():
        whole, first, element = _part(term)
        lower = ends.get((whole, first)) if first else None
        if lower is None:
            continue
        _, start, below = _part(lower)
        if below is None or parts.terms[lower] << below.bits != times:
            continue
        made = s.computed("shift_right", whole, start)
        if element is not None:
            made = s.field(made, 0, Int(below.bits + element.bits, element.signed))
        rest = LinearSum({other: k for other, k in parts.terms.items() if other not in (term, lower)}, parts.constant)
        return rest.plus(s.sum_of(made), parts.terms[lower])
    return None


@sum_rule
def rounding_by_carry(s: Simplifier, parts: LinearSum) -> LinearSum | None:
    """A quotient, rounded up where the rest is at least some number, is the quotient of what is so much larger.

    x >> n, and 1 more where the low n bits of x are at least t, is (x + 2^n - t) >> n, of any t in 0..2^n.
    """
    for quotient, times in parts.terms.items():
        whole, count, element = _part(quotient)
        if element is not None or not count:
            continue
        rest = s.field(whole, 0, Int(count, signed=False))
        for term, more in parts.terms.items():
            compared, limit = compared_with(term)
            sign = s.sum_of(compared).terms.get(rest, 0)
            if not isinstance(term, Binary) or term.operator != "less" or more * sign != -times or abs(sign) != 1:
                continue
            # sign * rest + others < limit: the rest is below limit - others, or at least others - limit + 1
            others = s.sum_of(compared).plus(LinearSum({rest: 1}, 0), -sign)
            least = LinearSum({}, limit if sign > 0 else limit - 1).plus(others, -1).times(sign)
            threshold = s.total(least)
            if threshold.low < 0 or threshold.high > 1 << count:
                continue
            made = s.total(s.sum_of(whole).plus(LinearSum({}, 1 << count)).plus(least, -1))
            rounded = s.sum_of(s.computed("shift_right", made, count))
            found = LinearSum({t: k for t, k in parts.terms.items() if t not in (quotient, term)}, parts.constant)
            # an upward comparison says where there is no carry: 1 less, and the carry
            return found.plus(rounded, times).plus(LinearSum({}, more if sign > 0 else 0))
    return None


def _part(term: Lane) -> tuple[Lane, int, Int | None]:
    """Which bits of which number a term is: the number, the first bit, their type; None for all from there on."""
    inner, element = (term.operand, term.element) if isinstance(term, Field) else (term, None)
    if isinstance(inner, Binary) and inner.operator == "shift_right" and isinstance(inner.b, Constant):
        return inner.a, inner.b.low, element
    return inner, 0, element
