"""Resize of ONNX as ONNX Runtime has it: where rows and columns lie in an image, the nearest, and between four numbers.

Source: docs/spec/neighbours.md section 43.  Images are [N, C, H, W].
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int64Array

Float32Array = npt.NDArray[np.float32]
_HALF: Final = np.float32(0.5)


class Stretch(NamedTuple):
    """How an axis becomes longer or shorter: so many places of so many, by a scale that need not be their quotient."""

    before: int
    behind: int
    scale: np.float32


def _by_centres(by: Stretch) -> Float32Array:
    return (np.arange(by.behind, dtype=np.float32) + _HALF) / by.scale - _HALF


def _by_corners(by: Stretch) -> Float32Array:
    places = np.arange(by.behind, dtype=np.float32)
    return places * np.float32(by.before - 1) / np.float32(max(by.behind - 1, 1))


COORDINATES: Final[Mapping[str, Callable[[Stretch], Float32Array]]] = {
    "half_pixel": _by_centres,
    "pytorch_half_pixel": lambda by: _by_centres(by) if by.behind > 1 else np.zeros(1, np.float32),
    "asymmetric": lambda by: np.arange(by.behind, dtype=np.float32) / by.scale,
    "align_corners": _by_corners,
}
"""Of each place behind where it lies before, in float32, by what ONNX calls them."""


def _to_nearest(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sign(places) * np.floor(np.abs(places) + 0.5))


def _prefer_floor(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ties towards the floor, but of what is negative away from zero, which is held at the first place then."""
    return np.where(places == np.trunc(places) + 0.5, np.floor(places), _to_nearest(places))


NEAREST: Final[Mapping[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[Any]]]] = {
    "round_prefer_floor": _prefer_floor,
    "round_prefer_ceil": _to_nearest,
    "floor": np.floor,
    "ceil": np.ceil,
}


def nearest_places(by: Stretch, coordinates: str, nearest: str) -> Int64Array:
    """Which of an axis is taken at each place.

    >>> nearest_places(Stretch(2, 4, np.float32(2)), "asymmetric", "round_prefer_floor").tolist()
    [0, 0, 1, 1]
    """
    if by.scale == 1:
        return np.arange(by.behind).clip(max=by.before - 1)
    places = NEAREST[nearest](COORDINATES[coordinates](by).astype(np.float64))
    return np.asarray(np.clip(places, 0, by.before - 1).astype(np.int64))


class _Between(NamedTuple):
    """Two places that one lies between, and how near it is to each: the other's distance."""

    lower: Int64Array
    upper: Int64Array
    of_lower: Float32Array
    of_upper: Float32Array


def _between(by: Stretch, coordinates: str) -> _Between:
    places = np.arange(by.behind, dtype=np.float32) if by.scale == 1 else COORDINATES[coordinates](by)
    places = np.clip(places, np.float32(0), np.float32(by.before - 1))
    lower = np.minimum(places.astype(np.int64), by.before - 1)
    upper = np.minimum(lower + 1, by.before - 1)
    to_lower, to_upper = (np.abs(places - one.astype(np.float32)) for one in (lower, upper))
    return _Between(lower, upper, np.where(lower == upper, _HALF, to_upper), np.where(lower == upper, _HALF, to_lower))


def between_four(images: Float32Array, rows: Stretch, columns: Stretch, coordinates: str) -> Float32Array:
    """Four numbers, each times the product of two weights, added in float32: along a row first, then the row below.

    At the last place both are that one, with a half each.

    >>> image = np.array([[[[0, 4], [8, 12]]]], np.float32)
    >>> between_four(image, *[Stretch(2, 3, np.float32(1.5))] * 2, "align_corners")[0, 0].tolist()
    [[0.0, 2.0, 4.0], [4.0, 6.0, 8.0], [8.0, 10.0, 12.0]]
    """
    down, along = _between(rows, coordinates), _between(columns, coordinates)
    total = None
    for row, of_row in ((down.lower, down.of_lower), (down.upper, down.of_upper)):
        for column, of_column in ((along.lower, along.of_lower), (along.upper, along.of_upper)):
            part = (of_column * of_row[:, np.newaxis]) * images[:, :, row][:, :, :, column]
            total = part if total is None else total + part
    assert total is not None
    return np.asarray(total, np.float32)
