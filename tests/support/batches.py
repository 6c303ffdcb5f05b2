"""A batch beside machines of their own, one for each member: filled alike, run alike, compared in everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import inf, nan
from random import Random
from struct import pack

import numpy as np

from isa.evaluate.floating.formats import IXC
from isa.rows import TABLE
from isa.table import Table
from sim import Batch, Machine
from sim.machine.errors import ExecutionError
from sim.machine.registers import SP
from support.streams import fill

CODE, DATA, PAGE = 0x10000, 0x400000, 4096
FPSR_BITS, FPCR_BITS = 0x0800009F, 0x07C00000
"""QC and the cumulative exceptions; AHP, DN, FZ, RMode (Arm ARM C5.2.8, C5.2.10)."""
State = tuple[int, bytes, tuple[int, ...], tuple[int, ...]]
"""Program counter, vector registers, general registers, flags."""


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
            lanes = rng.choices(_numbers(size), k=512 // size)
            machine.registers.vectors[:] = pack(f"<{len(lanes)}{letter}", *lanes)
            machine.registers.general[:] = [rng.getrandbits(rng.randrange(1, 64)) for _ in range(32)]
            machine.fpsr, machine.fpcr = (0 if rng.randrange(8) == 0 else IXC), 0

    def start(self, pc: int) -> None:
        """Give the batch the registers of the machines, and all of them this program counter."""
        for machine in self.machines:
            machine.pc = pc
        states = [machine.registers for machine in self.machines]
        self.batch.pc = pc
        vectors = np.frombuffer(b"".join(bytes(s.vectors) for s in states), np.uint8).reshape(len(states), 32, 16)
        general = np.array([s.general for s in states], np.uint64)
        for i in range(32):
            self.batch.v[i] = vectors[:, i]
        for i in range(31):
            self.batch.x[i] = general[:, i]
        self.batch.sp = general[:, SP]
        for i, name in enumerate(("nzcv", "fpsr", "fpcr")):
            setattr(self.batch, name, np.array([s.flags[i] for s in states]))
        self.batch.tpidr = np.array([s.flags[4] for s in states], np.uint64)
        self.batch.registers.flags[3] = np.array([[s.flags[3]] for s in states], object)
        self.batch.faults.clear()

    def run(self, until: int | None = None, max_instructions: int | None = None) -> str:
        """Run them all; "" or the first difference."""
        executed = self.batch.run(until, max_instructions)
        befores = [machine.instructions_executed for machine in self.machines]
        faults = [_stopped(machine, until, max_instructions) for machine in self.machines]
        memory = [(address, self.batch.memory.read(address, size)) for address, size in self.regions]
        states = self._states()
        for member, (machine, before, fault) in enumerate(zip(self.machines, befores, faults, strict=True)):
            if machine.instructions_executed - before != executed[member]:
                return f"member {member}: executed {executed[member]}, machine {machine.instructions_executed - before}"
            stopped = self.batch.faults.get(member)
            if (type(stopped), str(stopped)) != (type(fault), str(fault)):
                return f"member {member}: stopped with {stopped}, machine with {fault}"
            if found := _difference(states[member], machine):
                return f"member {member}: {found}"
            for address, rows in memory:
                if found := _memory_difference(address, rows[member].tobytes(), machine):
                    return f"member {member}: {found}"
        return ""

    def _states(self) -> list[State]:
        """The registers of each member of the batch."""
        registers = self.batch.registers
        vectors = np.stack(registers.vectors, axis=1).reshape(len(self.machines), -1)
        numbers = [[a[:, 0].tolist() for a in file] for file in (registers.general, registers.flags)]
        general, flags = (list(zip(*columns, strict=True)) for columns in numbers)
        return [
            (int(pc), row.tobytes(), x, f) for pc, row, x, f in zip(self.batch.pc, vectors, general, flags, strict=True)
        ]


def _difference(mine: State, machine: Machine) -> str:
    registers = machine.registers
    expected = (machine.pc, bytes(registers.vectors), tuple(registers.general), tuple(registers.flags))
    pairs = zip(_named(mine), _named(expected), strict=True) if mine != expected else ()
    return next((f"{name} is {a:#x}, machine {b:#x}" for (name, a), (_, b) in pairs if a != b), "")


def _named(state: State) -> Iterator[tuple[str, int]]:
    pc, vectors, general, flags = state
    yield "pc", pc
    yield from ((f"v{i}", int.from_bytes(vectors[16 * i : 16 * i + 16], "little")) for i in range(32))
    yield from ((f"x{i}", value) for i, value in enumerate(general))
    yield from zip(("nzcv", "fpsr", "fpcr", "monitor", "tpidr"), flags, strict=True)


def _memory_difference(start: int, mine: bytes, machine: Machine) -> str:
    expected = machine.memory.read(start, len(mine))
    if mine == expected:
        return ""
    at = next(i for i in range(len(mine)) if mine[i] != expected[i])
    return f"memory at {start + at:#x} is {mine[at]:#x}, machine {expected[at]:#x}"


@cache
def _numbers(size: int) -> tuple[float, ...]:
    """Numbers of so many bytes, of which lanes are drawn."""
    rng = Random(size)
    return tuple(_number(rng, size) for _ in range(4096))


def _number(rng: Random, size: int) -> float:
    """A number near 1, or of few bits so that ties occur, or a corner; below 2^15, so that half precision has it."""
    few = rng.randrange(-2048, 2048) * 2.0 ** rng.randrange(-14, 4)
    corner = rng.choice(
        (0.0, -0.0, inf, -inf, nan, 2.0 ** rng.randrange(-24, -12), 2.0 ** {2: -24, 4: -149, 8: -1074}[size])
    )
    return rng.choice((rng.uniform(-4, 4), rng.uniform(-4, 4), few, few, few, 1.0, corner))


def _stopped(machine: Machine, until: int | None, max_instructions: int | None) -> ExecutionError | None:
    try:
        machine.run(until, max_instructions)
    except ExecutionError as error:
        return error
    return None
