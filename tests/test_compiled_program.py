"""Programs of intrinsics as C: they do what recorded ones do, which are executed one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from isa.acle.program import OpenProgram
from isa.intrinsics import (
    ElementPointer,
    Program,
    VectorValue,
    int32x4_t,
    vaddq_s32,
    vgetq_lane_s32,
    vld1q_s32,
    vqaddq_s32,
    vst1q_s32,
)
from sim import Memory, MemoryFault
from sim.call.call import ProgramKernel
from sim.check.vectors import call_seed, make_vectors
from sim.kernels import Kernel, Pointer, Signature, built_in_kernel
from sim.machine.compiled import sequence
from sim.machine.compiled.sequence import CompiledProgram, SequenceEngine
from sim.machine.host_compiler import NoHostCompiler, compile_for_host
from support.recorded_programs import BASE, ROW, SIZE, call_randomly, filled_memory

LENGTH = 500
TOP = int32x4_t(*[2**31 - 1] * 4)
NOWHERE = ElementPointer(BASE + SIZE, "int32")


class Outcome(NamedTuple):
    """All that a program leaves: what its calls returned, memory, FPSR, and what was counted."""

    results: list[object]
    memory: bytes
    fpsr: int
    saturations: int
    instructions: int
    forms: frozenset[str]


def outcome(program: Program | CompiledProgram, seed: int, memory: Memory) -> Outcome:
    results = [
        one.bits if isinstance(one, VectorValue) else getattr(one, "bits", one)
        for one in call_randomly(program, seed, LENGTH)
    ]
    if isinstance(program, Program):
        count, forms = len(program.instructions), {one.form.name for one in program.instructions}
    else:
        count, forms = program.instructions, {one.form.name for one in program.patterns}
    fpsr = program.registers.flags[1]
    return Outcome(results, memory.read(BASE, SIZE), fpsr, program.saturations, count, frozenset(forms))


def refilled(memory: Memory, seed: int) -> Memory:
    memory.write(BASE, filled_memory(seed).read(BASE, SIZE))
    return memory


def warm(engine: SequenceEngine, run: Callable[[], object]) -> None:
    """Let what `run` calls be compiled."""
    while not engine.numbers:
        with CompiledProgram(engine):
            run()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_random_intrinsics_do_as_c_what_they_do_one_by_one(seed: int) -> None:
    recorded = filled_memory(seed)
    expected = outcome(Program(recorded), seed, recorded)
    memory = filled_memory(seed)
    engine = SequenceEngine(compile_for_host, memory, patience=LENGTH // 2)
    for _ in range(3):  # interpreted, then partly and at last all that C has compiled
        assert outcome(CompiledProgram(engine), seed, refilled(memory, seed)) == expected
    assert len(engine.numbers) > LENGTH // 4


@pytest.fixture(scope="module")
def engine() -> SequenceEngine:
    """One that has loads, stores and sums."""
    made = SequenceEngine(compile_for_host, filled_memory(), patience=1)
    warm(made, lambda: vst1q_s32(ROW, vqaddq_s32(vaddq_s32(vld1q_s32(ROW), TOP), TOP)))
    for _ in range(8):
        with CompiledProgram(made):
            vst1q_s32(ROW, vqaddq_s32(vaddq_s32(vld1q_s32(ROW), TOP), TOP))
    assert len(made.numbers) == 4
    return made


def test_what_may_be_loaded_may_not_be_stored_for_that(engine: SequenceEngine) -> None:
    constant = ElementPointer(engine.memory.map(BASE + 0x10000, 4096, "r").start, "int32")

    def load_and_store() -> None:
        with CompiledProgram(engine):
            vst1q_s32(constant, vld1q_s32(constant))

    with pytest.raises(MemoryFault, match="is mapped 'r' only"):
        load_and_store()


def stored(memory: Memory) -> bytes:
    return memory.read(BASE, 16)


def test_what_is_noted_runs_when_the_program_ends(engine: SequenceEngine) -> None:
    refilled(engine.memory, 1)
    before = stored(engine.memory)
    with CompiledProgram(engine) as program:
        vst1q_s32(ROW, TOP)
        assert (stored(engine.memory), program.instructions) == (before, 0)
    assert (stored(engine.memory), program.instructions) == (TOP.bits.to_bytes(16, "little"), 1)


def test_a_number_that_is_asked_for_is_there_at_once(engine: SequenceEngine) -> None:
    with CompiledProgram(engine):
        assert vgetq_lane_s32(vaddq_s32(int32x4_t(1, 2, 3, 4), int32x4_t(5, 6, 7, 8)), 2) == 10


def test_lanes_that_are_asked_for_are_there_at_once(engine: SequenceEngine) -> None:
    with CompiledProgram(engine):
        total = vaddq_s32(int32x4_t(1, 2, 3, 4), int32x4_t(5, 6, 7, 8))
        assert (total.lanes, vaddq_s32(total, total).lanes) == ((6, 8, 10, 12), (12, 16, 20, 24))


def fault_between_stores(program: OpenProgram) -> None:
    with program:
        vst1q_s32(ROW, vld1q_s32(ROW + 4))
        vst1q_s32(NOWHERE, vqaddq_s32(TOP, TOP))
        vst1q_s32(ROW, int32x4_t(1, 1, 1, 1))


def store_and_raise(program: OpenProgram, where: ElementPointer, error: BaseException) -> None:
    with program:
        vst1q_s32(where, TOP)
        raise error


def said_by(program: OpenProgram) -> str:
    with pytest.raises(MemoryFault) as caught:
        fault_between_stores(program)
    return str(caught.value)


def test_a_fault_is_the_same_and_what_comes_after_it_does_nothing(engine: SequenceEngine) -> None:
    recorded = Program(filled_memory())
    said = said_by(recorded)
    refilled(engine.memory, 1)
    program = CompiledProgram(engine)
    assert (said_by(program), said) == (
        said,
        f"cannot write 16 bytes at {BASE + SIZE:#x}: {BASE + SIZE:#x} is not mapped",
    )
    assert recorded.memory is not None
    assert stored(engine.memory) == bytes(recorded.memory.load(BASE, 16))
    assert (program.instructions, program.saturations) == (len(recorded.instructions), recorded.saturations) == (3, 1)


def test_a_fault_comes_before_the_error_that_is_raised_after_it(engine: SequenceEngine) -> None:
    with pytest.raises(MemoryFault):
        store_and_raise(CompiledProgram(engine), NOWHERE, ZeroDivisionError())


def test_an_interrupted_program_runs_no_more(engine: SequenceEngine) -> None:
    refilled(engine.memory, 1)
    before = stored(engine.memory)
    with pytest.raises(KeyboardInterrupt):
        store_and_raise(CompiledProgram(engine), ROW, KeyboardInterrupt())
    assert stored(engine.memory) == before


def test_the_mark_of_saturation_stays_and_every_instruction_that_saturates_is_counted(engine: SequenceEngine) -> None:
    with CompiledProgram(engine) as program:
        for lanes in (TOP, int32x4_t(-1, 0, 0, 0), TOP):
            vqaddq_s32(TOP, lanes)
    assert (program.saturations, program.saturated) == (2, True)


def test_without_a_compiler_all_is_interpreted() -> None:
    def missing(key: str, text: Callable[[], str]) -> Path:
        raise NoHostCompiler("there is none")

    engine = SequenceEngine(missing, filled_memory(), patience=1)
    for _ in range(2):
        with CompiledProgram(engine) as program:
            vst1q_s32(ROW, vaddq_s32(TOP, TOP))
    assert (stored(engine.memory), program.instructions) == (b"\xfe\xff\xff\xff" * 4, 2)


@pytest.mark.slow
def test_a_kernels_program_gives_the_same_lanes_and_counts_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = built_in_kernel("quantized_add", "tflite")
    vectors = make_vectors(kernel, 60, 1)

    def ran() -> list[object]:
        program, results = ProgramKernel(kernel), list[object]()
        for number, inputs in enumerate(vectors.inputs):
            result = program.call(kernel.arguments(inputs), call_seed(vectors, number))
            lanes = {name: lanes.tobytes() for name, lanes in result.outputs["program"].items()}
            results += [lanes, result.instructions, result.qc_events, program.forms]
        return results

    interpreted = ran()
    monkeypatch.setattr(sequence, "PATIENCE", 100)
    assert ran() == interpreted


def test_the_forms_of_a_kernels_program_are_those_that_its_calls_have_executed() -> None:
    def doubled(a: ElementPointer, b: ElementPointer) -> None:
        row = vld1q_s32(a)
        vst1q_s32(b, vaddq_s32(row, row))

    signature = Signature((Pointer("a", "int32", (4,)), Pointer("b", "int32", (4,), direction="out")))
    kernel = Kernel(name="f", symbol="f", sources=(), signature=signature, golden=lambda inputs: {}, program=doubled)
    program = ProgramKernel(kernel)
    assert program.forms == frozenset()
    program.call({"a": np.ones(4, np.int32)}, 1)
    assert program.forms == {"ldr q,[x]", "add .4s,.4s,.4s", "str q,[x]"}
