"""Timing a stream on a core: in C where that is worth it and there is a compiler, else by the pipelines in Python.

Both say the same, cycle by cycle and reason by reason: the pipelines in Python are what C is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from ctypes import memmove
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from isa.instruction import Instruction
from sim.timing.model import pipeline
from sim.timing.model.caches import NO_DELAYS, cache_delays
from sim.timing.model.core import Core
from sim.timing.model.predictor import CALLS, INDIRECT, TRAINING, goes_back, has_direction
from sim.timing.model.predictor import mispredictions as mispredictions_in_python
from sim.timing.model.schedule import Schedule, StallKind
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import ArrayStream, array_stream, starts
from sim.timing.native.arrays import KINDS, ArrayView, ScheduleArrays, StallArrays, numbers
from sim.timing.native.library import SLICE, BranchWay, PredictorC, ScheduleC, StoresC, call, in_slices, why_not
from sim.timing.native.tables import CoreTables, NotNative, core_tables

Array = np.ndarray[Any, Any]
NATIVE_FROM: Final = 1000
"""Instructions: what is shorter takes Python less time than a compiler, which is needed once."""
_DONE, _GO_ON = 0, 2


@dataclass(frozen=True, kw_only=True)
class NativeSchedule(Schedule):
    """A schedule made in C: its lists are views of `arrays`; `tables` and `writers` are what it was made of."""

    stream: ArrayStream
    arrays: ScheduleArrays
    tables: CoreTables
    writers: Writers


@dataclass(frozen=True, eq=False)
class Writers:
    """The stores that wrote what each load reads: where in `numbers` (int32) those of an instruction begin."""

    first: Array
    numbers: Array


_WRITERS: WeakKeyDictionary[ArrayStream, Writers] = WeakKeyDictionary()
_WRONG: WeakKeyDictionary[ArrayStream, dict[bool, frozenset[int]]] = WeakKeyDictionary()


def is_left_to_c(stream: Sequence[Executed]) -> bool:
    """Whether a stream is long enough for C, and there is a compiler."""
    return len(stream) >= NATIVE_FROM and not why_not()


def schedule(stream: Sequence[Executed], core: Core, *, warm: bool = True, caches: bool = False) -> Schedule:
    """When each instruction of a stream does what on a core, and why no earlier.

    `warm`: the branch predictor has seen earlier identical runs.  `caches`: the core's caches, empty at first; without
    them every load hits the first.  Raises ValueError for caches that the core file does not describe.
    """
    if is_left_to_c(stream):
        arrays = array_stream(stream)
        try:
            return native_schedule(arrays, core, mispredictions(arrays, warm),
                                   cache_delays(arrays, core) if caches else NO_DELAYS)  # fmt: skip
        except NotNative:
            pass
    return pipeline.schedule(stream, core, warm=warm, caches=caches)


def native_schedule(
    stream: ArrayStream, core: Core, mispredicted: frozenset[int], delays: Mapping[int, int] = NO_DELAYS
) -> NativeSchedule:
    """The schedule by C.  Raises LanewiseError where there is no compiler, NotNative for a core that C cannot have."""
    tables, writers, count = core_tables(stream, core), writers_of(stream), len(stream)
    structure = structure_of(stream, tables, writers)
    wrong = np.zeros(count, np.uint8)
    wrong[sorted(mispredicted)] = 1
    structure.point(mispredicted=wrong)
    if delays:
        late = np.zeros(count, np.int32)
        late[[*delays]] = [*delays.values()]
        structure.point(delay=late)
    total = int(structure.array("first_use")[-1])
    entered, none = np.zeros(count, np.int64), _no_stalls(count)
    at_once = core.order == "in"  # an instruction enters with its operands and issues, and waits for nothing then
    arrays = ScheduleArrays(
        names=tables.names,
        entered=entered,
        available=entered if at_once else np.zeros(count, np.int64),
        issued=entered if at_once else np.zeros(count, np.int64),
        ready=np.full(count, -1, np.int64),
        retired=np.zeros(count, np.int64),
        entry=_no_stalls(count),
        operand=none,
        issue=none if at_once else _no_stalls(count),
        first_use=structure.array("first_use"),
        busy_pipe=np.zeros(total, np.uint8), busy_from=np.zeros(total, np.int64), busy_to=np.zeros(total, np.int64),
    )  # fmt: skip
    point_to(structure, arrays)
    try:
        if at_once:
            in_slices("in_order", structure, count)
        else:
            while (state := call("out_of_order", structure, SLICE)) == _GO_ON:
                pass
            if state != _DONE:
                raise MemoryError("no memory for out_of_order")
    finally:
        call("release", structure)
    classes = [operation.timing.name for operation in tables.operations]
    instructions = stream.instruction_of_site[stream.site]
    unmodelled: Counter[str] = Counter()
    for operation, executed in zip(tables.operations, np.bincount(instructions).tolist(), strict=True):
        if operation.timing.status != "modelled":
            unmodelled[operation.timing.name] += executed
    return NativeSchedule(
        core=core, stream=stream,
        classes=ArrayView(count, lambda some: [classes[number] for number in instructions[some].tolist()]),
        entered=numbers(arrays.entered), available=numbers(arrays.available), issued=numbers(arrays.issued),
        ready=numbers(arrays.ready), retired=numbers(arrays.retired),
        entry_stall=arrays.entry.view(tables.names), operand_stall=arrays.operand.view(tables.names),
        issue_stall=arrays.issue.view(tables.names), pipes=arrays.pipes(core.pipes),
        mispredicted=mispredicted, unmodelled=unmodelled, arrays=arrays, tables=tables, writers=writers,
    )  # fmt: skip


def structure_of(stream: ArrayStream, tables: CoreTables, writers: Writers) -> ScheduleC:
    """A stream on a core as C takes it, of which nothing is scheduled."""
    structure = ScheduleC(count=len(stream))
    tables.fill(structure)
    instructions = stream.instruction_of_site[stream.site]
    structure.point(
        operation=instructions, taken=stream.taken.view(np.uint8),
        first_load=stream.loads.first, load=stream.loads.addresses, load_size=stream.loads.sizes,
        first_store=stream.stores.first, store=stream.stores.addresses, store_size=stream.stores.sizes,
        first_writer=writers.first, writer=writers.numbers, first_use=starts(tables.rows["uses"][instructions]),
    )  # fmt: skip
    return structure


def point_to(structure: ScheduleC, arrays: ScheduleArrays) -> None:
    """Let C read and write a schedule."""
    stalls = {"entry": arrays.entry, "operand": arrays.operand, "issue": arrays.issue}
    structure.point(
        entered=arrays.entered, available=arrays.available, issued=arrays.issued, ready=arrays.ready,
        retired=arrays.retired, busy_pipe=arrays.busy_pipe, busy_from=arrays.busy_from, busy_to=arrays.busy_to,
        **{f"{name}_{key}": array for name, of in stalls.items() for key, array in of._asdict().items()},
    )  # fmt: skip


def _no_stalls(count: int) -> StallArrays:
    none = np.full(count, KINDS.index(StallKind.NONE), np.uint8)
    return StallArrays(none, np.full(count, -1, np.int32), np.zeros(count, np.int16))


def writers_of(stream: ArrayStream) -> Writers:
    """Which stores wrote what each load reads; found once for a stream."""
    if stream not in _WRITERS:
        structure = StoresC(count=len(stream))
        structure.point(
            first_load=stream.loads.first, load=stream.loads.addresses, load_size=stream.loads.sizes,
            first_store=stream.stores.first, store=stream.stores.addresses, store_size=stream.stores.sizes,
            first_writer=np.zeros(len(stream) + 1, np.int64),
        )  # fmt: skip
        try:
            in_slices("find_writers", structure, len(stream))
            found = np.zeros(structure.writers, np.int32)
            memmove(found.ctypes.data, structure.writer, found.nbytes)
        finally:
            call("release_stores", structure)
        _WRITERS[stream] = Writers(structure.array("first_writer"), found)
    return _WRITERS[stream]


def mispredictions(stream: Sequence[Executed], warm: bool) -> frozenset[int]:
    """As `sim.timing.model.predictor.mispredictions`; in C, and once for a stream of arrays."""
    if not is_left_to_c(stream):
        return mispredictions_in_python(stream, warm)
    arrays = array_stream(stream)
    known = _WRONG.setdefault(arrays, {})
    if warm not in known:
        known[warm] = _mispredictions(arrays, warm)
    return known[warm]


def _mispredictions(stream: ArrayStream, warm: bool) -> frozenset[int]:
    ways = np.array([_way(pc, stream.sites[number][1]) for number, (pc, _) in enumerate(stream.sites)], np.uint8)
    back = [
        way == BranchWay.CONDITION and pc is not None and goes_back(instruction, pc)
        for way, (pc, instruction) in zip(ways, stream.sites, strict=True)
    ]
    branches = np.flatnonzero(ways[stream.site])
    sites = stream.site[branches]
    wrong = np.zeros(len(branches), np.uint8)
    structure = PredictorC(branches=len(branches))
    structure.point(
        pc=stream.pcs[sites], next_pc=stream.next_pcs[branches], way=ways[sites], wrong=wrong,
        taken=stream.taken[branches].view(np.uint8), backward=np.array(back, np.uint8)[sites],
    )  # fmt: skip
    try:
        in_slices("predict", structure, len(branches))
        known = 0
        for _ in range(TRAINING if warm else 0):
            if structure.counters + structure.targets == known:
                break
            known, structure.next = structure.counters + structure.targets, 0
            in_slices("predict", structure, len(branches))
    finally:
        call("release_predictor", structure)
    return frozenset(branches[wrong.view(bool)].tolist())


def _way(pc: int | None, instruction: Instruction) -> BranchWay:
    mnemonic = instruction.form.mnemonic
    if pc is None or not instruction.is_branch:
        return BranchWay.NO_WAY
    if mnemonic == "ret":
        return BranchWay.RETURN
    if mnemonic in CALLS:
        return BranchWay.INDIRECT_CALL if mnemonic in INDIRECT else BranchWay.CALL
    if mnemonic in INDIRECT:
        return BranchWay.INDIRECT
    return BranchWay.CONDITION if has_direction(instruction) else BranchWay.NO_WAY
