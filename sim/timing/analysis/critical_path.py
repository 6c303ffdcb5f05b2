"""The critical path of a schedule: what bound each event, followed from the end of the stream back to its start.

An event is a stage of one instruction.  Each has one binding event before it, without which it could have been
earlier; following these from the last retirement gives edges that cover every cycle of the total once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from sim.timing.analysis.reasons import RESULTS, numbered_sites
from sim.timing.model.schedule import Schedule, Stage, Stall, StallKind
from sim.timing.native.arrays import KINDS, arrays_of
from sim.timing.native.following import critical_steps, longest_run
from sim.timing.native.library import STEP
from sim.timing.native.scheduling import NativeSchedule

Array = np.ndarray[Any, Any]

_ENOUGH = 0.9
"""A shorter part is preferred to one that covers little more of the path."""


class Event(NamedTuple):
    """An instruction, by its number in the stream, reaching a stage."""

    number: int
    stage: Stage


class Binding(NamedTuple):
    """What bound an event: an earlier one, and how."""

    event: Event
    kind: StallKind
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Cycles `start` to `end` (excluded) of the critical path.

    They pass until `target` reaches `stage`, and it waits for `source`; the kind is NONE where it waits for nobody:
    while it executes, and on the way from entry to issue.
    """

    start: int
    end: int
    source: int
    target: int
    stage: Stage
    kind: StallKind
    what: str

    @property
    def cycles(self) -> int:
        """How long it is."""
        return self.end - self.start


FROM_ISSUE = RESULTS | {StallKind.STORE, StallKind.PIPE, StallKind.QUEUE, StallKind.MISPREDICT, StallKind.MEMORY}
"""Kinds of which the wait ends so long after the cause issued."""


def time_of(schedule: Schedule, event: Event) -> int:
    """The cycle of an event."""
    times = (schedule.entered, schedule.available, schedule.issued, schedule.ready, schedule.retired)
    return times[event.stage][event.number]


def find_critical_path(schedule: Schedule) -> list[Edge]:
    """The edges from cycle 0 to the end, each at least a cycle long, each beginning where the one before it ends."""
    edges: list[Edge] = []
    event: Event | None = Event(len(schedule.stream) - 1, Stage.RETIRED) if schedule.stream else None
    while event is not None:
        bound, end, (number, stage) = binding(schedule, event), time_of(schedule, event), event
        start, source, kind, what = 0, number, schedule.entry_stall[number].kind, ""
        if bound:
            start, source, kind, what = time_of(schedule, bound.event), bound.event.number, bound.kind, bound.what
        edges.append(Edge(start=start, end=end, source=source, target=number, stage=stage, kind=kind, what=what))
        event = bound.event if bound else None
    return [edge for edge in reversed(edges) if edge.cycles]


class CriticalPath(Sequence[Edge]):
    """The edges of a critical path, which `steps` (STEP) has too; `names` are those of registers and pipes."""

    def __init__(self, steps: Array, names: Sequence[str]) -> None:
        self.steps, self.names = steps, names

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, number: int) -> Edge: ...

    @overload
    def __getitem__(self, number: slice) -> list[Edge]: ...

    def __getitem__(self, number: int | slice) -> Edge | list[Edge]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        start, end, source, target, what, stage, kind = self.steps[number].item()
        return Edge(
            start=start, end=end, source=source, target=target, stage=Stage(stage), kind=KINDS[kind],
            what=self.names[what],
        )  # fmt: skip


def critical_path(schedule: Schedule) -> CriticalPath:
    """`find_critical_path`; of a schedule that C made, by C."""
    names = arrays_of(schedule).names
    if isinstance(schedule, NativeSchedule):
        return CriticalPath(critical_steps(schedule), names)
    number = {name: place for place, name in enumerate(names)}
    rows = [
        (edge.start, edge.end, edge.source, edge.target, number[edge.what], edge.stage, KINDS.index(edge.kind))
        for edge in find_critical_path(schedule)
    ]
    return CriticalPath(np.array(rows, STEP), names)


def binding(schedule: Schedule, event: Event) -> Binding | None:
    """What bound an event; None for the entry of the first instruction."""
    number, stage = event
    if stage is Stage.RETIRED:
        in_order = number and schedule.retired[number] > schedule.ready[number]
        before = Event(number - 1, Stage.RETIRED) if in_order else Event(number, Stage.READY)
        return Binding(before, StallKind.NONE)
    if stage is Stage.READY:
        return Binding(Event(number, Stage.ISSUED), StallKind.NONE)
    stall = (schedule.entry_stall, schedule.operand_stall, schedule.issue_stall)[stage][number]
    cause = _cause(schedule, number, stall)
    if cause is not None and _order(schedule, cause) < _order(schedule, event):
        return Binding(cause, stall.kind, stall.what)
    # What is always before: the stage before, and the entry of the instruction in front.
    if stage is not Stage.ENTERED:
        return Binding(Event(number, Stage(stage - 1)), stall.kind)
    return Binding(Event(number - 1, Stage.ENTERED), stall.kind) if number else None


def _cause(schedule: Schedule, number: int, stall: Stall) -> Event | None:
    """The event that a stall of that instruction names."""
    if stall.kind is StallKind.WIDTH and number:
        first = number - 1  # to enter in the cycle before: it fills the slots with those after it
        while first and schedule.entered[first - 1] == schedule.entered[first]:
            first -= 1
        return Event(first, Stage.ENTERED)
    if stall.cause < 0:
        return None
    if stall.kind is StallKind.REORDER:
        late = stall.cause  # or an earlier one that was not done, so that this one could not retire either
        while late and schedule.retired[late] > schedule.ready[late]:
            late -= 1
        return Event(late, Stage.ISSUED)
    return Event(stall.cause, Stage.ISSUED if stall.kind in FROM_ISSUE else Stage.ENTERED)


def _order(schedule: Schedule, event: Event) -> tuple[int, int, int]:
    """Events by time; bindings go down in this order, so that they come to an end."""
    return time_of(schedule, event), event.number, event.stage


class RepeatedPart(NamedTuple):
    """The part of a critical path that comes again and again.

    It begins at edge `start`, has `period` edges and comes `repetitions` times, which takes `cycles` along the path.
    """

    start: int
    period: int
    repetitions: int
    cycles: int


def repeated_part(schedule: Schedule, path: CriticalPath, longest: int = 256) -> RepeatedPart | None:
    """The part of a path that repeats itself over most of it, of at most `longest` edges; None if nothing comes twice.

    Of parts that cover about as much, it is the shortest one.
    """
    steps, (_, sites) = path.steps, numbered_sites(schedule.stream)
    by_code = [sites[steps["source"]], sites[steps["target"]], steps["stage"], steps["kind"], steps["what"]]
    numbers = numbered(by_code)[0].astype(np.int32)
    run_of = longest_run if isinstance(schedule, NativeSchedule) else _longest_run
    # By period, start and length of the longest part in which each number comes again after so many places.
    runs = {period: run_of(numbers, period) for period in range(1, min(longest, len(path) // 2) + 1)}
    most = max((run for _, run in runs.values()), default=0)
    for period, (start, run) in runs.items():
        if run >= 2 * period and run >= _ENOUGH * most:
            repetitions = run // period
            part = steps[start : start + repetitions * period]
            return RepeatedPart(start, period, repetitions, int((part["end"] - part["start"]).sum()))
    return None


def numbered(columns: Sequence[Array]) -> tuple[Array, Array]:
    """For each row of some columns of whole numbers, which of the different rows it is; where each of these is first.

    The different rows are numbered as they come first.
    """
    packed = np.zeros(len(columns[0]), np.int64)  # one number for a row
    for column in columns if len(packed) else ():
        low, high = int(column.min()), int(column.max())
        if int(packed.max()) >= 1 << 62 - (high - low).bit_length():
            packed = np.unique(packed, return_inverse=True)[1]
        packed <<= (high - low).bit_length()
        packed += column
        packed -= low
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    in_order = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[in_order] = np.arange(len(first))
    return place[inverse], first[in_order]


def _longest_run(numbers: Array, period: int) -> tuple[int, int]:
    differ = np.flatnonzero(numbers[period:] != numbers[:-period])
    ends = np.concatenate(([-1], differ, [len(numbers) - period]))
    place = int(np.argmax(np.diff(ends)))
    return int(ends[place]) + 1, int(ends[place + 1] - ends[place]) - 1 + period
