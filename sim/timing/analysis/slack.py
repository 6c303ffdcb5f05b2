"""The slack of each instruction: how much later it could be before the total grows, the order of the schedule kept.

Events and their bounds form a graph without cycles; a backward pass gives to each event what the events after it
can still give, and the room between.  Bounds are: operands; one reservation of a pipe after the other; entry in
order, `width` slots a cycle; retirement in order; room in the reorder buffer; and whatever an instruction was seen to
wait for.  Kept too is which of several pipes an instruction took, where a later result could make it take another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from sim.timing.analysis.critical_path import Event, binding, time_of
from sim.timing.analysis.dependences import dependences
from sim.timing.model.operation import operations_on
from sim.timing.model.schedule import Schedule, Stage, StallKind
from sim.timing.native.following import find_slack
from sim.timing.native.scheduling import NativeSchedule

Array = np.ndarray[Any, Any]

_DISPATCH_TO_ISSUE = 1
"""Cycles that an instruction is under way from dispatch to the earliest issue, out of order."""


class Slack(NamedTuple):
    """By how many cycles an instruction could enter later, issue later, and its results alone be later."""

    entry: int
    issue: int
    result: int


class _Room(NamedTuple):
    """How many cycles lie between an event and the earliest time that the one before it allows."""

    before: Event
    cycles: int


def slacks(schedule: Schedule) -> list[Slack]:
    """The slack of every instruction of a schedule.

    It is an estimate where delays are whole cycles of an average (a latency of 2.5) and where queues are nearly full.
    """
    graph = _Graph(schedule)
    left = _Left(schedule)
    for event in reversed(graph.events()):
        for room in graph.rooms(event):
            left.limit(room.before, max(room.cycles, 0) + left[event])
    return [
        Slack(left[Event(number, Stage.ENTERED)], left[graph.issue(number)], left[Event(number, Stage.READY)])
        for number in range(len(schedule.stream))
    ]


def result_slacks(schedule: Schedule) -> Array:
    """By how many cycles the results of each instruction alone could be later; of a schedule that C made, by C."""
    if isinstance(schedule, NativeSchedule):
        return find_slack(schedule, _DISPATCH_TO_ISSUE)
    return np.array([slack.result for slack in slacks(schedule)], np.int64)


class _Left(dict[Event, int]):
    """By how many cycles each event could be later, as far as it is known."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__()
        self._schedule, self._end = schedule, schedule.cycles

    def __missing__(self, event: Event) -> int:
        return self._end - time_of(self._schedule, event)

    def limit(self, event: Event, cycles: int) -> None:
        """It cannot be later by more than that."""
        self[event] = min(self[event], cycles)


class _Graph:
    """The bounds between the events of a schedule.  In order, an instruction enters with its operands and issues."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._core = schedule.core
        self._needed = list(dependences(schedule.stream, schedule.core))
        # For each instruction, those that had its pipes just before, with the cycles that these stood idle between.
        self._pipes: list[list[tuple[int, int]]] = [[] for _ in schedule.stream]
        by_pipe: dict[str, list[tuple[int, int, int]]] = {}
        for number, busy in enumerate(schedule.pipes):
            for pipe, start, end in busy:
                by_pipe.setdefault(pipe, []).append((start, end, number))
        for reservations in by_pipe.values():
            for before, after in pairwise(sorted(reservations)):
                self._pipes[after[2]].append((before[2], after[0] - before[1]))
        self._at_once = schedule.core.order == "in"
        self._filling = _filling(schedule, schedule.core.width)
        buffer = 0 if self._at_once else schedule.core.reorder_buffer
        self._crowding = _filling(schedule, buffer) if buffer else None

    def events(self) -> list[Event]:
        """All events, those first that come first.

        A result stands at the issue of its instruction, because forwarding hands it on before it is ready.
        """
        stands = {stage: stage for stage in Stage if self._stage(stage) is stage} | {Stage.READY: Stage.ISSUED}
        events = sorted(
            (time_of(self._schedule, Event(number, at)), number, stage)
            for number in range(len(self._schedule.stream))
            for stage, at in stands.items()
        )
        return [Event(number, stage) for _, number, stage in events]

    def issue(self, number: int) -> Event:
        """The issue of an instruction."""
        return Event(number, self._stage(Stage.ISSUED))

    def _stage(self, stage: Stage) -> Stage:
        return Stage.ENTERED if self._at_once and stage in (Stage.AVAILABLE, Stage.ISSUED) else stage

    def rooms(self, event: Event) -> Iterator[_Room]:
        """What bounds an event, and the room left."""
        number, stage = event
        schedule, before = self._schedule, Event(number - 1, stage)
        if stage is Stage.ENTERED:
            if number:
                yield self._room(before, event, int(self._core.timing(schedule.classes[number]).first))
            if self._filling[number] >= 0:
                yield self._room(Event(self._filling[number], Stage.ENTERED), event, 1)
            if self._crowding and self._crowding[number] >= 0:
                yield self._room(Event(self._crowding[number], Stage.RETIRED), event)
            yield from self._seen(event)
            if self._at_once:
                yield from (*self._needs(event), *self._reservations(event))
        elif stage is Stage.AVAILABLE:
            yield self._room(Event(number, Stage.ENTERED), event, _DISPATCH_TO_ISSUE)
            yield from (*self._needs(event), *self._seen(event))
        elif stage is Stage.ISSUED:
            yield self._room(Event(number, Stage.AVAILABLE), event)
            yield from (*self._reservations(event), *self._seen(event))
        elif stage is Stage.READY:
            yield _Room(self.issue(number), 0)
        else:
            yield self._room(Event(number, Stage.READY), event)
            if number:
                waited = schedule.retired[number] > schedule.ready[number]
                yield _Room(before, 0) if waited else self._room(before, event)

    def _room(self, before: Event, after: Event, cycles: int = 0) -> _Room:
        return _Room(before, time_of(self._schedule, after) - time_of(self._schedule, before) - cycles)

    def _needs(self, event: Event) -> Iterator[_Room]:
        """Operands.  Out of order an updated base does not wait for its access, so that this bounds nothing."""
        for need in self._needed[event.number]:
            if self._at_once or not need.base:
                room = self._room(self.issue(need.producer), event, ceil(need.cycles))
                yield room._replace(before=Event(need.producer, Stage.READY))

    def _reservations(self, event: Event) -> Iterator[_Room]:
        return (_Room(self.issue(number), idle) for number, idle in self._pipes[event.number])

    def _seen(self, event: Event) -> Iterator[_Room]:
        """What an event was seen to wait for leaves it no room: where that was a result, the result itself."""
        bound = binding(self._schedule, event)
        if bound is not None and bound.kind is not StallKind.NONE:
            number, stage = bound.event
            issued = stage is Stage.ISSUED and bound.kind not in (StallKind.PIPE, StallKind.QUEUE)
            yield _Room(Event(number, Stage.READY if issued else self._stage(stage)), 0)


def _filling(schedule: Schedule, room: int) -> list[int]:
    """For each instruction, the last one before it such that both and all between need more slots than that; or -1."""
    operations = operations_on(schedule.core)
    slots = [operations[one.instruction].slots for one in schedule.stream]
    before = [0, *accumulate(slots)]
    found, last = [], -1
    for number in range(len(slots)):
        while last + 1 < number and before[number + 1] - before[last + 1] > room:
            last += 1
        found.append(last)
    return found
