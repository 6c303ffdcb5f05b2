"""sim.golden.byte_rounding against docs/spec/known_differences.md rows 12 and 16 and fractions."""

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from sim.golden import byte_rounding
from sim.golden.byte_rounding import (
    Uint8Array,
    int8_offset_then_round_even,
    int8_offset_then_round_even_fused,
    int8_reciprocal_round_even_then_offset,
    int8_round_even_then_offset,
    offset_then_round_even,
    offset_then_round_even_fused,
    offset_then_truncate,
    reciprocal_round_even_then_offset,
    round_away_then_offset,
    round_even_then_offset,
)
from sim.golden.floating_point import Float32Array
from sim.golden.scaling import double_rounding

Rounding = Callable[[Float32Array, float, int], Uint8Array]
ROW_12 = ((0.5, 0), (0.5, 1), (1.5, 1), (0.75, 0), (-0.5, 1))
"""Value and zero point, scale 1."""
EXPECTED: dict[Rounding, tuple[int, ...]] = {
    round_even_then_offset: (0, 1, 3, 1, 1),
    round_away_then_offset: (1, 2, 3, 1, 0),
    offset_then_round_even: (0, 2, 2, 1, 0),
    offset_then_round_even_fused: (0, 2, 2, 1, 0),
    offset_then_truncate: (0, 1, 2, 0, 0),
}
EVERY = pytest.mark.parametrize("convention", EXPECTED, ids=lambda convention: convention.__name__)
QUARTERS = np.arange(-1100, 1100, dtype=np.float32) / np.float32(4)


def float32(*values: float) -> Float32Array:
    return np.array(values, np.float32)


def test_docstring_examples_hold() -> None:
    result = doctest.testmod(byte_rounding)
    assert (result.failed, result.attempted > 0) == (0, True)


@EVERY
def test_the_values_of_row_12(convention: Rounding) -> None:
    assert tuple(int(convention(float32(v), 1.0, z)[0]) for v, z in ROW_12) == EXPECTED[convention]


def test_no_two_conventions_agree_on_row_12_but_the_fused_one_that_scale_1_does_not_show() -> None:
    assert len(set(EXPECTED.values())) == len(EXPECTED) - 1


def test_row_16_the_fixed_point_class_of_armnn_rounds_where_its_float_reference_does_not() -> None:
    """Accumulator 1, factor 1/4: two roundings of 2^31 * 1/2 with a shift of 1 give 1, the float reference 0."""
    in_floats = round_away_then_offset(float32(1 * 0.25), 1.0, 0)
    assert (int(double_rounding(1, 2**30, -1)), int(in_floats[0])) == (1, 0)


@pytest.mark.parametrize("zero_point", [0, 1, 128, 255])
@pytest.mark.parametrize(
    ("convention", "exactly"),
    [
        (round_even_then_offset, lambda v, z: round(v) + z),
        (round_away_then_offset, lambda v, z: (1 if v > 0 else -1) * floor(abs(v) + Fraction(1, 2)) + z),
        (offset_then_round_even, lambda v, z: round(v + z)),
        (offset_then_round_even_fused, lambda v, z: round(v + z)),
        (offset_then_truncate, lambda v, z: int(v + z)),
    ],
)
def test_quarters_at_scale_one_half(
    convention: Rounding, exactly: Callable[[Fraction, int], int], zero_point: int
) -> None:
    """Every quotient is exact, so that only the rule is seen."""
    expected = [min(max(exactly(Fraction(float(v)) * 2, zero_point), 0), 255) for v in QUARTERS]
    assert convention(QUARTERS, 0.5, zero_point).tolist() == expected


@pytest.mark.parametrize("zero_point", [-128, -1, 0, 127])
@pytest.mark.parametrize(
    ("convention", "exactly"),
    [
        (int8_round_even_then_offset, lambda v, z: round(v) + z),
        (int8_reciprocal_round_even_then_offset, lambda v, z: round(v) + z),
        (int8_offset_then_round_even, lambda v, z: round(v + z)),
        (int8_offset_then_round_even_fused, lambda v, z: round(v + z)),
    ],
)
def test_quarters_at_scale_one_half_as_signed_bytes(
    convention: Rounding, exactly: Callable[[Fraction, int], int], zero_point: int
) -> None:
    expected = [min(max(exactly(Fraction(float(v)) * 2, zero_point), -128), 127) for v in QUARTERS]
    assert convention(QUARTERS, 0.5, zero_point).tolist() == expected


@EVERY
def test_infinities_saturate(convention: Rounding) -> None:
    assert convention(float32(np.inf, -np.inf, 3e38, -3e38), 0.5, 7).tolist() == [255, 0, 255, 0]


@pytest.mark.parametrize(
    "convention", [round_even_then_offset, round_away_then_offset, reciprocal_round_even_then_offset]
)
def test_nan_is_refused_where_it_is_not_defined(convention: Rounding) -> None:
    with pytest.raises(ValueError, match="NaN"):
        convention(float32(np.nan), 1.0, 7)


@pytest.mark.parametrize("convention", [offset_then_round_even, offset_then_round_even_fused, offset_then_truncate])
def test_nan_becomes_0_where_the_instruction_says_so(convention: Rounding) -> None:
    assert convention(float32(np.nan), 1.0, 7).tolist() == [0]


@EVERY
@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan, 1e-60])
def test_scales_that_divide_nothing_are_refused(convention: Rounding, scale: float) -> None:
    with pytest.raises(ValueError, match="finite and above 0"):
        convention(float32(1), scale, 0)


@EVERY
@pytest.mark.parametrize("zero_point", [-1, 256])
def test_zero_points_outside_of_a_byte_are_refused(convention: Rounding, zero_point: int) -> None:
    with pytest.raises(ValueError, match=r"0\.\.255"):
        convention(float32(1), 1.0, zero_point)


@EVERY
def test_values_that_are_not_float32_are_refused(convention: Rounding) -> None:
    with pytest.raises(TypeError, match="give float32"):
        convention(np.array([1.0]), 1.0, 0)


@EVERY
@pytest.mark.parametrize(("scale", "zero_point"), [(1, 0), (1.0, 0.5), ("1", 0), (1.0, True)])
def test_parameters_of_other_types_are_refused(convention: Rounding, scale: float, zero_point: int) -> None:
    with pytest.raises(TypeError, match=r"scale is|zero_point is"):
        convention(float32(1), scale, zero_point)


@EVERY
def test_any_shape_is_kept(convention: Rounding) -> None:
    shapes = [(), (0,), (2, 0, 3), (2, 3)]
    assert [convention(np.zeros(shape, np.float32), 1.0, 9).shape for shape in shapes] == shapes
