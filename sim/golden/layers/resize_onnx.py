"""Resize of ONNX as ONNX Runtime has it: where rows and columns lie in an image, the nearest, and between numbers.

Source: docs/spec/neighbours.md section 43.  Images are [N, C, H, W].
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int64Array

Float32Array = npt.NDArray[np.float32]
_HALF: Final = np.float32(0.5)
CROPPED: Final = "tf_crop_and_resize"
"""Coordinates by which a part of the image is cut out: what lies outside of the image then is a number of its own."""


class Stretch(NamedTuple):
    """How an axis becomes longer or shorter: so many places of so many, by a scale that need not be their quotient.

    `start` and `end`, in units of the axis, are what is cut out of it.
    """

    before: int
    behind: int
    scale: np.float32
    start: np.float32 = np.float32(0)
    end: np.float32 = np.float32(1)


def _by_centres(by: Stretch) -> Float32Array:
    return (np.arange(by.behind, dtype=np.float32) + _HALF) / by.scale - _HALF


def _by_corners(by: Stretch) -> Float32Array:
    places = np.arange(by.behind, dtype=np.float32)
    return places * np.float32(by.before - 1) / np.float32(max(by.behind - 1, 1))


def _by_part(by: Stretch) -> Float32Array:
    last = np.float32(by.before - 1)
    if by.behind == 1:
        return np.array([0.5 * float(by.start + by.end) * float(last)], np.float32)
    along = np.arange(by.behind, dtype=np.float32) * (by.end - by.start) * last
    return np.asarray(by.start * last + along / np.float32(by.behind - 1))


COORDINATES: Final[Mapping[str, Callable[[Stretch], Float32Array]]] = {
    "half_pixel": _by_centres,
    "pytorch_half_pixel": lambda by: _by_centres(by) if by.behind > 1 else np.zeros(1, np.float32),
    "asymmetric": lambda by: np.arange(by.behind, dtype=np.float32) / by.scale,
    "align_corners": _by_corners,
    CROPPED: _by_part,
}
"""Of each place behind where it lies before, in float32, by what ONNX calls them."""


def _places(by: Stretch, coordinates: str) -> Float32Array:
    return np.arange(by.behind, dtype=np.float32) if by.scale == 1 else COORDINATES[coordinates](by)


def lies_outside(rows: Stretch, columns: Stretch, coordinates: str) -> npt.NDArray[np.bool_]:
    """[H', W'] of the pixels that are none of a cut-out's image; of other coordinates there are none."""
    down, along = (_places(one, coordinates) for one in (rows, columns))
    if coordinates != CROPPED:
        return np.zeros((rows.behind, columns.behind), bool)
    above, left = ((at < 0) | (at > np.float32(by.before - 1)) for at, by in ((down, rows), (along, columns)))
    return np.asarray(above[:, np.newaxis] | left)


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
    places = np.clip(_places(by, coordinates), np.float32(0), np.float32(by.before - 1))
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


class _Around(NamedTuple):
    """Four places around one, [4, behind], what each counts, and the sum of that, in float32."""

    places: Int64Array
    weights: Float32Array
    total: Float32Array


def _around(by: Stretch, coordinates: str, a: np.float32, excludes: bool) -> _Around:
    at = _places(by, coordinates)
    first = np.floor(at)
    s, one, two = at - first, np.float32(1), np.float32(2)
    places = first.astype(np.int64) + np.arange(-1, 3)[:, np.newaxis]

    def far(x: Float32Array) -> Float32Array:
        return np.asarray(((a * x - 5 * a) * x + 8 * a) * x - 4 * a)

    def near(x: Float32Array) -> Float32Array:
        return np.asarray(((a + two) * x - (a + np.float32(3))) * x * x + one)

    weights, total = np.stack([far(s + one), near(s), near(one - s), far(two - s)]), np.ones(by.behind, np.float32)
    if excludes:
        weights = np.where((places >= 0) & (places < by.before), weights, np.float32(0))
        total = np.add.accumulate(weights, axis=0, dtype=np.float32)[-1]
    return _Around(places.clip(0, by.before - 1), weights, total)


def between_sixteen(
    images: Float32Array, rows: Stretch, columns: Stretch, coordinates: str, a: np.float32, excludes: bool
) -> Float32Array:
    """Cubic of a coefficient `a`: four numbers of each of four rows, then these, added in float32 one after the other.

    What lies outside of the image is the nearest pixel, or with `excludes` counts nothing.

    >>> image, by = np.array([[[[0, 4], [8, 12]]]], np.float32), Stretch(2, 3, np.float32(1.5))
    >>> between_sixteen(image, by, by, "align_corners", np.float32(-0.75), False)[0, 0].tolist()
    [[0.0, 2.0, 4.0], [4.0, 6.0, 8.0], [8.0, 10.0, 12.0]]
    """
    down, along = (_around(one, coordinates, a, excludes) for one in (rows, columns))
    of_rows = np.zeros((*images.shape[:3], columns.behind), np.float32)
    for places, weights in zip(along.places, along.weights / along.total, strict=True):
        of_rows = of_rows + weights * images[:, :, :, places]
    found = np.zeros((*images.shape[:2], rows.behind, columns.behind), np.float32)
    for places, weights in zip(down.places, down.weights, strict=True):
        found = found + of_rows[:, :, places] * weights[:, np.newaxis] / down.total[:, np.newaxis]
    return found
