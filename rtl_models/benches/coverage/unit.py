"""Functional coverage of a unit: every coverpoint under every pattern of stalls, and every event in every lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rtl_models.benches.coverage.unit_coverpoints import Coverpoints
from rtl_models.benches.driving.frame import UnitFrame


class UnitCoverage:
    """How often each coverpoint was met.  `patterns` are those under which all of them are due."""

    def __init__(self, coverpoints: Coverpoints, lanes: int, patterns: Sequence[str]) -> None:
        self._coverpoints, self._lanes, self._patterns = coverpoints, lanes, patterns
        self._times: Counter[str] = Counter()
        self._known: dict[str, None] = {}

    def look(self, pattern: str, frame: UnitFrame) -> None:
        """Take a compared frame into account."""
        for coverpoint, met in self._coverpoints(frame, self._lanes).items():
            self._known[coverpoint] = None
            self._times[f"{coverpoint}, stalls {pattern}"] += int(met.sum())
            for number, times in enumerate(met.sum(axis=0)):
                self._times[f"{coverpoint}, number {number}"] += int(times)

    def note(self, coverpoint: str, times: int) -> None:
        """A coverpoint that is none of a frame, met so many times more."""
        self._times[coverpoint] += times

    def hits(self) -> dict[str, int]:
        """By coverpoint how often it was met."""
        due = [f"{coverpoint}, stalls {pattern}" for coverpoint in self._known for pattern in self._patterns]
        return {coverpoint: self._times[coverpoint] for coverpoint in dict.fromkeys([*due, *self._times])}

    def unmet(self) -> list[str]:
        """The coverpoints never met."""
        return [coverpoint for coverpoint, times in self.hits().items() if not times]
