"""A batch beside machines of their own, one for each member: filled alike, run alike, compared in everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nan
from random import Random
from struct import pack

import numpy as np

from isa.evaluate.floating.formats import IXC
from isa.rows import TABLE
from isa.table import Table
from sim import Batch, Machine
from sim.machine.errors import ExecutionError
from sim.machine.registers import SP, RegisterStorage
from support.streams import fill

CODE, DATA, PAGE = 0x10000, 0x400000, 4096
FPSR_BITS, FPCR_BITS = 0x0800009F, 0x07C00000
"""QC and the cumulative exceptions; AHP, DN, FZ, RMode (Arm ARM C5.2.8, C5.2.10)."""


class Together:
    """A batch, and a machine for each of its members."""

    def __init__(self, members: int, table: Table = TABLE) -> None:
        self.batch = Batch(members, table=table)
        self.machines = [Machine() for _ in range(members)]
        self.regions: list[tuple[int, int]] = []

    def map(self, address: int, size: int, permissions: str) -> None:
        self.batch.memory.map(address, size, permissions)
        for machine in self.machines:
            machine.memory.map(address, size, permissions)
        self.regions.append((address, size))

    def write(self, address: int, data: bytes) -> None:
        """The same bytes into every member."""
        self.batch.memory.write(address, data)
        for machine in self.machines:
            machine.memory.write(address, data)

    def write_each(self, address: int, rows: Sequence[bytes]) -> None:
        """Bytes for each member, all of one length."""
        self.batch.memory.write(address, np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        for machine, row in zip(self.machines, rows, strict=True):
            machine.memory.write(address, row)

    def fill(self, rng: Random, special: bool = False) -> None:
        """Random registers in every member; `special`: any bits of FPSR and FPCR too."""
        for machine in self.machines:
            fill(machine.registers, rng)
            if special:
                machine.fpsr, machine.fpcr = rng.getrandbits(32) & FPSR_BITS, rng.getrandbits(32) & FPCR_BITS

    def fill_small(self, rng: Random) -> None:
        """Numbers far from the ends of 64 bits in every register; signed ones in vectors."""
        for machine in self.machines:
            machine.registers.general[:] = [rng.randrange(2**30) for _ in range(32)]
            lanes = [rng.randrange(-(2**30), 2**30) for _ in range(64)]
            machine.registers.vectors[:] = pack("<64q", *lanes)

    def fill_floats(self, rng: Random) -> None:
        """Floating-point lanes of one width in a member, mostly usual numbers; inexact is noted in most members."""
        for machine in self.machines:
            letter, size = rng.choice((("e", 2), ("f", 4), ("d", 8)))
            lanes = [_number(rng, size) for _ in range(512 // size)]
            machine.registers.vectors[:] = pack(f"<{len(lanes)}{letter}", *lanes)
            machine.registers.general[:] = [rng.getrandbits(rng.randrange(1, 64)) for _ in range(32)]
            machine.fpsr, machine.fpcr = (0 if rng.randrange(8) == 0 else IXC), 0

    def start(self, pc: int) -> None:
        """Give the batch the registers of the machines, and all of them this program counter."""
        for machine in self.machines:
            machine.pc = pc
        states = [machine.registers for machine in self.machines]
        self.batch.pc = pc
        for i in range(32):
            self.batch.v[i] = np.array([list(s.vectors[16 * i : 16 * i + 16]) for s in states], np.uint8)
        for i in range(31):
            self.batch.x[i] = np.array([s.general[i] for s in states], np.uint64)
        self.batch.sp = np.array([s.general[SP] for s in states], np.uint64)
        for i, name in enumerate(("nzcv", "fpsr", "fpcr")):
            setattr(self.batch, name, np.array([s.flags[i] for s in states]))
        self.batch.tpidr = np.array([s.flags[4] for s in states], np.uint64)
        self.batch.registers.flags[3] = np.array([[s.flags[3]] for s in states], object)
        self.batch.faults.clear()

    def run(self, until: int | None = None, max_instructions: int | None = None) -> str:
        """Run them all; "" or the first difference."""
        executed = self.batch.run(until, max_instructions)
        for member, machine in enumerate(self.machines):
            before = machine.instructions_executed
            fault = _stopped(machine, until, max_instructions)
            if machine.instructions_executed - before != executed[member]:
                return f"member {member}: executed {executed[member]}, machine {machine.instructions_executed - before}"
            if found := self._difference(member, machine, fault):
                return f"member {member}: {found}"
        return ""

    def _difference(self, member: int, machine: Machine, fault: ExecutionError | None) -> str:
        stopped = self.batch.faults.get(member)
        if (type(stopped), str(stopped)) != (type(fault), str(fault)):
            return f"stopped with {stopped}, machine with {fault}"
        pairs = zip(self._state(member), _state(machine.registers, machine.pc), strict=True)
        for (name, value), (_, expected) in pairs:
            if value != expected:
                return f"{name} is {value:#x}, machine {expected:#x}"
        return self._memory_difference(member, machine)

    def _memory_difference(self, member: int, machine: Machine) -> str:
        for address, size in self.regions:
            mine, expected = self.batch.memory.read(address, size)[member].tobytes(), machine.memory.read(address, size)
            if mine != expected:
                at = next(i for i in range(size) if mine[i] != expected[i])
                return f"memory at {address + at:#x} is {mine[at]:#x}, machine {expected[at]:#x}"
        return ""

    def _state(self, member: int) -> Iterator[tuple[str, int]]:
        registers = self.batch.registers
        yield "pc", int(self.batch.pc[member])
        yield from ((f"v{i}", int.from_bytes(a[member].tobytes(), "little")) for i, a in enumerate(registers.vectors))
        yield from ((f"x{i}", int(a[member, 0])) for i, a in enumerate(registers.general))
        names = ("nzcv", "fpsr", "fpcr", "monitor", "tpidr")
        yield from ((name, int(a[member, 0])) for name, a in zip(names, registers.flags, strict=True))


def _number(rng: Random, size: int) -> float:
    """A number near 1, or of few bits so that ties occur, or a corner; below 2^15, so that half precision has it."""
    few = rng.randrange(-2048, 2048) * 2.0 ** rng.randrange(-14, 4)
    corner = rng.choice(
        (0.0, -0.0, inf, -inf, nan, 2.0 ** rng.randrange(-24, -12), 2.0 ** {2: -24, 4: -149, 8: -1074}[size])
    )
    return rng.choice((rng.uniform(-4, 4), rng.uniform(-4, 4), few, few, few, 1.0, corner))


def _state(registers: RegisterStorage, pc: int) -> Iterator[tuple[str, int]]:
    yield "pc", pc
    vectors = registers.vectors
    yield from ((f"v{i}", int.from_bytes(vectors[16 * i : 16 * i + 16], "little")) for i in range(32))
    yield from ((f"x{i}", value) for i, value in enumerate(registers.general))
    yield from zip(("nzcv", "fpsr", "fpcr", "monitor", "tpidr"), registers.flags, strict=True)


def _stopped(machine: Machine, until: int | None, max_instructions: int | None) -> ExecutionError | None:
    try:
        machine.run(until, max_instructions)
    except ExecutionError as error:
        return error
    return None
