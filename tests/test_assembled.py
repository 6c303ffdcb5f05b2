"""A recorded program on real registers, assembled, in lockstep: everything as recorded, and planted faults seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.acle.allocation import Allocation
from isa.acle.assembly import GeneralFileAssembly, VectorFileAssembly
from isa.acle.bank import Bank
from isa.intrinsics import (
    ElementPointer,
    Program,
    int32x4_t,
    vaddq_s32,
    vcmlaq_laneq_f16,
    vdupq_n_s32,
    vld1q_f16,
    vld1q_s32,
    vmlaq_s32,
    vqaddq_s32,
    vst1q_f16,
    vst1q_s32,
)
from sim.call.assembled import TouchedMemory, run_allocation, run_assembled
from sim.kernels.quantize_down.program import run as quantize_down
from support.recorded_programs import BASE, ROW, SIZE, filled_memory, random_program, recorded, with_registers

QUANTIZED = ElementPointer(BASE + 0x1000, "uint8")


def quantized(length: int, bias: bool) -> Program:
    """quantize_down on one row, far enough from 0 to saturate in places."""
    biases = ElementPointer(BASE + 0x800, "int32") if bias else None
    return quantize_down(filled_memory(), ROW, biases, QUANTIZED, (length,), 1 << 30, 3, 5, 0, 255)


# As recorded.


def test_a_program_of_quantize_down_does_what_was_recorded() -> None:
    run = run_assembled(quantized(37, bias=True))
    assert run.agrees, run


@pytest.mark.parametrize("bias", [False, True])
def test_quantize_down_needs_no_spill_and_no_copy(bias: bool) -> None:
    allocation = quantized(37, bias).allocated()
    assert (allocation.spills, allocation.of("copy"), allocation.dead) == ((), (), ())


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_do_what_was_recorded(seed: int) -> None:
    run = run_assembled(random_program(seed, 200), seed)
    assert run.agrees, f"seed {seed}: {run}"


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(max_examples=15)
def test_short_random_programs_do_what_was_recorded(seed: int, length: int) -> None:
    run = run_assembled(random_program(seed, length), seed)
    assert run.agrees, run


def test_a_program_is_assembled_with_every_feature_that_its_instructions_need() -> None:
    with Program(filled_memory()) as program:  # half precision of two extensions: fcmla v0.8h, v1.8h, v2.h[0], #0
        halves = [vld1q_f16(ElementPointer(BASE + 16 * k, "float16")) for k in range(3)]
        vst1q_f16(ElementPointer(BASE + 0x1000, "float16"), vcmlaq_laneq_f16(*halves, 0))
    needed = {feature for instruction in program.instructions for feature in instruction.form.features}
    assert {"fcma", "fp16"} <= needed
    assert run_assembled(program).agrees


def test_a_store_to_the_last_bytes_of_memory_is_compared_to_its_end() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ElementPointer(BASE + SIZE - 16, "int32"), vdupq_n_s32(5))
    assert run_assembled(program).agrees


def test_the_random_programs_spill_and_copy() -> None:
    allocations = [random_program(seed, 200).allocated() for seed in range(3)]
    assert all(allocation.spills and allocation.of("reload") and allocation.of("copy") for allocation in allocations)


def test_spilled_values_come_back() -> None:
    with Program(filled_memory()) as program:
        values = [vld1q_s32(ROW + 4 * k) for k in range(50)]
        for k, value in enumerate(values):
            vst1q_s32(ROW + 4 * k, vaddq_s32(value, vdupq_n_s32(k)))
    run = run_assembled(program)
    assert (run.agrees, len(run.allocation.spills) >= 18) == (True, True), run


def test_lists_of_registers_do_what_was_recorded() -> None:
    with Program(filled_memory()) as program:
        with_registers(program, 8)
        recorded(program, "tbl v7.16b, {v6.16b, v1.16b, v6.16b}, v4.16b")
        recorded(program, "ld3 {v1.8h, v5.8h, v2.8h}, [x0]")
        recorded(program, "st2 {v7.16b, v1.16b}, [x0]")
        recorded(program, "mov v0.16b, v7.16b")
        recorded(program, "mov v6.16b, v7.16b")
        recorded(program, "ld2 {v0.s, v6.s}[1], [x0]")
        recorded(program, "st4 {v7.4s, v6.4s, v0.4s, v5.4s}, [x0]")
    run = run_assembled(program)
    assert run.agrees, run


def test_lists_among_many_live_values_do_what_was_recorded() -> None:
    with Program(filled_memory()) as program:
        with_registers(program, 40)
        for k in range(36):
            recorded(program, f"add v{k}.4s, v{k}.4s, v{k}.4s")
        for k in range(36):
            recorded(program, f"tbl v39.16b, {{v{k}.16b, v{(7 * k + 3) % 36}.16b, v{(5 * k) % 36}.16b}}, v{k}.16b")
            recorded(program, "str q39, [x0]")
            recorded(program, "ld2 {v36.4s, v38.4s}, [x0]")
            recorded(program, f"add v{k}.4s, v{k}.4s, v{36 + 2 * (k % 2)}.4s")
        for k in range(36):
            recorded(program, f"str q{k}, [x0, #{16 * k}]")
    run = run_assembled(program)
    assert (run.agrees, bool(run.allocation.spills)) == (True, True), run


def test_results_are_compared_too() -> None:
    with Program(filled_memory()) as program:
        value = vld1q_s32(ROW)
        program.returns(vmlaq_s32(value, value, value), value)
    run = run_assembled(program)
    assert run.agrees, run


def test_one_value_that_is_compared_is_enough_to_agree_and_none_is_not() -> None:
    with Program() as program:
        int32x4_t(1, 2, 3, 4)
    run = run_assembled(program)
    assert [replace(run, compared=count).agrees for count in (0, 1)] == [False, True]


@pytest.mark.parametrize("addend", [0, 2**31 - 1])
def test_qc_is_as_recorded(addend: int) -> None:
    with Program() as program:
        total = vqaddq_s32(int32x4_t(1, 1, 1, 1), int32x4_t(addend, 0, 0, 0))
        program.returns(total)
    run = run_assembled(program)
    assert (run.agrees, program.saturated) == (True, addend > 0), run


def test_an_address_at_the_assembled_codes_usual_place_moves_the_code() -> None:
    program = random_program(1, 20)
    byte = TouchedMemory.by(program.trace).free_region
    moved = TouchedMemory({**TouchedMemory.by(program.trace).before, byte: 0}, {}).free_region
    assert moved > byte


@pytest.mark.parametrize(("taken", "free"), [((), 1), ((1,), 2), ((0, 1, 3), 2)])
def test_the_assembled_code_lies_in_the_first_free_region_but_that_of_null(taken: tuple[int, ...], free: int) -> None:
    assert TouchedMemory(dict.fromkeys((number << 32 for number in taken), 0), {}).free_region == free << 32


def test_memory_before_and_after_is_worked_out_from_the_record() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vaddq_s32(vld1q_s32(ROW), vdupq_n_s32(0)))
        vst1q_s32(ROW + 4, vdupq_n_s32(-1))
    touched = TouchedMemory.by(program.trace)
    start = filled_memory().read(BASE, 16)
    before = bytes(touched.before[BASE + k] for k in range(32))
    after = bytes(touched.after[BASE + k] for k in range(32))
    assert (before, after) == (start + bytes(16), start + b"\xff" * 16)


def copied() -> Program:
    """Four numbers to eight further on: ldr q0, [x0] and str q0, [x0, #32]."""
    with Program(filled_memory()) as program:
        vst1q_s32(ROW + 8, vld1q_s32(ROW))
    return program


def with_text(allocation: Allocation, old: str, new: str) -> Allocation:
    """The allocation with another text in one of its lines."""
    lines = tuple(line._replace(text=line.text.replace(old, new)) for line in allocation.lines)
    assert lines != allocation.lines
    return replace(allocation, lines=lines)


def test_all_that_a_program_reads_writes_leaves_and_keeps_is_compared() -> None:
    """Of the load address, bytes and result; of the store address and data; where it returned, QC, how often; kept
    are sp, twelve general and eight vector registers; memory is that of both."""
    assert run_assembled(copied()).compared == 3 + 2 + 1 + 1 + 1 + (1 + 12 + 8) + 32


def test_a_fault_that_the_record_does_not_have_is_a_difference() -> None:
    program = copied()
    run = run_allocation(program, with_text(program.allocated(), "#0x50000", "#0x10"))
    assert (run.agrees, run.divergence) == (False, None)
    assert run.differences[0].startswith("memory faults: recorded none, assembled ")


@pytest.mark.parametrize("old", ["mov w", "movi v"])
def test_what_is_not_made_holds_no_zero(old: str) -> None:
    with Program(filled_memory()) as program:
        if old == "mov w":
            program.returns(vdupq_n_s32(0))
        else:
            with_registers(program, 2)
            recorded(program, "movi v0.4s, #0")
            recorded(program, "add v1.4s, v0.4s, v0.4s")
    allocation = program.allocated()
    line = next(line.text for line in allocation.lines if line.text.startswith(old))
    assert [run_allocation(program, one).agrees for one in (allocation, with_text(allocation, line, "nop"))] == [
        True,
        False,
    ]


def test_an_empty_program_agrees_in_the_registers_that_it_keeps() -> None:
    assert run_assembled(Program()).agrees


# Planted faults.


def _forgotten(self: Bank, register: int) -> None:
    """Evict a value without storing it."""
    value = self._held.pop(register)
    del self._where[value]
    self._slots.setdefault(value, 1)


PLANTED: dict[str, tuple[type, str, Any]] = {
    "an overwritten operand is not kept": (Bank, "keep", lambda self, register: self._results.add(register)),
    "an evicted value is not stored": (Bank, "_evict", _forgotten),
    "every spill goes to one slot": (VectorFileAssembly, "stored", lambda self, r, slot: f"str q{r}, [sp, #16]"),
    "half of a vector is copied": (
        VectorFileAssembly,
        "copied",
        lambda self, to, source: f"mov v{to}.8b, v{source}.8b",
    ),
    "an address loses its upper half": (
        GeneralFileAssembly,
        "_moved",
        lambda self, r, bits: f"mov x{r}, #{bits & 0xFFFF}",
    ),
    "registers of the caller are not saved": (type(None), "isa.acle.assembly._KEPT", range(0)),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_fault_of_the_allocator_is_seen(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = random_program(2, 200)
    owner, name, wrong = PLANTED[planted]
    if owner is type(None):
        monkeypatch.setattr(name, wrong)
    else:
        monkeypatch.setattr(owner, name, wrong)
    assert not run_assembled(program).agrees


def test_a_line_that_is_left_out_is_seen() -> None:
    program = random_program(3, 200)
    allocation = program.allocated()
    reload = next(k for k, line in enumerate(allocation.lines) if line.role == "reload")
    lines = (*allocation.lines[:reload], *allocation.lines[reload + 1 :])
    assert not run_allocation(program, replace(allocation, lines=lines)).agrees


def test_a_difference_names_the_recorded_instruction_and_both_values() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vaddq_s32(vdupq_n_s32(1), vdupq_n_s32(2)))
    allocation = program.allocated()
    lines = tuple(line._replace(text=line.text.replace("#2", "#3")) for line in allocation.lines)
    run = run_allocation(program, replace(allocation, lines=lines))
    assert run.differences[0].startswith("instruction 1 (dup v1.4s, w1, now dup v1.4s, w0) reads x0: recorded 0x2")
