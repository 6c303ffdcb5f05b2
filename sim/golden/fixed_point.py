"""Fixed-point arithmetic on int32: one named function per rounding or overflow rule.

Everything is computed in int64 from the arithmetic definition, never from the way an instruction does it, so that
it can disagree with the lane model. Nothing here knows an instruction, a kernel or a machine.

The contract of every function:

* `values` (and each other operand) is an integer array of any shape or an int; operands broadcast as in numpy.
* Every number must lie in int32, except for `wrap_int32`, whose purpose is to bring wider numbers there.
* The result is a new int32 array of the broadcast shape.
* `TypeError`: an operand is not of an integer dtype (booleans and floats are not). `ValueError`: a number is outside
  the range stated. Nothing is cast silently.

Two operations differ only where the exact quotient lies half-way between two integers, a *tie*: "ties up" takes the
larger one, "ties away" the one farther from zero, "floor" is no rounding to nearest at all.
Sources: docs/spec/quantize_down.md; docs/spec/known_differences.md for who else uses which convention.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import convention

Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer[Any]] | int

INT32_MIN: Final = -(2**31)
"""The lowest int32."""
INT32_MAX: Final = 2**31 - 1
"""The highest int32."""
WORD_BITS: Final = 32
LARGEST_OF_16: Final = 15
"""By more than 2^15, the mask of the bits that a shift drops is no longer a number of 16 bits."""


def wrap_int32(values: Integers) -> Int32Array:
    """Reduce modulo 2^32 into int32 (two's complement), from any integer dtype.

    Formula: ((x + 2^31) mod 2^32) - 2^31. Used by the bias and offset additions of quantize_down.

    >>> wrap_int32(np.array([2**31, -(2**31) - 1]))
    array([-2147483648,  2147483647], dtype=int32)
    """
    return _integers(values, "values").astype(np.int32)  # numpy keeps the low bits


@convention(
    formula="min(floor((x * m + 2^30) / 2^31), 2^31 - 1); only INT32_MIN * INT32_MIN saturates",
    users="ACL, gemmlowp (scalar), ArmNN and CMSIS-NN's MVE form; its C form does not saturate",
    rows=("5", "19"),
)
def doubling_high_multiply(values: Integers, multiplier: Integers) -> Int32Array:
    """Multiply by a Q0.31 multiplier, rounded to nearest, ties up, saturated: what SQRDMULH is defined to give.

    >>> doubling_high_multiply(np.array([1, -1]), 2**30)
    array([1, 0], dtype=int32)
    >>> int(doubling_high_multiply(INT32_MIN, INT32_MIN))
    2147483647
    """
    product = int32_operand(values, "values") * int32_operand(multiplier, "multiplier")
    rounded = (product + (1 << (WORD_BITS - 2))) >> (WORD_BITS - 1)
    return as_int32(np.minimum(rounded, INT32_MAX))


@convention(
    formula="wrap_int32(floor((x * m + 2^30) / 2^31)); only INT32_MIN * INT32_MIN differs from the saturated form",
    users="CMSIS-NN's `..._no_sat` in C and gemmlowp's SSE4 form",
    rows=("5", "19"),
)
def doubling_high_multiply_unsaturated(values: Integers, multiplier: Integers) -> Int32Array:
    """Multiply by a Q0.31 multiplier, rounded to nearest, ties up, wrapped: no instruction gives this.

    >>> int(doubling_high_multiply_unsaturated(INT32_MIN, INT32_MIN))
    -2147483648
    """
    product = int32_operand(values, "values") * int32_operand(multiplier, "multiplier")
    return wrap_int32((product + (1 << (WORD_BITS - 2))) >> (WORD_BITS - 1))


@convention(
    formula="sign(x) * floor(|x| / 2^n + 1/2)",
    users="the code of ACL, gemmlowp and ArmNN",
    rows=("2", "3", "3b", "4"),
)
def divide_by_power_of_two_ties_away(values: Integers, exponent: Integers) -> Int32Array:
    """Divide by 2^exponent, exponent 0..31, to the nearest integer, ties away from zero: the RDP of the spec.

    >>> divide_by_power_of_two_ties_away(np.array([1, -1, -3]), 1)
    array([ 1, -1, -2], dtype=int32)
    """
    wide, count = int32_operand(values, "values"), count_operand(exponent, "exponent")
    return as_int32(np.sign(wide) * ((np.abs(wide) + _half(count)) >> count))


@convention(
    formula="floor(x / 2^n + 1/2)",
    users="TFLite's NEON 4-row helper, ruy, and the comment of gemmlowp's stage",
    rows=("2", "3", "4"),
)
def divide_by_power_of_two_ties_up(values: Integers, exponent: Integers) -> Int32Array:
    """Divide by 2^exponent, exponent 0..31, to the nearest integer, ties up: a plain rounding shift, SRSHL.

    >>> divide_by_power_of_two_ties_up(np.array([1, -1, -3]), 1)
    array([ 1,  0, -1], dtype=int32)
    """
    wide, count = int32_operand(values, "values"), count_operand(exponent, "exponent")
    return as_int32((wide + _half(count)) >> count)


def divided_of_16(
    values: Int16Array,
    count: int,
    divide: Callable[[Int32Array, int], Int32Array] = divide_by_power_of_two_ties_away,
) -> Int32Array:
    """Numbers of 16 bits by 2^count, count 0..31; by 2^16 and more gemmlowp's are -1 where negative, and 1 elsewhere.

    Its mask of the bits that a shift drops is of 16 bits too.  Source: docs/spec/neighbours.md section 24.

    >>> divided_of_16(np.array([-3, 0, 3], np.int16), 1), divided_of_16(np.array([-3, 0, 3], np.int16), 16)
    (array([-2,  0,  2], dtype=int32), array([-1,  1,  1], dtype=int32))
    """
    if count > LARGEST_OF_16:
        return np.where(values < 0, np.int32(-1), np.int32(1))
    return divide(values.astype(np.int32), count)


@convention(
    formula="floor(x / 2^n)",
    users="ACL's public page and by ACL's QuantizeDownInt32ToUint8Scale",
    rows=("3b", "4"),
)
def shift_right_floor(values: Integers, exponent: Integers) -> Int32Array:
    """Divide by 2^exponent, exponent 0..31, rounding down: the literal `>>`.

    >>> shift_right_floor(np.array([1, -1, -3]), 1)
    array([ 0, -1, -2], dtype=int32)
    """
    return as_int32(int32_operand(values, "values") >> count_operand(exponent, "exponent"))


@convention(
    formula="wrap_int32(x * 2^n)",
    users="ACL 20.02 and later, TFLite (double rounding) and CMSIS-NN, before the multiply",
    rows=("8",),
)
def shift_left_wrap(values: Integers, exponent: Integers) -> Int32Array:
    """Multiply by 2^exponent, exponent 0..31, and wrap.

    >>> shift_left_wrap(np.array([1, 2**30]), 1)
    array([          2, -2147483648], dtype=int32)
    """
    return wrap_int32(int32_operand(values, "values") << count_operand(exponent, "exponent"))


@convention(
    formula="min(max(x * 2^n, -2^31), 2^31 - 1)",
    users="gemmlowp's scalar code, before the multiply",
    rows=("8",),
)
def shift_left_saturate(values: Integers, exponent: Integers) -> Int32Array:
    """Multiply by 2^exponent, exponent 0..31, and limit to int32.

    >>> shift_left_saturate(np.array([1, 2**30, -(2**31)]), 1)
    array([          2,  2147483647, -2147483648], dtype=int32)
    """
    shifted = int32_operand(values, "values") << count_operand(exponent, "exponent")
    return as_int32(np.clip(shifted, INT32_MIN, INT32_MAX))


def clamp(values: Integers, lower: int, upper: int) -> Int32Array:
    """Limit to lower..upper, both included; `ValueError` when lower > upper.

    Formula: min(max(x, lower), upper). Used as the saturation to 0..255 and as the fused ReLU bounds.

    >>> clamp(np.array([-1, 7, 300]), 0, 255)
    array([  0,   7, 255], dtype=int32)
    """
    if lower > upper:
        raise ValueError(f"lower bound {lower} is above upper bound {upper}: give lower <= upper")
    at_least = np.maximum(int32_operand(values, "values"), int32_operand(lower, "lower"))
    return as_int32(np.minimum(at_least, int32_operand(upper, "upper")))


@convention(
    formula=(
        "y = saturate(x - 1) where x and c are both negative, else x; then y moved by the low byte of c taken as "
        "signed: left with wrap when >= 0, right with ties up when negative, with c = wrap_int32(-shift)"
    ),
    users="the 16-column blocks of quantize_down in ACL 19.08",
    rows=("8b",),
)
def vector_shift(values: Integers, shift: Integers) -> Int32Array:
    """Shift right as ACL 19.08's vector RDP does, defined for every int32 `shift`.

    It equals `divide_by_power_of_two_ties_away` for shift 0..31. Outside, the low byte decides: -31..-1 shift left,
    32..224 give 0, 225..255 shift left again, and 256 moves nothing, though a negative x has still lost its 1.

    >>> vector_shift(np.array([5, 5, 5, 5, -5]), np.array([1, -1, 32, 256, 256]))
    array([ 3, 10,  0,  5, -6], dtype=int32)
    """
    wide = int32_operand(values, "values")
    count = wrap_int32(-int32_operand(shift, "shift")).astype(np.int64)
    fix = np.where((wide < 0) & (count < 0), -1, 0)
    return _round_or_shift_left(np.maximum(wide + fix, INT32_MIN), ((count & 255) ^ 128) - 128)


@convention(
    formula="(x >> n) + (1 if (x AND mask) > floor(mask / 2) + (x < 0)), with n = shift mod 32 and mask = 2^n - 1",
    users="the last N mod 16 columns of quantize_down in ACL 19.08",
    rows=("6c", "8b"),
)
def tail_shift(values: Integers, shift: Integers) -> Int32Array:
    """Shift right as ACL 19.08's scalar RDP does in an AArch64 build at -O2, defined for every int32 `shift`.

    It equals `divide_by_power_of_two_ties_away` for shift 0..31; outside, C leaves the count undefined and the machine
    takes it modulo 32.

    >>> tail_shift(np.array([5, 5, 5, -5]), np.array([1, -1, 32, 1]))
    array([ 3,  0,  5, -3], dtype=int32)
    """
    wide, count = int32_operand(values, "values"), int32_operand(shift, "shift") & (WORD_BITS - 1)
    mask = (1 << count) - 1
    threshold = (mask >> 1) + (wide < 0)
    return as_int32((wide >> count) + ((wide & mask) > threshold))


def told_range(numbers: npt.NDArray[Any]) -> str:
    """What was given, in an error: "32 is given", "1..5 are given".

    >>> told_range(np.array([5, 1]))
    '1..5 are given'
    """
    low, high = numbers.min(), numbers.max()
    return f"{low} is given" if low == high else f"{low}..{high} are given"


def int32_operand(values: Integers, name: str) -> Int64Array:
    """`values` in int64, known to lie in int32; TypeError and ValueError name the operand.

    >>> int32_operand(np.array([-1, 7], np.int8), "values")
    array([-1,  7])
    """
    if type(values) is int and INT32_MIN <= values <= INT32_MAX:
        return np.asarray(values, np.int64)
    array = np.asarray(values)
    wide = _integers(array, name)
    if np.can_cast(array.dtype, np.int32) or not array.size:  # as most are: then no number need be looked at
        return wide
    if array.min() < INT32_MIN or array.max() > INT32_MAX:
        raise ValueError(f"{name}: {told_range(array)}, every number must lie in int32")
    return wide


def count_operand(exponent: Integers, name: str, low: int = 0, high: int = WORD_BITS - 1) -> Int64Array:
    """`exponent` in int64, known to lie in low..high, as a shift count; TypeError and ValueError name the operand.

    >>> count_operand(np.array([0, 31]), "shift")
    array([ 0, 31])
    """
    count = int32_operand(exponent, name)
    if count.size and (count.min() < low or count.max() > high):
        raise ValueError(f"{name}: {told_range(count)}, it must lie in {low}..{high}")
    return count


def as_int32(wide: Int64Array | Int32Array) -> Int32Array:
    """Store numbers already known to lie in int32.

    >>> as_int32(np.array([5, -5]))
    array([ 5, -5], dtype=int32)
    """
    return np.asarray(wide).astype(np.int32)


def _round_or_shift_left(wide: Int64Array, count: Int64Array) -> Int32Array:
    """Left by `count` with wrap, or right by -count with ties up; beyond 32 nothing changes."""
    left, right = np.clip(count, 0, WORD_BITS), np.clip(-count, 0, WORD_BITS)
    return wrap_int32(((wide << left) + _half(right)) >> right)


def _half(count: Int64Array) -> Int64Array:
    """Half of 2^count, and 0 when there is nothing to round."""
    return np.asarray((1 << count) >> 1)


def _integers(values: Integers, name: str) -> Int64Array:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: give an integer array or an int, of at most 64 bits")
    return array.astype(np.int64)
