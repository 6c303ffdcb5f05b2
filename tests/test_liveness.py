"""Liveness: pressure and dead code of sequences small enough to count by hand."""

from __future__ import annotations

import pytest

from isa.acle.assembly import architecture
from isa.acle.register_slots import slots_of
from isa.decode import decode
from isa.intrinsics import (
    Program,
    int32x4_t,
    vaddq_s32,
    vaddvq_s32,
    vdupq_n_s32,
    vextq_s32,
    vgetq_lane_s32,
    vld1q_s32,
    vmlaq_s32,
    vst1q_s32,
)
from isa.rows import TABLE
from sim.toolchain.compilers import build_text
from sim.toolchain.tools import ToolchainError
from support.recorded_programs import BASE, ROW, filled_memory, live_after, random_program


def dead_texts(program: Program) -> list[str]:
    return [operation.instruction.text for operation in program.allocated().dead]


# Dead code.


def test_what_is_stored_is_not_dead() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vaddq_s32(vld1q_s32(ROW), vld1q_s32(ROW + 4)))
    assert dead_texts(program) == []


def test_what_only_dead_code_reads_is_dead() -> None:
    with Program(filled_memory()) as program:
        loaded = vld1q_s32(ROW)
        vaddq_s32(vaddq_s32(loaded, loaded), loaded)
    assert dead_texts(program) == ["ldr q0, [x0]", "add v1.4s, v0.4s, v0.4s", "add v2.4s, v1.4s, v0.4s"]


def test_what_is_returned_is_not_dead() -> None:
    with Program() as program:
        program.returns(vdupq_n_s32(1))
        vdupq_n_s32(2)
    assert dead_texts(program) == ["dup v1.4s, w1"]


@pytest.mark.parametrize("number", [lambda v: vgetq_lane_s32(v, 1), vaddvq_s32], ids=["lane", "across"])
def test_what_leaves_as_a_number_is_not_dead(number: object) -> None:
    assert callable(number)
    with Program() as program:
        number(vdupq_n_s32(1))
    assert dead_texts(program) == []


def test_the_annotated_listing_marks_dead_instructions() -> None:
    with Program(filled_memory()) as program:
        value = vld1q_s32(ROW)
        vaddq_s32(value, value)
        vst1q_s32(ROW, value)
    lines = program.allocated().annotated().splitlines()
    assert lines == ["   1  ldr q0, [x0]", "   2  add v1.4s, v0.4s, v0.4s  // dead", "   1  str q0, [x0]"]


# Pressure.


def test_a_result_can_take_the_register_of_an_operand_that_ends() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vaddq_s32(vld1q_s32(ROW), vld1q_s32(ROW + 4)))
    assert program.lives().pressure("v").live == (1, 2, 2, 1)


def test_an_overwritten_operand_that_lives_on_needs_a_register_more() -> None:
    with Program(filled_memory()) as program:
        old, factor = vld1q_s32(ROW), vld1q_s32(ROW + 4)
        new = vmlaq_s32(old, factor, factor)
        vst1q_s32(ROW, vaddq_s32(old, new))
    assert program.lives().pressure("v").live == (1, 2, 2, 3, 2, 1)


def test_a_constant_lives_from_its_first_reader_to_its_last() -> None:
    constant = int32x4_t(1, 2, 3, 4)
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vld1q_s32(ROW + 4))
        vst1q_s32(ROW, constant)
        vst1q_s32(ROW, vld1q_s32(ROW + 4))
        vst1q_s32(ROW, constant)
    assert program.lives().pressure("v").live == (1, 1, 1, 2, 2, 1)


def test_the_pressure_on_general_registers_counts_addresses_and_numbers() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW, vdupq_n_s32(7))
    assert program.lives().pressure("x").live == (1, 1)


def test_an_empty_program_has_no_place_of_most_pressure() -> None:
    pressure = Program().lives().pressure("v")
    assert (pressure.maximum, pressure.where) == (0, None)


@pytest.mark.parametrize("seed", range(5))
def test_the_pressure_is_at_least_what_lives_after_an_instruction(seed: int) -> None:
    program = random_program(seed, 100)
    written = [set(i.places_written) for i in program.instructions]
    made = {place for places in written for place in places}
    copies = [i.text.startswith("mov v") and i.text.endswith("16b") for i in program.instructions]
    live = [sum(place in made and place.file == "v" for place in places) for places in live_after(program)]
    pressure = program.lives().pressure("v").live
    too_low = [n for n, count in enumerate(live) if count > pressure[n] + sum(copies[: n + 1])]
    assert (too_low, max(live) > 10) == ([], True), f"seed {seed}"


# What instructions ask of their slots.


def test_an_operand_of_which_nothing_is_read_is_not_live() -> None:
    with Program(filled_memory()) as program:
        unread = vld1q_s32(ROW)
        vst1q_s32(ROW, vextq_s32(vld1q_s32(ROW + 4), unread, 0))
    assert dead_texts(program) == ["ldr q0, [x0]"]


def _assembles(text: str) -> bool:
    try:
        build_text(f".arch {architecture(TABLE.forms.values())}\n{text}\n", ".s", base=BASE)
    except ToolchainError:
        return False
    return True


@pytest.mark.slow
def test_the_assembler_refuses_high_registers_exactly_where_slots_are_low(
    form_words: dict[str, tuple[int, ...]],
) -> None:
    """One form of each mnemonic and shape with a 16-bit element as an operand that is read."""
    forms = [(name, words[0]) for name, words in form_words.items() if ".h[i]" in name.split(",", 1)[-1]]
    instructions = {name: decode(word.to_bytes(4, "little"), 0, TABLE) for name, word in forms if "{" not in name}
    wrong = []
    for name, instruction in instructions.items():
        slot = instruction.pattern.register_count - 1
        registers = tuple(31 if k == slot else number for k, number in enumerate(instruction.registers))
        text = type(instruction)(instruction.pattern, registers).text
        if _assembles(text) == (slot in slots_of(instruction.pattern).low):
            wrong.append(name)
    assert (wrong, len(instructions) > 20) == ([], True)
