"""Simpler numbers, for what shrinks a failure."""

from __future__ import annotations


def simpler(number: int, plain: int = 0) -> list[int]:
    """Numbers to try in its place, the simplest first and itself last: a plain one, then of its sign and zero.

    Those are steps towards it that halve the rest: repeated, they come to any number between.  The halves with its low
    zeros are among them, as it may have to be a multiple of something.
    """
    sign, size = (-1 if number < 0 else 1), abs(number)
    multiples = -(size & -size)
    halves = {half for k in range(1, size.bit_length() + 1) for half in (size >> k, size >> k & multiples)}
    steps = [sign * n for n in sorted({0, *halves, *(size - half for half in halves), size})]
    return [plain, *(step for step in steps if step != plain)] if number != plain else [plain]
