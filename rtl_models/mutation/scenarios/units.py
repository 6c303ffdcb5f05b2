"""What the benches of the streaming units try: the scenarios of `rtl_models.benches.unit_scenarios` as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.driving.traffic import STALLS
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.mutation.scenarios.scenario import LONG_RESET, RESET_EDGES, Scenario, Steps
from rtl_models.mutation.scenarios.unit_rows import UnitRows

_LONG_BEATS: Final = 1_000
"""Of the frame without stalls."""
_PATIENCE: Final = 40
"""Cycles for each row; no pattern of stalls needs half as many."""
_BEHIND: Final = 32
"""Cycles behind the last result, besides those of all stages: for what waits in buffers at the ends of a pipeline."""


class UnitScenarios:
    """The scenarios of a unit at parameters, drawn by a seed.

    Not `strict` of one that may have any latency, and resets that need a clock.
    """

    def __init__(self, bench: UnitBench, lanes: int, profile: str, seed: int, strict: bool = True) -> None:
        self._strict = strict
        self._bench, self._lanes, self._rng = bench, lanes, Random(seed)
        self._latency = bench.unit.latency(profile)

    def all(self) -> list[Scenario]:
        """Each as the bench has it."""
        return [scenario for drawn in self.by_test().values() for scenario in drawn]

    def by_test(self) -> dict[str, list[Scenario]]:
        """The same by the name of the bench's test; without those of the registers, which are another module."""
        long = self._bench.long_frame(self._rng, self._lanes, _LONG_BEATS)
        found = {"no_stalls": [self._streamed("no stalls", "never", self._rows([long]), exact=True)]}
        found["frames"] = [self._streamed(pattern, pattern, self._rows(self._frames())) for pattern in STALLS]
        found["one_beat_frames"] = []
        for pattern in ("sometimes", "bursts"):
            short = self._rows(self._cut(frame, 1) for frame in self._frames())
            found["one_beat_frames"].append(self._streamed(f"one-beat frames, {pattern}", pattern, short))
        rare = self._bench.rare_frames(self._rng, self._lanes)
        found["rare_frames"] = [self._streamed("rare frames", "sometimes", self._rows(rare))] if rare else []
        found["settings_of_the_next_frame_come_early"] = []
        if self._bench.samples_settings:  # those of a frame change once its first beat is accepted
            rows = UnitRows(self._bench.unit, self._lanes)
            for frame, following in pairwise(self._frames()):
                rows.add(frame, following.settings)
            found["settings_of_the_next_frame_come_early"].append(
                self._streamed("early settings", "sometimes", rows.steps())
            )
        patterns = ("sometimes", "bursts", "long_stall")
        found["reset_inside"] = [part for pattern in patterns for part in self._resets(pattern)]
        return found

    def _frames(self) -> Iterator[UnitFrame]:
        first = self._rng.randrange(self._bench.round)
        return islice(self._bench.frames(self._rng, self._lanes), first, first + self._bench.round)

    def _cut(self, frame: UnitFrame, beats: int) -> UnitFrame:
        return self._bench.fitted(frame.cut(0, beats), self._lanes) or frame

    def _rows(self, frames: Iterable[UnitFrame]) -> Steps:
        rows = UnitRows(self._bench.unit, self._lanes)
        for frame in frames:
            rows.add(frame)
        return rows.steps()

    def _resets(self, pattern: str) -> Iterator[Scenario]:
        """A frame that a reset ends at any cycle, and a good one after it."""
        for frame, good in zip(self._frames(), self._frames(), strict=True):
            rows, cycles = self._rows([frame]), self._rng.randrange(3 * self._latency)
            cut = self._streamed(f"reset inside, {pattern}", pattern, rows, cycles=cycles + int(rows.silent.sum()))
            yield cut
            yield self._streamed(f"after a reset, {pattern}", pattern, self._rows([self._cut(good, 3)]))

    def _streamed(
        self, name: str, pattern: str, beats: Steps, exact: bool = False, cycles: int | None = None
    ) -> Scenario:
        """Under a pattern of stalls; broken off after so many cycles, if that is said."""
        stalls, count = STALLS[pattern], len(beats) * _PATIENCE if cycles is None else cycles
        drained = self._latency + _BEHIND
        behind = np.ones(drained if cycles is None else 0, bool)
        offers, takes = (
            np.append(np.fromiter(islice(side(self._rng), count), bool, count), behind)
            for side in (stalls.offers, stalls.takes)
        )
        return Scenario(
            name=name,
            cycles=beats.none(),
            beats=beats,
            offers=offers,
            takes=takes,
            broken_off=cycles is not None,
            latency=self._latency if exact and self._strict else None,
            reset_edges=RESET_EDGES if self._strict else LONG_RESET,
            drained=drained,
        )
