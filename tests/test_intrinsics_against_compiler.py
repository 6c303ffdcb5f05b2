"""Every intrinsic: what clang's arm_neon.h compiles it to, run in the emulator, against the plain function.

An intrinsic's immediates and arguments come from a generator seeded with the CRC of its name, so a failure comes back
when its chunk is run again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from zlib import crc32

import pytest

from isa.acle.assembly import architecture
from isa.acle.elements import ElementType
from isa.acle.parameters import (
    AddressParameter,
    LiteralParameter,
    NumberParameter,
    Parameter,
    StructureParameter,
    VectorParameter,
)
from isa.acle.results import IntrinsicResult, NoResult, NumberResult, StructureResult, VectorResult
from isa.acle.values import VectorType, VectorValue
from isa.intrinsics import ElementPointer, Intrinsic, Program, intrinsic, intrinsic_names
from isa.lane import Int
from isa.rows import TABLE
from sim import Emulator, Machine, Memory, UnsupportedInstruction
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image

CHUNKS = 16
STATES = 12
FLAGS = ("-O2", f"-march={architecture(TABLE.forms.values())}")
DATA, SLOT, SLOTS = 0x5000_0000, 64, 8
"""The result is in the first slot, each argument in the next one: a slot holds any structure of vectors."""
RETURN = 0x7000_0000
LONGEST = 200
"""Instructions in the code of one intrinsic, and more."""
QC = 1 << 27
LACKING = ("i8mm", "bf16")
"""Features that Unicorn 2.1.4 lacks on every processor model.  What needs them runs, compiled, in the Machine here:
that it executes these instructions right is tested by their defining sums in test_forms_against_emulator."""

Engine = Emulator | Machine


@dataclass(frozen=True)
class Call:
    """A C function that calls an intrinsic with these immediates; `literals` has None for every other argument."""

    function: Intrinsic
    literals: tuple[int | None, ...]
    number: int

    @property
    def symbol(self) -> str:
        return f"{self.function.name}_{self.number}"

    @property
    def c_text(self) -> str:
        pairs = zip(self.function.parameters, self.literals, strict=True)
        arguments = [_c_argument(p, f"p{k}", literal) for k, (p, literal) in enumerate(pairs)]
        pointers = [f"void *p{k}" for k, literal in enumerate(self.literals) if literal is None]
        call = f"{self.function.name}({', '.join(arguments)})"
        returned = "" if isinstance(self.function.result, NoResult) else f"*({self.function.result.c_type} *)out = "
        return f"void {self.symbol}({', '.join(['void *out', *pointers])}) {{ {returned}{call}; }}"


def _c_argument(parameter: Parameter, pointer: str, literal: int | None) -> str:
    if literal is not None:
        return str(literal)
    return (
        f"({parameter.c_type}){pointer}"
        if isinstance(parameter, AddressParameter)
        else f"*({parameter.c_type} *){pointer}"
    )


class Calls:
    """The calls of one intrinsic and their arguments."""

    def __init__(self, name: str) -> None:
        self.function = intrinsic(name)
        self.seed = crc32(name.encode())
        self.rng = random.Random(self.seed)

    @cached_property
    def all(self) -> list[Call]:
        """With the least, the greatest and random immediates, if it takes any."""
        choices = [self._literals(parameter) for parameter in self.function.parameters]
        variants = dict.fromkeys(zip(*choices, strict=True))
        return [Call(self.function, literals, number) for number, literals in enumerate(variants)]

    def _literals(self, parameter: Parameter) -> tuple[int | None, ...]:
        if not isinstance(parameter, LiteralParameter):
            return (None,) * 4
        low, high = parameter.low, parameter.high
        return low, high, self.rng.randint(low, high), self.rng.randint(low, high)

    def arguments(self, call: Call) -> list[Any]:
        pairs = enumerate(zip(self.function.parameters, call.literals, strict=True))
        return [self._argument(p, _slot(call, k)) if literal is None else literal for k, (p, literal) in pairs]

    def _argument(self, parameter: Parameter, address: int) -> Any:
        if isinstance(parameter, VectorParameter):
            return self._vector(parameter.type)
        if isinstance(parameter, StructureParameter):
            return parameter.type(*(self._vector(parameter.type.vector) for _ in range(parameter.type.count)))
        if isinstance(parameter, AddressParameter):
            return ElementPointer(address, parameter.dtype)
        assert isinstance(parameter, NumberParameter)
        return parameter.element.number(self._bits(parameter.element))

    def _vector(self, vector_type: VectorType) -> VectorValue:
        lanes = [self._bits(vector_type.element) << vector_type.bits * i for i in range(vector_type.lanes)]
        return vector_type.of_bits(sum(lanes))

    def _bits(self, element: ElementType) -> int:
        return self._float(element) if element.is_float else self._integer(element.integer)

    def _integer(self, element: Int) -> int:
        """A corner, a shift count to either side, a number near the size of a table, or any."""
        low, high, rng = element.low, element.high, self.rng
        count = max(low, -rng.randrange(71)), min(high, rng.randrange(71))
        size = 8 * rng.randrange(1, 9) + rng.randrange(-1, 2)
        chosen = rng.choice(
            (low, high, 0, 1, high // 2 + 1, *count, size, rng.randint(low, high), rng.randint(low, high))
        )
        return chosen % (1 << element.bits)

    def _float(self, element: ElementType) -> int:
        """Of either sign: zero, a subnormal, the ends of the range, infinity, a NaN of either sort, a small integer
        with a half or without (ties), a number near 1, any bits."""
        rng, of = self.rng, element.format
        payload = rng.randrange(1, of.quiet_bit)
        special = (
            0,
            1,
            payload,
            of.infinity - 1,
            of.infinity,
            of.infinity | payload,
            of.infinity | of.quiet_bit | payload,
        )
        halves = element.bits_of(rng.randrange(40) / 2, "a half")
        near_one = (of.highest_exponent + rng.randrange(-4, 9) << of.fraction_bits) + rng.choice((0, payload))
        magnitude = rng.choice((rng.choice(special), rng.choice(special), halves, near_one, rng.randrange(of.sign_bit)))
        return magnitude | rng.choice((0, of.sign_bit))


def _slot(call: Call, position: int) -> int:
    """The address of the argument there: immediates have no slot."""
    return DATA + SLOT * (1 + sum(literal is None for literal in call.literals[:position]))


def _stored(part: Parameter | IntrinsicResult, value: Any) -> bytes:
    """A vector, a structure or a number as C has it in memory."""
    if isinstance(part, VectorParameter | VectorResult):
        return int(value.bits).to_bytes(part.type.total_bits // 8, "little")
    if isinstance(part, StructureParameter | StructureResult):
        return b"".join(vector.bits.to_bytes(vector.type.total_bits // 8, "little") for vector in value.val)
    assert isinstance(part, NumberParameter | NumberResult)
    return part.element.bits_of(value, "a number").to_bytes(part.element.bits // 8, "little")


class Bench:
    """An engine with the compiled calls of some intrinsics loaded."""

    def __init__(self, engine: Engine, calls: Sequence[Calls]) -> None:
        self.engine, self.image = engine, _compiled(calls)
        for segment in self.image.segments:
            start, end = segment.address & -4096, -(-(segment.address + segment.size) // 4096) * 4096
            engine.memory.map(start, end - start, segment.permissions)
            engine.memory.write(segment.address, segment.data)
        engine.memory.map(DATA, 4096)

    def difference(self, calls: Calls, call: Call) -> str:
        """What the compiled call and the function disagree on from the next state; "" if nothing."""
        arguments, data = calls.arguments(call), calls.rng.randbytes(SLOT * SLOTS)
        expected, saturated = _called(call, arguments, data)
        self._run(call, arguments, data)
        compiled = self.engine.memory.read(DATA, len(data))
        found = _first_difference(_comparable(calls.function, expected), _comparable(calls.function, compiled))
        if not found and saturated != bool(self.engine.fpsr & QC):
            found = f"QC: function {saturated}, compiled {not saturated}"
        return found and f"{call.function.name}{tuple(arguments)}: {found}; seed {calls.seed}"

    def _run(self, call: Call, arguments: Sequence[Any], data: bytes) -> None:
        engine = self.engine
        engine.memory.write(DATA, data)
        _place(engine.memory, call, arguments)
        addresses = [_slot(call, k) for k, literal in enumerate(call.literals) if literal is None]
        for number, address in enumerate([DATA, *addresses]):
            engine.x[number] = address
        engine.x[30], engine.fpsr, engine.pc = RETURN, 0, self.image.symbol(call.symbol).address
        engine.run(until=RETURN, max_instructions=LONGEST)
        assert engine.pc == RETURN, f"{call.c_text} has not returned after {LONGEST} instructions"


def _compiled(calls: Sequence[Calls]) -> Image:
    """Kept by its text, so that it is compiled again only where that is another."""
    headers = [f"#include <{name}.h>" for name in ("arm_neon", "arm_fp16", "arm_acle")]
    return build_text("\n".join([*headers, *(call.c_text for each in calls for call in each.all), ""]), ".c", *FLAGS)


def _place(memory: Memory, call: Call, arguments: Sequence[Any]) -> None:
    for k, (parameter, value) in enumerate(zip(call.function.parameters, arguments, strict=True)):
        if call.literals[k] is None and not isinstance(parameter, AddressParameter):
            memory.write(_slot(call, k), _stored(parameter, value))


def _called(call: Call, arguments: Sequence[Any], data: bytes) -> tuple[bytes, bool]:
    """What the function leaves in memory, its result in the first slot, and whether it saturated."""
    memory = Memory()
    memory.map(DATA, 4096)
    memory.write(DATA, data)
    _place(memory, call, arguments)
    with Program(memory) as program:
        result = call.function(*arguments)
    if result is not None:
        memory.write(DATA, _stored(call.function.result, result))
    return memory.read(DATA, len(data)), program.saturated


def _comparable(function: Intrinsic, memory: bytes) -> bytes:
    """What both must leave in memory: the very bits, but of a NaN that FMLA or FMLS gives, only that it is one.

    The first factor that is a NaN gives the result, and FMLS negates the first factor, also a NaN; clang is free in the
    order of the factors, and swaps them at times (vfma_f16, vfms_f32).
    """
    if function.mnemonic not in ("fmla", "fmls"):
        return memory
    assert isinstance(function.result, VectorResult | NumberResult)
    result = function.result
    element, lanes = (
        (result.type.element, result.type.lanes) if isinstance(result, VectorResult) else (result.element, 1)
    )
    size = element.bits // 8
    fields = [memory[size * i : size * (i + 1)] for i in range(lanes)]
    same = [b"\xff" * size if math.isnan(element.number(int.from_bytes(f, "little"))) else f for f in fields]
    return b"".join(same) + memory[size * lanes :]


def _first_difference(function: bytes, compiled: bytes) -> str:
    """The first slot that differs: 0 has the result, the next ones what pointers point to."""
    for at in range(0, len(function), SLOT):
        mine, theirs = function[at : at + SLOT], compiled[at : at + SLOT]
        if mine != theirs:
            return f"slot {at // SLOT}: function {mine[:16].hex(' ')}, compiled {theirs[:16].hex(' ')}"
    return ""


def _differences(engine: Engine, names: Sequence[str]) -> Iterator[str]:
    """At most one line for each compiled call."""
    calls = [Calls(name) for name in names]
    bench = Bench(engine, calls)
    for each in calls:
        for call in each.all:
            found = [line for line in (bench.difference(each, call) for _ in range(STATES)) if line]
            yield from found[:1]


EMULATED_WRONGLY = ["vcvth_n_s32_f16", "vcvth_n_s64_f16"]
"""Their FCVTZS sets more than 16 bits in the emulator: `EMULATOR_FAULTS` in sim/call/definitions.py."""


@cache
def not_emulated() -> list[str]:
    """Those of extensions that the emulator lacks."""
    return [name for name in intrinsic_names() if set(intrinsic(name).features) & set(LACKING)]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_an_intrinsic_does_what_the_compiler_makes_of_it(chunk: int) -> None:
    lacking = {*not_emulated(), *EMULATED_WRONGLY}
    names = [name for name in intrinsic_names() if name not in lacking][chunk::CHUNKS]
    found = list(_differences(Emulator(), names))
    assert names
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_the_intrinsics_not_emulated_do_what_the_compiler_makes_of_them() -> None:
    found = list(_differences(Machine(), [*not_emulated(), *EMULATED_WRONGLY]))
    assert not_emulated()
    assert not found, "\n".join(found)


def test_the_emulator_refuses_the_intrinsics_not_emulated() -> None:
    calls = [Calls(name) for name in not_emulated()]
    bench = Bench(Emulator(), calls)
    assert [call.symbol for each in calls for call in each.all if not _refused(bench, each, call)] == []


def _refused(bench: Bench, calls: Calls, call: Call) -> bool:
    try:
        bench.difference(calls, call)
    except UnsupportedInstruction:
        return True
    return False
