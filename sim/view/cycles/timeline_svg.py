"""The timeline of a pipeline as SVG, for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final, NamedTuple

from sim.timing.analysis.attribution import life
from sim.timing.analysis.reasons import Activity
from sim.timing.model.schedule import Schedule
from sim.view.cycles.reasons import UNHINDERED, producers, reason_text

CYCLE, ROW, HEAD = 11, 20, 22
"""Pixels of a cycle, of an instruction, of the ruler."""
_BAR, _WAIT = 12, 4
"""Pixels of what executes, and of what waits."""
_MARGIN: Final = 32
"""Pixels for the last number of the ruler."""
_RULE: Final = 10
_CLASSES: Final = {
    Activity.ENTRY: "held",
    Activity.OPERANDS: "operands",
    Activity.ISSUE: "issue",
    Activity.EXECUTION: "executes",
    Activity.RETIREMENT: "done",
}
LEGEND: Final = (
    ("held", "held up before it enters"),
    ("operands", "waits for operands"),
    ("issue", "waits for a pipe"),
    ("executes", "executes"),
    ("done", "waits to retire"),
)
"""The classes that a style sheet colours, and what they mean."""


class _Window(NamedTuple):
    """The instructions drawn, and the first and last cycle: until all of them have retired."""

    numbers: range
    start: int
    end: int

    def x(self, cycle: int) -> int:
        return (cycle - self.start) * CYCLE

    def middle(self, number: int) -> float:
        return HEAD + (number - self.numbers.start + 0.5) * ROW


def draw_timeline(schedule: Schedule, numbers: range, told: Callable[[str], str] = str) -> str:
    """These instructions, a row each, a cycle every 11 pixels; hovering names reasons; lines lead from results.

    `told` makes the texts of instructions ready to be read.
    """
    start = schedule.entered[numbers.start - 1] if numbers.start else 0
    window = _Window(numbers, start, max(schedule.retired[number] for number in numbers))
    width, bottom = window.x(window.end) + _MARGIN, HEAD + ROW * len(numbers)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" class="timeline" width="{width}" height="{bottom}" role="img">']
    for cycle in range(start - start % -_RULE, window.end + 1, _RULE):
        x = window.x(cycle)
        lines.append(f'<line class="rule" x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{bottom}"/>')
        lines.append(f'<text class="rule" x="{x + 2}" y="{HEAD - 9}">{cycle}</text>')
    for number in numbers:
        for part in life(schedule, number):
            if part.activity is not Activity.ENTRY or part.stall.kind not in UNHINDERED:
                look, height = _CLASSES[part.activity], _BAR if part.activity is Activity.EXECUTION else _WAIT
                x, y = window.x(part.start), window.middle(number) - height / 2
                reason = reason_text(schedule, number, part.stall)
                title = (
                    f"[{number}] {told(schedule.stream[number].instruction.text)}: {part.activity}, "
                    f"cycles {part.start} to {part.end}{f' ({reason})' if reason else ''}"
                )
                lines.append(
                    f'<rect class="{look}" x="{x}" y="{y:g}" width="{part.cycles * CYCLE - 1}" height="{height}" '
                    f'rx="2"><title>{escape(title)}</title></rect>'
                )
    for number in numbers:  # arrows from the end of what makes a result to the start of what waited for it
        for producer in producers(schedule, number):
            if producer in numbers:
                x1, y1 = window.x(schedule.issued[producer]) + CYCLE / 2, window.middle(producer) + _BAR / 2
                x2, y2 = window.x(schedule.issued[number]), window.middle(number)
                lines.append(f'<path class="arrow" d="M{x1:g} {y1:g}V{y2:g}H{x2:g}"/>')
    return "\n".join([*lines, "</svg>"])


def names(schedule: Schedule, numbers: Sequence[int], told: Callable[[str], str] = str) -> list[str]:
    """What stands left of the rows: number and text, escaped for HTML."""
    return [f"<b>[{n}]</b> {escape(told(schedule.stream[n].instruction.text))}" for n in numbers]
