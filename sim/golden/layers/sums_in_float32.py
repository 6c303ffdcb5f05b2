"""Sums of many real numbers in float32, in the orders in which ONNX Runtime adds them on x86-64, and their means.

Source: docs/spec/neighbours.md sections 42 and 46.  Every sum is rounded to float32.
"""

from collections.abc import Sequence
from itertools import groupby
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]
FOUR: Final = 4
"""Numbers that are added by themselves before they go to the sum; and those of a vector of 128 bits."""


def by_fours(terms: Float32Array) -> Float32Array:
    """Of [K, ...] the sums along K: four by themselves, then to those before; at the end two, then one.

    >>> by_fours(np.array([1, 2**-24, 2**-24, 2**-24, 2**-23], np.float32)).item() - 1
    1.1920928955078125e-07
    """
    whole = len(terms) // FOUR * FOUR
    parts = np.zeros((1, *terms.shape[1:]), np.float32)
    for first, size in ((0, FOUR), (whole, 2), (whole + (len(terms) & 2), 1)):
        count = whole // FOUR if size == FOUR else int(bool(len(terms) & size))
        grouped = terms[first : first + count * size].reshape(count, size, *terms.shape[1:])
        added = np.add.accumulate(grouped, axis=1, dtype=np.float32)[:, -1]
        parts = np.concatenate([parts, added])
    return np.asarray(np.add.accumulate(parts, axis=0, dtype=np.float32)[-1])


def in_vectors(rows: Float32Array) -> Float32Array:
    """Of [N, K] that lie one behind the other in memory the sums of each row: vectors of four first, from the first
    that is aligned; every other vector to the one sum and to the other, then both, and their four numbers as
    (0 + 2) + (1 + 3).

    Then those before the first vector and behind the last, one by one.

    >>> in_vectors(np.array([[1, 2**-24, 2**-24, 2**-24]], np.float32)).item() - 1
    1.1920928955078125e-07
    """
    count, length = rows.shape
    first = np.minimum(-np.arange(count) * length % FOUR, length)
    sums = np.zeros(count, np.float32)
    for start in np.unique(first):
        own = first == start
        sums[own] = _from(rows[own], int(start))
    return sums


def _from(rows: Float32Array, start: int) -> Float32Array:
    """Where that is the first number that is aligned."""
    vectors = (rows.shape[1] - start) // FOUR
    end = start + vectors * FOUR
    if not vectors:
        return _last(rows)
    packed, pairs = rows[:, start:end].reshape(len(rows), vectors, FOUR), vectors // 2 * 2
    total = _last(packed[:, : max(pairs, 1) : 2])
    if pairs:
        total = total + _last(packed[:, 1:pairs:2])
        if vectors > pairs:
            total = total + packed[:, -1]
    single = (total[:, 0] + total[:, 2]) + (total[:, 1] + total[:, 3])
    return _last(np.concatenate([single[:, None], rows[:, :start], rows[:, end:]], axis=1))


def _last(numbers: Float32Array) -> Float32Array:
    """The sums along the second axis, one by one."""
    return np.asarray(np.add.accumulate(numbers, axis=1, dtype=np.float32)[:, -1])


def means_in_float32(x: Float32Array, axes: Sequence[int]) -> list[Float32Array]:
    """The mean along different axes, in the shape of the others, as ONNX Runtime may make it; x is not empty.

    The last axes are added `in_vectors`; those between `by_fours`, and of the first and the last together the sums of
    the last, where there are two numbers of what lies before or between, and as many as threads.  All else is added one
    by one, which is the second mean where it depends on the threads.

    >>> means_in_float32(np.array([[1, 2], [4, 8]], np.float32), [0])
    [array([2.5, 5. ], dtype=float32)]
    """
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape, count = [x.shape[axis] for axis in kept], prod(x.shape[axis] for axis in axes)
    runs = [
        (added, prod(x.shape[axis] for axis in of)) for added, of in groupby(range(x.ndim), lambda one: one in axes)
    ]
    merged = x.reshape([length for _, length in runs])
    one_by_one = _last(x.transpose([*kept, *sorted(axes)]).reshape(-1, count))
    match runs:
        case [(True, _)] | [(False, _), (True, _)]:
            sums = [in_vectors(merged.reshape(-1, count))]
        case [(False, several), (True, _), (False, _)] if several > 1:
            sums = [by_fours(merged.swapaxes(0, 1)), one_by_one]
        case [(True, first), (False, several), (True, last)] if several > 1:
            sums = [_last(in_vectors(merged.reshape(-1, last)).reshape(first, several).T), one_by_one]
        case _:
            sums = [one_by_one]
    return [np.asarray(one.reshape(shape) / np.float32(count)) for one in sums]
