"""A core's operations, and a stream on it, as the arrays that C reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final

import numpy as np

from sim.timing.model.core import Core
from sim.timing.model.operation import Operation, ReadRegister, WrittenRegister, load_pipes, operations_on
from sim.timing.native.array_stream import ArrayStream
from sim.timing.native.arrays import KINDS
from sim.timing.native.library import OPERATION, RESULT, SOURCE, USE, ScheduleC

Array = np.ndarray[Any, Any]
_FINEST: Final = 1_000_000
"""Parts of a cycle at most: times in parts stay below 2^63."""
_MOST: Final = 250
"""Pipes of a core, and reservations of an instruction."""


class NotNative(Exception):  # nobody is told: Python does it
    """A core that C cannot have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CoreTables:
    """The operations of a stream's instructions on a core; `names` are those of registers and pipes, after ""."""

    core: Core
    operations: Sequence[Operation]
    names: tuple[str, ...]
    registers: int
    unit: int
    averages: int
    rows: Array
    sources: Array
    results: Array
    uses: Array
    pipes: Array
    distances: Array

    def fill(self, structure: ScheduleC) -> None:
        """What C needs of the core."""
        core, unit = self.core, self.unit
        queue, names = [core.queues.get(pipe, np.iinfo(np.int64).max) for pipe in core.pipes], self.registers + 1
        structure.unit, structure.columns, structure.pipes = unit, self.distances.shape[1], len(core.pipes)
        structure.names, structure.in_order = self.registers, core.order == "in"
        structure.width, structure.reorder_buffer = core.width, core.reorder_buffer
        structure.retire_width, structure.mispredict = core.retire_width, core.mispredict
        structure.unaligned, structure.in_turn = core.unaligned_bytes, core.in_turn
        structure.interval = int(core.taken_branch_interval * unit)
        structure.forward_scalar = int(core.store_forward_scalar * unit)
        structure.forward_vector = int(core.store_forward_vector * unit)
        structure.point(
            operations=self.rows, source=self.sources, result=self.results, use=self.uses, pipe=self.pipes,
            distance=self.distances, queue=np.array(queue, np.int64), turn=np.zeros(self.averages, np.int64),
            owed=np.full(self.averages, unit // 2, np.int64), free=np.zeros(len(core.pipes), np.int64),
            holder=np.full(len(core.pipes), -1, np.int64), made_at=np.zeros(names, np.int64),
            made_by=np.full(names, -1, np.int32), made_as=np.zeros(names, np.int32),  # no register is written yet
        )  # fmt: skip


def core_tables(stream: ArrayStream, core: Core) -> CoreTables:
    """The operations of the stream's instructions.  Raises NotNative."""
    known = operations_on(core)
    operations = [known[instruction] for instruction in stream.instructions]
    reservations = [use for operation in operations for use in operation.uses]
    fractions = [
        core.store_forward_scalar, core.store_forward_vector, core.taken_branch_interval,
        *(operation.fraction for operation in operations if operation.fraction is not None),
        *(use.fraction for use in reservations if use.fraction is not None),
    ]  # fmt: skip
    unit = lcm(2, *(fraction.denominator for fraction in fractions))
    most = max([len(core.pipes), *(len(operation.uses) for operation in operations)])
    if unit > _FINEST or most > _MOST:
        raise NotNative
    return _Tables(core, operations, unit).made()


class _Tables:
    """Gathers what operations have in common under numbers."""

    def __init__(self, core: Core, operations: Sequence[Operation], unit: int) -> None:
        self._core, self._operations, self._unit = core, operations, unit
        self._registers: dict[str, int] = {}
        self._rows: dict[tuple[object, ...], tuple[int, ReadRegister]] = {}
        self._columns: dict[tuple[object, ...], tuple[int, WrittenRegister]] = {}
        self._averages: dict[object, int] = {}
        self._count = 0
        self._pipe_number = {pipe: number for number, pipe in enumerate(core.pipes)}
        self._load_pipes = load_pipes(core) if core.unaligned_bytes else frozenset[str]()

    def made(self) -> CoreTables:
        rows = np.zeros(len(self._operations), OPERATION)
        sources, results, uses, pipes = list[Any](), list[Any](), list[Any](), list[int]()
        for number, operation in enumerate(self._operations):
            rows[number] = (
                len(sources), len(operation.sources), len(results), len(operation.results), len(uses),
                len(operation.uses), operation.slots, operation.first, operation.latency, operation.done_after,
                operation.entries, operation.is_store, operation.is_vector,
                self._average(operation.timing.name, 1), operation.last_result, self._parts(operation.fraction),
            )  # fmt: skip
            sources += [
                (self._register(each.name), KINDS.index(each.kind), self._row(each)) for each in operation.sources
            ]
            results += [
                (self._register(each.name), self._column(each), each.updates_base) for each in operation.results
            ]
            for use in operation.uses:
                longer = self._core.unaligned_cycles if self._load_pipes.intersection(use.pipes) else 0
                keys = (use, use._replace(cycles=use.cycles + longer)) if self._core.order == "in" else (use.pipes,) * 2
                key, longer_key = (self._average(("pipe", each), len(self._core.pipes)) for each in keys)
                uses.append(
                    (len(pipes), len(use.pipes), use.cycles, use.start, key, longer, longer_key,
                     self._parts(use.fraction))
                )  # fmt: skip
                pipes += [self._pipe_number[pipe] for pipe in use.pipes]
        distances = np.zeros((max(len(self._rows), 1), max(len(self._columns), 1)), np.int32)
        for row, source in self._rows.values():
            for column, result in self._columns.values():
                distances[row, column] = source.after[result]
        return CoreTables(
            core=self._core, operations=self._operations, names=("", *self._registers, *self._core.pipes),
            registers=len(self._registers), unit=self._unit, averages=self._count, rows=rows,
            sources=np.array(sources, SOURCE), results=np.array(results, RESULT), uses=np.array(uses, USE),
            pipes=np.array(pipes, np.uint8), distances=distances,
        )  # fmt: skip

    def _parts(self, fraction: Fraction | None) -> int:
        return int((fraction or 0) * self._unit)

    def _register(self, name: str) -> int:
        return self._registers.setdefault(name, len(self._registers) + 1)

    def _row(self, source: ReadRegister) -> int:
        key = source.kind, source.group, source.shifted, source.late
        return self._rows.setdefault(key, (len(self._rows), source))[0]

    def _column(self, result: WrittenRegister) -> int:
        key = result.latency, result.forwarded, result.group, result.updates_base, result.scalar
        return self._columns.setdefault(key, (len(self._columns), result))[0]

    def _average(self, key: object, count: int) -> int:
        """The first of `count` numbers under which what is owed is kept."""
        if key not in self._averages:
            self._averages[key] = self._count
            self._count += count
        return self._averages[key]
