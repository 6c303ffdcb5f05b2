"""Logistic and tanh in fixed point as gemmlowp computes them, with numbers of 32 bits or of 16.

And what they are made of, exp(-x) and 1 / (1 + x).

Of 32 bits the input has four bits before the point (units of 2^-27, below 16), of 16 bits three (units of 2^-12, below
8); the output has none: it counts units of 2^-31, or of 2^-15.
exp(-x) by a polynomial of degree 4 for what is less than a quarter, times a constant for each bit above; then three
steps of Newton and Raphson for 1 / ((1 + exp) / 2).  Products are SQRDMULH.  Numbers with n bits before the point are
in units of 2^-(31 - n), or 2^-(15 - n).  Source: docs/spec/neighbours.md sections 23 and 37.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int32Array, Int64Array, divide_by_power_of_two_ties_away

_EXP_OF_EIGHTH: Final = 1895147668  # exp(-1/8)
_THIRD: Final = 715827883
_FACTORS: Final = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2^k) for k = -2 .. 4."""
_48_OVER_17, _MINUS_32_OVER_17 = 1515870810, -1010580540  # two bits before the point
Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Width:
    """Numbers of so many bits with a sign, and how many an input has before the point."""

    bits: int
    integer_bits: int

    @property
    def most(self) -> int:
        """The largest number: one, where no bits are before the point."""
        return (1 << (self.bits - 1)) - 1

    def constant(self, of_32_bits: int) -> int:
        """What stands for a constant that is given with 32 bits: to the nearest, ties away from zero."""
        return int(divide_by_power_of_two_ties_away(of_32_bits, 32 - self.bits))

    def product(self, a: Int64Array, b: Int64Array | int) -> Int64Array:
        rounded = (a * b + (1 << (self.bits - 2))) >> (self.bits - 1)
        return np.asarray(np.minimum(rounded, self.most))

    def sum(self, a: Int64Array | int, b: Int64Array | int) -> Int64Array:
        """Wrapped."""
        return (np.asarray(a, np.int64) + b).astype(f"int{self.bits}").astype(np.int64)

    def shifted(self, values: Int64Array, count: int) -> Int64Array:
        """To the left, saturated."""
        return np.asarray(np.clip(values << count, -self.most - 1, self.most))


OF_32_BITS: Final = Width(32, 4)
OF_16_BITS: Final = Width(16, 3)


def logistic(values: Integers, of: Width = OF_32_BITS) -> Int32Array:
    """1 / (1 + exp(-x)); a half of 0.

    >>> np.round(logistic(np.array([0, 1 << 27], np.int32)) / 2**31, 6)
    array([0.5     , 0.731059])
    >>> logistic(np.array([0, 4096, -32768]), OF_16_BITS)
    array([16384, 23952,    11], dtype=int32)
    """
    wide = values.astype(np.int64)
    above = _one_over_one_plus(_exp_of_minus(np.abs(wide), of.integer_bits, of), of)
    return np.where(wide == 0, 1 << (of.bits - 2), np.where(wide > 0, above, of.most - above)).astype(np.int32)


def tanh(values: Integers, of: Width = OF_32_BITS) -> Int32Array:
    """(1 - exp(-2x)) / (1 + exp(-2x)).

    >>> np.round(tanh(np.array([0, -1 << 27], np.int32)) / 2**31, 6)
    array([ 0.      , -0.761594])
    >>> tanh(np.array([0, 4096, -32768]), OF_16_BITS)
    array([     0,  24964, -32767], dtype=int32)
    """
    wide = values.astype(np.int64)
    inverse = _inverse_of_half(_exp_of_minus(np.abs(wide), of.integer_bits + 1, of), of)
    of_size = of.shifted(of.sum(inverse, -(1 << (of.bits - 3))), 2)
    return np.asarray(np.sign(wide) * of_size).astype(np.int32)


def exp_of_minus(sizes: Int32Array, integer_bits: int) -> Int32Array:
    """exp(-x), no bits before the point, of x >= 0 with so many, of 32 bits.

    >>> np.round(exp_of_minus(np.array([0, 1 << 26], np.int32), 5) / 2**31, 5)
    array([1.     , 0.36788])
    """
    return _exp_of_minus(sizes.astype(np.int64), integer_bits, OF_32_BITS).astype(np.int32)


def _exp_of_minus(sizes: Int64Array, integer_bits: int, of: Width) -> Int64Array:
    fraction = of.bits - 1 - integer_bits
    quarter = 1 << (fraction - 2)
    low = -sizes % quarter - quarter
    result = _exp_between_quarter_and_0(of.shifted(low, integer_bits), of)
    remainder = of.sum(low, sizes)
    for number, factor in enumerate(_FACTORS):
        bit = 1 << (fraction - 2 + number)
        result = np.where(remainder & bit, of.product(result, of.constant(factor)), result)
    return np.where(sizes == 0, of.most, result)


def _exp_between_quarter_and_0(values: Int64Array, of: Width) -> Int64Array:
    """exp(x) of -1/4 <= x < 0, no bits before the point: Taylor's polynomial around -1/8."""
    x = of.sum(values, 1 << (of.bits - 4))
    square = of.product(x, x)
    fourth = _over_power(of.product(square, square), 2)
    third = of.product(of.sum(fourth, of.product(square, x)), of.constant(_THIRD))
    behind = _over_power(of.sum(third, square), 1)
    of_eighth = of.constant(_EXP_OF_EIGHTH)
    return of.sum(of.product(of.sum(x, behind), of_eighth), of_eighth)


def _over_power(values: Int64Array, exponent: int) -> Int64Array:
    return divide_by_power_of_two_ties_away(values, exponent).astype(np.int64)


def one_over_one_plus(values: Int32Array) -> Int32Array:
    """1 / (1 + x) of 0 <= x <= 1, no bits before the point, of 32 bits.

    >>> np.round(one_over_one_plus(np.array([0, 1 << 30], np.int32)) / 2**31, 6)
    array([1.      , 0.666667])
    """
    return _one_over_one_plus(values.astype(np.int64), OF_32_BITS).astype(np.int32)


def _one_over_one_plus(values: Int64Array, of: Width) -> Int64Array:
    return of.shifted(_inverse_of_half(values, of), 1)


def _inverse_of_half(values: Int64Array, of: Width) -> Int64Array:
    """1 / ((1 + x) / 2) of 0 <= x <= 1, two bits before the point."""
    half, one = (values + of.most + 1) // 2, 1 << (of.bits - 3)
    x = of.sum(of.product(half, of.constant(_MINUS_32_OVER_17)), of.constant(_48_OVER_17))
    for _ in range(3):
        x = of.sum(x, of.shifted(of.product(x, of.sum(one, -of.product(half, x))), 2))
    return x
