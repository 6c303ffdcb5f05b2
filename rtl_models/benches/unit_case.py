"""A run of frames that failed, to be done again: what was sent, and the decisions of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rtl_models.benches.frame import Frame, frame_of_json
from rtl_models.benches.stream import Stream, Traffic
from rtl_models.benches.testbench import Testbench, Wrong
from rtl_models.benches.traffic import replayed
from rtl_models.benches.unit_settings import BENCH, LANES


@dataclass(frozen=True)
class Case:
    """Frames, and the decisions to offer and to take, cycle by cycle; always after the last.

    `early`: the settings of each frame but the first are written after the first beat of the one before.
    """

    frames: tuple[Frame, ...]
    offers: tuple[bool, ...] = ()
    takes: tuple[bool, ...] = ()
    early: bool = False

    @property
    def stalls(self) -> bool:
        """Whether a side ever waits."""
        return not all((*self.offers, *self.takes))

    def as_json(self) -> dict[str, Any]:
        """For `case_of_json`."""
        frames = [frame.as_json() for frame in self.frames]
        return {"frames": frames, "offers": self.offers, "takes": self.takes, "early": self.early}

    async def problem(self, bench: Testbench) -> Wrong | None:
        """What goes wrong in it, from a reset on."""
        await bench.reset()
        stream = Stream(bench, BENCH.unit, LANES, Traffic(replayed(self.offers), replayed(self.takes)))
        try:
            await stream.send_all(self.frames, self.early)
            await stream.finish()
        except Wrong as wrong:
            return wrong
        return None


def case_of_json(value: dict[str, Any]) -> Case:
    """What `Case.as_json` made."""
    frames = tuple(map(frame_of_json, value["frames"]))
    return Case(frames, tuple(value["offers"]), tuple(value["takes"]), value["early"])


def testbench(dut: Any) -> Testbench:
    """That of the unit that was built."""
    return Testbench(dut, [port.name for port in BENCH.unit.operands], [port.name for port in BENCH.unit.results])
