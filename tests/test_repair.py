"""What could stand in the place of an instruction, and what of it makes the lanes of a wrong build right."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isa.instruction import Instruction
from isa.lane import S8, S16, U8, U16, Int
from isa.rows import TABLE
from sim import Machine
from sim.check.repair.alternative import NEAR
from sim.check.repair.alternatives import alternatives_of
from sim.check.repair.code import ExecutedCode
from sim.check.repair.numbers import other_numbers
from sim.check.repair.place import fault_of_build
from sim.check.repair.search import find_repairs
from sim.check.repair.steps import with_body, with_results
from sim.check.vectors import make_vectors
from sim.kernels import Domain, Kernel, parse_prototype
from sim.machine.errors import ExecutionError
from sim.toolchain.compilers import build

START, DATA = 0x10000, 0x20000


def run(instruction: Instruction, **registers: int) -> Machine:
    """A machine after one instruction, with x registers and lanes of 32 bits of v registers given."""
    machine = Machine()
    machine.memory.map(START, 4096, "rx")
    machine.memory.map(DATA, 4096)
    for name, value in registers.items():
        file, number = (machine.v, 32) if name[0] == "v" else (machine.x, 64)
        file[int(name[1:])] = value % 2**number
    machine.patch({START: instruction})
    machine.pc = START
    machine.step()
    return machine


def alternative(mnemonic: str, operands: str, says: str) -> Instruction:
    """The one alternative of an instruction of which that is said."""
    (found,) = [a for a in alternatives_of(START, TABLE.instruction(mnemonic, operands)) if says in str(a)]
    return found.instruction


def ties_away(value: int, shift: int) -> int:
    """Divided by 2^shift and rounded to nearest, ties away from zero, in exact fractions."""
    exact = abs(Fraction(value, 2**shift))
    return int(exact + Fraction(1, 2)) * (-1 if value < 0 else 1)


@pytest.mark.parametrize("shift", [0, 1, 2, 7])
@pytest.mark.parametrize("value", [-10, -6, -5, -4, -1, 0, 1, 2, 6, 10])
def test_a_rounding_shift_with_a_fix_up_has_its_ties_away_from_zero(value: int, shift: int) -> None:
    changed = alternative("srshl", "v0.4s, v1.4s, v2.4s", "ties away")
    result = run(changed, v1=value % 2**32, v2=-shift % 2**32).v[0]
    assert result == ties_away(value, shift) % 2**32


@pytest.mark.parametrize(("value", "expected"), [(5, 3), (6, 3), (-5, -2), (-7, -3)])
def test_a_shift_of_a_register_may_lack_its_rounding(value: int, expected: int) -> None:
    assert run(alternative("asr", "x0, x1, #1", "(rounded)"), x1=value).x[0] == expected % 2**64


@pytest.mark.parametrize("value", [-9, -8, -1, 0, 1, 7, 8])
def test_a_shift_of_a_register_may_lack_what_makes_it_a_division(value: int) -> None:
    changed = alternative("asr", "x0, x1, #3", "(toward zero)")
    assert run(changed, x1=value).x[0] == int(Fraction(value, 8)) % 2**64


@pytest.mark.parametrize(("value", "divisor"), [(7, 2), (-7, 2), (-1, 2), (1, -2), (-1, -2), (5, 3), (-4, 3), (0, 5)])
def test_a_division_may_lack_its_rounding(value: int, divisor: int) -> None:
    exact = Fraction(value, divisor)
    nearest = int(abs(exact) + Fraction(1, 2)) * (-1 if exact < 0 else 1)
    for says, expected in (("rounded to nearest", nearest), ("rounded down", floor(exact))):
        changed = alternative("sdiv", "x0, x1, x2", says)
        assert run(changed, x1=value, x2=divisor).x[0] == expected % 2**64


@pytest.mark.parametrize(
    ("says", "shifted_left", "shifted_right"),  # 100 by 3
    [("with 1 added to its count", 1600, 25), ("with 1 taken from its count", 400, 6)],
)
def test_a_shift_by_a_register_may_go_one_too_far(says: str, shifted_left: int, shifted_right: int) -> None:
    assert run(alternative("lsl", "w0, w1, w2", says), x1=100, x2=3).x[0] == shifted_left
    assert run(alternative("srshl", "v0.4s, v1.4s, v2.4s", says), v1=100, v2=-3 % 2**32).v[0] == shifted_right


@pytest.mark.parametrize(
    ("mnemonic", "bound", "value", "stored"),
    [("strb", S8, -1000, -128), ("strb", U8, 1000, 255), ("strh", S16, -100000, -32768), ("strh", U16, 100000, 65535)],
)
def test_a_store_may_lack_the_bounds_of_what_it_stores(mnemonic: str, bound: Int, value: int, stored: int) -> None:
    every = alternatives_of(START, TABLE.instruction(mnemonic, "w0, [x1]"))
    (changed,) = [each for each in every if each.says == f"after it is bounded to {bound}"]
    machine = run(changed.instruction, x0=value, x1=DATA)
    assert machine.memory.read(DATA, bound.bits // 8) == (stored % 2**bound.bits).to_bytes(bound.bits // 8, "little")


@pytest.mark.parametrize(
    ("mnemonic", "operands", "kept"),
    [
        ("abs", "v0.4s, v1.4s", "v1.4s"),
        ("ssra", "v0.4s, v1.4s, #2", "v0.4s"),
        ("neg", "v0.4s, v1.4s", "v1.4s"),
        ("orr", "v0.4s, #1", "v0.4s"),
    ],
)
def test_a_step_of_one_operand_may_be_one_too_many(mnemonic: str, operands: str, kept: str) -> None:
    changed = alternative(mnemonic, operands, f"left out, only {kept} kept")
    assert run(changed, v0=-8, v1=-8).v[0] % 2**32 == -8 % 2**32


@pytest.mark.parametrize(
    ("says", "value", "expected"),
    [
        ("negated", 5, -5),
        ("without its sign", -5, 5),
        ("inverted", 5, -6),
        ("doubled", -5, -10),
        ("halved and rounded", 5, 3),
        ("not below 0", -5, 0),
        ("not above 0", 5, 0),
        ("bounded to s8", -1000, -128),
        ("bounded to u16", -1000, 0),
        ("cut to u8", -1, 255),
        ("cut to s16", 40_000, 40_000 - 65_536),
    ],
)
def test_a_further_step_may_have_been_left_out(says: str, value: int, expected: int) -> None:
    assert run(alternative("add", "w0, w1, w2", f"w2 {says}"), x1=value, x2=0).x[0] == expected % 2**32


def test_a_step_may_be_one_too_many() -> None:
    assert run(alternative("sub", "w0, w1, w2", "only w1 kept"), x1=7, x2=3).x[0] == 7


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("xtn v0.4h, v0.4s", "sqxtn v0.4h, v0.4s"),
        ("add v0.4s, v1.4s, v2.4s", "sqadd v0.4s, v1.4s, v2.4s"),
        ("cset w0, lt", "cset w0, le"),
        ("add w0, w1, w2, asr #4", "add w0, w1, w2, lsr #4"),
        ("eor w0, w1, w2, lsr #4", "eor w0, w1, w2, lsr #9"),
        ("cmp w0, #5", "cmp w0, #4"),
        ("mul v0.4h, v1.4h, v2.h[1]", "mul v0.4h, v1.4h, v2.h[3]"),
        ("zip1 v0.4s, v1.4s, v2.4s", "zip1 v0.4s, v2.4s, v1.4s"),
        ("uqsub v0.16b, v1.16b, v2.16b", "uabd v0.16b, v1.16b, v2.16b"),
        ("shl v0.4s, v1.4s, #1", "sqshl v0.4s, v1.4s, #1"),
        ("scvtf v0.4s, v1.4s, #1", "scvtf v0.4s, v1.4s"),
        ("ldr w0, [x1, #4]", "ldrsw x0, [x1, #4]"),
        ("mov w0, w1", "sxtw x0, w1"),
        ("and w0, w1, #0xff", "and w0, w1, #0x7f"),
        ("asr w0, w1, #4", "asr w0, w1, #0xf"),
        ("ext v0.16b, v1.16b, v2.16b, #1", "ext v0.16b, v1.16b, v2.16b, #0"),
        ("b.ge #0x10100", "b #0x10100"),
        ("cbz x0, #0x10100", "b #0x10004"),
        ("umaxp v3.2s, v5.2s, v5.2s", "umaxv s3, v5.4s"),
        ("saddlv s0, v7.4h", "saddlv s0, v7.8h"),
        ("uminv b0, v7.8b", "uminv b0, v7.16b"),
        ("ld1r {v4.4h}, [x17]", "ld1 {v4.4h}, [x17]"),
        ("mov w0, #0x30", "mov w0, #0x60"),
    ],
)
def test_an_instruction_is_taken_for_those_that_it_is_mixed_up_with(text: str, instead: str) -> None:
    mnemonic, _, operands = text.partition(" ")
    found = alternatives_of(START, TABLE.instruction(mnemonic, operands))
    assert instead in [one.instruction.text for one in found]


def test_a_number_is_not_taken_for_a_register() -> None:
    found = alternatives_of(START, TABLE.instruction("add", "w0, w1, #5"))
    assert "add w0, w1, w1" not in [one.instruction.text for one in found]


@pytest.mark.parametrize("by", [3, 5])
def test_the_shift_beside_is_tried_before_other_round_numbers(by: int) -> None:
    found = alternatives_of(START, TABLE.instruction("eor", "w0, w1, w2, lsr #4"))
    (rank,) = [one.rank for one in found if one.instruction.text == f"eor w0, w1, w2, lsr #{by}"]
    assert rank == NEAR


class TwoStepsTooMany:
    """An image, and trials of it, in which two instructions of one source line are to be left out."""

    spent = 0
    data_reads = (frozenset[tuple[int, int, int]](),)

    def __init__(self) -> None:
        texts = ("w0, w1, w2", "w0, w0, w3", "w4, w0, w5")
        self.instructions = {START + 4 * n: TABLE.instruction("sub", text) for n, text in enumerate(texts)}
        self.reached, self.symbols = self.instructions.keys(), dict[str, object]()

    def place_of(self, pc: int) -> str:
        return "f.c:1" if pc < START + 8 else "f.c:2"

    def are_right_with(self, replaced: dict[int, Instruction]) -> bool:
        self.spent += 1
        wanted = {START: 11, START + 4: 9}
        try:
            return replaced.keys() == wanted.keys() and all(
                run(replaced[pc], x0=9, x1=11, x2=6, x3=12).x[0] == left for pc, left in wanted.items()
            )
        except ExecutionError:  # one that keeps what it makes on the stack
            return False

    def matters(self, replaced: dict[int, Instruction]) -> bool:
        return True


def test_several_instructions_of_a_source_line_are_changed_where_no_one_is_enough() -> None:
    trials: Any = TwoStepsTooMany()
    (repair,) = find_repairs(ExecutedCode(trials, START, trials.instructions, {}), trials)
    assert [change.says for change in repair.changes] == ["left out, only w1 kept", "left out, only w0 kept"]


class OneTooSmall(TwoStepsTooMany):
    """An image, and trials of it, in which the numbers of some instructions have to be one more."""

    def __init__(self, *texts: str) -> None:
        self.instructions = {START + 4 * n: TABLE.instruction("add", text) for n, text in enumerate(texts)}
        self.reached, self.symbols = self.instructions.keys(), dict[str, object]()

    def place_of(self, pc: int) -> str:
        return f"f.c:{pc}"

    def are_right_with(self, replaced: dict[int, Instruction]) -> bool:
        return replaced.keys() == self.instructions.keys() and all(
            run(one, x1=10).x[0] == run(self.instructions[pc], x1=10).x[0] + 1 for pc, one in replaced.items()
        )


@pytest.mark.parametrize(
    ("texts", "repaired"),
    [
        (("w0, w1, #5", "x0, x1, #5"), [["add w0, w1, #6", "add x0, x1, #6"]]),
        (("w0, w1, #5",), []),  # in one place: the alternatives of that instruction
        (("w0, w1, #5", "x0, x1, #7"), []),
    ],
)
def test_a_number_in_several_places_is_another_one_in_all_of_them(
    texts: tuple[str, ...], repaired: list[list[str]]
) -> None:
    trials: Any = OneTooSmall(*texts)
    found = other_numbers(ExecutedCode(trials, START, trials.instructions, {}), trials)
    assert [[change.instruction.text for change in changes] for changes in found] == repaired


LEFT_UNBOUNDED = """#include <stdint.h>
void f(const int32_t x[4], int8_t out[4])
{
    for (int i = 0; i < 4; i++) {
        int32_t y = x[i] + 100;
        out[i] = (int8_t)y;
    }
}
"""


@pytest.mark.slow
def test_where_a_step_is_missing_in_front_of_an_instruction_the_line_that_made_its_operand_is_told_too(
    tmp_path: Path,
) -> None:
    source = tmp_path / "f.c"
    source.write_text(LEFT_UNBOUNDED)
    name, signature = parse_prototype("void f(const int32_t x[4], int8_t out[4])")
    kernel = Kernel(
        name=name,
        symbol=name,
        sources=(source,),
        signature=signature,
        golden=lambda inputs: {"out": np.clip(inputs["x"] + 100, -128, 127).astype(np.int8)},
        domain={"x": Domain(-300, 300)},
    )
    fault = fault_of_build(build(source, "-O0"), kernel, make_vectors(kernel, 10, seed=1), "-O0", False)
    assert fault is not None
    assert {*fault.lines} == {"f.c:6", "f.c:5"}


def test_a_load_that_is_narrower_than_the_elements_that_are_changed_keeps_its_result() -> None:
    shapes = {}
    for target in ("h0", "d0"):
        load = TABLE.instruction("ldr", f"{target}, [sp, #0x208]")
        changed = with_body(load, with_results(load.form, lambda lane, element, at: lane + at, 32)).writes
        assert changed is not None
        shapes[target] = [(write.bits, len(write.lanes)) for write in changed]
    assert shapes == {"h0": [(16, 1)], "d0": [(32, 2)]}
