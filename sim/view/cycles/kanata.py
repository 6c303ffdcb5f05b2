"""A schedule as a Kanata log, which Konata draws (https://github.com/shioyadan/Konata, kanata-log-format.md)."""

from __future__ import annotations

from collections.abc import Iterator

from sim.timing.analysis.attribution import LifeSegment, life
from sim.timing.analysis.reasons import Activity
from sim.timing.model.schedule import Schedule, StallKind
from sim.view.cycles.reasons import producers, reason_text

_STAGES = {
    Activity.ENTRY: "F",
    Activity.OPERANDS: "Ds",
    Activity.ISSUE: "Is",
    Activity.EXECUTION: "X",
    Activity.RETIREMENT: "Cm",
}
"""Konata ends and starts its arrows at stages with an X in their names."""


def render_kanata(schedule: Schedule) -> str:
    """The log: lane 0 shows the stages, lane 1 the stalls, arrows what an instruction waited for.

    The ids, and the ids of retirement, are the numbers in the stream: two runs of one program can be compared.
    """
    events: list[tuple[int, str]] = []  # those of one instruction in the order of time
    born = 0
    for number, entered in enumerate(schedule.entered):
        one = schedule.stream[number]
        place = "" if one.pc is None else f"{one.pc:x}: "
        pipes = " ".join(f"{pipe}@{start}-{end}" for pipe, start, end in schedule.pipes[number]) or "no pipe"
        events += [
            (born, f"I\t{number}\t{number}\t0"),
            (born, f"L\t{number}\t0\t{_one_line(place + one.instruction.text)}"),  # at the left
            (born, f"L\t{number}\t1\t{schedule.classes[number]}; {pipes}"),  # under the mouse
            *_stages(schedule, number),
            (schedule.retired[number], f"R\t{number}\t{number}\t0"),
        ]
        born = entered
    lines, now = ["Kanata\t0004"], 0
    for cycle, line in sorted(events, key=lambda event: event[0]):
        if cycle > now:
            lines.append(f"C\t{cycle - now}")
            now = cycle
        lines.append(line)
    return "\n".join(lines) + "\n"


def _stages(schedule: Schedule, number: int) -> Iterator[tuple[int, str]]:
    """Execution always is one, as the end of arrows, even without a cycle."""
    parts = life(schedule, number)
    if all(part.activity is not Activity.EXECUTION for part in parts):
        issued = schedule.issued[number]
        parts.append(LifeSegment(issued, issued, Activity.EXECUTION))
    for part in sorted(parts, key=lambda part: (part.start, part.end)):
        name, stall = _STAGES[part.activity], part.stall
        yield part.start, f"S\t{number}\t0\t{name}"
        if stall.kind is not StallKind.NONE:
            yield part.start, f"S\t{number}\t1\t{stall.kind.value}"
            yield part.start, f"L\t{number}\t2\t{_one_line(reason_text(schedule, number, stall))}"
            yield part.end, f"E\t{number}\t1\t{stall.kind.value}"
        if part.activity is Activity.EXECUTION:
            yield from ((part.start, f"W\t{number}\t{cause}\t0") for cause in producers(schedule, number))
        yield part.end, f"E\t{number}\t0\t{name}"


def _one_line(text: str) -> str:
    """Tabs and line ends would begin another column or command."""
    return " ".join(text.split())
