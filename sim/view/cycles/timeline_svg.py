"""The timeline of a pipeline as SVG, for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from sim.timing.attribution import Segment, life
from sim.timing.reasons import Activity
from sim.timing.schedule import Schedule
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
    """The instructions drawn, and the first and last cycle."""

    numbers: range
    start: int
    end: int

    def x(self, cycle: int) -> int:
        return (cycle - self.start) * CYCLE

    def middle(self, number: int) -> float:
        return HEAD + (number - self.numbers.start + 0.5) * ROW


def timeline_svg(schedule: Schedule, numbers: range) -> str:
    """These instructions, a row each, a cycle every 11 pixels; hovering names reasons; lines lead from results."""
    window = _window(schedule, numbers)
    width, height = window.x(window.end) + _MARGIN, HEAD + ROW * len(numbers)
    parts = [*_ruler(window, height), *_rows(schedule, window), *_arrows(schedule, window)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="timeline" width="{width}" height="{height}" role="img">'
    return "\n".join([head, *parts, "</svg>"])


def _window(schedule: Schedule, shown: range) -> _Window:
    """From the first of them until all have retired."""
    start = schedule.entered[shown.start - 1] if shown.start else 0
    return _Window(shown, start, max(schedule.retired[number] for number in shown))


def _ruler(window: _Window, height: int) -> Iterator[str]:
    first = window.start - window.start % -_RULE
    for cycle in range(first, window.end + 1, _RULE):
        x = window.x(cycle)
        yield f'<line class="rule" x1="{x}" y1="{HEAD - 6}" x2="{x}" y2="{height}"/>'
        yield f'<text class="rule" x="{x + 2}" y="{HEAD - 9}">{cycle}</text>'


def _rows(schedule: Schedule, window: _Window) -> Iterator[str]:
    for number in window.numbers:
        for part in life(schedule, number):
            if part.activity is not Activity.ENTRY or part.stall.kind not in UNHINDERED:
                yield _bar(schedule, number, part, window)


def _bar(schedule: Schedule, number: int, part: Segment, window: _Window) -> str:
    height = _BAR if part.activity is Activity.EXECUTION else _WAIT
    x, y = window.x(part.start), window.middle(number) - height / 2
    width = part.cycles * CYCLE - 1
    return (
        f'<rect class="{_CLASSES[part.activity]}" x="{x}" y="{y:g}" width="{width}" height="{height}" rx="2">'
        f"<title>{escape(_told(schedule, number, part))}</title></rect>"
    )


def _told(schedule: Schedule, number: int, part: Segment) -> str:
    """Such as `[4] sqrdmulh v1.8h, ...: waits to issue, cycles 7 to 8 (V0 busy with [3] sqrdmulh)`."""
    reason = reason_text(schedule, number, part.stall)
    text = f"[{number}] {schedule.stream[number].instruction.text}: {part.activity}, cycles {part.start} to {part.end}"
    return f"{text} ({reason})" if reason else text


def _arrows(schedule: Schedule, window: _Window) -> Iterator[str]:
    """From the end of what makes a result to the start of what waited for it."""
    for number in window.numbers:
        for producer in producers(schedule, number):
            if producer in window.numbers:
                x1, y1 = window.x(schedule.issued[producer]) + CYCLE / 2, window.middle(producer) + _BAR / 2
                x2, y2 = window.x(schedule.issued[number]), window.middle(number)
                yield f'<path class="arrow" d="M{x1:g} {y1:g}V{y2:g}H{x2:g}"/>'


def names(schedule: Schedule, numbers: Sequence[int]) -> list[str]:
    """What stands left of the rows: number and text, escaped for HTML."""
    return [f"<b>[{n}]</b> {escape(schedule.stream[n].instruction.text)}" for n in numbers]
