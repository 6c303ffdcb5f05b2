"""What follows from a schedule by C: the longest chain of results, the critical path, slack."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np

from sim.timing.model.core import Core
from sim.timing.model.schedule import Stage
from sim.timing.native.array_stream import ArrayStream, starts
from sim.timing.native.library import SLICE, STEP, ChainC, PathC, ScheduleC, SlackC, call, in_slices, slices
from sim.timing.native.scheduling import NativeSchedule, Writers, point_to, structure_of, writers_of
from sim.timing.native.tables import CoreTables, core_tables

Array = np.ndarray[Any, Any]
_NONE: Final = -1


def longest_chain(stream: ArrayStream, core: Core) -> Fraction:
    """`sim.timing.analysis.chains.longest_chain`.  Raises NotNative."""
    tables = core_tables(stream, core)
    chain = _chain(stream, tables, writers_of(stream))
    return Fraction(chain.chain, tables.unit)


def _chain(stream: ArrayStream, tables: CoreTables, writers: Writers) -> ChainC:
    count, structure = len(stream), structure_of(stream, tables, writers)
    needs = starts(tables.rows["sources"][structure.array("operation")] + np.diff(writers.first))
    chain = ChainC()
    chain.point_at(schedule=structure)
    chain.point(
        main_at=np.zeros(count, np.int64), base_at=np.zeros(count, np.int64), first_need=needs,
        producer=np.full(needs[-1], _NONE, np.int32), cycles=np.zeros(needs[-1], np.int32),
    )  # fmt: skip
    in_slices("follow_chains", chain, count)
    return chain


def critical_steps(schedule: NativeSchedule) -> Array:
    """The edges of `sim.timing.analysis.critical_path.find_critical_path`, as `STEP`."""
    structure, last = _scheduled(schedule), len(schedule.stream) - 1
    path, room = PathC(number=last, stage=Stage.RETIRED, room=SLICE), np.zeros(SLICE, STEP)
    path.point_at(schedule=structure)
    path.point(done=_done(schedule), step=room)
    parts, goes_on = list[Array](), True
    while goes_on:
        goes_on = bool(call("follow_path", path))
        parts.append(room[: path.steps].copy())
    return np.concatenate(parts)[::-1]


def _scheduled(schedule: NativeSchedule) -> ScheduleC:
    structure = structure_of(schedule.stream, schedule.tables, schedule.writers)
    point_to(structure, schedule.arrays)
    return structure


def _done(schedule: NativeSchedule) -> Array:
    """For each instruction, the last one up to it that retired as soon as it was ready; the first where none did."""
    arrays = schedule.arrays
    numbers = np.where(arrays.retired <= arrays.ready, np.arange(len(arrays.ready), dtype=np.int32), np.int32(0))
    found: Array = np.maximum.accumulate(numbers)
    return found


def find_slack(schedule: NativeSchedule, dispatch_to_issue: int) -> Array:
    """`sim.timing.analysis.slack.slacks`: by how many cycles the results of each instruction could be later (int64)."""
    stream, arrays, core = schedule.stream, schedule.arrays, schedule.core
    count, at_once = len(stream), core.order == "in"
    times = [arrays.entered, arrays.available, arrays.issued, arrays.ready, arrays.retired]
    stands = {Stage.ENTERED: 0, Stage.READY: 2, Stage.RETIRED: 4} if at_once else {
        stage: 2 if stage is Stage.READY else int(stage) for stage in Stage
    }  # fmt: skip
    end = int(arrays.retired.max())
    structure = _scheduled(schedule)
    holder, idle = _holders(schedule, structure)
    slack = SlackC(dispatch_to_issue=dispatch_to_issue, next=count * len(stands))
    slack.point_at(schedule=structure, needs=_chain(stream, schedule.tables, schedule.writers))
    left = np.empty((count, len(Stage)), np.int64)
    for stage, at in enumerate(times):
        np.subtract(end, at, out=left[:, stage])
    slack.point(
        done=_done(schedule), filling=_filling(structure, core.width),
        event=_sorted_events(stands, times, count), holder=holder, idle=idle, left=left,
    )  # fmt: skip
    if not at_once and core.reorder_buffer:
        slack.point(crowding=_filling(structure, core.reorder_buffer))
    while slack.next:
        call("find_slack", slack, SLICE)
    return left[:, Stage.READY]


def _filling(structure: ScheduleC, room: int) -> Array:
    count = structure.count
    filling, state = np.zeros(count, np.int32), np.array([_NONE, 0], np.int64)
    for start, end in slices(count):
        call("find_filling", structure, room, start, end, filling, state)
    return filling


def _by_cycle(cycles: Array) -> Array:
    """The numbers of things by their cycle, those of a cycle in order."""
    at, found = starts(np.bincount(cycles)), np.zeros(len(cycles), np.int32)
    for start, end in slices(len(cycles)):
        call("sort_by_cycle", cycles, start, end, at, found)
    return found


def _sorted_events(stands: dict[Stage, int], times: Sequence[Array], count: int) -> Array:
    """All events, the first first: by the cycle in which they stand, then by number and stage."""
    cycles = np.stack([times[at] for at in stands.values()], axis=1).reshape(-1)
    events, stages = _by_cycle(cycles), np.array(list(stands), np.int32)
    del cycles
    for start, end in slices(len(events)):
        number, stage = np.divmod(events[start:end], np.int32(len(stands)))
        events[start:end] = number * np.int32(len(Stage)) + stages[stage]
    return events


def _holders(schedule: NativeSchedule, structure: ScheduleC) -> tuple[Array, Array]:
    """Of each reservation: which instruction had the pipe before (-1: none), and how long it stood idle."""
    arrays = schedule.arrays
    ordered = _by_cycle(arrays.busy_from)
    owner = np.repeat(np.arange(len(schedule.stream), dtype=np.int32), np.diff(arrays.first_use))
    last = np.full(len(schedule.core.pipes), _NONE, np.int64)
    holder, idle = (np.zeros(len(owner), np.int32) for _ in range(2))
    cycles = arrays.busy_from[ordered]
    firsts = np.searchsorted(cycles, cycles[::SLICE]).tolist()  # a cycle is not split
    for start, end in pairwise([*firsts, len(ordered)]):
        call("find_holders", structure, ordered, start, end, owner, last, holder, idle)
    return holder, idle


def longest_run(steps: Array, period: int) -> tuple[int, int]:
    """Of numbers that come again after `period` places: where the longest such part begins, and its length."""
    found = np.zeros(2, np.int64)
    call("longest_run", steps, len(steps), period, found)
    return int(found[0]), int(found[1])
