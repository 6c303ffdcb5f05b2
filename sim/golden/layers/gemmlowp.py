"""Logistic and tanh in fixed point as gemmlowp computes them: int32 in units of 2^-27 (below 16) to units of 2^-31.

And what they are made of, exp(-x) and 1 / (1 + x).

exp(-x) by a polynomial of degree 4 for what is less than a quarter, times a constant for each bit above; then three
steps of Newton and Raphson for 1 / ((1 + exp) / 2).  Products are SQRDMULH.  Numbers with n bits before the point are
in units of 2^-(31 - n).  Source: docs/spec/neighbours.md section 23.
"""

from typing import Final

import numpy as np

from sim.golden.fixed_point import (
    INT32_MAX,
    Int32Array,
    Int64Array,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
    shift_left_saturate,
    wrap_int32,
)

INTEGER_BITS: Final = 4
_EXP_OF_EIGHTH: Final = 1895147668  # exp(-1/8)
_THIRD: Final = 715827883
_FACTORS: Final = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2^k) for k = -2 .. 4."""
_48_OVER_17, _MINUS_32_OVER_17 = 1515870810, -1010580540  # two bits before the point
_ONE_OF_TWO_BITS: Final = 1 << 29


def logistic(values: Int32Array) -> Int32Array:
    """1 / (1 + exp(-x)); a half of 0.

    >>> np.round(logistic(np.array([0, 1 << 27], np.int32)) / 2**31, 6)
    array([0.5     , 0.731059])
    """
    positive = one_over_one_plus(exp_of_minus(np.abs(values), INTEGER_BITS))
    by_sign = np.where(values > 0, positive, _sum(INT32_MAX, -positive.astype(np.int64)))
    return np.where(values == 0, np.int32(1 << 30), by_sign).astype(np.int32)


def tanh(values: Int32Array) -> Int32Array:
    """(1 - exp(-2x)) / (1 + exp(-2x)).

    >>> np.round(tanh(np.array([0, -1 << 27], np.int32)) / 2**31, 6)
    array([ 0.      , -0.761594])
    """
    of_size = shift_left_saturate(
        _sum(_inverse_of_half(exp_of_minus(np.abs(values), INTEGER_BITS + 1)), -_ONE_OF_TWO_BITS), 2
    )
    return np.where(values == 0, 0, np.sign(values) * of_size.astype(np.int64)).astype(np.int32)


def exp_of_minus(sizes: Int32Array, integer_bits: int) -> Int32Array:
    """exp(-x), no bits before the point, of x >= 0 with so many.

    >>> np.round(exp_of_minus(np.array([0, 1 << 26], np.int32), 5) / 2**31, 5)
    array([1.     , 0.36788])
    """
    fraction = 31 - integer_bits
    quarter = 1 << (fraction - 2)
    low = _sum(-sizes.astype(np.int64) % quarter, -quarter)
    result = _exp_between_quarter_and_0(shift_left_saturate(low, integer_bits))
    remainder = _sum(low, sizes)
    for number, factor in enumerate(_FACTORS):
        bit = fraction - 2 + number
        if bit < 31:
            result = np.where(remainder & (1 << bit), doubling_high_multiply(result, factor), result)
    return np.where(sizes == 0, np.int32(INT32_MAX), result).astype(np.int32)


def _exp_between_quarter_and_0(values: Int32Array) -> Int32Array:
    """exp(x) of -1/4 <= x < 0, no bits before the point: Taylor's polynomial around -1/8."""
    x = _sum(values, 1 << 28)
    square = _product(x, x)
    fourth = divide_by_power_of_two_ties_away(_product(square, square), 2)
    third = _product(_sum(fourth, _product(square, x)), _THIRD)
    behind = divide_by_power_of_two_ties_away(_sum(third, square), 1)
    return _sum(_product(_sum(x, behind), _EXP_OF_EIGHTH), _EXP_OF_EIGHTH)


def one_over_one_plus(values: Int32Array) -> Int32Array:
    """1 / (1 + x) of 0 <= x <= 1, no bits before the point.

    >>> np.round(one_over_one_plus(np.array([0, 1 << 30], np.int32)) / 2**31, 6)
    array([1.      , 0.666667])
    """
    return shift_left_saturate(_inverse_of_half(values), 1)


def _inverse_of_half(values: Int32Array) -> Int32Array:
    """1 / ((1 + x) / 2) of 0 <= x <= 1, two bits before the point."""
    half = ((values.astype(np.int64) + INT32_MAX + 1) // 2).astype(np.int32)
    x = _sum(_product(half, _MINUS_32_OVER_17), _48_OVER_17)
    for _ in range(3):
        missing = _sum(_ONE_OF_TWO_BITS, -_product(half, x).astype(np.int64))
        x = _sum(x, shift_left_saturate(_product(x, missing), 2))
    return x


def _product(a: Int32Array, b: Int32Array | int) -> Int32Array:
    return doubling_high_multiply(a, b)


def _sum(a: Int32Array | Int64Array | int, b: Int32Array | Int64Array | int) -> Int32Array:
    return wrap_int32(np.asarray(a, np.int64) + b)
