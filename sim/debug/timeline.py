"""A call in which any instruction can be gone to, forwards and back.

What was is not kept but executed again, from the nearest of some checkpoints.  These are so many, and so far apart,
that their memory stays bounded however long the call is.  Because a machine always does the same, going back is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from threading import Event
from typing import Final, NamedTuple

from isa.errors import INTERRUPTED, LanewiseError
from isa.evaluate.exact import Occurrence
from sim.call.limits import MAX_INSTRUCTIONS
from sim.call.native.code import PATIENCE
from sim.call.native.recorder import MachineRecorder, Recording
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import PIECE, Region
from sim.machine.registers import RegisterStorage
from sim.machine.trace import Step

RECORDED: Final = 1 << 15
"""Instructions that are recorded together, and between checkpoints at first."""
_MOST_CHECKPOINTS: Final = 256
_MOST_BYTES: Final = 1 << 28
"""Of memory that checkpoints hold; past either bound every second one goes."""
_MOST_RECORDINGS: Final = 32
"""Some 60 MB."""


class Interrupted(LanewiseError):
    """Somebody else has set `Timeline.interrupted`."""

    exit_code = INTERRUPTED


class Execution(NamedTuple):
    """One executed instruction: what it did, and what it read."""

    step: Step
    occurrence: Occurrence


class Checkpoint(NamedTuple):
    """The state before instruction `number`: registers, and by address the pieces of memory that are not zero."""

    number: int
    registers: RegisterStorage
    pc: int
    pieces: dict[int, bytes]


class Timeline:
    """The call that a machine is about to make, up to the address `until`, a fault, or `limit` instructions.

    `position` is the number of the instruction that comes next, 0 at first.
    """

    def __init__(self, machine: Machine, until: int, limit: int = MAX_INSTRUCTIONS) -> None:
        self.machine = machine
        self.fault: ExecutionError | None = None
        """What ends the call, as far as that is known; None where it returns."""
        self.interrupted = Event()
        """Set by another thread, it ends a search soon, by `Interrupted`, anywhere in the call."""
        self._until, self._limit = until % 2**64, limit
        self._end: int | None = None
        machine.instructions_executed = 0
        self._checkpoints: list[Checkpoint] = []
        self._spacing = RECORDED
        self._recorder = MachineRecorder(machine, PATIENCE)
        self._recordings: OrderedDict[int, Recording] = OrderedDict()
        self._keep_checkpoint()

    @property
    def position(self) -> int:
        """The number of the instruction that comes next."""
        return self.machine.instructions_executed

    @property
    def is_at_end(self) -> bool:
        """Whether the call is known to go no further."""
        return self.position == self._end

    @property
    def returned(self) -> bool:
        """Whether the call has returned."""
        return self.machine.pc == self._until

    def goto(self, number: int) -> None:
        """Be before instruction `number`, or at the end where there are fewer."""
        number = max(number, 0)
        if self._end is not None:
            number = min(number, self._end)
        at = bisect_right(self._checkpoints, number, key=lambda checkpoint: checkpoint.number) - 1
        nearest = self._checkpoints[at]
        if not nearest.number <= self.position <= number:
            self._restore(nearest)
        self._keep_checkpoint()
        while self.position < number and not self.is_at_end:
            self._run(min(number, self.position - self.position % self._spacing + self._spacing))
            self._keep_checkpoint()

    def goto_end(self) -> None:
        """Be where the call has returned, or cannot go on."""
        self.goto(self._limit)

    def step(self) -> Step | None:
        """Execute one instruction; None at the end."""
        if self.returned or self.position >= self._limit:
            self._end = self.position
        if self.is_at_end:
            return None
        try:
            return self.machine.step()
        except ExecutionError as fault:
            self._end, self.fault = self.position, fault
            return None

    def execute(self) -> Execution | None:
        """Execute one instruction, and say what it read too; None at the end.  Raises Interrupted."""
        self._heed()
        machine = self.machine
        try:
            places = () if self.returned else machine.instruction_at(machine.pc).places_read
        except ExecutionError:  # which a step says
            places = ()
        registers = {place: machine.read(place) for place in places}
        step = self.step()
        return (
            None if step is None else Execution(step, Occurrence(step.instruction, registers, dict(step.reads_memory)))
        )

    def recording(self, number: int) -> Recording:
        """A recording with instruction `number` in it, or without any where the call has not so many.

        The position is another one afterwards.  Raises Interrupted.
        """
        self._heed()
        start = number // RECORDED * RECORDED
        while True:
            found = self._recorded_from(start)
            if number < found.end or not len(found):
                return found
            start = found.end

    def _heed(self) -> None:
        if self.interrupted.is_set():
            raise Interrupted("it was ended before its end")

    def recordings(self, number: int) -> Iterator[Recording]:
        """All of the call, from the one with instruction `number` on."""
        while len(found := self.recording(number)):
            yield found
            number = found.end

    def recordings_back(self, number: int) -> Iterator[Recording]:
        """All before instruction `number`, from the one that ends there, or holds it, back."""
        while number > 0 and len(found := self.recording(number - 1)):
            yield found
            number = found.start

    def _recorded_from(self, start: int) -> Recording:
        found = self._recordings.get(start)
        if found is None:
            self.goto(start)
            most = min(RECORDED - start % RECORDED, self._limit - self.position) if self.position == start else 0
            found = self._recordings[start] = self._recorder.record(self._until, most)
            if len(self._recordings) > _MOST_RECORDINGS:
                self._recordings.popitem(last=False)
        self._recordings.move_to_end(start)
        return found

    def _run(self, number: int) -> None:
        """Execute up to instruction `number`, which comes later."""
        try:
            self.machine.run(self._until, min(number, self._limit) - self.position)
        except ExecutionError as fault:
            self.fault = fault
        if self.position < number or self.position == self._limit:
            self._end = self.position

    def _keep_checkpoint(self) -> None:
        """Make one where there is to be one, and has been none."""
        number = self.position
        at = bisect_right(self._checkpoints, number, key=lambda checkpoint: checkpoint.number)
        if number % self._spacing or (at and self._checkpoints[at - 1].number == number):
            return
        before = self._checkpoints[at - 1].pieces if at else {}
        pieces = {}
        for region in self._written_regions():
            for cell in _touched(region):
                address, data = region.start + cell, bytes(region.view[cell : cell + PIECE])
                if data.count(0) != len(data):
                    same = before.get(address)
                    pieces[address] = same if same == data else data
        registers = RegisterStorage()
        registers.copy(self.machine.registers)
        self._checkpoints.insert(at, Checkpoint(number, registers, self.machine.pc, pieces))
        while len(self._checkpoints) > _MOST_CHECKPOINTS or (len(self._checkpoints) > 2 and self._held > _MOST_BYTES):
            self._spacing *= 2
            self._checkpoints = [each for each in self._checkpoints if each.number % self._spacing == 0]

    @property
    def _held(self) -> int:
        """Bytes of memory that checkpoints hold together; pieces that did not change are held once."""
        return sum({id(data): len(data) for each in self._checkpoints for data in each.pieces.values()}.values())

    def _restore(self, checkpoint: Checkpoint) -> None:
        machine = self.machine
        for region in self._written_regions():
            kept = {address - region.start for address in checkpoint.pieces if region.start <= address < region.end}
            for cell in kept | _touched(region):
                size = min(PIECE, region.end - region.start - cell)
                data = checkpoint.pieces.get(region.start + cell) or bytes(size)
                if region.view[cell : cell + PIECE] != data:
                    machine.memory.write(region.start + cell, data)
        machine.registers.copy(checkpoint.registers)
        machine.pc, machine.instructions_executed = checkpoint.pc, checkpoint.number

    def _written_regions(self) -> list[Region]:
        return [region for region in self.machine.memory.regions if "w" in region.permissions]


def _touched(region: Region) -> set[int]:
    """The offsets of the pieces, on a fixed grid, in which something may not be zero."""
    return {cell for start, end in region.pieces() for cell in range(start // PIECE * PIECE, end, PIECE)}
