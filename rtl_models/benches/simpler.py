"""Simpler numbers, for what shrinks a failure."""

from __future__ import annotations


def simpler(number: int) -> list[int]:
    """Numbers of the same sign and zero to try in its place, the simplest first and itself last.

    Steps towards it that halve the rest: repeated, they come to any number between.
    """
    sign, size = (-1 if number < 0 else 1), abs(number)
    halves = {size >> k for k in range(1, size.bit_length() + 1)}
    return [sign * n for n in sorted({0, *halves, *(size - half for half in halves), size})]
