"""Frames sent through a unit: settings written over the bus, beats driven, results compared with the golden ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rtl_models.benches.driving.frame import Difference, UnitFrame, difference, numbers_of, words_of
from rtl_models.benches.driving.scoreboard import became
from rtl_models.benches.driving.testbench import Testbench, Write, Wrong
from rtl_models.benches.driving.traffic import Decisions
from rtl_models.benches.driving.written import chosen_in_turn, new_writes
from rtl_models.unit_values import Results
from rtl_models.units import Unit
from sim.golden.fixed_point import Int64Array
from sim.view.sentences import counted

PATIENCE: Final = 150
"""Cycles without any progress after which a unit hangs; no pause of the traffic is nearly as long."""
LONGER_PATIENCE: Final = 1_000
"""That of a module whose latency nobody has promised."""


class Different(Wrong):
    """A frame whose results are not those of the golden reference; `frame` counts from 0."""

    def __init__(self, frame: int, difference: Difference, more: str = "") -> None:
        super().__init__(f"frame {frame}: {difference}{f'; since the reset, {more}' if more else ''}")
        self.frame, self.difference = frame, difference


@dataclass
class StreamDecisions:
    """The decisions of both sides, cycle by cycle."""

    offers: Decisions
    takes: Decisions


class Stream:
    """One run of frames, from a reset on.  Settings are written while older beats are inside."""

    def __init__(self, bench: Testbench, unit: Unit, lanes: int, traffic: StreamDecisions, channels: int) -> None:
        """The registers are of so many channels."""
        self.bench, self._unit, self._lanes, self._traffic = bench, unit, lanes, traffic
        self._channels = channels
        self.frames: list[UnitFrame] = []
        self.most_inside = self.most_inside_at_change = 0
        self._written: dict[int, int] = {}
        self._progress = (0, 0)
        self._since = self._takes_since = 0

    async def send(self, frame: UnitFrame) -> None:
        """Drive all beats of a frame; the last may still be inside afterwards."""
        await self.begin(frame)
        await self.empty()

    async def send_all(self, frames: Sequence[UnitFrame], early: bool = False) -> None:
        """Drive all frames.

        The first write for the next frame comes in the very cycle in which the last beat of a frame is accepted, or
        `early` the first; the others in the cycles after it.
        """
        await self._write_all(self._new(frames[0]) if frames else [])
        for frame, following in zip(frames, [*frames[1:], None], strict=False):
            self._let_wait(frame)
            new = self._new(following) if following is not None else []
            if new:  # from the cycle on that accepts a beat while so many wait
                first, waiting = chosen_in_turn(new, len(self.frames)), frame.beats if early else 1
                while len(self.bench.driver.waiting) >= waiting:
                    await self.cycle(first if len(self.bench.driver.waiting) == waiting else None)
                await self._write_all([write for write in new if write != first])
            await self.empty()

    async def empty(self) -> None:
        """Cycles until no beat waits."""
        while self.bench.driver.waiting:
            await self.cycle()

    async def begin(self, frame: UnitFrame) -> None:
        """Write the settings that are new, and let the beats wait for their cycles."""
        await self._write_all(self._new(frame))
        self._let_wait(frame)

    def _let_wait(self, frame: UnitFrame) -> None:
        self.frames.append(frame)
        self.bench.driver.waiting.extend(words_of(self._unit, frame, self._lanes))
        self.most_inside_at_change = max(self.most_inside_at_change, self.bench.beats_inside)

    def _new(self, frame: UnitFrame) -> list[Write]:
        """The writes that a frame needs, which count as made."""
        return new_writes(frame.settings, self._written, self._channels)

    async def _write_all(self, new: Sequence[Write]) -> None:
        for write in new:
            await self.write(*write)

    async def finish(self) -> None:
        """Wait for every result and for none more, then compare.  Raises Wrong."""
        while self.bench.beats_inside > 0:
            await self.cycle()
        for _ in range(max(self._unit.latency("deep"), self.longest_latency) + 1):
            await self.bench.cycle(take=True)
            self._require_beats()
        self.compare()

    async def cycle(self, with_a_beat: Write | None = None) -> None:
        """One cycle of traffic; the write is made in it if a beat is accepted."""
        driver = self.bench.driver
        # a decision is asked for only where a beat waits that is not offered yet
        may_offer = bool(driver.waiting) and not driver.offered and next(self._traffic.offers)
        take = next(self._traffic.takes)
        meets = with_a_beat is not None and await self.bench.will_accept(may_offer, take)
        await self.bench.cycle(may_offer, take, with_a_beat if meets else None)
        self._require_beats()
        self.most_inside = max(self.most_inside, self.bench.beats_inside)
        progress = (len(self.bench.accepted), len(self.bench.monitor.results))
        self._since, self._takes_since = (
            (self._since + 1, self._takes_since + take) if progress == self._progress else (0, 0)
        )
        self._progress = progress
        if self._since > (patience := PATIENCE if self.bench.strict else LONGER_PATIENCE):
            if not self.bench.strict:
                self.compare()  # a beat that is lost is told as such
            raise Wrong(self._stuck(patience))

    def _stuck(self, patience: int) -> str:
        """What may be the reason for so many cycles without progress, where what has come is right."""
        waiting, inside, valid = len(self.bench.driver.waiting), self.bench.beats_inside, self.bench.valid
        since = f"{patience} cycles without a beat in or out"
        if inside and not self._takes_since and not valid:
            since += "; ready_i was 0, and valid must not wait for ready"
        if self.bench.strict:
            return f"the unit hangs: {since}, {waiting} wait, {inside} inside"
        if not self.bench.monitor.results:
            other = "nothing has come out since the reset: is its active level the other (reset.active)?"
            return f"the unit hangs: {since}; {other}"
        if waiting or valid:
            return f"the unit hangs: {since}, {counted(waiting, 'beat')} offered, {inside} inside"
        last = "the last beat never comes: it is" if inside == 1 else f"the last {inside} beats never come: they are"
        return f"{last} lost, or the unit hangs, after {since}"

    async def write(self, address: int, data: int) -> None:
        """A write to the configuration registers, in a cycle of traffic in which no further beat is offered."""
        await self.bench.cycle(False, next(self._traffic.takes), (address, data))

    @property
    def longest_latency(self) -> int:
        """Of the results so far, in cycles."""
        both = zip(self.bench.accepted, self.bench.monitor.cycles, strict=False)
        return max((taken - accepted for accepted, taken in both), default=0)

    def compare(self) -> None:
        """Compare the results so far, beat by beat, with what each frame must give.  Raises Wrong."""
        results = self.bench.monitor.results
        for number, frame in enumerate(self.frames):
            came, results = results[: frame.beats], results[frame.beats :]
            expected = self._unit.expected(frame.settings, frame.operands, self._lanes)
            due = {port: numbers[: len(came)] for port, numbers in expected.items()}
            wrong = difference(self._unit, numbers_of(self._unit, came, self._lanes), due) if came else None
            if wrong is not None:
                wrong = wrong.read_with(self._unit, frame.settings)
                raise Different(number, wrong, "" if self.bench.strict else self._became(number, wrong))

    def _became(self, number: int, wrong: Difference) -> str:
        """What became of the beat that is wrong, of frame `number`, told from those around it."""
        frames = [self._unit.expected(frame.settings, frame.operands, self._lanes) for frame in self.frames]
        undefined = [{p.name: 1 - p.defined(one[p.name]) for p in self._unit.results} for one in frames]
        due, free = (np.concatenate([_rows(self._unit, one) for one in each]) for each in (frames, undefined))
        came = _rows(self._unit, numbers_of(self._unit, self.bench.monitor.results, self._lanes))
        at = sum(frame.beats for frame in self.frames[:number]) + wrong.beat
        return became(due, came, free, at, len(self.bench.accepted))

    def _require_beats(self) -> None:
        if self.bench.beats_inside < 0:
            if not self.bench.strict:
                self.compare()  # a beat that comes twice is told as such
            raise Wrong(f"in cycle {self.bench.now} a result comes for which there was no beat")


def _rows(unit: Unit, numbers: Results) -> Int64Array:
    """The numbers of all result ports side by side, int64 [beats, numbers of a beat]."""
    return np.concatenate([numbers[port.name] for port in unit.results], axis=1)
