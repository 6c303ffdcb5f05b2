"""A schedule as arrays, and arrays as the sequences that a schedule has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

import numpy as np

from sim.timing.model.schedule import Schedule, Stall, StallKind
from sim.timing.native.array_stream import AT_ONCE, starts

Array = np.ndarray[Any, Any]
KINDS: Final = tuple(StallKind)
"""By number, in arrays and in C."""
_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}
T = TypeVar("T", covariant=True)


class ArrayView(Sequence[T], Generic[T]):
    """So many things, each made when it is asked for; `some` makes those of a slice without steps."""

    def __init__(self, count: int, some: Callable[[slice], Sequence[T]]) -> None:
        self._count, self._some = count, some

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> T: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[T]: ...

    def __getitem__(self, number: int | slice) -> T | Sequence[T]:
        if isinstance(number, slice):
            start, stop, step = number.indices(self._count)
            return [self[each] for each in range(start, stop, step)] if step != 1 else self._some(slice(start, stop))
        if not -self._count <= number < self._count:
            raise IndexError(f"number {number} of {self._count}")
        number %= self._count
        return self._some(slice(number, number + 1))[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, self._count, AT_ONCE):
            yield from self[start : start + AT_ONCE]


def numbers(array: Array) -> ArrayView[int]:
    """The whole numbers of an array."""
    return ArrayView(len(array), lambda some: array[some].tolist())


class StallArrays(NamedTuple):
    """Stalls: which one of `KINDS` (uint8), the cause (int32), and which one of the names (int16)."""

    kind: Array
    cause: Array
    what: Array

    def view(self, names: Sequence[str]) -> ArrayView[Stall]:
        """The same as stalls."""

        def some(of: slice) -> list[Stall]:
            parts = zip(self.kind[of].tolist(), self.cause[of].tolist(), self.what[of].tolist(), strict=True)
            return [Stall(KINDS[kind], cause, names[what]) for kind, cause, what in parts]

        return ArrayView(len(self.kind), some)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScheduleArrays:
    """What `sim.timing.model.schedule.Schedule` has, as arrays of a schedule's length; times are int64, in cycles.

    `names` has what stalls are about: "", registers and pipes.  `first_use` (int64) says where the reservations of each
    instruction begin, and where the last ones end: `busy_pipe` (in the order of the core; of C it is uint8), from
    `busy_from` to `busy_to`.
    """

    names: tuple[str, ...]
    entered: Array
    available: Array
    issued: Array
    ready: Array
    retired: Array
    entry: StallArrays
    operand: StallArrays
    issue: StallArrays
    first_use: Array
    busy_pipe: Array
    busy_from: Array
    busy_to: Array

    def pipes(self, pipes: Sequence[str]) -> ArrayView[tuple[tuple[str, int, int], ...]]:
        """The reservations of each instruction as a schedule has them."""

        def some(of: slice) -> list[tuple[tuple[str, int, int], ...]]:
            first = self.first_use[of.start : of.stop + 1].tolist()
            all_of = slice(first[0], first[-1])
            busy = zip(
                (pipes[pipe] for pipe in self.busy_pipe[all_of].tolist()),
                self.busy_from[all_of].tolist(), self.busy_to[all_of].tolist(), strict=True,
            )  # fmt: skip
            found = list(busy)
            return [tuple(found[start - first[0] : end - first[0]]) for start, end in pairwise(first)]

        return ArrayView(len(self.entered), some)


def arrays_of(schedule: Schedule) -> ScheduleArrays:
    """A schedule as arrays."""
    made = getattr(schedule, "arrays", None)
    if isinstance(made, ScheduleArrays):
        return made
    known = {"": 0}
    stalls = []
    for column in (schedule.entry_stall, schedule.operand_stall, schedule.issue_stall):
        kind = np.array([_NUMBERS[stall.kind] for stall in column], np.uint8)
        cause = np.array([stall.cause for stall in column], np.int32)
        what = np.array([known.setdefault(stall.what, len(known)) for stall in column], np.int16)
        stalls.append(StallArrays(kind, cause, what))
    numbered = {pipe: number for number, pipe in enumerate(schedule.core.pipes)}
    busy = [each for of_one in schedule.pipes for each in of_one]
    return ScheduleArrays(
        names=tuple(known),
        entered=np.array(schedule.entered, np.int64),
        available=np.array(schedule.available, np.int64),
        issued=np.array(schedule.issued, np.int64),
        ready=np.array(schedule.ready, np.int64),
        retired=np.array(schedule.retired, np.int64),
        entry=stalls[0],
        operand=stalls[1],
        issue=stalls[2],
        first_use=starts(np.array([len(each) for each in schedule.pipes], np.int64)),
        busy_pipe=np.array([numbered[pipe] for pipe, _, _ in busy], np.int32),
        busy_from=np.array([start for _, start, _ in busy], np.int64),
        busy_to=np.array([end for _, _, end in busy], np.int64),
    )
