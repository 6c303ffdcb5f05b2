"""What the benches of the streaming units try: the scenarios of `rtl_models.benches.unit_scenarios` as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.frame import Frame
from rtl_models.benches.traffic import STALLS
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.mutation.scenario import Scenario, Steps
from rtl_models.mutation.unit_rows import UnitRows

_LONG_BEATS: Final = 1_000
"""Of the frame without stalls."""
_PATIENCE: Final = 40
"""Cycles for each row; no pattern of stalls needs half as many."""


class UnitScenarios:
    """The scenarios of a unit at parameters, drawn by a seed."""

    def __init__(self, bench: UnitBench, lanes: int, deep: bool, seed: int) -> None:
        self._bench, self._lanes, self._rng = bench, lanes, Random(seed)
        self._latency = bench.unit.latency(deep)

    def all(self) -> list[Scenario]:
        """Each as the bench has it."""
        return [scenario for drawn in self.by_test().values() for scenario in drawn]

    def by_test(self) -> dict[str, list[Scenario]]:
        """The same by the name of the bench's test; without those of the registers, which are another module."""
        return {
            "no_stalls": [self._long()],
            "frames": [self._streamed(pattern, pattern, self._rows(self._frames())) for pattern in STALLS],
            "one_beat_frames": [
                self._streamed(f"one-beat frames, {pattern}", pattern, self._rows(self._short()))
                for pattern in ("sometimes", "bursts")
            ],
            "rare_frames": list(self._rare()),
            "settings_of_the_next_frame_come_early": list(self._early_settings()),
            "reset_inside": [part for name in ("sometimes", "bursts", "long_stall") for part in self._resets(name)],
        }

    def _long(self) -> Scenario:
        frame = self._bench.long_frame(self._rng, self._lanes, _LONG_BEATS)
        return self._streamed("no stalls", "never", self._rows([frame]), latency=self._latency)

    def _frames(self) -> Iterator[Frame]:
        first = self._rng.randrange(self._bench.round)
        return islice(self._bench.frames(self._rng, self._lanes), first, first + self._bench.round)

    def _rare(self) -> Iterator[Scenario]:
        if frames := self._bench.rare_frames(self._rng, self._lanes):
            yield self._streamed("rare frames", "sometimes", self._rows(frames))

    def _short(self) -> Iterator[Frame]:
        """Frames of one beat, where there is such a one."""
        return (self._cut(frame, 1) for frame in self._frames())

    def _cut(self, frame: Frame, beats: int) -> Frame:
        return self._bench.fitted(frame.cut(0, beats), self._lanes) or frame

    def _rows(self, frames: Iterable[Frame]) -> Steps:
        rows = UnitRows(self._bench.unit, self._lanes)
        for frame in frames:
            rows.add(frame)
        return rows.steps()

    def _early_settings(self) -> Iterator[Scenario]:
        if self._bench.samples_settings:
            yield self._streamed("early settings", "sometimes", self._early())

    def _early(self) -> Steps:
        """The settings of a frame change once its first beat is accepted."""
        rows = UnitRows(self._bench.unit, self._lanes)
        for frame, following in pairwise(self._frames()):
            rows.add(frame, following.settings)
        return rows.steps()

    def _resets(self, pattern: str) -> Iterator[Scenario]:
        """A frame that a reset ends at any cycle, and a good one after it."""
        for frame, good in zip(self._frames(), self._frames(), strict=True):
            rows, cycles = self._rows([frame]), self._rng.randrange(3 * self._latency)
            cut = self._streamed(f"reset inside, {pattern}", pattern, rows, cycles=cycles + int(rows.silent.sum()))
            yield cut
            yield self._streamed(f"after a reset, {pattern}", pattern, self._rows([self._cut(good, 3)]))

    def _streamed(
        self, name: str, pattern: str, beats: Steps, latency: int | None = None, cycles: int | None = None
    ) -> Scenario:
        """Under a pattern of stalls; broken off after so many cycles, if that is said."""
        stalls, count = STALLS[pattern], len(beats) * _PATIENCE if cycles is None else cycles
        offers, takes = (
            np.fromiter(islice(side(self._rng), count), bool, count) for side in (stalls.offers, stalls.takes)
        )
        return Scenario(name, beats.none(), beats, offers, takes, cycles is not None, latency)


def within_channels(bench: UnitBench, channels: int) -> UnitBench:
    """The bench with those frames only that have no more channels; its long frame is one that has as many."""

    def frames(rng: Random, lanes: int) -> Iterator[Frame]:
        return (frame for frame in bench.frames(rng, lanes) if frame.settings["channels"] <= channels)

    def long_frame(rng: Random, lanes: int, _: int) -> Frame:
        return next(frame for frame in frames(rng, lanes) if frame.settings["channels"] == channels)

    def rare_frames(rng: Random, lanes: int) -> list[Frame]:
        return [frame for frame in bench.rare_frames(rng, lanes) if frame.settings["channels"] <= channels]

    return replace(bench, frames=frames, long_frame=long_frame, rare_frames=rare_frames)
