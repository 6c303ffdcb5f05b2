"""What a recorded sequence of instructions holds, and from where to where: live intervals, pressure, dead code.

The sequence is straight: no branch, so a value lives from the instruction that makes it to the last that reads it.
A recorded copy (`mov v1.16b, v0.16b`) makes no value: both registers hold the same one.  What no instruction of the
sequence makes is a constant: it lives from its first reader on, and equal constants are one value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf

from isa.acle.register_slots import slots_of
from isa.evaluate.exact import Occurrence
from isa.instruction import Instruction
from isa.lane import Place

COPY = "mov v_.16b, v_.16b"
"""The pattern that copies a whole register."""


@dataclass(eq=False, kw_only=True)
class LiveInterval:
    """The life of one value in register file `file`.

    `start` is the instruction that makes it, or the first that reads a constant, and `uses` are those that read it, by
    their numbers in the recorded sequence.  `constant` is its bits where nothing makes it.  `number` says that it
    left the program as a Python number, `needs_low` that an instruction can read it from v0 to v15 only.  `listed` are
    the values of the first list of consecutive registers that it is read in.
    """

    file: str
    start: int
    constant: int | None = None
    uses: list[int] = field(default_factory=list)
    number: bool = False
    needs_low: bool = False
    listed: tuple[LiveInterval, ...] = ()

    def next_use(self, after: int) -> float:
        """The first instruction after that one which reads it, infinity if there is none."""
        at = bisect_right(self.uses, after)
        return self.uses[at] if at < len(self.uses) else inf

    def lives_after(self, number: int) -> bool:
        """Whether an instruction after that one reads it."""
        return bool(self.uses) and self.uses[-1] > number


@dataclass(frozen=True, eq=False)
class RecordedOperation:
    """One recorded instruction that is no copy, with the values that its register slots read and write."""

    number: int
    instruction: Instruction
    reads: Mapping[int, LiveInterval]
    writes: Mapping[int, LiveInterval]

    @property
    def tied(self) -> list[int]:
        """The slots that are read and written: the old value must be where the new one goes."""
        return [slot for slot in self.reads if slot in self.writes]

    def copies(self, file: str) -> int:
        """The copies of values that it overwrites in a register file: of one that it does not end, and of repeats."""
        overwritten = [self.reads[slot] for slot in self.tied if self.reads[slot].file == file]
        return len(overwritten) - len({value for value in overwritten if not value.lives_after(self.number)})


@dataclass(frozen=True)
class Lives:
    """The recorded `instructions`, the operations among them, every value, and the values that are returned."""

    instructions: tuple[Instruction, ...]
    operations: tuple[RecordedOperation, ...]
    intervals: tuple[LiveInterval, ...]
    returned: tuple[LiveInterval, ...]

    def dead(self) -> tuple[RecordedOperation, ...]:
        """The operations of which nothing is ever stored, returned, or left the program as a Python number.

        They may still set FPSR.QC or fault.
        """
        needed, dead = set(self.returned), []
        for operation in reversed(self.operations):
            made = operation.writes.values()
            if operation.instruction.stores or any(v.number or v in needed for v in made):
                needed.update(operation.reads.values())
            else:
                dead.append(operation)
        return tuple(reversed(dead))

    def pressure(self, file: str) -> Pressure:
        """The registers of one file (`v` or `x`) that each recorded instruction needs."""
        before, after = ([0] * (len(self.instructions) + 2) for _ in range(2))
        for interval in self.intervals:
            if interval.file == file:
                _add(before, interval.start + (interval.constant is None), _last(interval))
                _add(after, interval.start, max(_last(interval) - 1, interval.start - (interval.constant is not None)))
        for operation in self.operations:
            _add(before, operation.number, operation.number, operation.copies(file))
        live = tuple(map(max, accumulate(before[:-2]), accumulate(after[:-2])))
        return Pressure(live)


def _last(interval: LiveInterval) -> int:
    return interval.uses[-1] if interval.uses else interval.start


def _add(changes: list[int], first: int, last: int, count: int = 1) -> None:
    """`count` more from instruction `first` to `last`, both included."""
    changes[first] += count
    changes[last + 1] -= count


@dataclass(frozen=True)
class Pressure:
    """For each recorded instruction, the values that need a register at it.

    Those are what it and later ones read and, where it overwrites an operand that is read later, a copy of that; or, if
    they are more, what it makes and what later ones read.
    """

    live: tuple[int, ...]

    @property
    def maximum(self) -> int:
        """The most values at any instruction; 0 for an empty sequence."""
        return max(self.live, default=0)

    @property
    def where(self) -> int | None:
        """The first instruction with that many; None for an empty sequence."""
        return self.live.index(self.maximum) if self.live else None


class _Tracker:
    """Follows which value each virtual register holds."""

    def __init__(self) -> None:
        self.intervals: list[LiveInterval] = []
        self.holds: dict[Place, LiveInterval] = {}
        self._constants: dict[tuple[str, int], LiveInterval] = {}

    def value(self, place: Place, bits: int, number: int) -> LiveInterval:
        """What a register holds; `bits` are its content, which makes it a constant if nothing has written it."""
        if place not in self.holds:
            key = place.file, bits
            if key not in self._constants:
                self._constants[key] = self._new(place.file, number, bits)
            self.holds[place] = self._constants[key]
        return self.holds[place]

    def _new(self, file: str, number: int, constant: int | None = None) -> LiveInterval:
        self.intervals.append(LiveInterval(file=file, start=number, constant=constant))
        return self.intervals[-1]

    def operation(self, number: int, occurrence: Occurrence) -> RecordedOperation:
        """The operation of an instruction; its results replace what their registers held."""
        instruction, slots = occurrence.instruction, slots_of(occurrence.instruction.pattern)
        read, written = ({slot: Place(file, instruction.registers[slot]) for slot, file in part.items()}
                         for part in (slots.reads, slots.writes))  # fmt: skip
        reads = {slot: self.value(place, occurrence.registers[place], number) for slot, place in read.items()}
        for interval in dict.fromkeys(reads.values()):
            interval.uses.append(number)
        for slot in slots.low & reads.keys():
            reads[slot].needs_low = True
        for members in slots.lists:
            listed = tuple(reads[slot] for slot in members if slot in reads)
            for interval in listed:
                interval.listed = interval.listed or listed
        writes = {slot: self._new(place.file, number) for slot, place in written.items()}
        self.holds.update({written[slot]: interval for slot, interval in writes.items()})
        return RecordedOperation(number, instruction, reads, writes)

    def copy(self, number: int, occurrence: Occurrence) -> None:
        """Let the destination of a copy hold what its source holds."""
        to, source = (Place("v", register) for register in occurrence.instruction.registers)
        self.holds[to] = self.value(source, occurrence.registers[source], number)


def lives(trace: Sequence[Occurrence], returned: Sequence[tuple[Place, int]], vectors: Collection[int]) -> Lives:
    """The values of a recorded sequence.

    `returned` gives the registers that it returns, in order, with their contents; `vectors` are the vector registers
    that the caller got as vectors.  A value that no instruction reads and that was not got so is a Python number.
    """
    tracker, operations = _Tracker(), []
    for number, occurrence in enumerate(trace):
        if occurrence.instruction.pattern.text == COPY:
            tracker.copy(number, occurrence)
        else:
            operations.append(tracker.operation(number, occurrence))
    results = [tracker.value(place, bits, len(trace)) for place, bits in returned]
    for interval in dict.fromkeys(results):
        interval.uses.append(len(trace))
    for place, interval in tracker.holds.items():
        interval.number = not interval.uses and (place.file == "x" or place.index not in vectors)
    used = [interval for interval in tracker.intervals if interval.uses or interval.constant is None]
    recorded = tuple(occurrence.instruction for occurrence in trace)
    return Lives(recorded, tuple(operations), tuple(used), tuple(results))
