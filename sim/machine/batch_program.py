"""A recorded program on many sets of inputs at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isa.acle.program import Program
from isa.evaluate.batch import bind
from isa.instruction import Instruction
from sim.machine.batch_group import GroupFrame, touched_by
from sim.machine.batch_memory import BatchMemory, MemberFaults
from sim.machine.batch_registers import BatchRegisters, GeneralFile, VectorFile
from sim.machine.errors import MemoryFault


class ProgramBatch:
    """The instructions that a `Program` recorded, for `members` sets of inputs.

    `v` and `x` are its virtual registers by number (see `isa.acle.program`), as arrays of members.  At first they hold
    what the program ended with: registers that no instruction writes hold its inputs, and can be set to others.
    `memory` is empty at first.  `faults` has what stopped a member, by member: the instructions after that
    change nothing of it.
    """

    def __init__(self, program: Program, members: int) -> None:
        self.members = members
        self.instructions = tuple(program.instructions)
        vectors, general = len(program.registers.vectors) // 16, len(program.registers.general)
        self.registers = BatchRegisters(members, vectors, general)
        self.v, self.x = VectorFile(self.registers), GeneralFile(self.registers, general)
        self.memory = BatchMemory(members)
        self.faults: dict[int, MemoryFault] = {}
        for number in range(vectors):
            self.v[number] = program.registers.vector(number)
        for number, value in enumerate(program.registers.general):
            self.x[number] = value

    @property
    def fpsr(self) -> np.ndarray[tuple[int, ...], np.dtype[np.uint32]]:
        """FPSR by member: what its instructions have saturated, QC, and raised."""
        return self.registers.flags[1][:, 0].copy()

    def run(self) -> None:
        """Execute every instruction once, in order, in all members that have not faulted."""
        for number, instruction in enumerate(self.instructions):
            self._execute(instruction, number)

    def _execute(self, instruction: Instruction, number: int) -> None:
        """One instruction; where members fault, once more without them."""
        goes = np.ones(self.members, bool)
        goes[list(self.faults)] = False
        rows = np.flatnonzero(goes)
        if not rows.size:
            return
        frame = GroupFrame(self.registers, self.memory, rows, touched_by([instruction]))
        frame.address = 4 * number
        try:
            bind(instruction)(frame)
        except MemberFaults as found:
            for row, fault in found.faults.items():
                self.faults[int(rows[row])] = replace(fault, pc=4 * number, disassembly=instruction.text)
            self._execute(instruction, number)
            return
        frame.put_back()
