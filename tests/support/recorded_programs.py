"""Programs for the tests of allocation: random intrinsics, and instructions recorded without an intrinsic."""

from __future__ import annotations

from functools import cache
from random import Random

from isa.acle.liveness import COPY
from isa.acle.parameters import (
    AddressParameter,
    LiteralParameter,
    NumberParameter,
    Parameter,
    StructureParameter,
    VectorParameter,
)
from isa.acle.program import OpenProgram
from isa.acle.values import StructureValue, VectorType
from isa.intrinsics import ElementPointer, Intrinsic, Program, VectorValue, intrinsic, intrinsic_names
from isa.lane import Place
from isa.rows import TABLE
from sim import Memory

BASE, SIZE = 0x5_0000, 0x2000
ROW = ElementPointer(BASE, "int32")
EMULATED_WRONGLY = "vcvth_n_s16_f16"
"""FCVTZS h, h, #n: the emulator extends the sign of a negative result beyond the 16 bits of the register's element."""
Values = dict[VectorType, list[VectorValue]]


def filled_memory(seed: int = 1) -> Memory:
    """Two pages of seeded bytes at `BASE`."""
    memory = Memory()
    memory.map(BASE, SIZE)
    memory.write(BASE, Random(seed).randbytes(SIZE))
    return memory


@cache
def every_intrinsic() -> tuple[Intrinsic, ...]:
    """All but the one that the emulator gets wrong, in the order of their names."""
    return tuple(intrinsic(name) for name in intrinsic_names() if name != EMULATED_WRONGLY)


def random_program(seed: int, length: int) -> Program:
    """A program of so many calls (see `call_randomly`), on memory of its own."""
    program = Program(filled_memory(seed))
    call_randomly(program, seed, length)
    return program


def call_randomly(program: OpenProgram, seed: int, length: int) -> list[object]:
    """So many calls of random intrinsics on values from anywhere before, some of which are stored; what they return."""
    random, values, results = Random(seed), Values(), list[object]()
    with program:
        for _ in range(length):
            called = random.choice(every_intrinsic())
            result = called(*(_argument(random, p, values) for p in called.parameters))
            vectors = result.val if isinstance(result, StructureValue) else [result]
            results += vectors
            for vector in vectors:
                if isinstance(vector, VectorValue):
                    values.setdefault(vector.type, []).append(vector)
    return results


def _argument(random: Random, parameter: Parameter, values: Values) -> object:
    """Any value that a parameter takes.  Raises AssertionError for a kind of parameter that is not known here."""
    if isinstance(parameter, VectorParameter):
        return _vector(random, parameter.type, values)
    if isinstance(parameter, StructureParameter):
        kind = parameter.type
        return kind(*(_vector(random, kind.vector, values) for _ in range(kind.count)))
    if isinstance(parameter, LiteralParameter):
        return random.randint(parameter.low, parameter.high)
    if isinstance(parameter, NumberParameter):
        return parameter.element.number(random.getrandbits(parameter.element.bits))
    assert isinstance(parameter, AddressParameter), f"no value is known for {parameter}"
    return ElementPointer(BASE, parameter.dtype) + random.randrange(SIZE // 16 - 16)


def _vector(random: Random, kind: VectorType, values: Values) -> VectorValue:
    known = values.setdefault(kind, [])
    if not known:
        known.append(VectorValue(kind, random.getrandbits(kind.total_bits)))
    return random.choice(known)


def recorded(program: Program, text: str) -> None:
    """Record an instruction on the virtual registers that its text names."""
    mnemonic, operands = text.split(" ", 1)
    instruction = TABLE.instruction(mnemonic, operands)
    program.run(instruction.pattern, instruction.registers)


def with_registers(program: Program, vectors: int) -> None:
    """Registers v0 and on with distinct contents, x0 with the address of the memory."""
    for number in range(vectors):
        program.registers.new_vector(0x0101 * (number + 1) << 3 * number % 100)
    program.registers.new_general(BASE)


def live_after(program: Program) -> list[set[Place]]:
    """For each recorded instruction the registers that later ones read, by the textbook's backward pass.

    A copy reads its source only if its result is read.
    """
    live: set[Place] = {Place("v", register) for register in program.returned}
    found = []
    for instruction in reversed(program.instructions):
        found.append(set(live))
        unread_copy = instruction.pattern.text == COPY and live.isdisjoint(instruction.places_written)
        live -= set(instruction.places_written)
        live |= set() if unread_copy else set(instruction.places_read)
    return found[::-1]
