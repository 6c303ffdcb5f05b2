"""Registers as the `State` of generated C."""

from __future__ import annotations

from struct import pack, unpack_from

from sim.machine.registers import RegisterStorage

STATE = "<512s32QQQ16s3I4x"
"""The layout of `State` in `isa.evaluate.c.PRELUDE`."""


def packed(registers: RegisterStorage, pc: int) -> bytes:
    """Registers as a `State`."""
    nzcv, fpsr, fpcr, monitor, tpidr = registers.flags
    flags = monitor.to_bytes(16, "little"), nzcv, fpsr, fpcr
    return pack(STATE, bytes(registers.vectors), *registers.general, pc, tpidr, *flags)


def unpack_into(registers: RegisterStorage, state: bytes) -> int:
    """Take registers from what begins with a `State`; returns its pc."""
    vectors, *general, pc, tpidr, monitor, nzcv, fpsr, fpcr = unpack_from(STATE, state)
    registers.vectors[:], registers.general[:] = vectors, general
    registers.flags[:] = nzcv, fpsr, fpcr, int.from_bytes(monitor, "little"), tpidr
    return int(pc)
