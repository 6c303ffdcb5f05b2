"""Leaky ReLU of bytes and int16, x or alpha * x where that is negative: by two Q0.31 multipliers, and by two of 8 bits.

Source: docs/spec/neighbours.md section 28.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.derivation import Derived, derive_tflite
from sim.golden.fixed_point import Int32Array, Int64Array
from sim.golden.scaling import HIGHEST_LEFT_SHIFT

Rescale = Callable[[Int64Array, int, int], Int32Array]
SHORTEST: Final = 2.0**-8
LARGEST: Final = 2.0**7
_LOWEST: Final = -(LARGEST - 2.0**-8)
"""Of a factor, what an int16 holds after 8 bits behind the point, negated."""


class LeakyReluFactors(NamedTuple):
    """Of numbers from the zero point on, and of those below, with whether these change their sign."""

    above: Derived
    below: Derived
    is_turned: bool


def factors_of(above: float, below: float) -> LeakyReluFactors:
    """TFLite's multipliers of the input's scale over the output's, and of that times alpha, which may be negative.

    `ValueError` for what is not finite, and from 2^30 on, where upstream shifts bits out of an int.

    >>> factors_of(0.5, -0.125)
    LeakyReluFactors(above=Derived(multiplier=1073741824, left_shift=0), below=Derived(multiplier=1073741824, left_shift=-2), is_turned=True)
    """  # noqa: E501  a line of output
    factors = LeakyReluFactors(derive_tflite(above), derive_tflite(abs(below)), below < 0)
    if max(factors.above.left_shift, factors.below.left_shift) > HIGHEST_LEFT_SHIFT:
        raise ValueError(f"the factors are {above:g} and {below:g}: below 2^{HIGHEST_LEFT_SHIFT} they are defined")
    return factors


def leaky_relu(
    values: npt.NDArray[Any], zero: int, factors: LeakyReluFactors, rescale: Rescale, negates_first: bool = False
) -> Int64Array:
    """The numbers before the output's zero point and the bounds (int64), by a rule of `sim.golden.scaling`.

    Where alpha is negative the product with its size is negated, so that ties go the other way; or, `negates_first`,
    the number before it is multiplied, which is what a negative multiplier does.

    >>> from sim.golden.scaling import double_rounding
    >>> leaky_relu(np.array([-10, -3, 0, 3, 5]), 0, factors_of(0.5, -0.25), double_rounding)
    array([3, 1, 0, 2, 3])
    """
    difference = values.astype(np.int64) - zero
    before, behind = ((-1, 1) if negates_first else (1, -1)) if factors.is_turned else (1, 1)
    above = rescale(np.maximum(difference, 0), *factors.above).astype(np.int64)
    return above + behind * rescale(before * np.minimum(difference, 0), *factors.below)


def factors_of_8_bits(input_scale: np.float32, output_scale: np.float32, alpha: np.float32) -> tuple[int, int]:
    """XNNPACK's multipliers of numbers above the zero point and of all others, in units of -1/256.

    `ValueError` for what XNNPACK refuses: the first factor has to be 2^-8 up to 2^7, the second the same in size, but
    more than -2^7.

    >>> factors_of_8_bits(np.float32(0.5), np.float32(0.25), np.float32(0.1))
    (-512, -51)
    """
    with np.errstate(all="ignore"):  # what is not finite is refused
        above = input_scale / output_scale
        below = above * alpha
    if not (SHORTEST <= above <= LARGEST and _LOWEST <= below <= LARGEST and abs(below) >= SHORTEST):
        raise ValueError(f"the factors are {above:g} and {below:g}: XNNPACK takes those of size 2^-8 up to 2^7")
    first, second = (int(np.rint(np.float32(-256) * one)) for one in (above, below))
    return first, second


def leaky_relu_of_8_bits(values: npt.NDArray[Any], zero: int, factors: tuple[int, int]) -> Int64Array:
    """The numbers before the output's zero point and the bounds (int64): SQRDMULH of 16 bits of 128 * (zero - value).

    >>> leaky_relu_of_8_bits(np.array([-10, -3, 0, 3, 5]), 0, factors_of_8_bits(*map(np.float32, (0.5, 0.25, 0.1))))
    array([-2, -1,  0,  6, 10])
    """
    negated = (zero - values.astype(np.int64)) << 7
    above, below = factors
    product = np.minimum(negated, 0) * above + np.maximum(negated, 0) * below
    return np.asarray((product + (1 << 14)) >> 15)
