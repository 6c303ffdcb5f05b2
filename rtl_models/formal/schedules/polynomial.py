"""Whether two numbers are the same by the rules of rings: as polynomials of the bits that they are made of.

    s8(a) * s8(b)    and    (s4(a[7:4]) * s8(b) << 4) + a[3:0] * s8(b)

A bit is its own square, so that each function of bits has one such polynomial, and to compare two decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Final, assert_never

from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Read, Saturate
from rtl_models.formal.equations.unrolling import WireBits

Polynomial = Mapping[frozenset[Hashable], int]
"""By set of bits, whose product counts, the factor before it."""
_MOST_TERMS: Final = 1 << 18
"""Of two polynomials multiplied, each by each: of three factors of 64 bits there are as many."""


class NotPolynomial(Exception):
    """A number that is none of its bits by sums and products, or of too many of these."""


def same_number(a: Lane, b: Lane) -> bool:
    """Whether both have the same polynomial; False too where one has none."""
    try:
        return _polynomial(a) == _polynomial(b)
    except NotPolynomial:
        return False


def _polynomial(lane: Lane) -> Polynomial:
    match lane:
        case Constant(number):
            return _cleaned({frozenset(): number})
        case Read():
            signal = WireBits.named(lane.place.file)
            kind = Int(lane.magnitude_bits + (lane.low < 0), lane.low < 0)
            if (kind.low, kind.high) != (lane.low, lane.high):
                raise NotPolynomial
            return _of_bits([(signal.wire, signal.lsb + bit) for bit in range(kind.bits)], kind.signed)
        case Field(operand, lsb, element):
            return _of_bits([_bit(operand, lsb + bit) for bit in range(element.bits)], element.signed)
        case Binary(operator, a, b) if operator in ("add", "subtract"):
            return _sum(_polynomial(a), _polynomial(b), 1 if operator == "add" else -1)
        case Binary("multiply", a, b):
            return _product(_polynomial(a), _polynomial(b))
        case Binary("shift_left", a, Constant(count)):
            return _product(_polynomial(a), {frozenset(): 1 << count})
        case Binary() | Load() | Saturate() | Pick() | Floating():
            raise NotPolynomial
        case never:
            assert_never(never)


def _bit(operand: Lane, place: int) -> Hashable:
    """A bit of an input; of any other number, by what that is."""
    if isinstance(operand, Read):
        signal = WireBits.named(operand.place.file)
        if place < operand.magnitude_bits + (operand.low < 0):
            return signal.wire, signal.lsb + place
    return frozenset(_polynomial(operand).items()), place


def _of_bits(bits: list[Hashable], signed: bool) -> Polynomial:
    last = len(bits) - 1
    return {frozenset((bit,)): -(1 << k) if signed and k == last else 1 << k for k, bit in enumerate(bits)}


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    total: dict[frozenset[Hashable], int] = defaultdict(int, a)
    for bits, factor in b.items():
        total[bits] += sign * factor
    return _cleaned(total)


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) * len(b) > _MOST_TERMS:
        raise NotPolynomial
    total: dict[frozenset[Hashable], int] = defaultdict(int)
    for one, factor in a.items():
        for other, by in b.items():
            total[one | other] += factor * by
    return _cleaned(total)


def _cleaned(polynomial: Mapping[frozenset[Hashable], int]) -> Polynomial:
    return {bits: factor for bits, factor in polynomial.items() if factor}
