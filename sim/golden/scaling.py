"""Multiply by a real factor kept as integers: every rule by which the known systems scale an int32 accumulator.

The factor is multiplier * 2^(left_shift - 31): a Q0.31 multiplier, and a shift that counts to the left where positive
and to the right where negative, here and in `sim.golden.derivation`, whatever a system does. The contract is that of
`sim.golden.fixed_point`: integer operands in int32 broadcast, the result is a new int32 array, `TypeError` for another
dtype, `ValueError` for a number that the rule does not define.
Sources: docs/spec/neighbours.md sections 6, 10, 11, 12 and 15; docs/spec/known_differences.md row 7.
"""

from typing import Final

import numpy as np

from sim.golden.declaration import convention
from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Int32Array,
    Int64Array,
    Integers,
    as_int32,
    count_operand,
    divide_by_power_of_two_ties_away,
    divide_by_power_of_two_ties_up,
    doubling_high_multiply,
    doubling_high_multiply_unsaturated,
    int32_operand,
    shift_left_saturate,
    shift_left_wrap,
    shift_right_floor,
    tail_shift,
    told_range,
    vector_shift,
    wrap_int32,
)

HIGHEST_LEFT_SHIFT: Final = 30  # of the single-rounding rules: their 64-bit sum still has a half to add
LONG_BITS: Final = 48  # of the int64 overload: 48 bits times a 15-bit multiplier stay within 64


@convention(
    formula="RDP(min(floor((wrap(x * 2^max(e, 0)) * q + 2^30) / 2^31), 2^31 - 1), max(-e, 0)), e -31..31",
    users="TFLite's default build, ACL 20.02 and later, gemmlowp's SIMD code, QNNPACK's q31 (e <= 0)",
    rows=("1", "1b", "2", "3", "3b", "8", "8b", "13"),
)
def double_rounding(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with two roundings: the multiply (ties up), then the right shift (ties away from zero).

    ArmNN and ACL 19.08 use it for e <= 0 only.

    >>> double_rounding(np.array([1, -2, 2**30]), 2**30, np.array([-1, -1, 1]))
    array([          1,          -1, -1073741824], dtype=int32)
    """
    left, right = _left_and_right(left_shift)
    return divide_by_power_of_two_ties_away(doubling_high_multiply(shift_left_wrap(values, left), multiplier), right)


@convention(
    formula="as `double_rounding` with floor(y / 2^n + 1/2) for RDP(y, n); e -31..31",
    users="TFLite's NEON helper for four rows, and by the comment of gemmlowp's stage",
    rows=("2", "3"),
)
def double_rounding_ties_up(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with two roundings, both ties up.

    >>> double_rounding_ties_up(np.array([1, -2]), 2**30, -1)
    array([1, 0], dtype=int32)
    """
    left, right = _left_and_right(left_shift)
    return divide_by_power_of_two_ties_up(doubling_high_multiply(shift_left_wrap(values, left), multiplier), right)


@convention(
    formula="floor(min(floor((x * q + 2^30) / 2^31), 2^31 - 1) / 2^-e), e -31..0",
    users="ACL's public page of 19.08, not by its code",
    rows=("3b",),
)
def double_rounding_floor(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with the rounded multiply and a literal `>>`; the page has no left shift.

    >>> double_rounding_floor(np.array([1, -2]), 2**30, -1)
    array([ 0, -1], dtype=int32)
    """
    right = -count_operand(left_shift, "left_shift", -31, 0)
    return shift_right_floor(doubling_high_multiply(values, multiplier), right)


@convention(
    formula="as `double_rounding` with the left shift limited to int32 instead of wrapped; e -31..31",
    users="gemmlowp's scalar code (its SIMD code wraps)",
    rows=("8",),
)
def double_rounding_saturating_left(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with two roundings after a left shift that saturates.

    >>> double_rounding_saturating_left(2**30, 2**30, 1)
    array(1073741824, dtype=int32)
    """
    left, right = _left_and_right(left_shift)
    shifted = shift_left_saturate(values, left)
    return divide_by_power_of_two_ties_away(doubling_high_multiply(shifted, multiplier), right)


@convention(
    formula="as `double_rounding` with wrap(...) for min(..., 2^31 - 1); e -31..31",
    users="CMSIS-NN's default build in C (its MVE form saturates)",
    rows=("5", "19"),
)
def double_rounding_unsaturated(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with two roundings; the one product that does not fit wraps.

    They differ for q = -2^31 only.

    >>> double_rounding_unsaturated(-(2**31), -(2**31), 0)
    array(-2147483648, dtype=int32)
    """
    left, right = _left_and_right(left_shift)
    high = doubling_high_multiply_unsaturated(shift_left_wrap(values, left), multiplier)
    return divide_by_power_of_two_ties_away(high, right)


@convention(
    formula="wrap(floor((x * q + 2^(30 - e)) / 2^(31 - e))), q >= 0, e -31..30; upstream asserts that nothing wraps",
    users=(
        "TFLite's single-rounding build and ruy (e -31..7), XNNPACK's rndnu, TVM's rounding UPWARD, fbgemm's fixed "
        "point and Vela's mode HalfUp (NATURAL)"
    ),
    rows=("1", "1b", "2", "8", "13", "17", "20", "22"),
)
def single_rounding(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale the 64-bit product with one rounding, ties up.

    >>> single_rounding(np.array([1, -2, 2**30]), 2**30, np.array([-1, -1, 1]))
    array([         0,          0, 1073741824], dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, HIGHEST_LEFT_SHIFT)
    product = int32_operand(values, "values") * positive_multiplier(multiplier)
    return wrap_int32((product + (1 << (30 - shift))) >> (31 - shift))


@convention(
    formula=(
        "floor((wrap(floor(x * q / 2^(30 - e))) + 1) / 2), q of either sign, e -31..30; the sum wraps too, though "
        "C leaves that undefined"
    ),
    users="CMSIS-NN's single-rounding build",
)
def single_rounding_narrowed(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale the 64-bit product with one rounding, ties up, after cutting twice the result to int32.

    It equals `single_rounding` while the result lies in -2^30..2^30 - 1.

    >>> single_rounding_narrowed(np.array([-2, 2**31 - 1]), np.array([2**30, 2**31 - 1]), np.array([-1, 0]))
    array([ 0, -2], dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, HIGHEST_LEFT_SHIFT)
    product = int32_operand(values, "values") * int32_operand(multiplier, "multiplier")
    doubled = wrap_int32(product >> (30 - shift)).astype(np.int64)
    return as_int32(wrap_int32(doubled + 1) >> 1)


@convention(
    formula="r = max(-e, 1); floor(floor(wrap(x * 2^(e + r)) * q / 2^31) / 2^r + 1/2), q >= 0, e -31..30",
    users="TFLite's and ruy's NEON code",
    rows=("17", "22"),
)
def single_rounding_by_vector(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale with one rounding in 32-bit lanes: left shift, high multiply rounded down, right shift with ties up.

    It equals `single_rounding` for e <= -1; above, the left shift may wrap.

    >>> single_rounding_by_vector(2**30, 2**30, 0)
    array(-536870912, dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, HIGHEST_LEFT_SHIFT)
    right = np.maximum(-shift, 1)
    shifted = shift_left_wrap(values, shift + right).astype(np.int64)
    return divide_by_power_of_two_ties_up((shifted * positive_multiplier(multiplier)) >> 31, right)


@convention(
    formula=(
        "m = min(floor((q + 2^15) / 2^16), 2^15 - 1); wrap(floor((x * m + 2^(14 - e)) / 2^(15 - e))), q >= 0, e "
        "-31..7, x -2^47..2^47 - 1"
    ),
    users="TFLite's overload for int64, of the same name as that for int32",
    rows=("13", "21"),
)
def single_rounding_of_long(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale a 48-bit integer by a multiplier cut to 15 bits, with one rounding, ties up.

    >>> single_rounding_of_long(np.array([5, -65536]), 1717986918, -3)
    array([    0, -6553], dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, 7)
    product = long_operand(values) * reduced_multiplier(multiplier)
    return wrap_int32((product + (1 << (14 - shift))) >> (15 - shift))


@convention(
    formula="`vector_shift` of the saturated multiply by -e, any int32 e; a positive e moves the product to the left",
    users="the 16-column blocks of ACL 19.08, which supports e -31..0 only",
    rows=("8b",),
)
def shift_after_rounding_in_lanes(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale as the vector code does that shifts after the multiply, whatever the shift.

    >>> shift_after_rounding_in_lanes(1, 2**30, 1)
    array(2, dtype=int32)
    """
    return vector_shift(doubling_high_multiply(values, multiplier), _negated(left_shift))


@convention(
    formula="`tail_shift` of the saturated multiply by -e, any int32 e",
    users=(
        "the last columns of ACL 19.08 on AArch64, and by ArmNN where C leaves the count undefined, -e above 31, "
        "on x86 and AArch64"
    ),
    rows=("6c", "8b"),
)
def shift_after_rounding_in_tail(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale as the scalar code does whose right shift counts modulo 32, whatever the shift.

    >>> shift_after_rounding_in_tail(np.array([1, 1000]), 2**30, np.array([1, -32]))
    array([  0, 500], dtype=int32)
    """
    return tail_shift(doubling_high_multiply(values, multiplier), _negated(left_shift))


def scale_float_ties_even(values: Integers, scale: np.float32) -> Int32Array:
    """Scale in float32: convert, multiply, round to nearest, ties to even, each of the three rounding once.

    Formula: saturate(rint(float32(x) * scale)), scale 2^-32 up to but not 256; int32 saturates as FCVTNS does.
    Used by XNNPACK's fp32 requantization, before its zero point and bounds.

    >>> scale_float_ties_even(np.array([1, 3, -3, 2**24 + 1]), np.float32(0.5))
    array([      0,       2,      -2, 8388608], dtype=int32)
    """
    scaled = np.rint(int32_operand(values, "values").astype(np.float32) * scale_operand(scale))
    return as_int32(np.clip(scaled.astype(np.float64), INT32_MIN, INT32_MAX).astype(np.int64))


@convention(
    formula="floor(wrap(wrap(x + o) * m) / 2^s), s 0..31",
    users="ACL's QuantizeDownInt32ToUint8Scale, before the clamp to 0..255",
    rows=("4",),
)
def integer_scale_floor(values: Integers, offset: Integers, multiplier: Integers, right_shift: Integers) -> Int32Array:
    """Add an offset, multiply by an integer, shift right and round down; what overflows wraps.

    >>> integer_scale_floor(np.array([1, -1, 3]), 0, 1, 1)
    array([ 0, -1,  1], dtype=int32)
    """
    return shift_right_floor(_scaled_by_integer(values, offset, multiplier), right_shift)


@convention(
    formula="RDP(wrap(wrap(x + o) * m), s), s 0..31",
    users="gemmlowp's QuantizeDownInt32ToUint8Scale, before its clamp (its comment says ties up)",
    rows=("4",),
)
def integer_scale_ties_away(
    values: Integers, offset: Integers, multiplier: Integers, right_shift: Integers
) -> Int32Array:
    """Add an offset, multiply by an integer, shift right to nearest, ties away from zero; what overflows wraps.

    >>> integer_scale_ties_away(np.array([1, -1, 3]), 0, 1, 1)
    array([ 1, -1,  2], dtype=int32)
    """
    return divide_by_power_of_two_ties_away(_scaled_by_integer(values, offset, multiplier), right_shift)


def _scaled_by_integer(values: Integers, offset: Integers, multiplier: Integers) -> Int32Array:
    placed = wrap_int32(int32_operand(values, "values") + int32_operand(offset, "offset"))
    return wrap_int32(placed * int32_operand(multiplier, "multiplier"))


def _left_and_right(left_shift: Integers) -> tuple[Int64Array, Int64Array]:
    """The counts of the left shift before the multiply and of the right shift after it; one of them is 0."""
    shift = count_operand(left_shift, "left_shift", -31, 31)
    return np.maximum(shift, 0), np.maximum(-shift, 0)


def _negated(left_shift: Integers) -> Int32Array:
    return wrap_int32(-int32_operand(left_shift, "left_shift"))


def scale_operand(scale: np.float32) -> np.float32:
    """`scale`, known to be a float32 in 2^-32 up to but not 256; TypeError and ValueError say what is given."""
    if not isinstance(scale, np.float32):
        raise TypeError(f"scale is {scale!r}: give a numpy.float32, nothing is rounded silently")
    if not 2.0**-32 <= scale < 256:
        raise ValueError(f"scale is {scale}: it must lie in 2^-32 up to, not including, 256")
    return scale


def positive_multiplier(multiplier: Integers) -> Int64Array:
    """`multiplier` in int64, known to lie in 0..2^31 - 1; TypeError and ValueError name it."""
    wide = int32_operand(multiplier, "multiplier")
    if wide.size and wide.min() < 0:
        raise ValueError(f"multiplier goes down to {wide.min()}: a single rounding defines 0..{INT32_MAX}")
    return wide


def reduced_multiplier(multiplier: Integers) -> Int64Array:
    """A multiplier of 31 bits brought to 15, rounded, as the rules for wider accumulators take it."""
    return np.asarray(np.minimum((positive_multiplier(multiplier) + (1 << 15)) >> 16, (1 << 15) - 1))


def long_operand(values: Integers) -> Int64Array:
    """`values` in int64, known to lie in 48 bits; TypeError and ValueError say what is given."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"values has dtype {array.dtype}: give an integer array or an int, of at most 64 bits")
    limit = 1 << (LONG_BITS - 1)
    if array.size and (array.min() < -limit or array.max() >= limit):
        raise ValueError(f"values: {told_range(array)}, every number must lie in {LONG_BITS} bits")
    return array.astype(np.int64)
