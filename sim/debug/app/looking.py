"""What the application looks at: its session, and what of it is chosen to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from isa.lane import Place
from sim.cycles.cores import REAL_CORES
from sim.debug.cycles import CallCycles, TimedPart
from sim.debug.session import Session
from sim.debug.snapshot import GoldenLane, ShownInstruction, golden_lanes, instructions_around, snapshot_of
from sim.debug.spots import SpotError, lane_numbers
from sim.debug.trace.selection import shown_registers
from sim.debug.way import LaneWay

KINDS: Final = (
    "",
    "s8",
    "u8",
    "s16",
    "u16",
    "s32",
    "u32",
    "s64",
    "u64",
    "x8",
    "x16",
    "x32",
    "f16",
    "f32",
    "q15",
    "q31",
)
"""Types of lanes that one goes through; "" is the one that an instruction has."""
ALL: Final = "all"
ROWS: Final = 120
"""Executed instructions that are shown on each side."""


@dataclass(frozen=True)
class LaneKind:
    """How lanes are shown: a type of `lane_numbers`, "" for each its own; integers dequantized with a `scale`."""

    kind: str = ""
    scale: float | None = None
    zero_point: int = 0

    @classmethod
    def read(cls, text: str) -> LaneKind:
        """Of a text such as "s16", "own", or "u8 0.05 128" with scale and zero point.  Raises SpotError."""
        words = text.split()
        kind = "" if not words or words[0] == "own" else words[0]
        try:
            scale = float(words[1]) if len(words) > 1 else None
            zero_point = int(words[2]) if len(words) > 2 else 0
        except ValueError:
            raise SpotError(f"{text!r} is no type with a scale and a zero point, such as u8 0.05 128") from None
        if len(words) > 3 or (scale is not None and kind[:1] not in ("s", "u")):
            raise SpotError(f"{text!r} is none: only an integer type has a scale and a zero point, as u8 0.05 128")
        if kind:
            lane_numbers(bytes(16), kind)
        return cls(kind, scale, zero_point)

    def __str__(self) -> str:
        scaled = "" if self.scale is None else f" * {self.scale:g}, zero {self.zero_point}"
        return f"{self.kind or 'as written'}{scaled}"

    def texts(self, data: bytes, own: str) -> list[str]:
        """Some bytes as lanes; of their own type where they have no whole lanes of this one."""
        kind = self.kind or own
        try:
            numbers = lane_numbers(data, kind, self.scale, self.zero_point)
        except SpotError:
            numbers = lane_numbers(data, own)
        return [f"{number:.6g}" if isinstance(number, float) else str(number) for number in numbers]


class Looking:
    """A session, what is shown of it, and how: `lanes` are the type of all lanes, `way` that of the lane one asks of.

    `shown` is the instruction before the one that comes next, `rows` are those around: number, address, instruction.
    `memory` names what is shown of memory: `ALL` arrays of the call, one of them, an address or a register.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lanes = LaneKind()
        self.cycles: CallCycles | None = None
        self.memory = ALL
        self.by_address = False
        self.has_all_registers = False
        self.way: LaneWay | None = None
        self.golden: dict[int, list[GoldenLane]] = {}
        self._written: dict[tuple[int, Place | int], tuple[str, str]] = {}  # as it was seen, by address
        here = session.position
        session.goto_end()
        self.total = session.position
        session.goto(here)
        self.look()

    def look(self) -> None:
        """Take what is there now."""
        self.shown: ShownInstruction | None = snapshot_of(self.session, self.golden)
        if self.shown is not None:
            self._written |= {(self.shown.pc, each.where): (each.name, each.kind) for each in self.shown.written}
        self.rows = instructions_around(self.session, ROWS, ROWS)

    def ask(self, way: LaneWay) -> None:
        """Show the way of a lane, and the golden reference beside it."""
        self.way, self.golden = way, {} if way.is_forward else golden_lanes(self.session, way)
        self.look()

    @cached_property
    def expected(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """The outputs by the golden reference; {} where there is none."""
        call = self.session.call
        return call.kernel.expected(call.inputs) if call.kernel is not None and call.has_golden else {}

    @property
    def parting(self) -> int | None:
        """The instruction that is at fault; None where nothing is wrong."""
        return self.session.trouble_number

    @property
    def part(self) -> TimedPart | None:
        """The cycles around; None where no core is chosen."""
        return None if self.cycles is None else self.cycles.around(self.session.position)

    def next_core(self) -> None:
        """Choose the next of the cores, after the last one none."""
        cores = (*REAL_CORES, None)
        now = self.cycles.core.name if self.cycles is not None else None
        core = cores[(cores.index(now) + 1) % len(cores)] if now in cores else None
        self.cycles = CallCycles(self.session, core) if core is not None else None

    def next_kind(self) -> None:
        """Choose the next type of lanes."""
        at = KINDS.index(self.lanes.kind) if self.lanes.kind in KINDS else 0
        self.lanes = LaneKind(KINDS[(at + 1) % len(KINDS)])

    @property
    def kinds(self) -> dict[Place, tuple[str, str]]:
        """By vector register, its name and type as it was written last, of what was executed not long before."""
        found = dict[Place, tuple[str, str]]()
        here = self.session.position
        for number, pc, instruction in reversed(self.rows):
            if number < here:
                for each in shown_registers(instruction):
                    letter = "f" if "f" in each.dtype else "s"
                    own = each.name, f"{letter}{8 * int(each.dtype[-1])}"
                    found.setdefault(each.place, self._written.get((pc, each.place), own))
        return found

    @property
    def used(self) -> set[Place]:
        """The registers that the instructions around read and write."""
        every = {id(instruction): instruction for _, _, instruction in self.rows}.values()
        return {place for each in every for place in (*each.places_read, *each.places_written)}
