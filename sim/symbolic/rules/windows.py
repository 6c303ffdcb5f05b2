"""Wraps: an element of a number.  Numbers modulo 2^bits lie in windows of that size, of which the type is one."""

from __future__ import annotations

from collections.abc import Sequence

from isa.lane import Binary, Constant, Field, Int, Lane, Operator, Pick
from sim.symbolic.nodes import NOTHING, LinearSum, Simplifier, is_condition, rule

MOST_WINDOWS = 4
"""Windows over which a comparison of a wrapped number is spread."""
MOST_ITEMS = 4
"""Items of a choice that are wrapped one by one."""


def plain_wrap(s: Simplifier, wrapped: Field) -> tuple[Lane, int, int]:
    """The signed wrap of the sum without its constant, its first term up; the sign; the constant.

    Sign times this wrap, and the constant added, are the wrap modulo its size.
    """
    terms, constant = s.sum_of(wrapped.operand)
    first = terms[min(terms, key=s.order)] if terms else 1
    up = -1 if first < 0 and first != -(1 << wrapped.element.bits - 1) else 1  # half the size is its own opposite
    plain = s.field(s.total(LinearSum(terms, 0).times(up)), 0, Int(wrapped.element.bits, signed=True))
    return plain, up, constant


def comparisons_inside(s: Simplifier, operator: Operator, inner: Lane, element: Int, limit: int) -> LinearSum | None:
    """The comparison of a number, wrapped to a type, with a limit, as comparisons of the number; None for too many."""
    size = 1 << element.bits
    first, last = ((end - element.low) // size for end in (inner.low, inner.high))
    if last - first >= MOST_WINDOWS:
        return None
    if operator == "equal" and not element.low <= limit <= element.high:
        return NOTHING
    limit, found = min(max(limit, element.low), element.high + 1), NOTHING
    for start in range(first * size, (last + 1) * size, size):
        found = found.plus(s.sum_of(s.computed(operator, inner, limit + start)))
        if operator == "less":
            found = found.plus(s.sum_of(s.computed("less", inner, element.low + start)), -1)
    return found


@rule("less", "equal")
def compare_wrap_for_equality(s: Simplifier, node: Binary) -> Lane | None:
    """Whether a wrapped number is one number is asked of the plain wrap."""
    if not isinstance(node.a, Field) or not isinstance(node.b, Constant):
        return None
    element, number, negate = node.a.element, node.b.low, False
    if node.operator == "less":
        if number not in (element.low + 1, element.high):
            return None
        negate, number = number == element.high, element.high if number == element.high else element.low
    if not element.low <= number <= element.high:
        return s.number(0)
    plain, sign, constant = plain_wrap(s, node.a)
    if plain is node.a:
        return None
    found = s.computed("equal", plain, Int(element.bits, signed=True).wrapped(sign * (number - constant)))
    return s.difference(s.number(1), found) if negate else found


@rule("equal")
def compare_wrapped_difference(s: Simplifier, node: Binary) -> Lane | None:
    """The difference of two numbers of a type is 0 where its wrap is."""
    if not isinstance(node.a, Field) or node.b.value != 0:
        return None
    terms, constant = s.sum_of(node.a.operand)
    size = 1 << node.a.element.bits
    if sorted(terms.values()) != [-1, 1] or constant or not -size < node.a.operand.low <= node.a.operand.high < size:
        return None
    return s.computed("equal", node.a.operand, 0)


@rule("less", "equal")
def compare_inside_wrap(s: Simplifier, node: Binary) -> Lane | None:
    """A number that lies in two windows of the signed type at most is compared without its wrap, whatever with."""
    if not isinstance(node.a, Field) or not isinstance(node.b, Constant):
        return None
    inner, element = node.a.operand, node.a.element
    first, last = ((end + (1 << element.bits - 1)) >> element.bits for end in (inner.low, inner.high))
    if last - first > 1:
        return None
    found = comparisons_inside(s, node.operator, inner, element, node.b.low)
    return None if found is None else s.total(found)


@rule("less")
def compare_sign(s: Simplifier, node: Binary) -> Lane | None:
    """The unsigned numbers below half of the size are those that are not negative with a sign."""
    if not isinstance(node.a, Field) or not isinstance(node.b, Constant):
        return None
    bits = node.a.element.bits
    if node.a.element.signed or node.b.low != 1 << bits - 1:
        return None
    signed = s.field(node.a.operand, 0, Int(bits, signed=True))
    return s.difference(s.number(1), s.computed("less", signed, 0))


@rule("field")
def field_of_number(s: Simplifier, node: Field) -> Lane | None:
    """An element of a number is a number."""
    if isinstance(node.operand, Constant):
        return s.number(node.element.wrapped(node.operand.low >> node.lsb))
    return None


@rule("field")
def field_of_shifted(s: Simplifier, node: Field) -> Lane | None:
    """An element that begins higher up is the lowest of the number shifted."""
    if node.lsb:
        return s.field(s.computed("shift_right", node.operand, node.lsb), 0, node.element)
    return None


@rule("field")
def wrap_that_does_nothing(s: Simplifier, node: Field) -> Lane | None:
    """A number of the type is its own element."""
    return node.operand if node.lsb == 0 and node.element.holds(node.operand) else None


@rule("field")
def wrap_of_low_bits(s: Simplifier, node: Field) -> Lane | None:
    """Of a number only what its low bits depend on counts: wraps inside it that keep these bits do nothing."""
    low = low_bits(s, node.operand, node.element.bits)
    return s.field(low, 0, node.element) if low is not node.operand else None


@rule("field")
def wrap_in_one_window(s: Simplifier, node: Field) -> Lane | None:
    """A number that stays in one window is moved by a constant."""
    operand, element = node.operand, node.element
    window = (operand.low - element.low) >> element.bits
    start = window << element.bits
    if operand.high - start > element.high:
        return None
    return s.total(s.sum_of(operand).plus(LinearSum({}, -start)))


@rule("field")
def wrap_of_condition(s: Simplifier, node: Field) -> Lane | None:
    """Of a number that takes two values by a condition, both are wrapped."""
    terms, constant = s.sum_of(node.operand)
    if len(terms) != 1:
        return None
    ((term, times),) = terms.items()
    if not is_condition(term):
        return None
    without, wrapped = node.element.wrapped(constant), node.element.wrapped(constant + times)
    return s.total(LinearSum({term: wrapped - without} if wrapped != without else {}, without))


@rule("field")
def wrap_past_the_end(s: Simplifier, node: Field) -> Lane | None:
    """A number that leaves its window by one only, at one end, is moved there alone."""
    operand, element = node.operand, node.element
    size = 1 << element.bits
    window = (operand.low + 1 - element.low) // size * size
    moved = s.sum_of(operand).plus(LinearSum({}, -window))
    if operand.low + 1 == element.low + window:
        moved = moved.plus(s.sum_of(s.computed("less", operand, operand.low + 1)), size)
    if operand.high == element.low + window + size:
        moved = moved.plus(LinearSum({}, -size)).plus(s.sum_of(s.computed("less", operand, operand.high)), size)
    made = s.total(moved)
    return made if element.holds(made) else None


@rule("field")
def wrap_of_choice(s: Simplifier, node: Field) -> Lane | None:
    """Of a choice each item is wrapped."""
    operand, element = node.operand, node.element
    if not isinstance(operand, Pick) or len(operand.items) >= MOST_ITEMS:
        return None
    items = tuple(s.field(item, 0, element) for item in operand.items)
    return s.made(Pick(operand.index, items, s.field(operand.otherwise, 0, element), element.low, element.high))


def low_bits(s: Simplifier, lane: Lane, bits: int) -> Lane:
    """A number that is equal modulo 2^bits and depends on no more: factors and constants are near 0."""
    key = (lane, bits)
    found = s.low_parts.get(key)
    if found is None:
        size, half = 1 << bits, (1 << bits) >> 1
        parts = s.sum_of(lane)
        total = LinearSum({}, parts.constant)
        for term, times in parts.terms.items():
            room = bits - ((times & -times).bit_length() - 1)
            if room > 0:
                total = total.plus(s.sum_of(_low_bits_of_term(s, term, room)), times)
        near = {term: (times + half) % size - half for term, times in total.terms.items()}
        constant = (total.constant + half) % size - half
        found = s.low_parts[key] = s.total(LinearSum({term: times for term, times in near.items() if times}, constant))
        s.low_parts[found, bits] = found
    return found


def _low_bits_of_term(s: Simplifier, term: Lane, bits: int) -> Lane:
    if isinstance(term, Field) and term.lsb == 0 and term.element.bits >= bits:
        return low_bits(s, term.operand, bits)
    if isinstance(term, Binary) and not is_condition(term):
        if term.operator == "shift_right" and isinstance(term.b, Constant):
            return again_if_new(s, term, [low_bits(s, term.a, bits + term.b.low), term.b])
        if term.operator in ("and", "or", "xor", "multiply"):
            return again_if_new(s, term, [low_bits(s, arg, bits) for arg in term.args])
    if isinstance(term, Pick) and len(term.items) < MOST_ITEMS:
        return again_if_new(s, term, [term.index, *(low_bits(s, arg, bits) for arg in term.args[1:])])
    return term


def again_if_new(s: Simplifier, term: Lane, args: Sequence[Lane]) -> Lane:
    """A node over operands some of which may be new."""
    return term if all(one is other for one, other in zip(args, term.args, strict=True)) else s.again(term, args)
