"""Bilinear interpolation of images of integers: TFLite's in integers and in float32, and XNNPACK's.

A row y of the output lies at y * H / H' of the input, with corners on corners at y * (H - 1) / (H' - 1), with centres
on centres at (y + 1/2) * H / H' - 1/2; columns likewise.  Images are [N, H, W, C] of any integer dtype; results are
int64 [N, H', W', C].  Source: docs/spec/neighbours.md section 36.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int64Array

_BITS: Final = 10
_XNNPACK_BITS: Final = 11
Image = npt.NDArray[Any]


class Resizing(NamedTuple):
    """How many rows and columns there will be, and what lies on what: corners on corners, centres on centres."""

    rows: int
    columns: int
    corners: bool = False
    centres: bool = False


def in_10_bits(image: Image, by: Resizing, ties_up: bool = False) -> Int64Array:
    """TFLite's of int8 and int16: places in units of 2^-10, exact sums, to the nearest, ties away from zero or up.

    `ValueError`: a step, rounded to 2^-10, leads out of the image, where upstream reads what lies behind it.

    >>> in_10_bits(np.array([[[[-3], [4]]]]), Resizing(1, 4))[0, 0, :, 0]
    array([-3,  1,  4,  4])
    """
    one = 1 << _BITS

    def places(before: int, behind: int) -> tuple[Int64Array, Int64Array, Int64Array]:
        less = int(by.corners and behind > 1)
        step = (one * (before - less) + (behind - less) // 2) // (behind - less)
        at = np.maximum(np.arange(behind) * step + (step // 2 - one // 2 if by.centres else 0), 0)
        lower = at >> _BITS
        _require_inside(lower, before)
        return lower, np.minimum(lower + 1, before - 1), at % one

    total = _weighted(image, places, by, one)
    half = 1 << (2 * _BITS - 1)
    if ties_up:
        return (total + half) >> (2 * _BITS)
    return np.asarray(np.sign(total) * ((np.abs(total) + half) >> (2 * _BITS)))


def in_11_bits(image: Image, by: Resizing) -> Int64Array:
    """XNNPACK's of bytes: places in float32, what lies behind the point in units of 2^-11, ties up.

    >>> in_11_bits(np.array([[[[-3], [4]]]]), Resizing(1, 4))[0, 0, :, 0]
    array([-3,  1,  4,  4])
    """
    one, single = 1 << _XNNPACK_BITS, np.float32

    def places(before: int, behind: int) -> tuple[Int64Array, Int64Array, Int64Array]:
        less = int(by.corners and behind > 1)
        scale = single(before - less) / single(behind - less)
        at = np.arange(behind, dtype=single) * scale
        if by.centres:
            at = np.maximum(at + (single(0.5) * scale - single(0.5)), single(0))
        at = np.minimum(at, single(before - 1))
        lower = at.astype(np.int64)
        part = np.rint((at - lower.astype(single)) * single(one)).astype(np.int64)
        return lower, np.minimum(lower + 1, before - 1), part

    total = _weighted(image, places, by, one)
    return (total + (1 << (2 * _XNNPACK_BITS - 1))) >> (2 * _XNNPACK_BITS)


def in_float32(image: Image, by: Resizing, weighs_first: bool = False) -> Int64Array:
    """TFLite's of uint8: products and sums in float32, a half added, the rest cut off.

    The weights of a pixel's row and column are multiplied with it one after the other, or, `weighs_first`, with each
    other before.  `ValueError`: as for `in_10_bits`, where float32 does not tell the last places from the end.

    >>> in_float32(np.array([[[[3], [4]]]]), Resizing(1, 4))[0, 0, :, 0]
    array([3, 4, 4, 4])
    """
    single = np.float32

    def places(before: int, behind: int) -> tuple[Int64Array, Int64Array, npt.NDArray[np.float32]]:
        less = int(by.corners and behind > 1)
        scale = single(before - less) / single(behind - less)
        at = np.arange(behind, dtype=single)
        at = (at + single(0.5)) * scale - single(0.5) if by.centres else at * scale
        lower = np.maximum(np.floor(at), 0).astype(np.int64)
        _require_inside(lower, before)
        return lower, np.minimum(np.ceil(at).astype(np.int64), before - 1), at - lower.astype(single)

    (top, bottom, down), (left, right, along) = places(image.shape[1], by.rows), places(image.shape[2], by.columns)
    down, along = down[:, None, None], along[:, None]
    pixels = image.astype(single)
    corners = [(top, left), (bottom, left), (top, right), (bottom, right)]
    weights = [(1 - down, 1 - along), (down, 1 - along), (1 - down, along), (down, along)]
    terms = [
        pixels[:, rows][:, :, columns] * (of_row * of_column)
        if weighs_first
        else pixels[:, rows][:, :, columns] * of_row * of_column
        for (rows, columns), (of_row, of_column) in zip(corners, weights, strict=True)
    ]
    total = terms[0]
    for number in (2, 1, 3) if weighs_first else (1, 2, 3):
        total = total + terms[number]
    return np.asarray(np.trunc(total + single(0.5)), np.int64)


def _weighted(
    image: Image, places: Callable[[int, int], tuple[Int64Array, Int64Array, Int64Array]], by: Resizing, one: int
) -> Int64Array:
    """Exact: two rows of each place, and then two columns, in units of one times one."""
    (top, bottom, down), (left, right, along) = places(image.shape[1], by.rows), places(image.shape[2], by.columns)
    wide, down, along = image.astype(np.int64), down[:, None, None], along[:, None]
    rows = wide[:, top] * (one - down) + wide[:, bottom] * down
    return np.asarray(rows[:, :, left] * (one - along) + rows[:, :, right] * along)


def _require_inside(lower: Int64Array, length: int) -> None:
    if lower.max() >= length:
        raise ValueError(f"a place of the output lies at {lower.max()} of {length} rows or columns: none is read there")


Way = Callable[[Image, Resizing], Int64Array]
IN_INTEGERS: Final[Mapping[str, Way]] = {
    "bilinear_in_10_bits": in_10_bits,
    "bilinear_in_10_bits_ties_up": partial(in_10_bits, ties_up=True),
}
IN_REALS: Final[Mapping[str, Way]] = {
    "bilinear_in_float32": in_float32,
    "bilinear_by_weights_in_float32": partial(in_float32, weighs_first=True),
}
BY_XNNPACK: Final[Mapping[str, Way]] = {"bilinear_in_11_bits": in_11_bits}
"""By the names that layers are told by."""
