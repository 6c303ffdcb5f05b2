"""Choices, minima and maxima."""

from __future__ import annotations

from collections.abc import Mapping

from isa.evaluate.exact import arithmetic
from isa.lane import LONGEST_SHIFT, Binary, Constant, Field, Int, Lane, Operator, Pick, Saturate, pick
from sim.symbolic.nodes import LinearSum, Simplifier, factors, is_condition, rule
from sim.symbolic.rules.sums import both
from sim.symbolic.rules.windows import again_if_new

DEPTH = 4
"""Levels of a choice's items in which its condition is looked for."""


@rule("pick")
def choice_within_range(s: Simplifier, node: Pick) -> Lane | None:
    """Only items count that the range of the index reaches; one that is known chooses."""
    index, items = node.index, node.items
    if index.low == index.high:
        return items[index.low] if 0 <= index.low < len(items) else node.otherwise
    among = (*items, node.otherwise)
    if all(item is among[0] for item in among):
        return among[0]
    low, high = max(index.low, 0), min(index.high, len(items) - 1)
    if low > high:
        return node.otherwise
    if index.low < 0 or (low, high) == (0, len(items) - 1):
        if index.low == 0 and index.high == len(items) - 1 > 0:  # the last item stands for all others
            return s.made(pick(index, items[:-1], items[-1]))
        return None
    return s.made(pick(s.computed("subtract", index, low), items[low : high + 1], node.otherwise))


@rule("pick")
def choice_by_opposite(s: Simplifier, node: Pick) -> Lane | None:
    """A condition that is the opposite of another chooses the other way."""
    terms, constant = s.sum_of(node.index)
    if len(node.items) == 1 and constant == 1 and list(terms.values()) == [-1]:
        return s.select(next(iter(terms)), node.items[0], node.otherwise)
    return None


def _choice(node: Pick) -> tuple[Lane, Lane] | None:
    """What a condition chooses where it is 1 and where it is 0; None for a table."""
    return (node.otherwise, node.items[0]) if len(node.items) == 1 and is_condition(node.index) else None


@rule("pick")
def choice_of_conditions(s: Simplifier, node: Pick) -> Lane | None:
    """A choice of two conditions is one."""
    chosen = _choice(node)
    if chosen is None or not all(map(is_condition, chosen)):
        return None
    yes, no = map(s.sum_of, chosen)
    condition = s.sum_of(node.index)
    one, other = both(s, condition, yes), both(s, condition, no)
    return None if one is None or other is None else s.total(one.plus(no).plus(other, -1))


@rule("pick")
def choice_by_constant(s: Simplifier, node: Pick) -> Lane | None:
    """Between two numbers whose difference is known one moves by it."""
    chosen = _choice(node)
    if chosen is None:
        return None
    yes, no = map(s.sum_of, chosen)
    apart = yes.plus(no, -1)
    return s.total(no.plus(s.sum_of(node.index), apart.constant)) if not apart.terms else None


@rule("pick")
def choice_of_wraps(s: Simplifier, node: Pick) -> Lane | None:
    """Two wraps of numbers whose difference is known are one, of a number that the condition moves."""
    match _choice(node):
        case Field(yes, _, element), Field(no, _, other) if element == other:
            apart = s.sum_of(yes).plus(s.sum_of(no), -1)
            if not apart.terms:
                return s.field(s.total(s.sum_of(no).plus(s.sum_of(node.index), apart.constant)), 0, element)
    return None


@rule("pick")
def choice_of_unsigned(s: Simplifier, node: Pick) -> Lane | None:
    """Where a choice of signed numbers is no longer one, that of the same bits without a sign is a wrap of it."""
    chosen = _choice(node)
    if chosen is None:
        return None
    bits = {item.element.bits for item in chosen if isinstance(item, Field) and not item.element.signed}
    unsigned = Int(max(bits, default=1), signed=False)
    if not all(unsigned.holds(item) for item in chosen) or not bits:
        return None
    yes, no = (s.field(item, 0, Int(unsigned.bits, signed=True)) for item in chosen)
    made = s.select(node.index, yes, no)
    return s.field(made, 0, unsigned) if not isinstance(made, Pick) else None


@rule("pick")
def choice_in_choice(s: Simplifier, node: Pick) -> Lane | None:
    """Two choices one in the other, which come to the same in two of three cases, are one by both conditions."""
    chosen = _choice(node)
    if chosen is None:
        return None
    yes, no = chosen
    inner = _choice(yes) if isinstance(yes, Pick) else None
    if isinstance(yes, Pick) and inner is not None and no in inner:
        condition = yes.index if no is inner[1] else s.difference(s.number(1), yes.index)
        return s.select(s.computed("and", node.index, condition), inner[0] if no is inner[1] else inner[1], no)
    inner = _choice(no) if isinstance(no, Pick) else None
    if isinstance(no, Pick) and inner is not None and yes in inner:
        condition = no.index if yes is inner[0] else s.difference(s.number(1), no.index)
        return s.select(s.computed("or", node.index, condition), yes, inner[1] if yes is inner[0] else inner[0])
    return None


@rule("pick")
def choice_against_wrap(s: Simplifier, node: Pick) -> Lane | None:
    """A wrapped number that is chosen only where the wrap does nothing is chosen without it."""
    chosen = _choice(node)
    if chosen is None or not isinstance(chosen[1], Field):
        return None
    inner, element = chosen[1].operand, chosen[1].element
    inside = s.difference(s.computed("less", inner, element.high + 1), s.computed("less", inner, element.low))
    if node.index is not s.difference(s.number(1), inside):
        return None
    return s.select(node.index, chosen[0], inner)


@rule("pick")
def choice_of_extreme(s: Simplifier, node: Pick) -> Lane | None:
    """The smaller or larger of two, chosen by their comparison."""
    chosen = _choice(node)
    if chosen is None:
        return None
    yes, no = chosen
    for operator, less, more in (("minimum", yes, no), ("maximum", no, yes)):
        which: Operator = "minimum" if operator == "minimum" else "maximum"
        at_most = s.computed("less", less, s.total(s.sum_of(more).plus(LinearSum({}, 1))))
        if node.index in (s.computed("less", less, more), at_most):
            return s.computed(which, yes, no)
    return None


@rule("pick")
def choice_under_its_condition(s: Simplifier, node: Pick) -> Lane | None:
    """What a choice's condition decides inside of its items is decided there."""
    chosen = _choice(node)
    if chosen is None:
        return None
    yes = _assuming(s, chosen[0], dict.fromkeys(factors(node.index), 1), DEPTH)
    no = _assuming(s, chosen[1], {node.index: 0}, DEPTH)
    return s.select(node.index, yes, no) if (yes, no) != chosen else None


def _assuming(s: Simplifier, lane: Lane, known: Mapping[Lane, int], depth: int) -> Lane:
    """A number where others inside of it are known."""
    if lane in known:
        return s.number(known[lane])
    if not depth or not lane.args:
        return lane
    if isinstance(lane, Field) and not lane.element.signed:  # where the sign is known, the signed number is too
        bits = lane.element.bits
        signed = s.field(lane.operand, 0, Int(bits, signed=True))
        negative = known.get(s.computed("less", signed, 0))
        if negative is not None:
            return s.total(s.sum_of(signed).plus(LinearSum({}, negative << bits)))
    parts = s.sum_of(lane)
    if lane not in parts.terms:
        inside = [(_assuming(s, term, known, depth - 1), term, times) for term, times in parts.terms.items()]
        if all(made is term for made, term, _ in inside):
            return lane
        total = LinearSum({}, parts.constant)
        for made, _, times in inside:
            total = total.plus(s.sum_of(made), times)
        return s.total(total)
    args = [_assuming(s, arg, known, depth - 1) for arg in lane.args]
    if isinstance(lane, Binary) and lane.operator in ("shift_left", "shift_right"):
        count = args[1]
        if count.low < 0 or count.high > LONGEST_SHIFT:  # where the condition does not hold, it may be anything
            args[1] = lane.b
    return again_if_new(s, lane, args)


@rule("saturate")
def saturate_by_extremes(s: Simplifier, node: Saturate) -> Lane:
    """Clamping is a maximum and a minimum."""
    return s.computed("minimum", s.computed("maximum", node.operand, node.element.low), node.element.high)


@rule("minimum", "maximum")
def extreme_in_range(s: Simplifier, node: Binary) -> Lane | None:
    """One of two that is never more than the other is the minimum."""
    apart = s.difference(node.a, node.b)
    low, high = max(apart.low, node.a.low - node.b.high), min(apart.high, node.a.high - node.b.low)
    if high <= 0:
        return node.a if node.operator == "minimum" else node.b
    if low >= 0:
        return node.b if node.operator == "minimum" else node.a
    return None


@rule("minimum", "maximum")
def extreme_by_one(s: Simplifier, node: Binary) -> Lane | None:
    """A number that passes a limit by one only is moved where it does."""
    for number, limit in ((node.a, node.b), (node.b, node.a)):
        if isinstance(limit, Constant):
            made: Lane | None = None
            if node.operator == "minimum" and number.high == limit.low + 1:
                inside = s.sum_of(s.computed("less", number, number.high))
                made = s.total(s.sum_of(number).plus(inside).plus(LinearSum({}, -1)))
            if node.operator == "maximum" and number.low == limit.low - 1:
                made = s.total(s.sum_of(number).plus(s.sum_of(s.computed("less", number, limit))))
            if made is not None and node.low <= made.low and made.high <= node.high:
                return made
    return None


@rule("minimum", "maximum")
def extreme_in_order(s: Simplifier, node: Binary) -> Lane | None:
    """Of several: each once, in order, the constants as one at the end."""
    operands, constants = dict[Lane, None](), list[int]()
    pending = [node.b, node.a]
    while pending:
        one = pending.pop()
        if isinstance(one, Binary) and one.operator == node.operator:
            pending += (one.b, one.a)
        elif isinstance(one, Constant):
            constants.append(one.low)
        else:
            operands[one] = None
    ordered: list[Lane] = list(s.sorted(operands))
    if constants:
        ordered.append(s.number(min(constants) if node.operator == "minimum" else max(constants)))
    made = ordered[0]
    for one in ordered[1:-1]:
        made = s.computed(node.operator, made, one)
    if len(ordered) > 1 and (node.a, node.b) != (made, ordered[-1]):
        return s.computed(node.operator, made, ordered[-1])
    return made if len(ordered) == 1 else None


@rule("minimum", "maximum")
def extreme_of_condition(s: Simplifier, node: Binary) -> Lane | None:
    """Of a number that takes two values by a condition, each is compared with the limit."""
    terms, constant = s.sum_of(node.a)
    if len(terms) != 1 or not isinstance(node.b, Constant):
        return None
    ((term, times),) = terms.items()
    if not is_condition(term):
        return None
    without, within = (arithmetic(node.operator, n, node.b.low) for n in (constant, constant + times))
    return s.total(LinearSum({term: within - without} if within != without else {}, without))


@rule("maximum")
def limits_in_order(s: Simplifier, node: Binary) -> Lane | None:
    """Of two limits in order the lower one comes first."""
    match node:
        case Binary("maximum", Binary("minimum", a, Constant() as upper), Constant() as lower) if (
            lower.low <= upper.low
        ):
            return s.computed("minimum", s.computed("maximum", a, lower), upper)
    return None
