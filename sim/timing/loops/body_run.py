"""The body of a loop executed without a caller, on registers and memory that are made up for it.

Every register that an address comes from points into memory of its own; those that are added to addresses hold small
numbers; the others, and all memory, are zero.  An address that the body itself loads leads to memory of its own, too.
"""

from __future__ import annotations

from sim.machine.errors import ExecutionError, MemoryFault
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.timing.loops.base_registers import BaseRegisters
from sim.timing.loops.body import CONDITIONAL, BareLoopError, Body
from sim.timing.model.stream import Executed, executed
from sim.toolchain.branches import branch_target

_SPACING = 0x100_0000_0000
"""Bytes from the memory of one register to that of the next: more than a loop walks through."""
_REACH = 0x400_0000
"""Bytes of memory on either side of where a register points."""
_APART = 65 * 64
"""Bytes between made-up numbers: an odd number of cache lines, so that they go through all sets of a cache."""
_LOADED = 8192
"""Addresses made up for a body to load: a power of two, of which the triangular numbers are a permutation."""


class BodyRun:
    """A machine that executes a body again and again.

    The branch at its end is followed whatever its condition says, and one that leads out of the body is not.
    """

    def __init__(self, body: Body) -> None:
        self._body, self._machine, self._loaded = body, Machine(), 0
        for segment in body.image.segments:
            start, end = segment.address // PAGE * PAGE, -(-(segment.address + segment.size) // PAGE) * PAGE
            self._machine.memory.map(start, end - start, segment.permissions)
            self._machine.memory.write(segment.address, segment.data)
        registers = BaseRegisters(body.code)
        self._pointers = {body.start + 4 * number: places for number, places in registers.pointers.items()}
        for number, place in enumerate(registers.bases, start=2):
            self._machine.write(place, self._memory(number) + number * _APART)
        for number, place in enumerate(registers.offsets, start=1):
            self._machine.write(place, number * _APART)
        self._heap = self._memory(1)

    def _memory(self, number: int) -> int:
        """The middle of memory that is mapped for this."""
        self._machine.memory.map(number * _SPACING - _REACH, 2 * _REACH, "rw")
        return number * _SPACING

    def iteration(self) -> list[Executed]:
        """Execute the body until it is back at its start.  Raises BareLoopError where that cannot be done."""
        self._machine.pc = self._body.start
        done = [self._step()]
        while done[-1].pc != self._body.last and done[-1].next_pc != self._body.start:
            if len(done) == len(self._body.code):  # more than all of it: a branch whose target is in no text
                raise BareLoopError("a branch to a register goes back within the loop: time the whole function")
            done.append(self._step())
        return done

    def _step(self) -> Executed:
        try:
            step = self._machine.step()
        except MemoryFault as fault:
            raise BareLoopError(f"no register of the loop explains an address: {fault}") from None
        except ExecutionError as error:
            raise BareLoopError(str(error)) from None
        for place, offset in self._pointers.get(step.pc, {}).items():
            if not self._machine.read(place):  # it was loaded as an address, from where there was none yet
                pointer = self._heap + self._loaded * (self._loaded + 1) // 2 % _LOADED * _APART
                self._loaded += 1
                self._machine.write(place, pointer)
                ((address, _),) = step.reads_memory
                self._machine.memory.write(address + offset, pointer.to_bytes(8, "little"))
        target, addresses = branch_target(step.instruction.text), self._body.addresses
        if step.pc == self._body.last and target is not None:
            step = step._replace(next_pc=target)
        elif step.pc != self._body.last:
            if step.instruction.form.mnemonic in CONDITIONAL and target not in addresses:
                step = step._replace(next_pc=step.pc + 4)
            elif step.next_pc not in addresses:
                raise BareLoopError(f"{step.instruction.text} at {step.pc:#x} leaves the loop: time the whole function")
        self._machine.pc = step.next_pc
        return executed(step)
