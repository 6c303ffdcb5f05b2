"""Where the cycles of a schedule go: the life of each instruction, and every cycle of the total charged once.

In order, charged is the oldest instruction not issued yet, with what it waits for, and after the last issue the one
that completes last.  Out of order that would say little: the oldest instruction that is not done nearly always
executes, whatever held it up.  There the cycles are charged along the critical path, to the instruction that waits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.timing.analysis.critical_path import CriticalPath, Edge, critical_path, numbered
from sim.timing.analysis.reasons import Activity, Reason, Site, numbered_sites, reason_of
from sim.timing.model.schedule import NO_STALL, Schedule, Stage, Stall, StallKind
from sim.timing.native.array_stream import array_stream
from sim.timing.native.arrays import KINDS, arrays_of
from sim.timing.native.library import STEP

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


def charged(schedule: Schedule) -> CriticalPath:
    """Every cycle of a schedule, in order, each charged once: the edges of a path follow each other from 0 to its end.

    An edge has at least one cycle; `target` is the instruction that is charged, `source` what it waits for, or -1.
    """
    if schedule.core.order != "in":
        return critical_path(schedule)
    arrays = arrays_of(schedule)
    entered = np.concatenate([[0], arrays.entered])
    late = np.flatnonzero(np.diff(entered) > 0)
    end = schedule.cycles
    executes = entered[-1] < end
    steps = np.zeros(len(late) + executes, STEP)
    steps["start"][: len(late)], steps["end"][: len(late)], steps["target"][: len(late)] = (
        entered[late], entered[late + 1], late,
    )  # fmt: skip
    for name, column in zip(("kind", "source", "what"), arrays.entry, strict=True):
        steps[name][: len(late)] = column[late]
    if executes:
        last = int(np.searchsorted(arrays.retired, end))
        steps[-1] = (entered[-1], end, -1, last, 0, Stage.READY, KINDS.index(StallKind.NONE))
    return CriticalPath(steps, arrays.names)


def grouped(schedule: Schedule, path: CriticalPath) -> list[tuple[Site, Reason, int]]:
    """The cycles of a path by instruction of the code and by reason, in the order in which these come first."""
    steps, (sites, numbers) = path.steps, numbered_sites(schedule.stream)
    if not len(steps):
        return []
    source, loads = steps["source"], array_stream(schedule.stream).loads.first
    where = np.append(numbers, -1)[source]  # -1, which is nobody, is at no site, and loads nothing
    has_loads = loads[source + 1] > loads[source]
    rows = [numbers[steps["target"]], steps["stage"], steps["kind"], steps["what"], where, has_loads]
    group, first = numbered(rows)
    cycles = np.bincount(group, weights=steps["end"] - steps["start"])  # exact: far fewer than 2^53
    return [
        (sites[numbers[edge.target]], charge_of(edge).reason(schedule), int(count))
        for edge, count in zip(map(path.__getitem__, first.tolist()), cycles.tolist(), strict=True)
    ]


def charge_of(edge: Edge) -> Charge:
    """An edge of the critical path as a charge to the instruction that waits."""
    stall = Stall(edge.kind, edge.source, edge.what)
    return Charge(edge.target, LifeSegment(edge.start, edge.end, _ACTIVITIES[edge.stage], stall))
