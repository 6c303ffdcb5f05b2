"""Where a session stops: at an address, or behind an instruction that does what is looked for.

A condition says of a recording which of its instructions may meet it; where these arrays do not tell, each of them is
executed again and asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction, is_kept
from isa.lane import Lane, Write
from sim.call.native.recorder import SATURATED, Array, Recording
from sim.check.operand_classes import vector_arithmetic
from sim.check.origin import decides
from sim.debug.events import event_conditions
from sim.debug.spots import Spot
from sim.debug.timeline import Execution


@runtime_checkable
class StopCondition(Protocol):
    """What one looks for.

    `stands_before` says where a session stands then: before the instruction, or behind it.  `is_sure`: whether all that
    `among` names meet it.
    """

    @property
    def stands_before(self) -> bool: ...

    @property
    def is_sure(self) -> bool: ...

    def among(self, recording: Recording) -> Array:
        """The instructions of a recording that may meet it: their numbers in it, ascending."""

    def holds(self, execution: Execution) -> bool:
        """Whether an executed instruction of those meets it."""


@dataclass(frozen=True)
class At:
    """The instructions at some addresses, such as those of a source line."""

    pcs: frozenset[int]
    stands_before = True
    is_sure = True

    def among(self, recording: Recording) -> Array:
        return np.flatnonzero(np.isin(recording.pcs, np.array(sorted(self.pcs), np.uint64)))

    def holds(self, execution: Execution) -> bool:
        return execution.step.pc in self.pcs


@dataclass(frozen=True)
class AtNumber:
    """One executed instruction by its number."""

    number: int
    stands_before: bool = True
    is_sure = True

    def among(self, recording: Recording) -> Array:
        return np.flatnonzero(np.arange(recording.start, recording.end) == self.number)

    def holds(self, execution: Execution) -> bool:
        return execution.step.index == self.number


@dataclass(frozen=True)
class Writes:
    """What writes some bytes of a spot; what only keeps them as they were does not."""

    spot: Spot
    stands_before = False
    is_sure = True

    def among(self, recording: Recording) -> Array:
        if self.spot.register is None:
            return _accessing(recording, self.spot, writes=1)
        return _executed(recording, lambda each: bool(_writes_to(each, self.spot)))

    def holds(self, execution: Execution) -> bool:
        if self.spot.register is not None:
            return bool(_writes_to(execution.step.instruction, self.spot))
        return any(_overlaps(address, len(new), self.spot) for address, _, new in execution.step.memory)


@dataclass(frozen=True)
class Reads:
    """What reads the register of a spot, or some bytes of memory."""

    spot: Spot
    stands_before = False
    is_sure = True

    def among(self, recording: Recording) -> Array:
        if self.spot.register is None:
            return _accessing(recording, self.spot, writes=0)
        return _executed(recording, lambda each: self.spot.register in each.places_read)

    def holds(self, execution: Execution) -> bool:
        if self.spot.register is not None:
            return self.spot.register in execution.step.instruction.places_read
        return any(_overlaps(address, len(data), self.spot) for address, data in execution.step.reads_memory)


@dataclass(frozen=True)
class Meets:
    """Vector arithmetic in which some lane, or a lane of a spot, meets one of the `EVENTS`, as `why` tells them; one
    that wrapped as the numbers of one reading has wrapped.
    """

    event: str
    spot: Spot | None = None
    stands_before = False
    is_sure = False

    def among(self, recording: Recording) -> Array:
        found = _executed(recording, self._can)
        if self.event == "saturated":
            found = found[recording.status[found] & SATURATED != 0]
        return found

    def holds(self, execution: Execution) -> bool:
        evaluation = Evaluation(execution.occurrence)
        for write, lanes in self._lanes(execution.step.instruction):
            for number in lanes:
                if any(map(evaluation.value, self._conditions(write.lanes[number]))):
                    return True
        return False

    def _can(self, instruction: Instruction) -> bool:
        lanes = (write.lanes[number] for write, numbers in self._lanes(instruction) for number in numbers)
        return any(map(self._conditions, lanes))

    def _conditions(self, lane: Lane) -> list[Lane]:
        found = event_conditions(lane, is_vector=True)
        return [condition for name, condition in found.items() if name.startswith(self.event)]

    def _lanes(self, instruction: Instruction) -> list[tuple[Write, Sequence[int]]]:
        if self.spot is None:
            return [(write, range(len(write.lanes))) for write in vector_arithmetic(instruction)]
        return _writes_to(instruction, self.spot)


@dataclass(frozen=True)
class SetsQc:
    """What saturates, whether QC was set before or not."""

    stands_before = False
    is_sure = True

    def among(self, recording: Recording) -> Array:
        return np.flatnonzero(recording.status & SATURATED)

    def holds(self, execution: Execution) -> bool:
        evaluation = Evaluation(execution.occurrence)
        for lane in execution.step.instruction.lanes:
            evaluation.value(lane)
        return evaluation.saturated


@dataclass(frozen=True)
class Decides:
    """Branches that go one way or the other."""

    stands_before = False
    is_sure = True

    def among(self, recording: Recording) -> Array:
        return _executed(recording, decides)

    def holds(self, execution: Execution) -> bool:
        return decides(execution.step.instruction)


@dataclass(frozen=True)
class AnyOf:
    """What meets one of several conditions; where it is met, whoever asks must find out which."""

    conditions: tuple[StopCondition, ...]
    stands_before = False

    @property
    def is_sure(self) -> bool:
        """Where one is not sure, each is asked again."""
        return all(each.is_sure for each in self.conditions)

    def among(self, recording: Recording) -> Array:
        found = [each.among(recording) for each in self.conditions]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def holds(self, execution: Execution) -> bool:
        return any(each.holds(execution) for each in self.conditions)


@dataclass(frozen=True)
class When:
    """What a function says yes to; every instruction is executed in Python for it."""

    predicate: Callable[[Execution], bool]
    stands_before = False
    is_sure = False

    def among(self, recording: Recording) -> Array:
        return np.arange(len(recording))

    def holds(self, execution: Execution) -> bool:
        return self.predicate(execution)


def _executed(recording: Recording, is_wanted: Callable[[Instruction], bool]) -> Array:
    """The executions of the wanted instructions."""
    return np.flatnonzero(np.array([is_wanted(each) for each in recording.code], bool)[recording.numbers])


def _accessing(recording: Recording, spot: Spot, writes: int) -> Array:
    """What reads or writes some bytes of a spot in memory."""
    rows = recording.accesses
    first, last = rows["address"], rows["address"] + rows["size"] - np.uint64(1)
    wanted = (rows["writes"] == writes) & (first < spot.first + spot.size) & (last >= spot.first)
    return np.unique(rows["instruction"][wanted]).astype(np.int64)


def _overlaps(address: int, size: int, spot: Spot) -> bool:
    return address < spot.first + spot.size and spot.first < address + size


def _writes_to(instruction: Instruction, spot: Spot) -> list[tuple[Write, Sequence[int]]]:
    """The writes of a spot's register, each with the lanes that overlap the spot and are not kept; none without any."""
    found = list[tuple[Write, Sequence[int]]]()
    for write in instruction.writes:
        if write.place == spot.where:
            size = write.bits / 8
            over = [
                n for n in range(len(write.lanes)) if spot.first < (n + 1) * size and n * size < spot.first + spot.size
            ]
            lanes = [number for number in over if not is_kept(write, number)]
            beyond = spot.first + spot.size > len(write.lanes) * size  # what lanes do not reach becomes zero
            if lanes or beyond:
                found.append((write, lanes))
    return found
