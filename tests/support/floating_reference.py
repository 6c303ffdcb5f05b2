"""Rounding stated a second time: exact numbers are compared with their neighbours in a format.

The finite numbers of a format are ordered as their bits are, so the neighbours of a number are found by comparing
rational numbers; no significand is shifted or masked.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor, sqrt
from operator import add, mul, sub, truediv
from random import Random

from isa.evaluate.floating import compute
from isa.floating import Float, FloatOperation, Rounding
from support.floating_values import decoded, encoded, triple

IOC, DZC, OFC, UFC, IXC, IDC = 1, 2, 4, 8, 16, 128
"""Arm ARM C5.2.9."""
MODES: dict[Rounding, int] = {"even": 0, "up": 1 << 22, "down": 2 << 22, "zero": 3 << 22}
"""FPCR.RMode, Arm ARM C5.2.8."""
FZ16, FZ, DN, AHP = 1 << 19, 1 << 24, 1 << 25, 1 << 26


class Root:
    """The square root of a rational number, as far as it can be compared with one."""

    def __init__(self, square: Fraction) -> None:
        self.square = square

    def __lt__(self, other: Fraction) -> bool:
        return other > 0 and self.square < other * other

    def __gt__(self, other: Fraction) -> bool:
        return other < 0 or self.square > other * other

    def __ge__(self, other: Fraction) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fraction) and other >= 0 and self.square == other * other

    def __hash__(self) -> int:
        return hash(self.square)

    def __float__(self) -> float:
        return sqrt(self.square)


def number(bits: int, format: Float) -> Fraction:
    """The number of some bits without a sign; what would come after the largest one for infinity."""
    if bits == format.infinity:
        return Fraction(2) ** (format.highest_exponent + 1)
    return Fraction(decoded(bits, format))


def signed(bits: int, format: Float) -> Fraction:
    """The finite number of some bits."""
    return Fraction(decoded(bits, format))


def _guess(magnitude: Fraction | Root, format: Float) -> int:
    try:
        return min(encoded(float(magnitude), format), format.infinity - 1)
    except OverflowError:
        return format.infinity - 1


def below(magnitude: Fraction | Root, format: Float) -> int:
    """The bits of the greatest finite number that is not above `magnitude`."""
    bits = _guess(magnitude, format)
    while magnitude < number(bits, format):
        bits -= 1
    while bits + 1 < format.infinity and magnitude >= number(bits + 1, format):
        bits += 1
    return bits


def _goes_up(magnitude: Fraction | Root, bits: int, format: Float, sign: int, rounding: Rounding) -> bool:
    """Whether the upper of two neighbours is the result."""
    middle = (number(bits, format) + number(bits + 1, format)) / 2
    return {
        "even": magnitude > middle or (magnitude == middle and bits % 2 == 1),
        "away": magnitude >= middle,
        "up": sign == 0,
        "down": sign == 1,
        "zero": False,
        "odd": bits % 2 == 0,
    }[rounding]


def rounded(exact: Fraction | Root, format: Float, rounding: Rounding, flush: bool = False) -> tuple[int, int]:
    """Bits and exceptions of a number that is not zero."""
    sign = int(exact < Fraction(0))
    magnitude = -exact if isinstance(exact, Fraction) and sign else exact
    tiny = magnitude < number(1 << format.fraction_bits, format)
    if flush and tiny:
        return sign * format.sign_bit, UFC
    bits = below(magnitude, format)
    if magnitude == number(bits, format):
        return sign * format.sign_bit | bits, 0
    if magnitude >= number(format.infinity, format):
        finite = {"even": False, "away": False, "up": sign == 1, "down": sign == 0}.get(rounding, True)
        return sign * format.sign_bit | format.infinity - finite, OFC | IXC
    bits += _goes_up(magnitude, bits, format, sign, rounding)
    overflow = OFC if bits == format.infinity else 0
    return sign * format.sign_bit | bits, overflow | IXC | (UFC if tiny else 0)


def integral(exact: float, rounding: Rounding) -> int:
    """A finite number rounded to an integer, by its distances from the two around it."""
    low = floor(exact)
    above = exact - low
    up = {
        "even": above > 0.5 or (above == 0.5 and low % 2 == 1),
        "away": above > 0.5 or (above == 0.5 and exact > 0),
        "up": above > 0,
        "down": False,
        "zero": above > 0 and exact < 0,
    }
    return low + up[rounding]


EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": add, "subtract": sub, "multiply": mul, "divide": truediv,
}  # fmt: skip
"""The exact result by the name of the operation."""


def fused_sum(format: Float, operands: tuple[int, int, int]) -> Fraction | None:
    """Addend plus product, exactly; None where one of them is no number or nothing is left."""
    if any(bits & format.infinity == format.infinity for bits in operands):
        return None
    c, a, b = (signed(bits, format) for bits in operands)
    return c + a * b or None


def fused_differences(format: Float, mode: Rounding, seed: int, count: int) -> list[str]:
    """What fused multiply-adds differ in from rational numbers rounded once, over so many hard cases."""
    rng, found, compared = Random(f"{seed} {format} {mode}"), [], 0
    fused = FloatOperation("multiply_add", format, format)
    while compared < count:
        operands = triple(rng, format)
        exact = fused_sum(format, operands)
        if exact is not None:
            compared += 1
            got, expected = compute(fused, operands, MODES[mode]), rounded(exact, format, mode)
            if got != expected:
                found.append(f"{fused} {mode} {[hex(bits) for bits in operands]}: {got}, exact {expected}; seed {seed}")
    return found
