"""What the float lanes of the hardware are proved to be is what the isa semantics, and this computer, say."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import product

import pytest

from isa.evaluate.exact import Evaluation
from isa.evaluate.floating.formats import DN
from isa.lane import S32, U8, U32, Int, Lane, Read, constant, maximum, minimum, rebuilt, select
from isa.semantics import floating
from rtl_models.formal import floats
from sim.prove.claim import ClaimInputs, input_lane
from support.float_lanes import FMLA, TO_BYTE, FloatLanes

CORNERS = (
    0, 1 << 31, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
    0x7F800001, 0xFFC12345, 0x3F800000, 0xBF800000, 0x3F800001, 0x33800000, 0x34000000, 0xB3800000, 0x4B7FFFFF,
    0x3B808081, 0xC37F0000, 0x7E800000, 0x0C000001,
)  # fmt: skip
BYTES = (0, 1, 2, 3, 85, 127, 128, 255)
HALF, ZERO = 0x3F000000, 0


def in_default_mode(lane: Lane) -> Lane:
    """The expression where FPCR asks for default NaNs alone, as the hardware has them."""
    if isinstance(lane, Read):
        return constant(DN) if lane.place.file == "fpcr" else lane
    return rebuilt(lane, [in_default_mode(arg) for arg in lane.args])


def fmla(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
    """UCVTF and FMLA."""
    return floating.multiply_add(U32, accumulator, floating.from_integer(False)(U32, byte), factor)


def neon_byte(value: Lane, ties_away: Lane) -> Lane:
    """FCVTNS, or FCMGT, FADD, FSUB and FCVTZS; then what SQXTN and SQXTUN make of it."""
    up, down = (floating.arithmetic(name)(U32, value, constant(HALF)) for name in ("add", "subtract"))
    is_above = floating.comparison("greater")(S32, value, constant(ZERO))
    away = floating.to_integer(True, "zero")(U32, select(is_above.equals(0), down, up))
    whole = select(ties_away, away, floating.to_integer(True, "even")(U32, value))
    return U8.wrap(minimum(maximum(whole, constant(0)), constant(255)))


def both(kinds: tuple[Int, ...], left: Lane, right: Lane, rows: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The rows on which two expressions differ, and how."""
    names = [f"v{k}" for k in range(len(kinds))]
    for row in rows:
        evaluation = Evaluation(ClaimInputs(dict(zip(names, row, strict=True))))
        given, expected = evaluation.value(left), evaluation.value(right)
        if given != expected:
            yield (*row, given, expected)


def inputs(kinds: tuple[Int, ...]) -> list[Lane]:
    return [input_lane(f"v{k}", kind) for k, kind in enumerate(kinds)]


@pytest.mark.slow
def test_the_steps_of_fmla_byte_are_the_instruction_on_every_corner_by_every_other() -> None:
    lanes = inputs(FMLA)
    rows = product(CORNERS, BYTES, CORNERS)
    assert list(both(FMLA, floats.multiply_add(*lanes), in_default_mode(fmla(*lanes)), rows)) == []


def test_the_steps_of_float_to_byte_are_the_instructions_beside_every_half_of_a_byte() -> None:
    lanes = inputs(TO_BYTE)
    halves = [bits_of(number / 2) for number in range(-3, 515)]
    values = sorted({max(0, bits + d) for bits in (*CORNERS, *halves) for d in (-1, 0, 1)} - {1 << 32})
    rows = product(values, (0, 1))
    assert list(both(TO_BYTE, floats.to_byte(*lanes), in_default_mode(neon_byte(*lanes)), rows)) == []


def bits_of(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


@pytest.mark.slow
def test_the_steps_of_fmla_byte_are_the_fused_product_of_this_computer() -> None:
    count = 10_000_000
    assert FloatLanes().fmla(1, count) == (count, ())


def test_the_steps_of_float_to_byte_round_the_numbers_about_a_half_as_this_computer_does() -> None:
    count = 1 << 18
    assert FloatLanes().to_byte(HALF - count // 2, count) == (count, ())


def test_a_step_that_is_left_out_is_found() -> None:
    """Sums whose lowest places are forgotten, and no number below a half that becomes 1."""

    def forgetful(accumulator: Lane, byte: Lane, factor: Lane) -> Lane:
        return floats.multiply_add(accumulator & ~1, byte, factor)

    def even(value: Lane, ties_away: Lane) -> Lane:
        return floats.to_byte(value, ties_away & value.equals(HALF - 1).equals(0))

    wrong = FloatLanes(forgetful, even)
    assert wrong.fmla(1, 1000).differs != ()
    assert wrong.to_byte(HALF - 2, 2).differs == (HALF - 1, 1, 0, 1)
