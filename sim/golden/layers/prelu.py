"""PReLU of bytes and int16: x, or x times a slope of its own where that is negative, by two Q0.31 multipliers.

Source: docs/spec/neighbours.md section 38.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sim.golden.derivation import Derived, derive_tflite
from sim.golden.fixed_point import Int32Array, Int64Array
from sim.golden.scaling import HIGHEST_LEFT_SHIFT

Rescale = Callable[[Int64Array, int, int], Int32Array]


class PreluFactors(NamedTuple):
    """Of numbers from the zero point on, and of the products of those below with their slopes."""

    above: Derived
    below: Derived


def factors_of(above: float, below: float) -> PreluFactors:
    """The multipliers of input over output scale, and of that times the slopes' scale.

    `ValueError` for what is not finite, and from 2^30 on, where upstream shifts bits out of an int.

    >>> factors_of(0.5, 0.125).below
    Derived(multiplier=1073741824, left_shift=-2)
    """
    factors = PreluFactors(derive_tflite(above), derive_tflite(below))
    if max(one.left_shift for one in factors) > HIGHEST_LEFT_SHIFT:
        raise ValueError(f"the factors are {above:g} and {below:g}: below 2^{HIGHEST_LEFT_SHIFT} they are defined")
    return factors


def prelu(differences: Int64Array, slopes: Int64Array, factors: PreluFactors, rescale: Rescale) -> Int64Array:
    """The numbers before the output's zero point and the bounds (int64); both operands are without their zero points.

    >>> from sim.golden.scaling import double_rounding
    >>> prelu(np.array([5, -5, -6]), np.array([9, 2, -3]), factors_of(1.0, 0.25), double_rounding)
    array([ 5, -3,  5])
    """
    above = rescale(np.maximum(differences, 0), *factors.above).astype(np.int64)
    return above + rescale(np.minimum(differences, 0) * slopes, *factors.below)
