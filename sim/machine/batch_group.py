"""The members of a batch that are at one place in the code, and their registers while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isa.evaluate.batch import bind
from isa.instruction import Instruction
from isa.lane import Place
from sim.machine.alignment import must_be_aligned, require_aligned
from sim.machine.batch_memory import BatchMemory, MemberFaults
from sim.machine.batch_registers import Array, BatchRegisters
from sim.machine.errors import AlignmentFault, MemoryFault
from sim.machine.registers import SP

Members = NDArray[np.intp]
Run = Callable[["GroupFrame"], Array | None]


class TouchedRegisters(NamedTuple):
    """The numbers of the registers that a block reads or writes."""

    vectors: frozenset[int]
    general: frozenset[int]


def touched_by(instructions: Iterable[Instruction]) -> TouchedRegisters:
    """The registers that the instructions read or write."""
    places = {place for i in instructions for place in (*i.places_read, *i.places_written)}
    stack = {SP} if any(place.file == "sp" for place in places) else set[int]()
    return TouchedRegisters(_numbers(places, "v"), _numbers(places, "x") | stack)


def _numbers(places: Iterable[Place], file: str) -> frozenset[int]:
    return frozenset(int(place.index) for place in places if place.file == file)  # type: ignore[arg-type]


class GroupFrame:
    """The registers of one group while it runs: see `isa.evaluate.batch.Frame`.

    A group of all members has the registers themselves, a smaller one copies of those that its block touches.
    """

    def __init__(
        self, registers: BatchRegisters, memory: BatchMemory, rows: Members, touched: TouchedRegisters
    ) -> None:
        self.members = len(rows)
        self.address = 0
        self.aligned, self.lse2 = False, False
        """Whether accesses must be aligned now, and whether it suffices that they lie within 16 aligned bytes."""
        self.vectors, self.general, self.flags = registers.vectors, registers.general, registers.flags
        self._registers = registers
        self._memory = memory
        self._rows = rows
        self._touched = touched
        self._apart = self.members < registers.members
        if self._apart:
            self.vectors = [a[rows] if i in touched.vectors else a for i, a in enumerate(self.vectors)]
            self.general = [a[rows] if i in touched.general else a for i, a in enumerate(self.general)]
            self.flags = [a[rows] for a in self.flags]

    @property
    def pc(self) -> Array:
        """The address of the instruction, as a column."""
        return np.full((self.members, 1), self.address, "u8")

    def put_back(self) -> None:
        """Make the copies the registers of the group."""
        if self._apart:
            for i in self._touched.vectors:
                self._put(self._registers.vectors, i, self.vectors[i])
            for i in self._touched.general:
                self._put(self._registers.general, i, self.general[i])
            for i, values in enumerate(self.flags):
                self._put(self._registers.flags, i, values)

    def _put(self, file: list[Array], number: int, values: Array) -> None:
        """Change the rows of the group in a copy: registers may share an array."""
        file[number] = file[number].copy()
        file[number][self._rows] = values

    def load(self, addresses: Array, size: int) -> Array:
        """Bytes that the members may read.  Raises MemberFaults."""
        if self.aligned:
            _require_aligned(addresses, size, self.lse2)
        return self._memory.load(addresses, size, self._rows)

    def writable(self, addresses: Array, size: int) -> Callable[[Array], None]:
        """What stores bytes that the members may write.  Raises MemberFaults."""
        if self.aligned:
            _require_aligned(addresses, size, self.lse2)
        store: Callable[[Array], None] = self._memory.writable(addresses, size, self._rows)
        return store


def bound(instruction: Instruction, lse2: bool) -> Run:
    """A function that executes `instruction`, with accesses aligned where Arm asks for it, with FEAT_LSE2 or not."""
    run = bind(instruction)
    if not must_be_aligned(instruction):
        return run

    def run_aligned(frame: GroupFrame) -> Array | None:
        frame.aligned, frame.lse2 = True, lse2
        try:
            return run(frame)
        finally:
            frame.aligned = False

    return run_aligned


def _require_aligned(addresses: Array, size: int, lse2: bool) -> None:
    """Raises MemberFaults with the fault of each row whose address is not as it must be."""
    faults: dict[int, MemoryFault] = {}
    for row in np.flatnonzero(addresses[:, 0] % np.uint64(size)).tolist():
        try:
            require_aligned(int(addresses[row, 0]), size, lse2)
        except AlignmentFault as fault:
            faults[row] = fault
    if faults:
        raise MemberFaults(faults)


class MemberGroup:
    """Members at one place in the code, while they stay together."""

    def __init__(self, rows: Members, pc: int, left: int, until: int | None, alone: bool) -> None:
        self.rows = rows
        self.pc = pc
        self.left = left
        self.executed = 0
        self.targets: Array | None = None
        """Where they go on, if at different places."""
        self.alone = alone
        """Whether no other members are waiting for these, and none of these has stopped."""
        self._until = until
        self._begun = False

    @property
    def on(self) -> bool:
        """Whether they can go on together."""
        if not self._begun:
            return True
        return self.alone and self.left > 0 and self.targets is None and self.pc != self._until

    def advance(self, done: int, targets: Array | None) -> None:
        """Note instructions that were done, the last of them perhaps a branch."""
        self._begun = True
        self.executed += done
        self.left -= done
        self.pc = (self.pc + 4 * done) % 2**64
        if targets is not None and int(targets.min()) == int(targets.max()):
            self.pc = int(targets[0, 0])
        else:
            self.targets = targets
