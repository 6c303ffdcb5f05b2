"""An instruction as a row of the timeline: its letters, and what held it up."""

from __future__ import annotations

from typing import Final, NamedTuple

from sim.timing.analysis.attribution import life
from sim.timing.analysis.reasons import Activity
from sim.timing.model.schedule import Schedule
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


class TimelineRow(NamedTuple):
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


def row_of(schedule: Schedule, number: int) -> TimelineRow:
    """The row of the instruction of that number; what it waited for longest comes first."""
    parts = [
        part
        for part in life(schedule, number)
        # to enter in a later cycle because the slots of one are taken is no delay
        if part.activity is not Activity.ENTRY or part.stall.kind not in UNHINDERED
    ]
    start = parts[0].start if parts else schedule.entered[number]
    longest_first = sorted(parts, key=lambda part: -part.cycles)
    waits = [(part.cycles, reason_text(schedule, number, part.stall)) for part in longest_first]
    reasons = "; ".join(f"{cycles}: {reason}" for cycles, reason in waits if reason)
    held, inside, in_order = "", "", schedule.core.order == "in"
    for part in parts:
        if part.activity is Activity.ENTRY:
            held += "s" * part.cycles
        if part.activity is Activity.EXECUTION:
            inside += "e" * (part.cycles - 1) + "E"
        elif not (in_order and part.activity is Activity.RETIREMENT):
            inside += _WAITS[part.activity] * part.cycles
    inside += "" if in_order else "R"
    # the cycle of entry has its own letter, whatever begins in it; in order nothing is said of retirement
    letters = f"{held}D{inside[1:]}"
    return TimelineRow(f"[{number}]", start, letters, schedule.stream[number].instruction.text, reasons)
