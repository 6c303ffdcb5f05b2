"""Exact sums of products over arrays of integers without their zero points, as layers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from sim.models.network import NotComputed, require_size

Int64Array = npt.NDArray[np.int64]
Pads = Sequence[tuple[int, int]]
"""Before and after, of each axis of an image."""


class WindowSteps(NamedTuple):
    """How a window goes over an image: each has a number, of the pads a pair, for rows and for places in a row."""

    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Pads


_EXACT_IN_FLOAT64: Final = 1 << 53
_AT_ONCE: Final = 4
"""Arrays of 64 bits that are there at a time, each of the size of a product."""
_WIDEST: Final = 1 << 14
"""No window of a layer is so wide; a damaged file's would take all memory."""


def matrix_product(a: Int64Array, b: Int64Array) -> Int64Array:
    """[..., M, K] by [..., K, N], by the processor's own arithmetic where all sums are exact in float64.

    Stacks of matrices are broadcast; `ValueError` where that, or K, does not fit.
    """
    require_size((_AT_ONCE, *np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    largest = int(np.abs(a).max(initial=0)) * int(np.abs(b).max(initial=0)) * a.shape[-1]
    if largest < _EXACT_IN_FLOAT64:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    product: Int64Array = a @ b
    return product


def convolved(patches: Int64Array, weights: Int64Array) -> Int64Array:
    """Patches [N, H', W', C, kh, kw] with weights [O, kh, kw, C]: [N, H', W', O]."""
    rows = patches.transpose(0, 1, 2, 4, 5, 3).reshape(-1, weights[0].size)
    return matrix_product(rows, weights.reshape(len(weights), -1).T).reshape(*patches.shape[:3], -1)


def convolved_by_channel(patches: Int64Array, weights: Int64Array) -> Int64Array:
    """Patches [N, H', W', C, kh, kw] with weights [kh, kw, C, m]: [N, H', W', C * m]."""
    sums: Int64Array = np.einsum("nhwcij,ijcm->nhwcm", patches, weights)
    return sums.reshape(*patches.shape[:3], -1)


def scattered(x: Int64Array, weights: Int64Array, lengths: Sequence[int], window: WindowSteps) -> Int64Array:
    """What a convolution with weights [O, kh, kw, C] would have taken from an image of those lengths: [N, H', W', O].

    Each number of x [N, H, W, C], times the weights, is added to the window that it stands for.  Dilations are 1;
    raises NotComputed.
    """
    (n, *of_x, channels), (out, *size, _) = x.shape, weights.shape
    if (
        weights.shape[3] != channels
        or min(window.strides) < 1
        or max(*size, *window.strides) > _WIDEST
        or min(size) < 1
    ):
        raise NotComputed("its weights do not go with its input, or its strides or windows are no sizes")
    reach = [(of - 1) * stride + width for of, stride, width in zip(of_x, window.strides, size, strict=True)]
    whole = [max(end, length + pad[0]) for end, length, pad in zip(reach, lengths, window.pads, strict=True)]
    require_size((_AT_ONCE, n, *whole, out))
    require_size((_AT_ONCE, n, *of_x, out, *size))
    products = matrix_product(x.reshape(-1, channels), weights.reshape(-1, channels).T).reshape(n, *of_x, out, *size)
    canvas = np.zeros((n, *whole, out), np.int64)
    (down, right), (rows, places) = window.strides, of_x
    for i, j in np.ndindex(*size):
        canvas[:, i : i + rows * down : down, j : j + places * right : right] += products[..., i, j]
    (top, _), (left, _) = window.pads
    return canvas[:, top : top + lengths[0], left : left + lengths[1]]


def patches_of(x: Int64Array, size: Sequence[int], window: WindowSteps) -> Int64Array:
    """[N, H', W', C, kh, kw] of an input [N, H, W, C], with zeros around it; raises NotComputed."""
    strides, dilations, pads = window
    if x.ndim != 4 or min(*strides, *dilations) < 1:
        raise NotComputed("its strides or dilations are below 1, or its input has not four axes")
    widths = [(of - 1) * dilation + 1 for of, dilation in zip(size, dilations, strict=True)]
    if not 1 <= min(widths) <= max(widths) <= _WIDEST:
        raise NotComputed(f"its window is {widths[0]:,} x {widths[1]:,}")
    if not all(0 <= width <= _WIDEST for pair in pads for width in pair):
        raise NotComputed("it pads by less than nothing, or too much")
    lengths = [length + sum(pair) for length, pair in zip(x.shape[1:3], pads, strict=True)]
    require_size((x.shape[0], *lengths, x.shape[3]))
    padded = np.pad(x, [(0, 0), *pads, (0, 0)])
    if any(length < width for length, width in zip(padded.shape[1:3], widths, strict=True)):
        raise NotComputed("its window is larger than its input")
    windows = sliding_window_view(padded, widths, axis=(1, 2))
    patches: Int64Array = windows[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]
    require_size(patches.shape)
    return patches


def same_pads(lengths: Sequence[int], widths: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """TensorFlow's SAME: as many windows as strides fit, what is odd behind."""
    pads = []
    for length, width, stride in zip(lengths, widths, strides, strict=True):
        total = max((-(-length // max(stride, 1)) - 1) * stride + width - length, 0)
        pads.append((total // 2, total - total // 2))
    return pads
