"""Batch: many machines at once, one program or binary on many sets of inputs.

Members at the same place in the code are one group, and an instruction is a few numpy operations on all of its group.
Where control flow parts, the members split; the group that is furthest behind goes first and stops where it meets
others, so that they go on together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from isa.instruction import FEATURES, Instruction
from isa.processors import features_of
from isa.rows import TABLE
from isa.table import Table
from sim.machine.batch_group import GroupFrame, MemberGroup, Members, Run, TouchedRegisters, bound, touched_by
from sim.machine.batch_memory import BatchMemory, MemberFaults
from sim.machine.batch_registers import Array, BatchRegisters, GeneralFile, VectorFile, column_of, read_only
from sim.machine.errors import ExecutionError, MemoryFault
from sim.machine.executable import executable
from sim.machine.memory import as_address
from sim.machine.registers import SP, as_fpcr

_MAX_BLOCK = 512


class BatchBlock(NamedTuple):
    """Instructions that run one after the other; only the last one may be a branch."""

    instructions: list[Instruction]
    runs: list[Run]
    touched: TouchedRegisters


class Batch:
    """`members` machines with registers, memory and program counters of their own, all zero and unmapped at first.

    `features` and `table` are as for `Machine`, and so is what every member computes.  `faults` has, by member, what
    stopped it: its `pc` is at the instruction that could not be executed, which did nothing, and it takes no part in
    further runs until it is taken out of `faults`.  Raises ValueError for an unknown feature, or no members.
    """

    def __init__(self, members: int, features: str | Iterable[str] = FEATURES, table: Table = TABLE) -> None:
        if members < 1:
            raise ValueError(f"a batch of {members} members: it needs at least one")
        self.features = features_of(features)
        self.members = members
        self.registers = BatchRegisters(members)
        self.memory = BatchMemory(members)
        self.v, self.x = VectorFile(self.registers), GeneralFile(self.registers, SP)
        self.faults: dict[int, ExecutionError] = {}
        self.instructions_executed = np.zeros(members, np.int64)
        self._pc: Array = np.zeros((members, 1), "u8")
        self._table = table
        self._blocks: dict[int, BatchBlock] = {}
        self._decoded: dict[tuple[int, int], Instruction] = {}
        self._code_version = 0
        self._stops: set[int] = set()

    @property
    def pc(self) -> NDArray[np.uint64]:
        """The program counters, (members,); set it to such an array, or to one number for all."""
        return read_only(self._pc)[:, 0]

    @pc.setter
    def pc(self, value: SupportsIndex | Array) -> None:
        self._pc = column_of(value, self.members, 64, "u8")

    @property
    def sp(self) -> NDArray[np.uint64]:
        """The stack pointer of each member, uint64 [members]."""
        return read_only(self.registers.general[SP])[:, 0]

    @sp.setter
    def sp(self, value: SupportsIndex | Array) -> None:
        self.registers.general[SP] = column_of(value, self.members, 64, "u8")

    @property
    def nzcv(self) -> NDArray[np.uint8]:
        """The flags as 4-bit numbers, N = 8, Z = 4, C = 2, V = 1."""
        return read_only(self.registers.flags[0])[:, 0]

    @nzcv.setter
    def nzcv(self, value: SupportsIndex | Array) -> None:
        self.registers.flags[0] = column_of(value, self.members, 4, "u1")

    @property
    def fpsr(self) -> NDArray[np.uint32]:
        """The floating-point status register of each member, uint32 [members]: QC is bit 27."""
        return read_only(self.registers.flags[1])[:, 0]

    @fpsr.setter
    def fpsr(self, value: SupportsIndex | Array) -> None:
        self.registers.flags[1] = column_of(value, self.members, 32, "u4")

    @property
    def fpcr(self) -> NDArray[np.uint32]:
        """The floating-point control register of each member, uint32 [members]; set as that of a machine."""
        return read_only(self.registers.flags[2])[:, 0]

    @fpcr.setter
    def fpcr(self, value: SupportsIndex | Array) -> None:
        column = column_of(value, self.members, 32, "u4")
        as_fpcr(np.bitwise_or.reduce(column, axis=None))
        self.registers.flags[2] = column

    @property
    def tpidr(self) -> NDArray[np.uint64]:
        """The thread pointer of each member, uint64 [members]."""
        return read_only(self.registers.flags[4])[:, 0]

    @tpidr.setter
    def tpidr(self, value: SupportsIndex | Array) -> None:
        self.registers.flags[4] = column_of(value, self.members, 64, "u8")

    def run(self, until: int | None = None, max_instructions: int | None = None) -> NDArray[np.int64]:
        """Run every member until its program counter is `until` or it has done so many instructions.

        Returns how many each has executed, (members,).  Members that cannot go on are in `faults` then; nothing is
        raised for them.
        """
        until = None if until is None else as_address(until)
        if until is not None and until not in self._stops:
            self._stops.add(until)
            self._blocks.clear()
        before = self.instructions_executed.copy()
        limit = sys.maxsize if max_instructions is None else max_instructions
        while (going := self._going(until, before, limit)).size:
            self._run_group(going, until, before, limit)
        return np.asarray(self.instructions_executed - before)

    def _going(self, until: int | None, before: NDArray[np.int64], limit: int) -> Members:
        """The members that are to go on."""
        goes = self.instructions_executed - before < limit
        if until is not None:
            goes &= self._pc[:, 0] != until
        if self.faults:
            goes[list(self.faults)] = False
        return np.flatnonzero(goes)

    def _run_group(self, going: Members, until: int | None, before: NDArray[np.int64], limit: int) -> None:
        """Blocks of the members with the lowest program counter, until they part or meet others."""
        counters = self._pc[going, 0]
        pc = int(counters.min())
        here = counters == np.uint64(pc)
        rows, ahead = going[here], counters[~here]
        if not self.memory.same_code(pc):
            most = 1
            with suppress(MemoryFault):  # the members that have the same instruction here as the first
                words = self.memory.words(pc, rows)
                rows = rows[words == words[0]]
        else:
            most = limit - int((self.instructions_executed - before)[rows].max())
        if ahead.size:
            most = min(most, (int(ahead.min()) - pc + 3) // 4)
        goes = MemberGroup(rows, pc, most, until, alone=not ahead.size)
        try:
            while goes.on:
                self._run_block(self._block(goes.pc, rows), goes)
        except ExecutionError as error:
            self.faults.update((member, error) for member in rows.tolist())
        self._pc[rows] = np.uint64(goes.pc) if goes.targets is None else goes.targets
        self.instructions_executed[rows] += goes.executed

    def _run_block(self, block: BatchBlock, goes: MemberGroup) -> None:
        """A block, or as many instructions of it as are left to do; where members fault, those before."""
        frame = GroupFrame(self.registers, self.memory, goes.rows, block.touched)
        targets, done, pc = None, 0, goes.pc
        try:
            for run in block.runs[: goes.left]:
                frame.address = (pc + 4 * done) % 2**64
                targets = run(frame)
                done += 1
        except MemberFaults as found:
            for row, fault in found.faults.items():
                text = block.instructions[done].text
                self.faults[int(goes.rows[row])] = replace(fault, pc=(pc + 4 * done) % 2**64, disassembly=text)
            goes.alone = False
        frame.put_back()
        if self.memory.code_version != self._code_version:
            goes.alone = False
        goes.advance(done, targets)

    def _block(self, pc: int, rows: Members) -> BatchBlock:
        if self._code_version != self.memory.code_version:
            self._blocks.clear()
            self._code_version = self.memory.code_version
        if not self.memory.same_code(pc):
            return self._block_of([self._instruction(pc, rows)])
        if pc not in self._blocks:
            self._blocks[pc] = self._block_of(self._straight(pc, rows))
        return self._blocks[pc]

    def _straight(self, pc: int, rows: Members) -> list[Instruction]:
        """The instructions from an address up to a branch or a stop."""
        found = [self._instruction(pc, rows)]
        while len(found) < _MAX_BLOCK and not found[-1].is_branch and pc + 4 * len(found) not in self._stops:
            at = pc + 4 * len(found)
            if not self.memory.same_code(at):
                break
            try:
                found.append(self._instruction(at, rows))
            except ExecutionError:
                break
        return found

    def _instruction(self, pc: int, rows: Members) -> Instruction:
        """The instruction at an address, as `Machine.instruction_at`; raises as that does."""
        try:
            word = int(self.memory.words(pc, rows)[0])
        except MemoryFault as fault:
            fault.pc = pc
            raise
        if (pc, word) not in self._decoded:
            self._decoded[pc, word] = executable(word.to_bytes(4, "little"), pc, self._table, self.features)
        return self._decoded[pc, word]

    def _block_of(self, instructions: list[Instruction]) -> BatchBlock:
        lse2 = "lse2" in self.features
        return BatchBlock(instructions, [bound(i, lse2) for i in instructions], touched_by(instructions))
