"""Averages between whole cycles: 6.27 is reached by delays of 6 and 7, 2.78 by intervals of 2 and 3."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from math import ceil, floor

_HALF = Fraction(1, 2)


class Cadence:
    """For each of several things, how much of a cycle it is owed: half of one at first, so that it is rounded once."""

    def __init__(self) -> None:
        self._owed: dict[Hashable, Fraction] = {}

    def extra(self, key: Hashable, fraction: Fraction) -> int:
        """1 if a whole cycle is owed once `fraction` of one is added, else 0."""
        owed = self._owed.get(key, _HALF) + fraction
        whole = int(owed >= 1)
        self._owed[key] = owed - whole
        return whole

    def whole(self, key: Hashable, cycles: Fraction) -> int:
        """So many cycles, now the whole number below and now the one above."""
        below = floor(cycles)
        return below + self.extra(key, cycles - below)

    def state(self) -> tuple[tuple[Hashable, Fraction], ...]:
        """What is owed, for comparing."""
        return tuple(self._owed.items())


class Interval:
    """Events that are at least so many cycles apart on average; those that are further apart owe nothing."""

    def __init__(self, cycles: Fraction) -> None:
        self.cycles = cycles
        self.next = 0
        self._exact = Fraction(0)

    def event(self, at: int) -> None:
        """One happened; `next` is then the first cycle of another."""
        self._exact = self.cycles + (self._exact if self._exact > at - 1 else at)
        self.next = ceil(self._exact)

    def state(self, now: int) -> Fraction | None:
        """What later events depend on, counted from now; None if they do not."""
        return self._exact - now if self._exact > now - 1 else None
