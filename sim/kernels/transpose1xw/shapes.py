"""Upstream's two helpers for the shape of the output, which disagree for elements wider than a byte.

Shapes are in numpy order. Source: docs/spec/transpose1xw.md section 6.
"""

from math import ceil

import numpy as np

from sim.kernels.operator import Shape
from sim.kernels.transpose1xw.golden import CHUNK_BYTES, chunk_width


def transpose1xw_shape(shape: Shape) -> Shape:
    """[..., ceil(w / 16), h * 16] of [..., h, w]: right for elements of one byte only, yet asked for no size.

    Upstream's compute_transpose1xW_shape, whose division is one of float32: exact below a width of 2^24.

    >>> transpose1xw_shape((2, 17))
    (2, 32)
    """
    return _stacked(shape, CHUNK_BYTES)


def transpose1xw_with_element_size_shape(shape: Shape, element_size: int, multiple: int = 1) -> Shape:
    """[..., ceil(w / W), h * W] of [..., h, w], W being `multiple` chunks of 16 bytes: the shape of the operator.

    Upstream's compute_transpose1xW_with_element_size_shape; more than one chunk is for OpenCL. Division as above.
    `ValueError`: elements of other than 1, 2, 4 or 8 bytes, or a multiple below 1.

    >>> transpose1xw_with_element_size_shape((2, 17), 4)
    (5, 8)
    """
    if multiple < 1:
        raise ValueError(f"multiple is {multiple}: give 1 or more chunks")
    return _stacked(shape, chunk_width(element_size) * multiple)


def _stacked(shape: Shape, width: int) -> Shape:
    *planes, height, columns = (1,) * (2 - len(shape)) + shape
    return (*planes, ceil(np.float32(columns) / np.float32(width)), height * width)
