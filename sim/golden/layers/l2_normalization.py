"""Numbers over the root of the sum of their squares, to units of 2^-7: TFLite's reciprocal root in fixed point.

Five steps of Newton and Raphson, x becomes 3/2 x - 1/2 a x^3, in units of 2^-28; products are SQRDMULH.
Source: docs/spec/neighbours.md section 39.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import (
    INT32_MAX,
    Int32Array,
    Int64Array,
    divide_by_power_of_two_ties_away,
    doubling_high_multiply,
    shift_left_saturate,
    wrap_int32,
)

_HALF_ROOT_OF_2: Final = 1518500250  # units of 2^-31
_ONE: Final = 1 << 28
_HALF_THREE: Final = 3 << 27
_STEPS: Final = 5
_LEFT: Final = 11
LARGEST_SUM: Final = 1 << 31


def reciprocal_root(sums: npt.NDArray[np.int64]) -> tuple[Int64Array, Int64Array]:
    """A multiplier in units of 2^-31, and a left shift, of 1 / root of each sum, 0 to 2^31 - 1; 0 counts as 1.

    >>> multiplier, left_shift = reciprocal_root(np.array([1, 4, 10_000]))
    >>> np.round(multiplier / 2.0**31 * 2.0**left_shift, 6)
    array([1.  , 0.5 , 0.01])
    """
    given = np.asarray(sums, np.int64)
    is_large = given >= 1 << 29
    given, shift = np.where(is_large, given >> 2, given), _LEFT + is_large.astype(np.int64)
    pairs = (31 - np.frexp(given.astype(np.float64))[1].astype(np.int64)) // 2 - 1
    given, shift = given << 2 * pairs, shift - pairs
    half = divide_by_power_of_two_ties_away(given >> 1, 1)
    x: Int32Array = np.full(given.shape, _ONE, np.int32)
    for _ in range(_STEPS):
        cube = shift_left_saturate(doubling_high_multiply(doubling_high_multiply(x, x), x), 6)
        difference = doubling_high_multiply(x, _HALF_THREE).astype(np.int64) - doubling_high_multiply(half, cube)
        x = shift_left_saturate(wrap_int32(difference), 3)
    root = doubling_high_multiply(x, _HALF_ROOT_OF_2).astype(np.int64) << np.maximum(-shift, 0)
    is_one = np.asarray(sums) <= 1
    return np.where(is_one, INT32_MAX, root), np.where(is_one, 0, -np.maximum(shift, 0))
