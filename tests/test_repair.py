"""What could stand in the place of an instruction, and what of it makes the lanes of a wrong build right."""

from __future__ import annotations

from fractions import Fraction

import pytest

from isa.instruction import Instruction
from isa.rows import TABLE
from sim import Machine
from sim.check.repair.alternatives import alternatives_of

START = 0x10000


def run(instruction: Instruction, **registers: int) -> Machine:
    """A machine after one instruction, with x registers and lanes of 32 bits of v registers given."""
    machine = Machine()
    machine.memory.map(START, 4096, "rx")
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


def test_a_step_may_be_one_too_many() -> None:
    assert run(alternative("sub", "w0, w1, w2", "only w1 kept"), x1=7, x2=3).x[0] == 7


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("xtn v0.4h, v0.4s", "sqxtn v0.4h, v0.4s"),
        ("add v0.4s, v1.4s, v2.4s", "sqadd v0.4s, v1.4s, v2.4s"),
        ("cset w0, lt", "cset w0, le"),
        ("cmp w0, #5", "cmp w0, #4"),
        ("mul v0.4h, v1.4h, v2.h[1]", "mul v0.4h, v1.4h, v2.h[3]"),
        ("zip1 v0.4s, v1.4s, v2.4s", "zip1 v0.4s, v2.4s, v1.4s"),
    ],
)
def test_an_instruction_is_taken_for_those_that_it_is_mixed_up_with(text: str, instead: str) -> None:
    mnemonic, _, operands = text.partition(" ")
    found = alternatives_of(START, TABLE.instruction(mnemonic, operands))
    assert instead in [one.instruction.text for one in found]
