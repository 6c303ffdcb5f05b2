"""A schedule as a Kanata log, which Konata draws: https://github.com/shioyadan/Konata, docs/kanata-log-format.md."""

from __future__ import annotations

from collections.abc import Iterator

from sim.timing.attribution import Segment, life
from sim.timing.reasons import Activity
from sim.timing.schedule import Kind, Schedule
from sim.view.cycles.reasons import producers, reason_text

_STAGES = {
    Activity.ENTRY: "F",
    Activity.OPERANDS: "Ds",
    Activity.ISSUE: "Is",
    Activity.EXECUTION: "X",
    Activity.RETIREMENT: "Cm",
}
"""Konata ends and starts its arrows at stages with an X in their names."""

_Event = tuple[int, str]


def kanata(schedule: Schedule) -> str:
    """The log: lane 0 shows the stages, lane 1 the stalls, arrows what an instruction waited for.

    The ids, and the ids of retirement, are the numbers in the stream: two runs of one program can be compared.
    """
    lines, now = ["Kanata\t0004"], 0
    for cycle, line in sorted(_events(schedule), key=lambda event: event[0]):
        if cycle > now:
            lines.append(f"C\t{cycle - now}")
            now = cycle
        lines.append(line)
    return "\n".join(lines) + "\n"


def _events(schedule: Schedule) -> Iterator[_Event]:
    """Those of one instruction come in the order of time."""
    born = 0
    for number, entered in enumerate(schedule.entered):
        yield born, f"I\t{number}\t{number}\t0"
        yield from ((born, line) for line in _labels(schedule, number))
        for part in _drawn(schedule, number):
            yield from _stage(schedule, number, part)
        yield schedule.retired[number], f"R\t{number}\t{number}\t0"
        born = entered


def _drawn(schedule: Schedule, number: int) -> list[Segment]:
    """Execution always is, as the end of arrows, even without a cycle."""
    parts = life(schedule, number)
    if all(part.activity is not Activity.EXECUTION for part in parts):
        issued = schedule.issued[number]
        parts.append(Segment(issued, issued, Activity.EXECUTION))
    return sorted(parts, key=lambda part: (part.start, part.end))


def _labels(schedule: Schedule, number: int) -> tuple[str, str]:
    """The line at the left, and what stands under the mouse."""
    one = schedule.stream[number]
    place = "" if one.pc is None else f"{one.pc:x}: "
    pipes = " ".join(f"{pipe}@{start}-{end}" for pipe, start, end in schedule.pipes[number]) or "no pipe"
    shown = f"L\t{number}\t0\t{_one_line(place + one.instruction.text)}"
    return shown, f"L\t{number}\t1\t{schedule.classes[number]}; {pipes}"


def _stage(schedule: Schedule, number: int, part: Segment) -> Iterator[_Event]:
    name, stall = _STAGES[part.activity], part.stall
    yield part.start, f"S\t{number}\t0\t{name}"
    if stall.kind is not Kind.NONE:
        yield part.start, f"S\t{number}\t1\t{stall.kind.value}"
        yield part.start, f"L\t{number}\t2\t{_one_line(reason_text(schedule, number, stall))}"
        yield part.end, f"E\t{number}\t1\t{stall.kind.value}"
    if part.activity is Activity.EXECUTION:
        yield from ((part.start, f"W\t{number}\t{cause}\t0") for cause in producers(schedule, number))
    yield part.end, f"E\t{number}\t0\t{name}"


def _one_line(text: str) -> str:
    """Tabs and line ends would begin another column or command."""
    return " ".join(text.split())
