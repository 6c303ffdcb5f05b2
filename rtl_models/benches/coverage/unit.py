"""Functional coverage of a unit: every coverpoint under every pattern of stalls, and every event in every lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rtl_models.benches.coverage.unit_coverpoints import Coverpoints
from rtl_models.benches.driving.frame import UnitFrame


class UnitCoverage:
    """How often each coverpoint was met.  `patterns` are those under which all of them are due."""

    def __init__(self, coverpoints: Coverpoints, lanes: int, patterns: Sequence[str]) -> None:
        self._coverpoints, self._lanes, self._patterns = coverpoints, lanes, patterns
        self._times: Counter[str] = Counter()
        self._of_stalls: Counter[tuple[str, str]] = Counter()
        self._of_numbers: dict[str, NDArray[np.int64]] = {}

    def look(self, pattern: str, frame: UnitFrame) -> None:
        """Take a compared frame into account."""
        for coverpoint, met in self._coverpoints(frame, self._lanes).items():
            times = met.sum(axis=0)
            self._of_stalls[coverpoint, pattern] += int(times.sum())
            before = self._of_numbers.setdefault(coverpoint, np.zeros_like(times))
            before += times

    def note(self, coverpoint: str, times: int) -> None:
        """A coverpoint that is none of a frame, met so many times more."""
        self._times[coverpoint] += times

    def hits(self) -> dict[str, int]:
        """By coverpoint how often it was met."""
        due = dict.fromkeys(product(self._of_numbers, self._patterns))
        stalls = {
            f"{name}, stalls {pattern}": self._of_stalls[name, pattern] for name, pattern in due | self._of_stalls
        }
        numbers = {
            f"{name}, number {number}": count
            for name, times in self._of_numbers.items()
            for number, count in enumerate(times.tolist())
        }
        return stalls | numbers | self._times

    def unmet(self) -> list[str]:
        """The coverpoints never met."""
        return [coverpoint for coverpoint, times in self.hits().items() if not times]
