"""A transposed convolution of real numbers as ONNX Runtime has it: products fused, in blocks, then window by window.

Of images of one pixel products are rounded, and added four by four.

Source: docs/spec/neighbours.md section 42.  Images are [N, C, H, W].
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.golden.floating_point import fused_multiply_add
from sim.golden.layers.sums_in_float32 import by_fours

Float32Array = npt.NDArray[np.float32]
BLOCK: Final = 128
"""Channels whose products are added by themselves, before the sum is added to those of the blocks before."""


def transposed_in_float32(
    x: Float32Array, weights: Float32Array, strides: Sequence[int], dilations: Sequence[int]
) -> Float32Array:
    """[N, C, H, W] by [C, M, kh, kw]: [N, M, (H - 1) * stride + reach, ...], nothing cut off, without a bias.

    >>> ones = np.ones((1, 1, 1, 2), np.float32)
    >>> transposed_in_float32(ones, np.array([[[[1, 2, 4]]]], np.float32), (1, 2), (1, 1)).tolist()
    [[[[1.0, 2.0, 5.0, 2.0, 4.0]]]]
    """
    (n, _, height, width), (_, out, *size) = x.shape, weights.shape
    windows = _sums_of_products(x, weights).reshape(n, out, *size, height, width)
    reach = [(of - 1) * dilation + 1 for of, dilation in zip(size, dilations, strict=True)]
    lengths = [(of - 1) * stride + more for of, stride, more in zip((height, width), strides, reach, strict=True)]
    canvas = np.zeros((n, out, *lengths), np.float32)
    (down, right), (rows, places) = strides, (height, width)
    for i, j in np.ndindex(*size):
        top, left = i * dilations[0], j * dilations[1]
        canvas[:, :, top : top + rows * down : down, left : left + places * right : right] += windows[:, :, i, j]
    return canvas


def _sums_of_products(x: Float32Array, weights: Float32Array) -> Float32Array:
    """[N, M * kh * kw, H * W]: over all channels, of one pixel by another kernel."""
    channels = len(weights)
    numbers, by = x.reshape(len(x), channels, 1, -1), weights.reshape(channels, 1, -1, 1)
    if numbers.shape[3] == 1:
        return by_fours(by * numbers.swapaxes(0, 1))
    total = np.zeros((len(x), by.shape[2], numbers.shape[3]), np.float32)
    for first in range(0, channels, BLOCK):
        block = np.zeros_like(total)
        for channel in range(first, min(first + BLOCK, channels)):
            a, b = np.broadcast_arrays(by[channel], numbers[:, channel])
            block = fused_multiply_add(a, b, block)
        total = total + block
    return total
