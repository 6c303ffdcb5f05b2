"""sim.golden.fixed_point against Python integers and fractions, and against the numbers of docs/spec."""

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.golden import fixed_point
from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Int32Array,
    Integers,
    clamp,
    divide_by_power_of_two_ties_away,
    divide_by_power_of_two_ties_up,
    divided_of_16,
    doubling_high_multiply,
    shift_left_wrap,
    shift_right_floor,
    tail_shift,
    vector_shift,
    wrap_int32,
)

SEED = 19_08
CORNERS = np.array(
    [0, *(sign * (2**n + d) for n in range(31) for d in (-1, 0, 1) for sign in (1, -1)), INT32_MIN, INT32_MIN + 1],
    dtype=np.int32,
)
RANDOM = np.random.default_rng(SEED).integers(INT32_MIN, INT32_MAX, 4096, dtype=np.int32, endpoint=True)
VALUES = np.concatenate([CORNERS, RANDOM])

int32s = st.integers(INT32_MIN, INT32_MAX) | st.sampled_from(CORNERS.tolist())
counts = st.integers(0, 31)
thoroughly = settings(max_examples=500)

Shift = Callable[[Integers, Integers], Int32Array]
DIVISIONS: list[Shift] = [divide_by_power_of_two_ties_away, divide_by_power_of_two_ties_up, shift_right_floor]


def exact_wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def exact_ties_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def exact_ties_away(value: Fraction) -> int:
    nearest_of_magnitude = floor(abs(value) + Fraction(1, 2))
    return nearest_of_magnitude if value >= 0 else -nearest_of_magnitude


def exact_vector_shift(value: int, shift: int) -> int:
    count = exact_wrap(-shift)
    fixed_up = max(value - 1, INT32_MIN) if value < 0 and count < 0 else value
    low_byte = int.from_bytes((count % 256).to_bytes(1, "little"), "little", signed=True)
    scale = Fraction(1 << max(low_byte, 0), 1 << max(-low_byte, 0))
    return exact_wrap(exact_ties_up(fixed_up * scale))


def exact_tail_shift(value: int, shift: int) -> int:
    divisor = 1 << (shift % 32)
    quotient, remainder = divmod(value, divisor)
    threshold = (divisor - 1) // 2 + (1 if value < 0 else 0)
    return quotient + (1 if remainder > threshold else 0)


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(fixed_point)
    assert (result.failed, result.attempted >= 10) == (0, True)


def test_every_public_function_has_an_example() -> None:
    functions = [v for n, v in vars(fixed_point).items() if callable(v) and v.__module__ == fixed_point.__name__]
    public = [function for function in functions if not function.__name__.startswith("_")]
    assert [f.__name__ for f in public if ">>>" not in (f.__doc__ or "")] == []


# Against the arithmetic definition.


@thoroughly
@given(st.integers(-(2**63), 2**63 - 1))
def test_wrap_is_reduction_modulo_2_to_32(value: int) -> None:
    assert int(wrap_int32(np.array(value))) == exact_wrap(value)


@pytest.mark.slow
@thoroughly
@given(int32s, int32s)
def test_doubling_high_multiply_is_the_product_over_2_to_31_ties_up_saturated(a: int, b: int) -> None:
    assert int(doubling_high_multiply(a, b)) == min(exact_ties_up(Fraction(a * b, 2**31)), INT32_MAX)


@pytest.mark.slow
@thoroughly
@given(int32s, counts)
def test_ties_away_is_the_quotient_rounded_away(value: int, count: int) -> None:
    assert int(divide_by_power_of_two_ties_away(value, count)) == exact_ties_away(Fraction(value, 2**count))


@pytest.mark.slow
@thoroughly
@given(int32s, counts)
def test_ties_up_is_the_quotient_rounded_up(value: int, count: int) -> None:
    assert int(divide_by_power_of_two_ties_up(value, count)) == exact_ties_up(Fraction(value, 2**count))


@pytest.mark.slow
@thoroughly
@given(int32s, counts)
def test_floor_is_the_quotient_rounded_down(value: int, count: int) -> None:
    assert int(shift_right_floor(value, count)) == floor(Fraction(value, 2**count))


@thoroughly
@given(int32s, counts)
def test_left_shift_is_the_product_wrapped(value: int, count: int) -> None:
    assert int(shift_left_wrap(value, count)) == exact_wrap(value * 2**count)


@pytest.mark.slow
@thoroughly
@given(int32s, int32s, int32s)
def test_clamp_is_the_median_of_value_and_bounds(value: int, one: int, other: int) -> None:
    lower, upper = sorted((one, other))
    assert int(clamp(value, lower, upper)) == sorted((value, lower, upper))[1]


@pytest.mark.slow
@thoroughly
@given(int32s, int32s | st.integers(-300, 300))
def test_vector_shift_is_fix_up_then_shift_by_the_low_byte(value: int, shift: int) -> None:
    assert int(vector_shift(value, shift)) == exact_vector_shift(value, shift)


@pytest.mark.slow
@thoroughly
@given(int32s, int32s | st.integers(-300, 300))
def test_tail_shift_is_the_mask_form_modulo_32(value: int, shift: int) -> None:
    assert int(tail_shift(value, shift)) == exact_tail_shift(value, shift)


@pytest.mark.parametrize("shift", [*range(-260, 261), INT32_MIN, INT32_MIN + 1, INT32_MAX])
def test_vector_shift_on_corners_for_every_low_byte(shift: int) -> None:
    expected = [exact_vector_shift(value, shift) for value in CORNERS.tolist()]
    assert vector_shift(CORNERS, shift).tolist() == expected


# Equal although they look different (docs/spec/known_differences.md section 2).


@pytest.mark.parametrize("shift", range(32))
def test_vector_shift_equals_ties_away_for_0_to_31(shift: int) -> None:
    np.testing.assert_array_equal(vector_shift(VALUES, shift), divide_by_power_of_two_ties_away(VALUES, shift))


@pytest.mark.parametrize("shift", range(32))
def test_tail_shift_equals_ties_away_for_0_to_31(shift: int) -> None:
    np.testing.assert_array_equal(tail_shift(VALUES, shift), divide_by_power_of_two_ties_away(VALUES, shift))


@pytest.mark.slow
@thoroughly
@given(int32s, int32s)
def test_signed_nudge_and_c_division_equal_doubling_high_multiply(a: int, b: int) -> None:
    nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
    toward_zero = nudged // 2**31 if nudged >= 0 else -(-nudged // 2**31)
    assert int(doubling_high_multiply(a, b)) == min(toward_zero, INT32_MAX)


# Where they differ.


def test_multiply_breaks_ties_up_on_both_sides_of_zero() -> None:
    assert doubling_high_multiply(np.array([1, -1]), 2**30).tolist() == [1, 0]


def test_multiply_saturates_in_one_case_only() -> None:
    wide = np.array([[INT32_MIN, INT32_MAX]])
    assert doubling_high_multiply(wide, wide.T).tolist() == [[INT32_MAX, -INT32_MAX], [-INT32_MAX, INT32_MAX - 1]]


def test_of_16_bits_what_is_divided_by_2_to_the_16_or_more_is_one_of_its_sign() -> None:
    values = np.array([-(2**15), -2, -1, 0, 1, 2**14, 2**15 - 1], np.int16)
    for count in range(32):
        exact = [exact_ties_away(Fraction(value, 2**count)) for value in values.tolist()]
        assert divided_of_16(values, count).tolist() == (exact if count < 16 else [-1, -1, -1, 1, 1, 1, 1])


def test_row_5_saturating_and_wrapping_square_of_int_min() -> None:
    wrapping = wrap_int32((INT32_MIN * INT32_MIN + 2**30) >> 31)
    assert (int(doubling_high_multiply(INT32_MIN, INT32_MIN)), int(wrapping)) == (2147483647, -2147483648)


def test_rows_2_and_3_ties_away_and_ties_up() -> None:
    half = doubling_high_multiply(-2, 2**30)
    away, up = divide_by_power_of_two_ties_away(half, 1), divide_by_power_of_two_ties_up(half, 1)
    assert (int(away), int(up)) == (-1, 0)


def test_row_3b_rounding_and_literal_shift() -> None:
    half = doubling_high_multiply(1, 2**30)
    assert (int(divide_by_power_of_two_ties_away(half, 1)), int(shift_right_floor(half, 1))) == (1, 0)


def test_row_4_floor_and_ties_away() -> None:
    values = np.array([1, -1, 3])
    floored, away = shift_right_floor(values, 1), divide_by_power_of_two_ties_away(values, 1)
    assert (floored.tolist(), away.tolist()) == ([0, -1, 1], [1, -1, 2])


def test_row_8_left_shift_wraps_before_the_multiply() -> None:
    assert int(doubling_high_multiply(shift_left_wrap(2**30, 1), 2**30)) == -(2**30)


@pytest.mark.parametrize(("shift", "lanes"), [(-1, 10), (-2, 20), (-3, 40), (-4, 80)])
def test_negative_shift_moves_lanes_left_and_empties_the_tail(shift: int, lanes: int) -> None:
    assert (int(vector_shift(5, shift)), int(tail_shift(5, shift))) == (lanes, 0)


def test_negative_shift_in_lanes_wraps() -> None:
    assert int(vector_shift(2**30, -1)) == INT32_MIN


def test_shift_32_empties_the_lanes_and_leaves_the_tail() -> None:
    assert (int(vector_shift(1, 32)), int(tail_shift(1, 32))) == (0, 1)


def test_lanes_are_empty_from_32_to_224() -> None:
    assert not vector_shift(CORNERS, np.arange(32, 225)[:, np.newaxis]).any()


def test_lanes_shift_left_again_from_225_to_255() -> None:
    assert vector_shift(1, np.arange(225, 256)).tolist() == [exact_wrap(2**left) for left in range(31, 0, -1)]


def test_shift_256_is_0_again_but_for_the_fix_of_negative_values() -> None:
    assert vector_shift(np.array([7, 0, -7, INT32_MIN]), 256).tolist() == [7, 0, -8, INT32_MIN]


def test_fix_is_made_for_negative_values_only() -> None:
    assert vector_shift(np.array([-1, 1, -2, 2]), 1).tolist() == [-1, 1, -1, 1]


def test_fix_saturated_at_int_min_does_not_matter() -> None:
    assert vector_shift(INT32_MIN, np.arange(1, 32)).tolist() == [-(2**n) for n in range(30, -1, -1)]


# The contract: shapes, dtypes, errors.


def test_every_operand_broadcasts() -> None:
    quotients = divide_by_power_of_two_ties_away(np.array([[4], [-6]]), np.array([0, 1, 2]))
    assert quotients.tolist() == [[4, 2, 1], [-6, -3, -2]]


@pytest.mark.parametrize("function", [*DIVISIONS, shift_left_wrap, vector_shift, tail_shift, doubling_high_multiply])
def test_result_is_a_new_int32_array_of_the_same_shape(function: Shift) -> None:
    values = np.zeros((2, 0, 3), np.int32)
    result = function(values, 1)
    assert (result.dtype.name, result.shape, np.shares_memory(result, values)) == ("int32", (2, 0, 3), False)


@pytest.mark.parametrize("function", [*DIVISIONS, shift_left_wrap, vector_shift, tail_shift, doubling_high_multiply])
def test_an_int_gives_a_rank_0_array(function: Shift) -> None:
    assert isinstance(function(1, 0), np.ndarray)


def test_narrow_and_unsigned_integers_are_accepted() -> None:
    assert shift_right_floor(np.array([255], np.uint8), 1).tolist() == [127]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.bool_, np.complex64, object])
@pytest.mark.parametrize("function", [*DIVISIONS, shift_left_wrap, vector_shift, tail_shift, doubling_high_multiply])
def test_dtypes_that_are_not_integer_are_refused(function: Shift, dtype: type) -> None:
    with pytest.raises(TypeError, match=r"values has dtype .*: give an integer array"):
        function(np.zeros(3, dtype), 1)


def test_a_float_multiplier_is_refused() -> None:
    with pytest.raises(TypeError, match="multiplier has dtype float64"):
        doubling_high_multiply(1, np.array(0.5))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_no_numbers_are_shifted_to_none(dtype: type) -> None:
    assert shift_right_floor(np.zeros((0, 3), dtype), 1).shape == (0, 3)


def test_wrap_refuses_floats() -> None:
    with pytest.raises(TypeError, match="values has dtype float64"):
        wrap_int32(np.array(0.5))


def test_wrap_takes_unsigned_64_bits() -> None:
    assert int(wrap_int32(np.array(2**64 - 1, np.uint64))) == -1


@pytest.mark.parametrize("value", [INT32_MAX + 1, INT32_MIN - 1, 2**63])
@pytest.mark.parametrize("function", [*DIVISIONS, shift_left_wrap, vector_shift, tail_shift, doubling_high_multiply])
def test_numbers_outside_int32_are_refused(function: Shift, value: int) -> None:
    with pytest.raises(ValueError, match=r"values: .* given, every number must lie in int32"):
        function(value, 1)


@pytest.mark.parametrize("function", [vector_shift, tail_shift])
def test_a_shift_outside_int32_is_refused(function: Shift) -> None:
    with pytest.raises(ValueError, match=r"shift: .* given"):
        function(1, 2**31)


@pytest.mark.parametrize("count", [-1, 32])
@pytest.mark.parametrize("function", [*DIVISIONS, shift_left_wrap])
def test_exponents_outside_0_to_31_are_refused(function: Shift, count: int) -> None:
    with pytest.raises(ValueError, match=rf"exponent: {count} is given, it must lie in 0\.\.31"):
        function(1, count)


def test_clamp_refuses_crossed_bounds() -> None:
    with pytest.raises(ValueError, match="lower bound 2 is above upper bound 1"):
        clamp(0, 2, 1)


def test_clamp_includes_both_bounds() -> None:
    assert clamp(np.array([-1, 0, 1, 254, 255, 256]), 0, 255).tolist() == [0, 0, 1, 254, 255, 255]
