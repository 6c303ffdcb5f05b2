"""The mean of bytes or int16 along axes, from one scale to another, as TFLite and XNNPACK compute it.

`sums` are of the numbers as they stand (int64, zero points in them), `count` how many each has; results are int64
with the output's zero point, before the bounds.  Source: docs/spec/neighbours.md section 30.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from sim.golden.derivation import derive_tflite
from sim.golden.fixed_point import Int32Array, Int64Array
from sim.golden.floating_point import off_by

Rescale = Callable[[Int64Array, int, int], Int32Array]
_MOST_BITS: Final = 32
"""Upstream's: by how many a multiplier is moved to the left before it is divided."""


class MeanScales(NamedTuple):
    """Scales and zero points of input and output, and how many units in the last place what multiplies sums is off."""

    input: np.float32
    input_zero: int
    output: np.float32
    output_zero: int
    units: int = 0


def mean_in_fixed_point(sums: Int64Array, count: int, by: MeanScales, rescale: Rescale) -> Int64Array:
    """TFLite's reference: a multiplier of the scales in float64, divided by the count in integers.

    >>> from sim.golden.scaling import double_rounding
    >>> mean_in_fixed_point(np.array([-9, 9]), 6, MeanScales(np.float32(1), 0, np.float32(1), 5), double_rounding)
    array([3, 7])
    """
    derived = derive_tflite(float(by.input) / float(by.output))
    moved = min(count.bit_length() - 1, _MOST_BITS, 31 + derived.left_shift)
    multiplier = (derived.multiplier << moved) // count + by.units
    scaled = rescale(sums - by.input_zero * count, multiplier, derived.left_shift - moved)
    return scaled.astype(np.int64) + by.output_zero


def mean_of_raw_sums(sums: Int64Array, count: int, by: MeanScales, rescale: Rescale) -> Int64Array:
    """TFLite's kernel of images: a multiplier in float32 for sums with zero points, which are taken off in the end.

    >>> from sim.golden.scaling import double_rounding
    >>> mean_of_raw_sums(np.array([-9, 9]), 6, MeanScales(np.float32(1), 0, np.float32(1), 5), double_rounding)
    array([3, 7])
    """
    single = np.float32
    zero = single(by.input_zero) * by.input / by.output
    bias = by.output_zero - int(zero + np.copysign(single(0.5), zero))
    derived = derive_tflite(by.input / (single(count) * by.output))
    return rescale(sums, derived.multiplier + by.units, derived.left_shift).astype(np.int64) + bias


def mean_by_reciprocal(sums: Int64Array, count: int, by: MeanScales) -> Int64Array:
    """XNNPACK: the sum times (input / output) * (1 / count), an offset of both zero points, to even: all in float32.

    >>> mean_by_reciprocal(np.array([-9, 9]), 6, MeanScales(np.float32(1), 0, np.float32(1), 5))
    array([4, 6])
    """
    scale = off_by(by.input / by.output * (np.float32(1) / np.float32(count)), by.units)
    offset = np.float32(by.output_zero) - np.float32(by.input_zero * count) * scale
    return np.asarray(np.rint(sums.astype(np.float32) * scale + offset), np.int64)


def mean_of_scaled_sums(sums: Int64Array, count: int, by: MeanScales, rescale: Rescale) -> Int64Array:
    """Older kernels of images: the sum in the output's scale, to the nearest, then over the count, ties away from zero.

    >>> from sim.golden.scaling import double_rounding
    >>> mean_of_scaled_sums(np.array([-9, 9]), 6, MeanScales(np.float32(1), 0, np.float32(1), 5), double_rounding)
    array([3, 7])
    """
    derived = derive_tflite(float(by.input) / float(by.output))
    multiplier = derived.multiplier + by.units
    scaled = rescale(sums - by.input_zero * count, multiplier, derived.left_shift).astype(np.int64)
    return np.asarray(np.sign(scaled) * ((np.abs(scaled) + count // 2) // count) + by.output_zero)


def mean_in_float32(sums: Int64Array, count: int, by: MeanScales, raised: float = 0) -> Int64Array:
    """Older kernels of TFLite: sum / count * scale + bias, to the nearest, ties away from zero, then the zero point.

    The oldest have a half in the bias already: `raised`.

    >>> mean_in_float32(np.array([-9, 9]), 6, MeanScales(np.float32(1), 0, np.float32(1), 5))
    array([3, 7])
    """
    scale = off_by(by.input / by.output, by.units)
    mean = sums.astype(np.float32) / np.float32(count)
    placed = (mean * scale + (np.float32(-by.input_zero) * scale + np.float32(raised))).astype(np.float64)
    return np.asarray(np.trunc(placed + np.copysign(0.5, placed)), np.int64) + by.output_zero


def mean_cut(sums: Int64Array, count: int) -> Int64Array:
    """Older kernels of TFLite, where input and output have one scale and zero point: the quotient cut towards zero.

    >>> mean_cut(np.array([-9, 9]), 6)
    array([-1,  1])
    """
    return np.asarray(np.sign(sums) * (np.abs(sums) // count))
