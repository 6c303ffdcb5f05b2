"""What timing knows of an executed instruction: where it was, what it touched, where it went.  Never a value."""

from __future__ import annotations

from typing import NamedTuple

from isa.instruction import Instruction
from sim.machine.trace import Step

Accesses = tuple[tuple[int, int], ...]
"""Accesses to memory as (address, bytes), lowest byte first."""


class Executed(NamedTuple):
    """One executed instruction.

    `loads` and `stores` are what it read and wrote of memory.  Adjacent bytes are one access, however many registers
    they belong to: `ldp q0, q1` and `ld4` of whole registers read once, 32 and 64 bytes.  A load thus finds all that it
    needs in one earlier store exactly if that store's access contains its own.  `taken` says that a branch left the
    straight line.  `pc` and `next_pc` are None in a program of intrinsics, which has no addresses.
    """

    pc: int | None
    instruction: Instruction
    loads: Accesses
    stores: Accesses
    taken: bool
    next_pc: int | None


def executed(step: Step) -> Executed:
    """A step of a machine without its values."""
    loads = tuple((address, len(data)) for address, data in step.reads_memory) if step.reads_memory else ()
    stores = tuple((address, len(new)) for address, _, new in step.memory) if step.memory else ()
    taken = step.next_pc != (step.pc + 4) % 2**64
    return Executed(step.pc, step.instruction, loads, stores, taken, step.next_pc)
