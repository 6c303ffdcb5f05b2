"""Where the cycles of a schedule go: the life of each instruction, and every cycle of the total charged once.

In order, charged is the oldest instruction not issued yet, with what it waits for, and after the last issue the one
that completes last.  Out of order that would say little: the oldest instruction that is not done nearly always
executes, whatever held it up.  There the cycles are charged along the critical path, to the instruction that waits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from sim.timing.analysis.critical_path import Edge, find_critical_path
from sim.timing.analysis.reasons import Activity, Reason, reason_of
from sim.timing.model.schedule import NO_STALL, Schedule, Stage, Stall

_ACTIVITIES = {
    Stage.ENTERED: Activity.ENTRY,
    Stage.AVAILABLE: Activity.OPERANDS,
    Stage.ISSUED: Activity.ISSUE,
    Stage.READY: Activity.EXECUTION,
    Stage.RETIRED: Activity.RETIREMENT,
}
"""What an instruction does until it reaches a stage."""


class LifeSegment(NamedTuple):
    """A part of an instruction's life, from a cycle to one that is excluded, with what it waited for."""

    start: int
    end: int
    activity: Activity
    stall: Stall = NO_STALL

    @property
    def cycles(self) -> int:
        """How long it is."""
        return self.end - self.start


class Charge(NamedTuple):
    """A segment charged to an instruction of the stream, by its number."""

    number: int
    segment: LifeSegment

    def reason(self, schedule: Schedule) -> Reason:
        """Why these cycles passed."""
        return reason_of(schedule, self.segment.activity, self.segment.stall)


def life(schedule: Schedule, number: int) -> list[LifeSegment]:
    """The life of an instruction, from the entry of the one before it to its retirement, without gaps.

    Segments have at least one cycle, so an instruction that enters and is done at once has none.
    """
    before = schedule.entered[number - 1] if number else 0
    entered, available, issued = schedule.entered[number], schedule.available[number], schedule.issued[number]
    ready, retired = schedule.ready[number], schedule.retired[number]
    parts = (
        LifeSegment(before, entered, Activity.ENTRY, schedule.entry_stall[number]),
        LifeSegment(entered, available, Activity.OPERANDS, schedule.operand_stall[number]),
        LifeSegment(available, issued, Activity.ISSUE, schedule.issue_stall[number]),
        LifeSegment(issued, ready, Activity.EXECUTION),
        LifeSegment(ready, retired, Activity.RETIREMENT),
    )
    return [part for part in parts if part.cycles > 0]


def charges(schedule: Schedule) -> Iterator[Charge]:
    """Every cycle of a schedule, in order, each charged once: the segments follow each other from 0 to its end.

    A charge has at least one cycle.
    """
    if schedule.core.order != "in":
        yield from map(charge_of, find_critical_path(schedule))
        return
    before = 0
    for number, entered in enumerate(schedule.entered):
        if entered > before:
            yield Charge(number, LifeSegment(before, entered, Activity.ENTRY, schedule.entry_stall[number]))
        before = entered
    if before < (end := schedule.cycles):
        yield Charge(bisect_left(schedule.retired, end), LifeSegment(before, end, Activity.EXECUTION))


def charge_of(edge: Edge) -> Charge:
    """An edge of the critical path as a charge to the instruction that waits."""
    stall = Stall(edge.kind, edge.source, edge.what)
    return Charge(edge.target, LifeSegment(edge.start, edge.end, _ACTIVITIES[edge.stage], stall))
