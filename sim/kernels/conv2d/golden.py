"""Golden reference of conv2d: windows of an image of bytes times the weights of each column, scaled to bytes.

    products = sum over ky, kx, c of (input[n, row, place, c] - input zero) * (weights[j, ky, kx, c] - weights zero)
    with row = y * stride y + ky - top, place = x * stride x + kx - left; what lies outside of the image adds 0

What is behind the sums, modes and factors are those of fully_connected; columns are the output's channels.
Source: docs/spec/layers.md section 4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.golden.fixed_point import Int32Array, Int64Array
from sim.kernels.fully_connected.golden import (
    MODES,
    AnyArray,
    Parameters,
    Steps,
    output_steps,
    require_bytes,
    without_zero,
)


@dataclass(frozen=True)
class Geometry:
    """Strides of the window, and pixels of the input's zero point around the image."""

    stride_y: int = 1
    stride_x: int = 1
    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0


def output_shape(input: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry) -> tuple[int, ...]:
    """[batches, out height, out width, columns], of the shapes of images and weights."""
    height = (input[1] + geometry.top + geometry.bottom - weights[1]) // geometry.stride_y + 1
    width = (input[2] + geometry.left + geometry.right - weights[2]) // geometry.stride_x + 1
    return input[0], height, width, weights[0]


def geometry_faults(input: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry) -> Iterator[str]:
    """A sentence for each fault: ranks and channels, the window, strides, padding, whether a window fits."""
    if len(input) != 4 or len(weights) != 4 or input[3] != weights[3]:
        what = "give [batches, height, width, channels] and [columns, kernel height, kernel width, channels]"
        yield f"input has shape {input}, weights {weights}: {what}"
        return
    if min(weights[1:3]) < 1:
        yield f"the window is {weights[1]} x {weights[2]}: it must be 1 or more each way"
    if min(geometry.stride_y, geometry.stride_x) < 1:
        yield f"strides are {geometry.stride_y} and {geometry.stride_x}: they must be 1 or more"
        return
    if min(geometry.top, geometry.bottom, geometry.left, geometry.right) < 0:
        yield "a padding is negative: give 0 or more"
    if min(output_shape(input, weights, geometry)[1:3]) < 1:
        yield f"the window is {weights[1]} x {weights[2]}: the image with its padding is smaller"


def steps(
    input: AnyArray, weights: AnyArray, bias: Int32Array | None, parameters: Parameters,
    geometry: Geometry = Geometry(), mode: str = "s8_double_rounding",
) -> Steps:  # fmt: skip
    """Every intermediate value, keyed by step, in order of execution, in the shape of the output.

    `input` is [batches, height, width, channels] and `weights` [columns, kernel height, kernel width, channels] of the
    mode's type, `bias` int32[columns] or None.  Steps: products, those of `output_steps`.  `TypeError`: another dtype.
    `ValueError`: what `geometry_faults` and `parameter_faults` name, or an unknown mode.
    """
    require_bytes("input", input, 4, mode)
    require_bytes("weights", weights, 4, mode)
    for fault in geometry_faults(input.shape, weights.shape, geometry):
        raise ValueError(fault)
    sums = window_sums(input, weights, parameters, geometry)
    return {"products": sums} | output_steps(sums, bias, parameters, mode)


def window_sums(input: AnyArray, weights: AnyArray, parameters: Parameters, geometry: Geometry) -> Int64Array:
    """The sums of products, tap by tap; the shapes are known to fit."""
    around = [(0, 0), (geometry.top, geometry.bottom), (geometry.left, geometry.right), (0, 0)]
    image = np.pad(without_zero(input, parameters.input_zero), around)
    taps = without_zero(weights, parameters.weights_zero)
    sums = np.zeros(output_shape(input.shape, weights.shape, geometry), np.int64)
    for ky in range(weights.shape[1]):
        for kx in range(weights.shape[2]):
            rows, places = (image.shape[axis] - weights.shape[axis] + 1 for axis in (1, 2))
            part = image[:, ky : ky + rows : geometry.stride_y, kx : kx + places : geometry.stride_x]
            sums += part @ taps[:, ky, kx].T
    return sums


def conv2d(
    input: AnyArray, weights: AnyArray, bias: Int32Array | None, parameters: Parameters,
    geometry: Geometry = Geometry(), mode: str = "s8_double_rounding",
) -> AnyArray:  # fmt: skip
    """The bytes [batches, out height, out width, columns], the last of `steps`, whose contract and errors it shares.

    >>> from sim.kernels.requantize.golden import Channels
    >>> by = Parameters(factors=Channels((2**30,), (1,)), input_zero=1, minimum=-128, maximum=127)
    >>> image, box = np.arange(9, dtype=np.int8).reshape(1, 3, 3, 1), np.ones((1, 3, 3, 1), np.int8)
    >>> conv2d(image, box, None, by, Geometry(2, 2, 1, 1, 1, 1))[0, :, :, 0]
    array([[ 4,  8],
           [16, 20]], dtype=int8)
    """
    return steps(input, weights, bias, parameters, geometry, mode)["bounds"].astype(MODES[mode].dtype)
