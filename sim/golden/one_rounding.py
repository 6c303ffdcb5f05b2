"""Scale by a multiplier and a shift with one rounding that is none of TFLite's: ties away, down, toward zero, in lanes.

Operands and contract are those of `sim.golden.scaling`, where the rules of TFLite, ruy and CMSIS-NN for 32 bits are;
the multiplier may have either sign unless said.  Each operand may be an array, one number for each channel.
Source: docs/spec/requantization.md; docs/spec/known_differences.md rows 20, 21, 22 and 23.
"""

import numpy as np

from sim.golden.declaration import convention
from sim.golden.fixed_point import (
    Int32Array,
    Int64Array,
    Integers,
    as_int32,
    count_operand,
    divide_by_power_of_two_ties_up,
    int32_operand,
    shift_left_saturate,
    wrap_int32,
)
from sim.golden.scaling import HIGHEST_LEFT_SHIFT, long_operand, positive_multiplier, reduced_multiplier


@convention(
    formula="wrap(sign(x * q) * floor(|x * q| / 2^(31 - e) + 1/2)), e -31..30",
    users=(
        "TVM's requantize with rounding TONEAREST, QNNPACK's and XNNPACK's precise scaling (rndna), and NVDLA's output "
        "converter"
    ),
    rows=("20",),
)
def single_rounding_ties_away(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale the 64-bit product with one rounding, ties away from zero.

    >>> single_rounding_ties_away(np.array([1, -1, 3]), 2**30, 0)
    array([ 1, -1,  2], dtype=int32)
    """
    product, right = _product_and_shift(values, multiplier, left_shift)
    return wrap_int32(np.sign(product) * ((np.abs(product) + (1 << (right - 1))) >> right))


@convention(
    formula="wrap(floor(x * q / 2^(31 - e))), e -31..30",
    users="PULP-NN and DORY, whose shift d to the right is 31 - e and whose multiplier is an integer",
    rows=("20",),
)
def single_rounding_floor(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale the 64-bit product and round down: a literal `>>`.

    >>> single_rounding_floor(np.array([1, -1, 3]), 2**30, 0)
    array([ 0, -1,  1], dtype=int32)
    """
    product, right = _product_and_shift(values, multiplier, left_shift)
    return wrap_int32(product >> right)


@convention(
    formula="wrap(sign(x * q) * floor(|x * q| / 2^(31 - e))), e -31..30",
    users="Vela's rounding mode ToZero, which Ethos-U calls TRUNCATE, and by a division in C",
    rows=("20",),
)
def single_rounding_truncated(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """Scale the 64-bit product and drop the fraction: toward zero.

    >>> single_rounding_truncated(np.array([1, -1, -3]), 2**30, 0)
    array([ 0,  0, -1], dtype=int32)
    """
    product, right = _product_and_shift(values, multiplier, left_shift)
    return wrap_int32(np.sign(product) * (np.abs(product) >> right))


@convention(
    formula="r = max(-e, 1); floor(floor(saturate(x * 2^(e + r)) * q / 2^31) / 2^r + 1/2), q >= 0, e -31..30",
    users="XNNPACK's rndnu kernels for NEON",
    rows=("22",),
)
def single_rounding_by_vector_saturating_left(
    values: Integers, multiplier: Integers, left_shift: Integers
) -> Int32Array:
    """As `single_rounding_by_vector`, with a left shift that saturates where that one wraps.

    >>> single_rounding_by_vector_saturating_left(np.array([2**30, 2**31 - 1]), 2**30, 0)
    array([536870912, 536870912], dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, HIGHEST_LEFT_SHIFT)
    right = np.maximum(-shift, 1)
    shifted = shift_left_saturate(values, shift + right).astype(np.int64)
    return divide_by_power_of_two_ties_up((shifted * positive_multiplier(multiplier)) >> 31, right)


@convention(
    formula=(
        "m = min(floor((q + 2^15) / 2^16), 2^15 - 1); floor((wrap(floor(x * m / 2^(14 - e))) + 1) / 2), q >= 0, e "
        "-31..7, x -2^47..2^47 - 1; the sum wraps too, though C leaves that undefined"
    ),
    users="CMSIS-NN's requantize for 64-bit accumulators, of its layers with 16-bit outputs",
    rows=("21",),
)
def single_rounding_of_long_narrowed(values: Integers, multiplier: Integers, left_shift: Integers) -> Int32Array:
    """As `single_rounding_of_long`, after cutting twice the result to int32.

    >>> single_rounding_of_long_narrowed(np.array([5, 2**30]), 2**31 - 1, np.array([-3, 1]))
    array([     1, -65536], dtype=int32)
    """
    shift = count_operand(left_shift, "left_shift", -31, 7)
    doubled = wrap_int32((long_operand(values) * reduced_multiplier(multiplier)) >> (14 - shift)).astype(np.int64)
    return as_int32(wrap_int32(doubled + 1) >> 1)


@convention(
    formula="wrap(floor((x * m + o) / 2^s)), s 0..31",
    users="PULP-NN's and DORY's batch normalization, with 64-bit factor and offset",
    rows=("23",),
)
def scale_then_offset_floor(
    values: Integers, multiplier: Integers, offset: Integers, right_shift: Integers
) -> Int32Array:
    """Multiply by an integer, add an offset that is scaled already, shift right and round down, in 64 bits.

    >>> scale_then_offset_floor(np.array([3, -3, 2**30]), 3, 1, 1)
    array([         5,         -4, 1610612736], dtype=int32)
    """
    return wrap_int32(_scaled_and_offset(values, multiplier, offset) >> count_operand(right_shift, "right_shift"))


@convention(
    formula="floor(wrap(x * m + o) / 2^s), s 0..31",
    users="PULP-NN's and DORY's batch normalization, with 32-bit factor and offset; C leaves the overflow undefined",
    rows=("23",),
)
def scale_then_offset_floor_wrapped(
    values: Integers, multiplier: Integers, offset: Integers, right_shift: Integers
) -> Int32Array:
    """As `scale_then_offset_floor`, with a sum that wraps to 32 bits before the shift.

    >>> scale_then_offset_floor_wrapped(np.array([3, -3, 2**30]), 3, 1, 1)
    array([         5,         -4, -536870912], dtype=int32)
    """
    wrapped = wrap_int32(_scaled_and_offset(values, multiplier, offset))
    return as_int32(wrapped >> count_operand(right_shift, "right_shift"))


def _scaled_and_offset(values: Integers, multiplier: Integers, offset: Integers) -> Int64Array:
    product = int32_operand(values, "values") * int32_operand(multiplier, "multiplier")
    return np.asarray(product + int32_operand(offset, "offset"))


def _product_and_shift(values: Integers, multiplier: Integers, left_shift: Integers) -> tuple[Int64Array, Int64Array]:
    """x * q, and how far it is to go to the right: 1..62."""
    shift = count_operand(left_shift, "left_shift", -31, HIGHEST_LEFT_SHIFT)
    return np.asarray(int32_operand(values, "values") * int32_operand(multiplier, "multiplier")), 31 - shift
