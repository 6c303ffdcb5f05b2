"""Roundings of exact numbers to whole ones and to float32, as definitions have them, without any float."""

from __future__ import annotations

from fractions import Fraction
from math import floor


def half_up(exact: Fraction) -> int:
    """To nearest, ties up."""
    return floor(exact + Fraction(1, 2))


def half_away(exact: Fraction) -> int:
    """To nearest, ties away from zero."""
    return half_up(exact) if exact > 0 else -half_up(-exact)


def wrapped(value: int) -> int:
    """Modulo 2^32, as int32."""
    return (value + 2**31) % 2**32 - 2**31


def float32_nearest(exact: Fraction) -> Fraction:
    """The nearest float32 of normal range, ties to even."""
    if exact == 0:
        return exact
    exponent = abs(exact).numerator.bit_length() - abs(exact).denominator.bit_length()
    exponent -= abs(exact) < Fraction(2) ** exponent
    unit = Fraction(2) ** (exponent - 23)
    return round(exact / unit) * unit
