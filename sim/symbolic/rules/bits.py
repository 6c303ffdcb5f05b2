"""Shifts to the right and bitwise operations: as arithmetic, wherever they are that."""

from __future__ import annotations

from math import gcd

from isa.evaluate.exact import arithmetic
from isa.lane import Binary, Constant, Field, Int, Lane, Operator, Pick, pick
from sim.symbolic.nodes import LinearSum, Simplifier, is_condition, rule
from sim.symbolic.rules.sums import both, divided_by

MOST_RUNS = 4
"""Runs of ones in a mask that are taken out one by one."""


@rule("shift_left", "shift_right", "multiply", "divide", "and", "or", "xor", "minimum", "maximum")
def arithmetic_of_numbers(s: Simplifier, node: Binary) -> Lane | None:
    """Two numbers make a number."""
    if isinstance(node.a, Constant) and isinstance(node.b, Constant):
        return s.number(arithmetic(node.operator, node.a.low, node.b.low))
    return None


@rule("shift_right")
def shift_by_nothing(s: Simplifier, node: Binary) -> Lane | None:
    """A shift by 0."""
    return node.a if node.b.value == 0 else None


@rule("shift_right")
def shift_twice(s: Simplifier, node: Binary) -> Lane | None:
    """Two shifts by numbers are one."""
    match node:
        case Binary(_, Binary("shift_right", a, Constant(one)), Constant(other)):
            return s.computed("shift_right", a, one + other)
    return None


@rule("shift_right")
def shift_of_multiples(s: Simplifier, node: Binary) -> Lane | None:
    """What is a multiple of the power that is divided by comes out of the sum."""
    if not isinstance(node.b, Constant):
        return None
    count = node.b.low
    terms, constant = s.sum_of(node.a)
    out = {term: times >> count for term, times in terms.items() if times % (1 << count) == 0}
    if not out and not constant >> count:
        return None
    kept = LinearSum({term: times for term, times in terms.items() if term not in out}, constant % (1 << count))
    inner = s.computed("shift_right", s.total(kept), count)
    return s.total(LinearSum(out, constant >> count).plus(s.sum_of(inner)))


@rule("shift_right")
def shift_of_common_power(s: Simplifier, node: Binary) -> Lane | None:
    """A power of two in all terms shortens the shift; so does a rest that is smaller than it."""
    if not isinstance(node.b, Constant):
        return None
    terms, constant = s.sum_of(node.a)
    powers = sorted({times & -times for times in terms.values()}, reverse=True)
    for power in powers:
        if power == 1:
            return None
        upper = {term: times for term, times in terms.items() if times % power == 0}
        rest = s.total(LinearSum({term: times for term, times in terms.items() if term not in upper}, constant % power))
        if rest.low >= 0 and rest.high < power:
            common = gcd(power, 1 << node.b.low)
            made = s.total(divided_by(LinearSum(upper, constant - constant % power), common))
            return s.computed("shift_right", made, node.b.low - (common.bit_length() - 1))
    return None


@rule("shift_right")
def shift_to_condition(s: Simplifier, node: Binary) -> Lane | None:
    """A result that is one of two neighbours is a comparison."""
    if not isinstance(node.b, Constant):
        return None
    low, high = node.a.low >> node.b.low, node.a.high >> node.b.low
    if low == high:
        return s.number(low)
    if high - low > 1:
        return None
    below = s.computed("less", node.a, high << node.b.low)
    return s.total(LinearSum({}, high).plus(s.sum_of(below), -1))


@rule("shift_right")
def shift_of_condition(s: Simplifier, node: Binary) -> Lane | None:
    """Of a number that takes two values by a condition, both are shifted."""
    terms, constant = s.sum_of(node.a)
    if len(terms) != 1 or not isinstance(node.b, Constant):
        return None
    ((term, times),) = terms.items()
    if not is_condition(term):
        return None
    without, within = constant >> node.b.low, (constant + times) >> node.b.low
    return s.total(LinearSum({term: within - without} if within != without else {}, without))


@rule("shift_right")
def shift_of_part(s: Simplifier, node: Binary) -> Lane | None:
    """The upper bits of an element are an element."""
    match node:
        case Binary(_, Field(operand, 0, Int(bits, signed)), Constant(count)) if count < bits:
            return s.field(s.computed("shift_right", operand, count), 0, Int(bits - count, signed))
    return None


@rule("shift_right")
def shift_of_choice(s: Simplifier, node: Binary) -> Lane | None:
    """A choice in which a number is shifted."""
    match node:
        case Binary(_, Pick(index, (no,), yes), Constant() as count) if Constant in (type(no), type(yes)):
            items = [s.computed("shift_right", item, count) for item in (no, yes)]
            return s.made(pick(index, items[:1], items[1]))
    return None


@rule("divide")
def divide_by_power(s: Simplifier, node: Binary) -> Lane | None:
    """Division toward zero by a power of two: below zero all but one of it is added first, then it is shifted."""
    number = node.b.value
    if number is None or number <= 0 or number & (number - 1):
        return None
    negative = s.sum_of(s.computed("less", node.a, 0))
    return s.computed("shift_right", s.total(s.sum_of(node.a).plus(negative, number - 1)), number.bit_length() - 1)


@rule("and", "or", "xor")
def bitwise_of_same(s: Simplifier, node: Binary) -> Lane | None:
    """A number with itself."""
    if node.a is not node.b:
        return None
    return s.number(0) if node.operator == "xor" else node.a


@rule("and", "or", "xor")
def bitwise_with_mask(s: Simplifier, node: Binary) -> Lane | None:
    """AND with a number takes out its runs of ones; OR and XOR with one add what is not there."""
    for one, mask in ((node.a, node.b), (node.b, node.a)):
        if isinstance(mask, Constant):
            number = mask.low
            if node.operator == "or":  # one + mask - (one AND mask)
                common = _masked(s, one, number)
                return None if common is None else s.total(s.sum_of(one).plus(common, -1).plus(LinearSum({}, number)))
            common = _masked(s, one, number)
            if common is None:
                return None
            if node.operator == "and":
                return s.total(common)
            return s.total(s.sum_of(one).plus(common, -2).plus(LinearSum({}, number)))
    return None


def _masked(s: Simplifier, lane: Lane, mask: int) -> LinearSum | None:
    """The bits of a number under a mask, each run of them at its place; None for too many runs."""
    found, at = LinearSum({}, 0), 0
    for _ in range(MOST_RUNS):
        if not mask >> at:
            return found
        at += ((mask >> at) & -(mask >> at)).bit_length() - 1
        rest = ~(mask >> at)
        run = s.computed("shift_right", lane, at)
        if not rest:  # ones without end
            return found.plus(s.sum_of(run), 1 << at)
        length = (rest & -rest).bit_length() - 1
        found = found.plus(s.sum_of(s.field(run, 0, Int(length, signed=False))), 1 << at)
        at += length
    return found if not mask >> at else None


@rule("and", "or", "xor")
def bitwise_of_disjoint(s: Simplifier, node: Binary) -> Lane | None:
    """Numbers that have no bit in common: OR and XOR add them."""
    if possible_ones(s, node.a) & possible_ones(s, node.b):
        return None
    return s.number(0) if node.operator == "and" else s.computed("add", node.a, node.b)


def possible_ones(s: Simplifier, lane: Lane) -> int:
    """A mask of the bits that may be 1 in a number, those of its sign without end."""
    terms, constant = s.sum_of(lane)
    parts = [(term, times, times & -times) for term, times in terms.items()]
    if constant:
        parts.append((s.number(constant), 1, 1))
    lowest = min(power for _, _, power in parts) if parts else 1
    total = 0
    for term, times, power in parts:
        if isinstance(term, Constant):
            mask = term.low
        elif term.low < 0 or times < 0:
            mask = -power
        elif isinstance(term, Pick) and times == power:
            mask = 0
            for item in (*term.items, term.otherwise):
                mask |= possible_ones(s, item)
            mask *= power
        else:
            mask = ((1 << (term.high * times // power).bit_length()) - 1) * power
        if total & mask:
            return -lowest if lane.low < 0 else ((1 << lane.high.bit_length()) - 1) & -lowest
        total |= mask
    return total


@rule("and", "or", "xor")
def bitwise_of_conditions(s: Simplifier, node: Binary) -> Lane | None:
    """Conditions: AND multiplies, OR and XOR add and take away what both have."""
    if not is_condition(node.a) or not is_condition(node.b):
        return None
    a, b = s.sum_of(node.a), s.sum_of(node.b)
    joined = both(s, a, b)
    if joined is None:
        return None
    if node.operator == "and":
        return s.total(joined)
    return s.total(a.plus(b).plus(joined, -1 if node.operator == "or" else -2))


@rule("and", "or", "xor")
def bitwise_with_choice_of_masks(s: Simplifier, node: Binary) -> Lane | None:
    """A mask that a condition makes is a choice between two masks."""
    for one, other in ((node.a, node.b), (node.b, node.a)):
        terms, constant = s.sum_of(one)
        if len(terms) == 1:
            ((term, times),) = terms.items()
            if is_condition(term):
                yes, no = (s.computed(node.operator, s.number(n), other) for n in (constant + times, constant))
                return s.select(term, yes, no)
    return None


@rule("and", "or", "xor")
def bitwise_of_choices(s: Simplifier, node: Binary) -> Lane | None:
    """Two choices by the same are one."""
    match node:
        case Binary(operator, Pick(index, (no,), yes), Pick(other, (no_too,), yes_too)) if index is other:
            return s.select(index, s.computed(operator, yes, yes_too), s.computed(operator, no, no_too))
    return None


@rule("and", "or", "xor")
def bitwise_in_order(s: Simplifier, node: Binary) -> Lane | None:
    """The operands in order."""
    a, b = s.sorted((node.a, node.b))
    operator: Operator = node.operator
    return s.computed(operator, a, b) if a is not node.a else None
