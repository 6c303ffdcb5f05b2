"""Program: what it records, how it executes, and how it is entered and left."""

from collections.abc import Iterator

import pytest

from isa.acle.program import VirtualRegisters, current_program
from isa.evaluate.exact import Evaluation
from isa.intrinsics import (
    ElementPointer,
    Program,
    int8x8_t,
    int16x4_t,
    int32x4_t,
    vaddq_s32,
    vcombine_s16,
    vdupq_n_s8,
    vdupq_n_s32,
    vgetq_lane_s32,
    vld1q_dup_s32,
    vld1q_lane_s32,
    vld1q_s32,
    vmlaq_s32,
    vqaddq_s32,
    vqmovn_high_s32,
    vqrdmulhq_n_s32,
    vreinterpretq_u8_s32,
    vst1_s8,
    vst1q_lane_s32,
    vst1q_s32,
)
from isa.lane import Memory, Place
from sim import Memory as MappedMemory
from sim import MemoryFault

BASE = 0x10000
ROW = ElementPointer(BASE, "int32")
VALUES = [3, -4, 2**31 - 1, -(2**31), 5, 6, 7, 8]


@pytest.fixture
def memory() -> MappedMemory:
    mapped = MappedMemory()
    mapped.map(BASE, 4096)
    mapped.write(BASE, b"".join(value.to_bytes(4, "little", signed=True) for value in VALUES))
    return mapped


@pytest.fixture(autouse=True)
def _no_program_is_left_open() -> Iterator[None]:
    yield
    assert current_program() is None


def listing_of(memory: MappedMemory) -> list[str]:
    """The text of a program with one instruction of each kind of operand."""
    with Program(memory) as program:
        first, second = vld1q_s32(ROW), vld1q_s32(ROW + 4)
        product = vqrdmulhq_n_s32(first, 7)
        total = vmlaq_s32(product, first, second)
        vst1q_s32(ROW + 8, total)
        vst1q_lane_s32(ROW + 12, total, 3)
        vgetq_lane_s32(total, 2)
    return program.listing().splitlines()


def test_the_listing_is_assembly_on_virtual_registers(memory: MappedMemory) -> None:
    assert listing_of(memory) == [
        "ldr q0, [x0]",
        "ldr q1, [x0, #16]",
        "dup v2.4s, w1",
        "sqrdmulh v3.4s, v0.4s, v2.s[0]",
        "mov v4.16b, v3.16b",
        "mla v4.4s, v0.4s, v1.4s",
        "str q4, [x0, #32]",
        "st1 {v4.s}[3], [x2]",
        "mov w3, v4.s[2]",
    ]


def test_two_runs_give_the_same_listing(memory: MappedMemory) -> None:
    assert listing_of(memory) == listing_of(memory)


def test_a_loaded_vector_has_the_lanes_of_memory(memory: MappedMemory) -> None:
    with Program(memory):
        assert vld1q_s32(ROW).lanes == tuple(VALUES[:4])


def test_a_loaded_element_fills_every_lane(memory: MappedMemory) -> None:
    with Program(memory):
        assert vld1q_dup_s32(ROW + 1).lanes == (-4,) * 4


def test_a_loaded_lane_leaves_the_others(memory: MappedMemory) -> None:
    with Program(memory):
        assert vld1q_lane_s32(ROW + 4, int32x4_t(10, 20, 30, 40), 2).lanes == (10, 20, 5, 40)


def test_a_store_changes_memory(memory: MappedMemory) -> None:
    with Program(memory):
        vst1_s8(ElementPointer(BASE + 100, "int8"), int8x8_t(*range(-4, 4)))
    assert memory.read(BASE + 99, 10) == bytes([0, 252, 253, 254, 255, 0, 1, 2, 3, 0])


def test_a_stored_lane_changes_its_bytes_only(memory: MappedMemory) -> None:
    with Program(memory):
        vst1q_lane_s32(ROW + 20, int32x4_t(1, 2, -3, 4), 2)
    assert memory.read(BASE + 76, 12) == bytes(4) + (2**32 - 3).to_bytes(4, "little") + bytes(4)


def test_the_destination_that_is_read_is_a_copy() -> None:
    accumulator = int32x4_t(1, 2, 3, 4)
    with Program():
        old = vaddq_s32(accumulator, accumulator)
        vmlaq_s32(old, old, old)
        assert vaddq_s32(old, int32x4_t(0, 0, 0, 0)).lanes == (2, 4, 6, 8)


def test_a_narrowing_into_the_upper_half_starts_from_a_copy() -> None:
    with Program() as program:
        vqmovn_high_s32(int16x4_t(1, 2, 3, 4), int32x4_t(5, 6, 7, 8))
    assert program.listing() == "mov v1.16b, v0.16b\nsqxtn2 v1.8h, v2.4s"


def test_every_result_has_a_register_of_its_own(memory: MappedMemory) -> None:
    with Program(memory) as program:
        half = int16x4_t(1, 2, 3, 4)
        for _ in range(3):
            vcombine_s16(half, half)
    written = [i.places_written[0] for i in program.instructions if i.form.mnemonic != "mov" or "16b" in i.text]
    assert len(set(written)) == 3


def test_a_reinterpreted_value_stays_in_its_register() -> None:
    with Program() as program:
        value = vdupq_n_s32(1)
        assert (vreinterpretq_u8_s32(value).register, len(program.instructions)) == (value.register, 1)


def test_a_value_from_outside_comes_in_through_one_register() -> None:
    value = int32x4_t(1, 2, 3, 4)
    with Program() as program:
        vaddq_s32(value, value)
        vaddq_s32(value, value)
    assert program.listing() == "add v1.4s, v0.4s, v0.4s\nadd v2.4s, v0.4s, v0.4s"


def test_a_value_of_another_program_comes_in_as_its_bits() -> None:
    with Program():
        value = vdupq_n_s32(-9)
    with Program():
        vdupq_n_s8(1)
        assert vaddq_s32(value, value).lanes == (-18,) * 4


def test_a_call_outside_of_a_program_is_recorded_nowhere() -> None:
    with Program() as program:
        pass
    assert (vdupq_n_s32(4).lanes, program.instructions) == ((4,) * 4, [])


def test_a_value_made_outside_of_a_program_has_no_register() -> None:
    value = vdupq_n_s32(4)
    assert (value.register, value.owner) == (None, None)


def test_there_are_more_registers_than_a_machine_has() -> None:
    with Program() as program:
        values = [vdupq_n_s32(number) for number in range(100)]
    assert (values[99].lanes, program.instructions[99].text) == ((99,) * 4, "dup v99.4s, w99")


def test_a_pointer_that_moves_on_gets_the_next_address_register(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vld1q_s32(ROW + 60)
        vld1q_s32(ROW + 64)
        vld1q_s32(ROW + 68)
    assert program.listing() == "ldr q0, [x0, #240]\nldr q1, [x1]\nldr q2, [x1, #16]"


def test_an_offset_that_is_no_multiple_of_the_access_goes_into_the_register(memory: MappedMemory) -> None:
    with Program(memory) as program:
        assert vld1q_s32(ROW + 1).lanes == tuple(VALUES[1:5])
    assert program.listing() == "ldr q0, [x0]"


def test_a_pointer_moved_back_reads_before_its_origin(memory: MappedMemory) -> None:
    with Program(memory):
        assert vld1q_s32(ElementPointer(BASE + 16, "int32") + -4).lanes == tuple(VALUES[:4])


# Saturation.


def test_saturated_is_false_while_nothing_saturates() -> None:
    with Program() as program:
        vqaddq_s32(int32x4_t(2**31 - 2, 0, 0, 0), int32x4_t(1, 0, 0, 0))
    assert not program.saturated


def test_saturated_stays_after_one_lane_saturated() -> None:
    with Program() as program:
        vqaddq_s32(int32x4_t(0, 0, 0, 2**31 - 1), int32x4_t(0, 0, 0, 1))
        vqaddq_s32(int32x4_t(0, 0, 0, 0), int32x4_t(0, 0, 0, 0))
    assert program.saturated


def test_saturations_counts_the_instructions_that_saturated_and_not_their_lanes() -> None:
    top = int32x4_t(*[2**31 - 1] * 4)
    with Program() as program:
        vqaddq_s32(top, top)
        vqaddq_s32(top, int32x4_t(0, 0, 0, 0))
        vqaddq_s32(top, int32x4_t(0, 0, 0, 1))
    assert (program.saturations, program.saturated) == (2, True)


def test_an_instruction_that_faults_leaves_both_records_of_saturation(memory: MappedMemory) -> None:
    top = int32x4_t(*[2**31 - 1] * 4)
    with Program(memory) as program:
        vqaddq_s32(top, top)
        with pytest.raises(MemoryFault):
            vld1q_s32(ElementPointer(0x20000, "int32"))
    assert (program.saturations, program.saturated) == (1, True)


# The trace.


def test_the_trace_has_one_occurrence_for_each_instruction(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vst1q_s32(ROW, vmlaq_s32(vld1q_s32(ROW), vld1q_s32(ROW), vdupq_n_s32(2)))
    assert [occurrence.instruction for occurrence in program.trace] == program.instructions


def test_an_occurrence_holds_the_registers_from_before() -> None:
    ones, twos = int32x4_t(1, 1, 1, 1), int32x4_t(2, 2, 2, 2)
    with Program() as program:
        vmlaq_s32(ones, twos, twos)
    (copy, multiply) = program.trace
    (target,) = multiply.instruction.places_written
    assert (copy.registers, multiply.registers[target]) == ({Place("v", 0): ones.bits}, ones.bits)


def test_an_occurrence_holds_what_its_instruction_reads(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vst1q_s32(ROW, vmlaq_s32(vld1q_s32(ROW), vld1q_s32(ROW), vdupq_n_s32(2)))
    assert all(set(o.registers) == set(o.instruction.places_read) for o in program.trace)


def test_an_occurrence_holds_the_memory_that_was_read(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vst1q_s32(ROW, vaddq_s32(vld1q_s32(ROW), vld1q_s32(ROW + 4)))
    loads = [dict(occurrence.memory) for occurrence in program.trace]
    row = b"".join(value.to_bytes(4, "little", signed=True) for value in VALUES)
    assert loads == [{BASE: row[:16]}, {BASE + 16: row[16:]}, {}, {}]


def test_the_arbiter_agrees_with_every_register_written(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vmlaq_s32(vqrdmulhq_n_s32(vld1q_s32(ROW), 12345), vld1q_dup_s32(ROW + 3), int32x4_t(1, -2, 3, -4))
    last_write = {o.instruction.places_written[0]: o for o in program.trace}
    wrong = [
        place
        for place, occurrence in last_write.items()
        if Evaluation(occurrence).whole(occurrence.instruction.writes[0]) != program.registers.read(place)
    ]
    assert wrong == []


def test_a_store_is_seen_by_the_arbiter_at_its_address(memory: MappedMemory) -> None:
    with Program(memory) as program:
        vst1q_s32(ROW + 8, int32x4_t(1, 2, 3, 4))
    (occurrence,) = program.trace
    (place,) = [write.place for write in occurrence.instruction.writes if isinstance(write.place, Memory)]
    assert Evaluation(occurrence).value(place.address) == BASE + 32


# Entering and leaving.


def test_programs_do_not_nest() -> None:
    with Program(), pytest.raises(RuntimeError, match="programs do not nest"), Program():
        pass


def test_a_program_is_not_entered_inside_of_itself() -> None:
    with Program() as program, pytest.raises(RuntimeError, match="programs do not nest"), program:
        pass


def test_the_outer_program_is_still_open_after_a_refused_one() -> None:
    with Program() as program:
        with pytest.raises(RuntimeError), Program():
            pass
        vdupq_n_s32(1)
    assert len(program.instructions) == 1


def test_an_exception_leaves_no_current_program() -> None:
    with pytest.raises(ZeroDivisionError), Program():
        _ = 1 // 0
    assert current_program() is None


def test_a_program_entered_again_goes_on() -> None:
    program = Program()
    for number in (1, 2):
        with program:
            vdupq_n_s32(number)
    assert program.listing() == "dup v0.4s, w0\ndup v1.4s, w1"


# Faults.


def test_a_load_from_nowhere_is_the_memorys_own_fault(memory: MappedMemory) -> None:
    with Program(memory), pytest.raises(MemoryFault, match="0x20000 is not mapped"):
        vld1q_s32(ElementPointer(0x20000, "int32"))


def test_a_fault_leaves_no_current_program(memory: MappedMemory) -> None:
    with pytest.raises(MemoryFault), Program(memory):
        vld1q_s32(ElementPointer(0x20000, "int32"))
    assert current_program() is None


def test_a_faulting_instruction_is_not_recorded(memory: MappedMemory) -> None:
    with Program(memory) as program, pytest.raises(MemoryFault):
        vst1q_s32(ElementPointer(BASE + 4090, "int32"), int32x4_t(1, 2, 3, 4))
    assert (program.instructions, program.trace) == ([], [])


def test_a_program_without_memory_neither_loads_nor_stores() -> None:
    with Program(), pytest.raises(RuntimeError, match="a load or store needs memory"):
        vld1q_s32(ROW)


def test_a_refused_argument_records_nothing() -> None:
    with Program() as program, pytest.raises(TypeError):
        vmlaq_s32(int32x4_t(1, 2, 3, 4), int32x4_t(1, 2, 3, 4), int16x4_t(1, 2, 3, 4))
    assert program.instructions == []


def test_a_fresh_vector_register_is_the_next_one() -> None:
    registers = VirtualRegisters()
    assert [registers.new_vector(7), registers.new_vector(8), registers.vector(0)] == [0, 1, 7]
