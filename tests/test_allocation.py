"""Allocation: no live value is lost, copies and spills are made where they must be, and only there."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isa.acle.allocation import Allocation
from isa.acle.assembly import CodeLine, GeneralFileAssembly, built_constant
from isa.acle.bank import Bank
from isa.acle.liveness import COPY
from isa.acle.register_slots import slots_of
from isa.intrinsics import (
    ElementPointer,
    Program,
    VectorValue,
    int16x8_t,
    int32x4_t,
    int32x4x2_t,
    vaddq_s32,
    vdupq_n_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmlaq_s32,
    vmulq_laneq_s16,
    vst1q_s32,
    vst2q_s32,
)
from isa.lane import Place
from support.recorded_programs import BASE, ROW, filled_memory, live_after, random_program, recorded, with_registers

Identity = tuple[str, object]


class Symbols:
    """Which recorded value each register and stack slot holds, followed through the lines: an oracle of its own."""

    def __init__(self, program: Program, allocation: Allocation) -> None:
        self.program, self.allocation = program, allocation
        self.recorded: dict[Place, Identity] = {}
        self.now: dict[str, Identity] = {}
        self.faults: list[str] = []
        self.pool = dict(enumerate(allocation.pool))
        self.live = live_after(program)
        self.done = -1

    def value(self, place: Place, number: int) -> Identity:
        """What a virtual register holds for an instruction: what made it, or the bits that nothing made."""
        return self.recorded.setdefault(place, ("constant", self.program.trace[number].registers[place]))

    def record(self, number: int) -> None:
        """Follow the recorded instruction of that number."""
        instruction = self.program.instructions[number]
        if instruction.pattern.text == COPY:
            to, source = (Place("v", register) for register in instruction.registers)
            self.recorded[to] = self.value(source, number)
        else:
            for place in instruction.places_written:
                self.recorded[place] = (str(place), number)

    def line(self, line: CodeLine) -> None:
        """Follow one line of the allocation."""
        if line.instruction is not None:
            self._recorded(line)
        elif match := re.fullmatch(r"mov v(\d+)\.16b, v(\d+)\.16b", line.text):
            self.now["v" + match[1]] = self.now["v" + match[2]]
        elif match := re.fullmatch(r"(str|ldr) q(\d+), (\[sp.*)", line.text):
            to, source = ("v" + match[2], match[3]) if match[1] == "ldr" else (match[3], "v" + match[2])
            self.now[to] = self.now[source]
        elif match := re.fullmatch(r"ldr q(\d+), \[x16, :lo12:.Lconstants\+(\d+)\]", line.text):
            self.now["v" + match[1]] = ("constant", self.pool[int(match[2]) // 16])

    def _recorded(self, line: CodeLine) -> None:
        assert line.instruction is not None
        for copy in range(self.done + 1, line.number):
            self.record(copy)
        virtual, slots = self.program.instructions[line.number].registers, slots_of(line.instruction.pattern)
        for slot, file in slots.reads.items():
            if file == "v" and self.now.get(f"v{line.instruction.registers[slot]}") != self.value(
                Place("v", virtual[slot]), line.number
            ):
                self.faults.append(f"{line.number}: {line.text} does not read what was recorded in v{virtual[slot]}")
        self.record(line.number)
        self.done = line.number
        for slot, file in slots.writes.items():
            if file == "v":
                self.now[f"v{line.instruction.registers[slot]}"] = self.recorded[Place("v", virtual[slot])]
        self._require_live(line)

    def _require_live(self, line: CodeLine) -> None:
        held = set(self.now.values())
        for place in self.live[line.number]:
            value = self.recorded.get(place)
            if place.file == "v" and value is not None and value[0] != "constant" and value not in held:
                self.faults.append(f"{line.number}: after {line.text} nothing holds {place}")


def faults(program: Program, allocation: Allocation) -> list[str]:
    """Where a live value is lost or a wrong one read."""
    symbols = Symbols(program, allocation)
    for line in allocation.lines:
        symbols.line(line)
    return symbols.faults


def texts(allocation: Allocation) -> list[str]:
    return [line.text for line in allocation.lines]


def sums_of(count: int) -> Program:
    """So many loaded vectors, all of them live until they are added up in the order of loading."""
    with Program(filled_memory()) as program:
        values: list[VectorValue] = [vld1q_s32(ROW + 4 * k) for k in range(count)]
        total = values[0]
        for value in values[1:]:
            total = vaddq_s32(total, value)
        vst1q_s32(ROW, total)
    return program


# Live values.


@pytest.mark.parametrize("seed", range(20))
def test_no_live_value_is_lost(seed: int) -> None:
    program = random_program(seed, 150)
    assert faults(program, program.allocated()) == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_have_more_live_values_than_registers(seed: int) -> None:
    assert random_program(seed, 150).allocated().pressure.maximum > 32, f"seed {seed}"


@pytest.mark.parametrize("planted", ["keep", "_vacate"])
def test_the_check_of_live_values_sees_an_operand_that_is_not_kept(planted: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(Bank, planted, lambda self, register, window=(): None)
    program = random_program(0, 150)
    assert faults(program, program.allocated()) != []


# Copies.


def test_an_overwritten_operand_that_nothing_reads_again_is_not_copied() -> None:
    with Program(filled_memory()) as program:
        total = vmlaq_s32(vld1q_s32(ROW), vld1q_s32(ROW + 4), vld1q_s32(ROW + 8))
        vst1q_s32(ROW, total)
    assert program.allocated().of("copy") == ()


def test_an_overwritten_operand_that_is_read_again_is_copied_once() -> None:
    with Program(filled_memory()) as program:
        old = vld1q_s32(ROW)
        vst1q_s32(ROW, vaddq_s32(vmlaq_s32(old, vld1q_s32(ROW + 4), vld1q_s32(ROW + 8)), old))
    assert len(program.allocated().of("copy")) == 1


def test_an_operand_that_is_read_by_the_overwriting_instruction_only_is_not_copied() -> None:
    with Program(filled_memory()) as program:
        old = vld1q_s32(ROW)
        vst1q_s32(ROW, vmlaq_s32(old, old, old))
    assert texts(program.allocated())[1:3] == ["ldr q0, [x0]", "mla v0.4s, v0.4s, v0.4s"]


# Spills.


def test_thirty_two_live_values_are_not_spilled() -> None:
    allocation = sums_of(32).allocated()
    assert (allocation.pressure.maximum, allocation.spills) == (32, ())


@pytest.mark.parametrize("count", [33, 40, 100])
def test_as_many_values_are_spilled_as_there_are_too_many(count: int) -> None:
    allocation = sums_of(count).allocated()
    assert (allocation.pressure.maximum, len(allocation.spills), len(allocation.of("reload"))) == (
        count,
        count - 32,
        count - 32,
    )


def test_a_constant_is_loaded_again_and_not_spilled() -> None:
    with Program(filled_memory()) as program:
        constants = [int32x4_t(k, k, k, k) for k in range(40)]
        for k, constant in enumerate(constants + constants):
            vst1q_s32(ROW + 4 * k, constant)
    allocation = program.allocated()
    assert (allocation.spills, len(allocation.pool)) == ((), 40)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 60))
@settings(max_examples=40)
def test_what_fits_into_the_registers_is_not_spilled(seed: int, length: int) -> None:
    program = random_program(seed, length)
    patterns = [slots_of(instruction.pattern) for instruction in program.instructions]
    constrained = any(slots.low or slots.lists for slots in patterns)
    allocation = program.allocated()
    assert allocation.pressure.maximum > 32 or constrained or allocation.spills == ()


def test_more_spilled_values_than_the_frame_takes_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("isa.acle.bank.SLOTS", 3)
    with pytest.raises(ValueError, match="more than 3 values are spilled at once"):
        sums_of(36).allocated()


# Registers that an instruction asks for.


def test_values_are_made_where_the_list_that_reads_them_can_be() -> None:
    with Program(filled_memory()) as program:
        first, second, third = (vld1q_s32(ROW + 4 * k) for k in range(3))
        vst1q_s32(ROW, third)
        vst2q_s32(ROW, int32x4x2_t(second, first))
    assert [line.text for line in program.allocated().lines[1:]] == [
        "ldr q0, [x0]",
        "ldr q31, [x0, #16]",
        "ldr q1, [x0, #32]",
        "str q1, [x0]",
        "st2 {v31.4s, v0.4s}, [x0]",
        "ret",
    ]


def test_a_16_bit_element_is_read_from_the_lower_sixteen_registers() -> None:
    with Program(filled_memory()) as program:
        sums = [vld1q_s32(ROW + 4 * k) for k in range(20)]
        factors = int16x8_t(*range(8))
        product = vmulq_laneq_s16(int16x8_t(*range(8)), factors, 1)
        recorded_sums = [vaddq_s32(value, value) for value in sums]
        program.returns(product, recorded_sums[0])
    (line,) = [line for line in program.allocated().of("recorded") if "mul" in line.text]
    assert line.instruction is not None
    assert line.instruction.registers[2] < 16


def test_the_registers_of_a_list_are_consecutive() -> None:
    with Program(filled_memory()) as program:
        with_registers(program, 6)
        recorded(program, "ld1 {v6.16b}, [x0]")
        program.registers.new_vector()
        recorded(program, "tbl v7.16b, {v6.16b, v1.16b, v6.16b}, v4.16b")
        recorded(program, "st2 {v7.16b, v6.16b}, [x0]")
    lists = [
        re.findall(r"v(\d+)", line.text.split("{")[1].split("}")[0]) for line in program.allocated().of("recorded")
    ]
    steps = {(int(b) - int(a)) % 32 for numbers in lists for a, b in pairwise(numbers)}
    assert steps == {1}


def test_results_lie_in_the_first_registers_in_order() -> None:
    with Program(filled_memory()) as program:
        first, second = vld1q_s32(ROW), vld1q_s32(ROW + 4)
        program.returns(second, first)
    symbols = Symbols(program, program.allocated())
    for line in symbols.allocation.lines:
        symbols.line(line)
    assert [symbols.now["v0"], symbols.now["v1"]] == [("v1", 1), ("v0", 0)]


def test_a_function_returns_no_more_than_four_vectors() -> None:
    with Program() as program:
        program.returns(*(vdupq_n_s32(k) for k in range(5)))
    with pytest.raises(ValueError, match="returns at most 4 vectors, not 5"):
        program.allocated()


def test_what_a_function_must_keep_is_saved_and_restored() -> None:
    lines = texts(sums_of(26).allocated())
    assert (lines[0], lines[-2:]) == ("stp d8, d9, [sp, #-16]!", ["ldp d8, d9, [sp], #16", "ret"])


def test_registers_that_a_function_may_change_are_used_first() -> None:
    assert not any(line.text.startswith("stp") for line in sums_of(24).allocated().lines)


# Addresses and numbers.


def test_a_pointer_moves_on_in_its_register() -> None:
    with Program(filled_memory()) as program:
        for k in range(3):
            vst1q_s32(ROW, vld1q_dup_s32(ROW + k))
    assert [text for text in texts(program.allocated()) if text.startswith("add")] == [
        "add x1, x0, #4",
        "add x1, x1, #4",
    ]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0, ["mov w3, #0"]),
        (0x8000_0000, ["mov w3, #0x80000000"]),
        (0xFFFF_FFFF, ["mov w3, #-1"]),
        (0xFFFF_FFFB, ["mov w3, #-5"]),
        (0x1_2345, ["mov w3, #0x2345", "movk w3, #0x1, lsl #16"]),
        (2**64 - 7, ["mov x3, #-7"]),
        (1 << 32, ["mov x3, #0x100000000"]),
        (0x1_0000_0000_0002, ["mov x3, #2", "movk x3, #0x1, lsl #48"]),
    ],
)
def test_a_number_is_built_by_few_moves(bits: int, text: list[str]) -> None:
    assert built_constant(3, bits) == text


def test_an_address_out_of_reach_is_built_anew() -> None:
    file = GeneralFileAssembly()
    file.constant(0, 0x1_2345)
    assert file.constant(1, 0x1_2345 + 4096) == ["mov w1, #0x3345", "movk w1, #0x1, lsl #16"]


def test_equal_addresses_of_two_pointers_are_built_once() -> None:
    with Program(filled_memory()) as program:
        vst1q_s32(ROW + 64, vld1q_s32(ElementPointer(BASE + 256, "int32")))
    assert len(program.allocated().of("constant")) == len(built_constant(0, BASE + 256))


# Text.


def test_an_empty_program_is_a_function_that_returns() -> None:
    assert texts(Program().allocated()) == ["ret"]


def test_spills_say_so_in_the_text() -> None:
    assert sums_of(34).allocated().text.count("// spill\n") == 2


def test_the_summary_counts_the_lines_by_their_reason() -> None:
    # 34 loads, 33 additions, a store; an address for each 16 vectors; 4 pairs saved and restored, sp moved twice, ret
    assert sums_of(34).allocated().summary.splitlines()[:2] == [
        "lines     86: 68 recorded, 0 copy, 3 constant, 2 spill, 2 reload",
        "pressure  at most 34 live vectors, first at instruction 33",
    ]
