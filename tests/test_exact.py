"""The exact evaluator, on states made by hand."""

from __future__ import annotations

import pytest

from isa.evaluate.exact import QC, Evaluation, divided, execute
from isa.instruction import Instruction
from isa.lane import Binary, Place, constant, read
from isa.rows import TABLE

DATA = 0x1000


class ReadOnly(Exception):
    pass


class HandMade:
    """Registers and memory in two dictionaries; stores from address 0x2000 on are refused."""

    def __init__(self, **registers: int) -> None:
        self.registers = {"pc": 0x400, "fpsr": 0} | registers
        self.memory = {DATA + i: 0 for i in range(64)}

    def read(self, place: Place) -> int:
        return self.registers.get(str(place), 0)

    def write(self, place: Place, value: int) -> None:
        self.registers[str(place)] = value

    def load(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address + i] for i in range(size))

    def store(self, address: int, data: bytes) -> None:
        if address >= 0x2000:
            raise ReadOnly
        self.memory.update({address + i: byte for i, byte in enumerate(data)})


def instruction(text: str) -> Instruction:
    mnemonic, _, operands = text.partition(" ")
    return TABLE.instruction(mnemonic, operands)


def after(text: str, **registers: int) -> HandMade:
    state = HandMade(**registers)
    execute(instruction(text), state)
    return state


def test_add_wraps_every_lane() -> None:
    a, b = 0x00000001_80000000_FFFFFFFF_00000003, 0x00000002_80000000_00000001_00000004
    state = after("add v0.4s, v1.4s, v2.4s", v1=a, v2=b)
    assert state.registers["v0"] == 0x00000003_00000000_00000000_00000007


def test_add_goes_on_to_the_next_instruction() -> None:
    assert after("add v0.4s, v1.4s, v2.4s").registers["pc"] == 0x404


def test_add_leaves_qc() -> None:
    assert after("add v0.4s, v1.4s, v2.4s", v1=2**128 - 1, v2=2**128 - 1).registers["fpsr"] == 0


def test_sqadd_clamps_a_lane_that_does_not_fit() -> None:
    state = after("sqadd v0.4s, v1.4s, v2.4s", v1=0x7FFFFFFF, v2=1)
    assert state.registers["v0"] == 0x7FFFFFFF


def test_sqadd_sets_qc_and_keeps_the_rest_of_fpsr() -> None:
    state = after("sqadd v0.4s, v1.4s, v2.4s", v1=0x7FFFFFFF, v2=1, fpsr=0x10)
    assert state.registers["fpsr"] == 0x0800_0010


def test_sqadd_that_fits_leaves_a_set_qc() -> None:
    assert after("sqadd v0.4s, v1.4s, v2.4s", v1=1, v2=1, fpsr=QC).registers["fpsr"] == 1 << 27


def test_a_64_bit_arrangement_clears_the_upper_half() -> None:
    assert after("add v0.2s, v1.2s, v2.2s", v0=2**128 - 1).registers["v0"] == 0


def test_a_narrowing_2_form_keeps_the_lower_half() -> None:
    state = after("xtn2 v0.4s, v1.2d", v0=0x1111, v1=0x5_00000006_00000007_00000008)
    assert state.registers["v0"] == 0x00000006_00000008_00000000_00001111


def test_a_store_writes_memory_little_endian() -> None:
    state = after("str w0, [x1]", x0=0xAABBCCDD_11223344, x1=DATA)
    assert state.load(DATA, 5) == bytes([0x44, 0x33, 0x22, 0x11, 0])


def test_a_store_moves_its_base_afterwards() -> None:
    assert after("str x0, [x1], #8", x1=DATA).registers["x1"] == DATA + 8


def test_a_store_of_its_own_base_stores_the_old_value() -> None:
    assert after("str x1, [x1, #8]!", x1=DATA).load(DATA + 8, 8) == DATA.to_bytes(8, "little")


def test_a_faulting_store_leaves_the_registers() -> None:
    state = HandMade(x1=0x2000)
    before = dict(state.registers)
    with pytest.raises(ReadOnly):
        execute(instruction("str x0, [x1], #8"), state)
    assert state.registers == before


def test_a_taken_branch_goes_to_its_target() -> None:
    assert after("cbz x0, #0x1234").registers["pc"] == 0x1234


def test_an_untaken_branch_goes_on() -> None:
    assert after("cbz x0, #0x1234", x0=1).registers["pc"] == 0x404


def test_the_next_address_wraps() -> None:
    assert after("nop", pc=2**64 - 4).registers["pc"] == 0


def test_a_value_outside_of_its_claimed_range_is_an_error() -> None:
    wrong = Binary("add", read(Place("x", 0)), constant(1), 0, 10)
    with pytest.raises(AssertionError, match=r"add gave 11, outside of its range 0\.\.10"):
        Evaluation(HandMade(x0=10)).value(wrong)


def test_a_value_at_the_end_of_its_claimed_range_is_none() -> None:
    right = Binary("add", read(Place("x", 0)), constant(1), 0, 10)
    assert Evaluation(HandMade(x0=9)).value(right) == 10


@pytest.mark.parametrize(
    ("a", "b", "quotient"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (7, 0, 0), (-(2**63), -1, 2**63)]
)
def test_division_rounds_toward_zero(a: int, b: int, quotient: int) -> None:
    assert divided(a, b) == quotient
