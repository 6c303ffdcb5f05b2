"""Golden reference of depthwise_conv2d: windows of each channel of an image of bytes, scaled to bytes.

    products = sum over ky, kx of (input[n, row, place, j / m] - input zero) * (weights[ky, kx, j] - weights zero)
    with row = y * stride y + ky - top, place = x * stride x + kx - left; what lies outside of the image adds 0

Every channel of the image has m windows, m being TFLite's depth multiplier.  What is
behind the sums, modes and factors are those of fully_connected, of which columns are the channels of the output.
Source: docs/spec/layers.md section 5.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.golden.fixed_point import Int32Array, Int64Array
from sim.kernels.conv2d import golden as convolution
from sim.kernels.conv2d.golden import Geometry
from sim.kernels.fully_connected.golden import (
    MODES,
    AnyArray,
    Parameters,
    Steps,
    output_steps,
    require_bytes,
    without_zero,
)

BARE: Final = Geometry()
"""Every pixel, and nothing around the image."""


def output_shape(input: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry) -> tuple[int, ...]:
    """[batches, out height, out width, m * channels], of the shapes of images and weights."""
    return convolution.output_shape(input, (weights[2], *weights), geometry)


def geometry_faults(input: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry) -> Iterator[str]:
    """A sentence for each fault: ranks and channels, the window, strides, padding, whether a window fits."""
    if len(input) != 4 or len(weights) != 3 or weights[2] % max(input[3], 1) or bool(weights[2]) != bool(input[3]):
        what = "give [batches, height, width, channels] and [kernel height, kernel width, m * channels]"
        yield f"input has shape {input}, weights {weights}: {what}"
        return
    yield from convolution.geometry_faults(input, (weights[2], *weights[:2], input[3]), geometry)


def steps(
    input: AnyArray, weights: AnyArray, bias: Int32Array | None, parameters: Parameters,
    geometry: Geometry = BARE, mode: str = "s8_double_rounding",
) -> Steps:  # fmt: skip
    """Every intermediate value, keyed by step, in order of execution, in the shape of the output.

    `input` is [batches, height, width, channels] and `weights` [kernel height, kernel width, m * channels] of the
    mode's type, those of a channel's windows behind each other, `bias` int32[m * channels] or None.  Steps: products,
    those of `output_steps`.  `TypeError`: another dtype.
    `ValueError`: what `geometry_faults` and `parameter_faults` name, or an unknown mode.
    """
    require_bytes("input", input, 4, mode)
    require_bytes("weights", weights, 3, mode)
    for fault in geometry_faults(input.shape, weights.shape, geometry):
        raise ValueError(fault)
    sums = window_sums(input, weights, parameters, geometry)
    return {"products": sums} | output_steps(sums, bias, parameters, mode)


def window_sums(input: AnyArray, weights: AnyArray, parameters: Parameters, geometry: Geometry) -> Int64Array:
    """The sums of products, tap by tap; the shapes are known to fit."""
    around = [(0, 0), (geometry.top, geometry.bottom), (geometry.left, geometry.right), (0, 0)]
    image = np.pad(without_zero(input, parameters.input_zero), around)
    taps = without_zero(weights, parameters.weights_zero)
    if taps.shape[2] > image.shape[3]:
        image = np.repeat(image, taps.shape[2] // image.shape[3], axis=3)
    rows = (image.shape[1] - taps.shape[0]) // geometry.stride_y + 1
    columns = (image.shape[2] - taps.shape[1]) // geometry.stride_x + 1
    sums = np.zeros((image.shape[0], rows, columns, image.shape[3]), np.int64)
    for top, left in np.ndindex(*taps.shape[:2]):
        under = image[:, top :: geometry.stride_y, left :: geometry.stride_x][:, :rows, :columns]
        sums = sums + under * taps[top, left]
    return sums


def depthwise_conv2d(
    input: AnyArray, weights: AnyArray, bias: Int32Array | None, parameters: Parameters,
    geometry: Geometry = BARE, mode: str = "s8_double_rounding",
) -> AnyArray:  # fmt: skip
    """The bytes [batches, out height, out width, m * channels]: the last of `steps`, with its contract and errors.

    >>> from sim.kernels.requantize.golden import Channels
    >>> by = Parameters(factors=Channels((2**30,), (1,)), input_zero=1, minimum=-128, maximum=127)
    >>> image, box = np.arange(18, dtype=np.int8).reshape(1, 3, 3, 2), np.ones((3, 3, 2), np.int8)
    >>> depthwise_conv2d(image, box, None, by, Geometry(2, 2, 1, 1, 1, 1))[0, :, :, 1]
    array([[16, 24],
           [40, 48]], dtype=int8)
    """
    return steps(input, weights, bias, parameters, geometry, mode)["bounds"].astype(MODES[mode].dtype)
