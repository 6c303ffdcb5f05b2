"""A run of frames that failed, to be done again: what was sent, and the decisions of both sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from rtl_models.benches.driving.frame import UnitFrame, frame_of_json
from rtl_models.benches.driving.stream import Stream, StreamDecisions
from rtl_models.benches.driving.testbench import Testbench, Wrong
from rtl_models.benches.driving.traffic import replayed
from rtl_models.benches.driving.unit_settings import ASYNCHRONOUS, BENCH, CHANNELS, LANES, PROFILE, STRICT
from rtl_models.register_map import register_writes


@dataclass(frozen=True)
class Lost:
    """A frame that a reset ends after so many cycles of traffic."""

    frame: UnitFrame
    cycles: int

    async def send(self, stream: Stream) -> None:
        """From a reset on; the next is due.  Raises Wrong, of what came out until then too."""
        await stream.begin(self.frame)
        for _ in range(self.cycles):
            await stream.cycle()
        stream.compare()


@dataclass(frozen=True)
class Case:
    """Frames, and the decisions to offer and to take, cycle by cycle; always after the last.

    `early`: the settings of each frame but the first are written after the first beat of the one before.  `lost` goes
    before the frames, with the first of the decisions.
    """

    frames: tuple[UnitFrame, ...]
    offers: tuple[bool, ...] = ()
    takes: tuple[bool, ...] = ()
    early: bool = False
    lost: Lost | None = None

    @property
    def stalls(self) -> bool:
        """Whether a side ever waits."""
        return not all((*self.offers, *self.takes))

    @property
    def key(self) -> Hashable:
        """Equal of cases that are alike."""
        lost = (_key(self.lost.frame), self.lost.cycles) if self.lost else None
        return tuple(map(_key, self.frames)), self.offers, self.takes, self.early, lost

    def as_json(self) -> dict[str, Any]:
        """For `case_of_json`."""
        frames = [frame.as_json() for frame in self.frames]
        lost = {"frame": self.lost.frame.as_json(), "cycles": self.lost.cycles} if self.lost else None
        return {"frames": frames, "offers": self.offers, "takes": self.takes, "early": self.early, "lost": lost}

    def with_frames(self, frames: Iterable[UnitFrame]) -> Case | None:
        """Other frames in the place of its own, if all can be `fitted`."""
        whole = [fitted(frame) for frame in frames]
        return replace(self, frames=tuple(filter(None, whole))) if all(whole) else None

    async def problem(self, bench: Testbench) -> Wrong | None:
        """What goes wrong in it, from a reset on."""
        traffic = StreamDecisions(replayed(self.offers), replayed(self.takes))
        try:
            if self.lost is not None:
                # without what a case before left inside: the reset itself may be what is wrong
                await bench.reset()
                for _ in range(BENCH.unit.latency(PROFILE)):
                    await bench.cycle(take=True)
                await bench.reset()
                await self.lost.send(Stream(bench, BENCH.unit, LANES, traffic, CHANNELS))
            await bench.reset()
            stream = Stream(bench, BENCH.unit, LANES, traffic, CHANNELS)
            await stream.send_all(self.frames, self.early)
            await stream.finish()
        except Wrong as wrong:
            return wrong
        return None


def case_of_json(value: dict[str, Any]) -> Case:
    """What `Case.as_json` made."""
    frames, lost = tuple(map(frame_of_json, value["frames"])), value["lost"]
    before = Lost(frame_of_json(lost["frame"]), lost["cycles"]) if lost else None
    return Case(frames, tuple(value["offers"]), tuple(value["takes"]), value["early"], before)


def _key(frame: UnitFrame) -> Hashable:
    return tuple(frame.settings.items()), *(rows.tobytes() for rows in frame.operands.values())


def fitted(frame: UnitFrame) -> UnitFrame | None:
    """The frame made whole again after a change, if there is such a one with legal settings."""
    whole = BENCH.fitted(frame, LANES)
    try:
        return whole if whole is not None and register_writes(whole.settings, CHANNELS) else None
    except ValueError:
        return None


def testbench(dut: Any) -> Testbench:
    """That of the unit that was built."""
    operands, results = ([port.name for port in ports] for ports in (BENCH.unit.operands, BENCH.unit.results))
    return Testbench(dut, operands, results, STRICT, ASYNCHRONOUS)
