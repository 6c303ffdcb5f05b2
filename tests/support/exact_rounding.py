"""Roundings of exact numbers to whole ones, as definitions have them, without any float."""

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
