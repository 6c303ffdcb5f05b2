"""Parts of programs: recorded once and repeated, they do what they do where they are called each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from isa.acle.program import OpenProgram, current_program
from isa.intrinsics import (
    ElementPointer,
    Program,
    StructureValue,
    VectorValue,
    float32x4_t,
    int32x4_t,
    int32x4x2_t,
    part,
    vaddq_s32,
    vdupq_n_f32,
    vdupq_n_s32,
    vgetq_lane_s32,
    vld1q_s32,
    vmulq_f32,
    vqaddq_s32,
    vreinterpretq_f32_s32,
    vreinterpretq_s32_f32,
    vreinterpretq_s32_u32,
    vreinterpretq_u32_s32,
    vst1q_s32,
    vst2q_s32,
)
from sim import Memory, MemoryFault
from sim.call.call import ProgramKernel
from sim.check.vectors import call_seed, make_vectors
from sim.kernels import built_in_kernel, kernel_names
from sim.machine.compiled import sequence
from sim.machine.compiled.sequence import CompiledProgram, SequenceEngine
from sim.machine.host_compiler import NoHostCompiler, compile_for_host
from support.recorded_programs import BASE, ROW, SIZE, filled_memory
from support.sampled import sampled

TOP = int32x4_t(*[2**31 - 1] * 4)

LAYERS = ["conv2d", "depthwise_conv2d", "fully_connected"]
WITH_PARTS = [*LAYERS, "matrix_reduction", "quantize_down"]
PROGRAMS: list[tuple[str, str | None]] = [
    *((name, None) for name in kernel_names()),
    *((name, "u8_fp32") for name in LAYERS),
]
PROGRAMS.sort(key=lambda one: one[0] not in WITH_PARTS)
calls: list[int] = []
"""What was called itself, and not repeated."""


class Outcome(NamedTuple):
    """What programs leave, one after the other: what they returned, memory, and what was counted."""

    returned: list[object]
    memory: bytes
    counts: list[tuple[int, int, bool]]
    forms: set[str]


def plain(value: Any) -> object:
    """What is returned, as it can be compared."""
    if isinstance(value, VectorValue):
        return str(value.type), value.bits
    if isinstance(value, StructureValue):
        return [plain(each) for each in value.val]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def outcome(run: Callable[[int], object], make: Callable[[Memory], Program | CompiledProgram]) -> Outcome:
    """Of three programs in one memory, that run it with 0, 1 and 2."""
    memory, results, counts, forms = filled_memory(), list[object](), list[tuple[int, int, bool]](), set[str]()
    for number in range(3):
        with make(memory) as program:
            results.append(plain(run(number)))
        if isinstance(program, Program):
            executed, found = len(program.instructions), {one.form.name for one in program.instructions}
        else:
            executed, found = program.instructions, {one.form.name for one in program.patterns}
        counts.append((executed, program.saturations, program.saturated))
        forms |= found
    return Outcome(results, memory.read(BASE, SIZE), counts, forms)


def both(run: Callable[[int], object]) -> tuple[Outcome, Outcome]:
    """Of programs that call all that is called, one by one, and of those that repeat parts in C."""
    engines: dict[int, SequenceEngine] = {}

    def repeating(memory: Memory) -> CompiledProgram:
        return CompiledProgram(engines.setdefault(id(memory), SequenceEngine(compile_for_host, memory, patience=1)))

    return outcome(run, Program), outcome(run, repeating)


@part
def summed(row: ElementPointer, others: list[VectorValue], count: int) -> list[VectorValue]:
    """Saturated sums of a row with vectors, stored behind the row."""
    calls.append(count)
    sums = [vqaddq_s32(vld1q_s32(row + 4 * n), other) for n, other in zip(range(count), others, strict=False)]
    for n, total in enumerate(sums):
        vst1q_s32(row + 4 * (count + n), total)
    return sums


def test_a_part_is_called_once_and_repeated_on_other_vectors_and_pointers() -> None:
    calls.clear()
    once, repeated = both(lambda n: [summed(ROW + 3 * n + 16 * k, [TOP, int32x4_t(n, k, 1, 2)], 2) for k in range(3)])
    assert (repeated, len(calls)) == (once, 9 + 1)


def test_other_numbers_are_another_part() -> None:
    calls.clear()
    once, repeated = both(lambda n: summed(ROW, [TOP, vdupq_n_s32(n), TOP], n + 1))
    assert (repeated, len(calls)) == (once, 3 + 3)


@pytest.mark.parametrize("offset", [0, 1, 4, 8, 60, 64])
def test_loads_of_a_part_have_the_offsets_that_they_have_where_it_is_called(offset: int) -> None:
    once, repeated = both(lambda n: summed(ROW + offset + 4 * n, [TOP, TOP], 2))
    assert (repeated.forms, repeated.memory) == (once.forms, once.memory)


@part
def of_constants(value: VectorValue) -> tuple[VectorValue, VectorValue]:
    real = vmulq_f32(vdupq_n_f32(0.5), float32x4_t(1.0, 2.0, -3.0, 4.5))
    return vaddq_s32(value, TOP), vaddq_s32(value, vreinterpretq_s32_f32(real))


@part
def as_other_type(value: VectorValue, at: ElementPointer) -> dict[str, object]:
    return {"as": vreinterpretq_u32_s32(value), "same": value, "at": at + 3, "top": TOP, "none": None}


def next_of(value: VectorValue, at: ElementPointer) -> list[object]:
    found: dict[str, Any] = as_other_type(value, at)
    return [found["as"], found["same"], found["top"], found["none"], found["at"], (found["at"] + 1).offset(16)]


@part
def interleaved(at: ElementPointer, value: VectorValue) -> Any:
    pair = int32x4x2_t(vaddq_s32(value, value), vaddq_s32(value, TOP))
    vst2q_s32(at, pair)
    return pair


@pytest.mark.parametrize(
    "run",
    [
        lambda n: of_constants(vld1q_s32(ROW + n)),
        lambda n: next_of(vld1q_s32(ROW + n), ROW + 5 * n),
        lambda n: interleaved(ROW + 8 + n, vld1q_s32(ROW + n)),
        lambda n: vreinterpretq_s32_u32(vreinterpretq_u32_s32(of_constants(TOP)[0])),
    ],
)
def test_what_a_part_holds_and_returns_is_the_same(run: Callable[[int], object]) -> None:
    once, repeated = both(run)
    assert repeated == once


# Each of the following goes other ways for other data, which a recording cannot know.
def sign(number: int) -> Any:
    return vdupq_n_s32(1 if number > 0 else -1)


@part
def by_lanes(value: VectorValue, _: ElementPointer) -> Any:
    return sign(value.lanes[0])


@part
def by_bits(value: VectorValue, _: ElementPointer) -> Any:
    return sign(1 - (value.bits >> 31 & 1))


@part
def by_an_element(value: VectorValue, _: ElementPointer) -> Any:
    return sign(vgetq_lane_s32(vaddq_s32(value, value), 0))


@part
def by_an_element_that_is_passed_on(value: VectorValue, _: ElementPointer) -> Any:
    return vdupq_n_s32(vgetq_lane_s32(value, 0))


@part
def by_what_is_caught(value: VectorValue, _: ElementPointer) -> Any:
    try:
        return sign(value.lanes[0])
    except Exception:
        return TOP


@part
def by_an_address(_: VectorValue, at: ElementPointer) -> Any:
    return sign(at.address % 32)


@part
def by_an_origin(_: VectorValue, at: ElementPointer) -> Any:
    return sign(at.origin - BASE)


@part
def by_equal_pointers(_: VectorValue, at: ElementPointer) -> Any:
    return sign(at + 1 == ROW + 1)


@part
def by_saturation(value: VectorValue, _: ElementPointer) -> Any:
    vqaddq_s32(value, TOP)
    program = current_program()
    assert program is not None
    return sign(program.saturated)


@part
def by_registers(value: VectorValue, _: ElementPointer) -> Any:
    program = current_program()
    assert program is not None
    return sign(program.vector(program.vector_register(value)) & 1)


@part
def by_another_pointer(value: VectorValue, _: ElementPointer) -> Any:
    return vaddq_s32(value, vld1q_s32(ROW + 16))


@pytest.mark.parametrize(
    "tainted",
    [
        by_lanes, by_bits, by_an_element, by_an_element_that_is_passed_on, by_what_is_caught, by_an_address,
        by_an_origin, by_equal_pointers, by_saturation, by_registers, by_another_pointer,
    ],
)  # fmt: skip
def test_a_part_that_asks_for_data_or_addresses_is_called_each_time(tainted: Callable[..., Any]) -> None:
    def run(number: int) -> list[Any]:
        pointers = (ROW, ROW + 4, ElementPointer(BASE + 16, "int32"))
        return [
            tainted(vaddq_s32(vdupq_n_s32(k), vdupq_n_s32(0)), at) for k in (number, -number, 5, -5) for at in pointers
        ]

    once, repeated = both(run)
    assert repeated == once
    assert len({str(value) for returned in once.returned for value in cast("list[object]", returned)}) > 1


class Held(NamedTuple):
    """A vector inside of something else that a part takes."""

    value: VectorValue


class Opaque:
    """What the key of a part knows by its identity."""

    def __init__(self) -> None:
        self.value: VectorValue = TOP


SHARED = Opaque()


@part
def by_what_is_held(held: Held) -> Any:
    return vaddq_s32(held.value, TOP)


@part
def by_what_is_shared(opaque: Opaque) -> Any:
    return vaddq_s32(opaque.value, TOP)


@part
def by_a_float(number: float) -> Any:
    return vreinterpretq_s32_f32(vdupq_n_f32(number))


@part
def by_identity(one: VectorValue, other: VectorValue) -> Any:
    return vaddq_s32(one, other) if one is other else TOP


@part
def by_following_registers(at: ElementPointer, one: VectorValue, other: VectorValue) -> None:
    vst2q_s32(at, int32x4x2_t(one, other))


@part
def changing(values: list[VectorValue]) -> None:
    values[0] = vaddq_s32(values[0], TOP)


def shared_of(number: int) -> Any:
    SHARED.value = vld1q_s32(ROW + number)
    return by_what_is_shared(SHARED)


def changed_of(number: int) -> list[VectorValue]:
    values = [vld1q_s32(ROW + number)]
    changing(values)
    changing(values)
    return values


def following(number: int) -> None:
    one, other = vld1q_s32(ROW), vld1q_s32(ROW + 4)
    by_following_registers(ROW, one, other)  # one is in the register before that of the other
    by_following_registers(ROW + 8, other, one)
    by_following_registers(ROW + 16, vld1q_s32(ROW + number), vdupq_n_s32(number))


@pytest.mark.parametrize(
    "run",
    [
        lambda n: by_what_is_held(Held(vld1q_s32(ROW + n))),
        shared_of,
        lambda n: [by_a_float(0.0), by_a_float(-0.0), by_a_float(float(n))],
        lambda n: [by_identity(TOP, TOP), by_identity(vdupq_n_s32(n), TOP)],
        changed_of,
        following,
        lambda n: vreinterpretq_s32_f32(vreinterpretq_f32_s32(by_what_is_held(Held(TOP)))),
    ],
)
def test_what_a_key_cannot_tell_apart_is_not_repeated(run: Callable[[int], object]) -> None:
    once, repeated = both(run)
    assert repeated == once


def test_numbers_that_are_equal_and_of_other_types_are_apart() -> None:
    once, repeated = both(lambda n: [str(typed(True)), str(typed(1)), typed("1"), typed(n)])
    assert repeated == once


@part
def typed(number: object) -> str:
    return type(number).__name__


def test_a_part_takes_no_variables_from_around_it() -> None:
    number = 3

    def inside() -> Any:
        return vdupq_n_s32(number)

    with pytest.raises(TypeError, match="inside takes variables from around it"):
        part(inside)


def store_until_the_end(program: OpenProgram) -> None:
    with program:
        for at in (ROW, ROW + 64, ElementPointer(BASE + SIZE, "int32"), ROW + 128):
            summed(at, [TOP, TOP], 2)


def fault(program: OpenProgram) -> str:
    with pytest.raises(MemoryFault) as caught:
        store_until_the_end(program)
    return str(caught.value)


def test_a_fault_inside_of_a_part_is_the_same_and_what_comes_after_it_does_nothing() -> None:
    recorded, memory = Program(filled_memory()), filled_memory()
    said = fault(recorded)
    engine = SequenceEngine(compile_for_host, memory, patience=1)
    for _ in range(3):
        memory.write(BASE, filled_memory().read(BASE, SIZE))
        program = CompiledProgram(engine)
        assert fault(program) == said
        assert (program.instructions, program.saturations) == (len(recorded.instructions), recorded.saturations)
        assert recorded.memory is not None
        assert memory.read(BASE, SIZE) == bytes(recorded.memory.load(BASE, SIZE))


def refused(program: OpenProgram, wrong: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as caught, program:
        wrong()
    return str(caught.value)


NUMBERS: Any = [1, 2]


@pytest.mark.parametrize(
    "wrong", [lambda: summed(ROW, NUMBERS, 2), lambda: summed(ElementPointer(BASE, "int8"), [TOP], 1)]
)
def test_what_a_part_refuses_it_refuses_as_where_it_is_called(wrong: Callable[[], object]) -> None:
    program = CompiledProgram(SequenceEngine(compile_for_host, filled_memory()))
    assert refused(program, wrong) == refused(Program(filled_memory()), wrong)


def test_without_a_compiler_parts_are_repeated_one_instruction_at_a_time() -> None:
    def missing(key: str, text: Callable[[], str]) -> Path:
        raise NoHostCompiler("there is none")

    calls.clear()
    memory = filled_memory()
    engine = SequenceEngine(missing, memory, patience=1)
    with CompiledProgram(engine):
        returned = [plain(summed(ROW + n, [TOP, TOP], 2)) for n in range(4)]
    assert len(calls) == 1
    with Program(filled_memory()) as program:
        assert [plain(summed(ROW + n, [TOP, TOP], 2)) for n in range(4)] == returned
    assert program.memory is not None
    assert memory.read(BASE, SIZE) == bytes(program.memory.load(BASE, SIZE))


def test_parts_that_become_too_many_are_recorded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "_MOST_PARTS", 2)
    once, repeated = both(lambda n: [summed(ROW + n, [TOP] * k, k) for k in (1, 2, 3)])
    assert repeated == once


def results(name: str, mode: str | None) -> list[object]:
    """What the program of a kernel gives and counts on some vectors, call by call."""
    kernel = built_in_kernel(name, mode)
    vectors, program, found = make_vectors(kernel, 60, 1), ProgramKernel(kernel), list[object]()
    for number, inputs in enumerate(vectors.inputs):
        result = program.call(kernel.arguments(inputs), call_seed(vectors, number))
        lanes = {name: lanes.tobytes() for name, lanes in result.outputs["program"].items()}
        found += [lanes, result.instructions, result.qc_events, program.forms]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), sampled(PROGRAMS, 3))
def test_a_kernels_program_gives_the_same_by_its_parts(
    name: str, mode: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as only_python:
        only_python.setattr(sequence, "PATIENCE", 10**9)
        only_python.setattr(CompiledProgram, "perform", OpenProgram.perform)
        called = results(name, mode)
    monkeypatch.setattr(sequence, "PATIENCE", 200)
    assert results(name, mode) == called


def test_a_part_has_other_numbers_after_more_is_compiled() -> None:
    memory = filled_memory()
    engine = SequenceEngine(compile_for_host, memory, patience=1)
    for call in (lambda: summed(ROW, [TOP], 1), lambda: vaddq_s32(TOP, TOP)):  # ADD comes before all of the first
        count = len(engine.numbers)
        while len(engine.numbers) <= count:
            with CompiledProgram(engine):
                call()
        with CompiledProgram(engine):
            summed(ROW, [TOP], 1)
    memory.write(BASE, filled_memory().read(BASE, SIZE))
    with CompiledProgram(engine):
        returned = plain(summed(ROW, [TOP], 1))
    with Program(filled_memory()):
        assert plain(summed(ROW, [TOP], 1)) == returned
