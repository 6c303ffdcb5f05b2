"""Functional coverage of a unit: every goal under every pattern of stalls, and every event in every lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rtl_models.benches.frame import Frame
from rtl_models.benches.unit_goals import Goals


class UnitCoverage:
    """How often each goal was met.  `patterns` are those under which all of them are due."""

    def __init__(self, goals: Goals, lanes: int, patterns: Sequence[str]) -> None:
        self._goals, self._lanes, self._patterns = goals, lanes, patterns
        self._times: Counter[str] = Counter()
        self._known: dict[str, None] = {}

    def look(self, pattern: str, frame: Frame) -> None:
        """Take a compared frame into account."""
        for goal, met in self._goals(frame, self._lanes).items():
            self._known[goal] = None
            self._times[f"{goal}, stalls {pattern}"] += int(met.sum())
            for number, times in enumerate(met.sum(axis=0)):
                self._times[f"{goal}, number {number}"] += int(times)

    def note(self, goal: str, times: int) -> None:
        """A goal that is none of a frame, met so many times more."""
        self._times[goal] += times

    def hits(self) -> dict[str, int]:
        """By goal how often it was met."""
        due = [f"{goal}, stalls {pattern}" for goal in self._known for pattern in self._patterns]
        return {goal: self._times[goal] for goal in dict.fromkeys([*due, *self._times])}

    def unmet(self) -> list[str]:
        """The goals never met."""
        return [goal for goal, times in self.hits().items() if not times]
