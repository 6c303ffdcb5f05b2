"""An instruction as a row of the timeline: its letters, and what held it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sim.timing.attribution import Segment, life
from sim.timing.reasons import Activity
from sim.timing.schedule import Schedule
from sim.view.cycles.reasons import UNHINDERED, reason_text

LEGENDS: Final = {
    "in": ("s held up", "D issued", "e executes", "E its last cycle"),
    "out": ("s held up", "D dispatched", "= waits to issue", "e executes", "E its last cycle", "- waits", "R retired"),
}
"""What the letters mean, by the order of the core."""
REASONS: Final = "N: cycles waited, for what"
"""What the reasons mean."""
_STRONGEST: Final = "DREes=-"
_WAITS: Final = {Activity.ENTRY: "", Activity.OPERANDS: "=", Activity.ISSUE: "=", Activity.RETIREMENT: "-"}


class Row(NamedTuple):
    """An instruction: a letter for each cycle from `start` on."""

    label: str
    start: int
    letters: str
    text: str
    reason: str

    @property
    def end(self) -> int:
        """The cycle after its last letter."""
        return self.start + len(self.letters)

    def letter(self, cycle: int, scale: int) -> str:
        """The most telling of its letters in `scale` cycles from `cycle` on; "" outside of its life."""
        first = cycle - self.start
        letters = self.letters[max(first, 0) : max(first + scale, 0)]
        return min(letters, key=_STRONGEST.index, default="")


def row_of(schedule: Schedule, number: int) -> Row:
    """The row of the instruction of that number; what it waited for longest comes first."""
    parts = [part for part in life(schedule, number) if not _only_next(part)]
    start = parts[0].start if parts else schedule.entered[number]
    longest_first = sorted(parts, key=lambda part: -part.cycles)
    waits = [(part.cycles, reason_text(schedule, number, part.stall)) for part in longest_first]
    reasons = "; ".join(f"{cycles}: {reason}" for cycles, reason in waits if reason)
    text = schedule.stream[number].instruction.text
    return Row(f"[{number}]", start, _letters(parts, schedule.core.order == "in"), text, reasons)


def _only_next(part: Segment) -> bool:
    """To enter in a later cycle because the slots of one are taken is no delay."""
    return part.activity is Activity.ENTRY and part.stall.kind in UNHINDERED


def _letters(parts: Sequence[Segment], in_order: bool) -> str:
    """The cycle of entry has its own letter, whatever begins in it; in order nothing is said of retirement."""
    held = "".join("s" * part.cycles for part in parts if part.activity is Activity.ENTRY)
    shown = [part for part in parts if not (in_order and part.activity is Activity.RETIREMENT)]
    inside = "".join(_inside(part) for part in shown) + "R" * (not in_order)
    return f"{held}D{inside[1:]}"


def _inside(part: Segment) -> str:
    if part.activity is Activity.EXECUTION:
        return "e" * (part.cycles - 1) + "E"
    return _WAITS[part.activity] * part.cycles
