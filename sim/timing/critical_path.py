"""The critical path of a schedule: what bound each event, followed from the end of the stream back to its start.

An event is a stage of one instruction.  Each has one binding event before it, without which it could have been
earlier; following these from the last retirement gives edges that cover every cycle of the total once.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.timing.reasons import RESULTS, site_of
from sim.timing.schedule import Kind, Schedule, Stall

IntArray = npt.NDArray[np.int64]
_ENOUGH = 0.9
"""A shorter part is preferred to one that covers little more of the path."""


class Stage(IntEnum):
    """The stages of an instruction, in their order: `sim.timing.schedule.Schedule` says what each is."""

    ENTERED = 0
    AVAILABLE = 1
    ISSUED = 2
    READY = 3
    RETIRED = 4


class Event(NamedTuple):
    """An instruction, by its number in the stream, reaching a stage."""

    number: int
    stage: Stage


class Bound(NamedTuple):
    """What bound an event: an earlier one, and how."""

    event: Event
    kind: Kind
    what: str = ""


class Edge(NamedTuple):
    """Cycles `start` to `end` (excluded) of the critical path.

    They pass until `target` reaches `stage`, and it waits for `source`; the kind is NONE where it waits for nobody:
    while it executes, and on the way from entry to issue.
    """

    start: int
    end: int
    source: int
    target: int
    stage: Stage
    kind: Kind
    what: str

    @property
    def cycles(self) -> int:
        """How long it is."""
        return self.end - self.start


FROM_ISSUE = RESULTS | {Kind.STORE, Kind.PIPE, Kind.QUEUE, Kind.MISPREDICT, Kind.MEMORY}
"""Kinds of which the wait ends so long after the cause issued."""


def time_of(schedule: Schedule, event: Event) -> int:
    """The cycle of an event."""
    times = (schedule.entered, schedule.available, schedule.issued, schedule.ready, schedule.retired)
    return times[event.stage][event.number]


def critical_path(schedule: Schedule) -> list[Edge]:
    """The edges from cycle 0 to the end, each at least a cycle long, each beginning where the one before it ends."""
    edges: list[Edge] = []
    event: Event | None = Event(len(schedule.stream) - 1, Stage.RETIRED) if schedule.stream else None
    while event is not None:
        bound = binding(schedule, event)
        edges.append(_edge(schedule, bound, event))
        event = bound.event if bound else None
    return [edge for edge in reversed(edges) if edge.cycles]


def _edge(schedule: Schedule, bound: Bound | None, event: Event) -> Edge:
    end, (number, stage) = time_of(schedule, event), event
    if bound is None:
        return Edge(0, end, number, number, stage, schedule.entry_stall[number].kind, "")
    return Edge(time_of(schedule, bound.event), end, bound.event.number, number, stage, bound.kind, bound.what)


def binding(schedule: Schedule, event: Event) -> Bound | None:
    """What bound an event; None for the entry of the first instruction."""
    number, stage = event
    if stage is Stage.RETIRED:
        return _binding_retirement(schedule, number)
    if stage is Stage.READY:
        return Bound(Event(number, Stage.ISSUED), Kind.NONE)
    stalls = (schedule.entry_stall, schedule.operand_stall, schedule.issue_stall)[stage]
    return _stalled(schedule, event, stalls[number]) or _before(event, stalls[number].kind)


def _binding_retirement(schedule: Schedule, number: int) -> Bound:
    if number and schedule.retired[number] > schedule.ready[number]:
        return Bound(Event(number - 1, Stage.RETIRED), Kind.NONE)
    return Bound(Event(number, Stage.READY), Kind.NONE)


def _before(event: Event, kind: Kind) -> Bound | None:
    """What is always before: the stage before, and the entry of the instruction in front."""
    number, stage = event
    if stage is not Stage.ENTERED:
        return Bound(Event(number, Stage(stage - 1)), kind)
    return Bound(Event(number - 1, Stage.ENTERED), kind) if number else None


def _stalled(schedule: Schedule, event: Event, stall: Stall) -> Bound | None:
    """The event that a stall names, None if it names none before this one."""
    cause = _cause(schedule, event.number, stall)
    if cause is None or _order(schedule, cause) >= _order(schedule, event):
        return None
    return Bound(cause, stall.kind, stall.what)


def _cause(schedule: Schedule, number: int, stall: Stall) -> Event | None:
    if stall.kind is Kind.WIDTH and number:
        return Event(_first_of_cycle(schedule.entered, number - 1), Stage.ENTERED)
    if stall.cause < 0:
        return None
    if stall.kind is Kind.REORDER:
        return Event(_delaying_retirement(schedule, stall.cause), Stage.ISSUED)
    return Event(stall.cause, Stage.ISSUED if stall.kind in FROM_ISSUE else Stage.ENTERED)


def _delaying_retirement(schedule: Schedule, number: int) -> int:
    """The instruction that was not done, so that this one could not retire either."""
    while number and schedule.retired[number] > schedule.ready[number]:
        number -= 1
    return number


def _first_of_cycle(entered: Sequence[int], number: int) -> int:
    """The first instruction that enters together with this one: it fills the cycle's slots with those after it."""
    while number and entered[number - 1] == entered[number]:
        number -= 1
    return number


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


def repeated_part(schedule: Schedule, path: Sequence[Edge], longest: int = 256) -> RepeatedPart | None:
    """The part of a path that repeats itself over most of it, of at most `longest` edges; None if nothing comes twice.

    Of parts that cover about as much, it is the shortest one.
    """
    known: dict[object, int] = {}
    numbers = np.array([known.setdefault(_step(schedule, edge), len(known)) for edge in path])
    runs = {period: _longest_run(numbers, period) for period in range(1, min(longest, len(path) // 2) + 1)}
    most = max((run for _, run in runs.values()), default=0)
    for period, (start, run) in runs.items():
        if run >= 2 * period and run >= _ENOUGH * most:
            repetitions = run // period
            cycles = sum(edge.cycles for edge in path[start : start + repetitions * period])
            return RepeatedPart(start, period, repetitions, cycles)
    return None


def _step(schedule: Schedule, edge: Edge) -> tuple[object, ...]:
    """An edge by the code that it goes through."""
    source, target = (site_of(schedule.stream[number]) for number in (edge.source, edge.target))
    return source, target, edge.stage, edge.kind, edge.what


def _longest_run(numbers: IntArray, period: int) -> tuple[int, int]:
    """Start and length of the longest part in which the same number comes again after `period` places."""
    differ = np.flatnonzero(numbers[period:] != numbers[:-period])
    ends = np.concatenate(([-1], differ, [len(numbers) - period]))
    longest = int(np.argmax(np.diff(ends)))
    return int(ends[longest]) + 1, int(ends[longest + 1] - ends[longest]) - 1 + period
