"""Input sets of matrix_reduction: every number of columns up to two steps, extreme bytes, sums beyond 16 bits."""

from collections.abc import Iterator

import numpy as np

from sim.kernels.kernel import Inputs
from sim.kernels.matrix_reduction.golden import MODES

BEYOND_16_BITS = 300
"""Bytes of 255 whose sum has more than 16 bits; of -128 too."""


def _input_set(matrix: np.ndarray) -> Inputs:
    rows, columns = matrix.shape
    return {"matrix": matrix, "rows": rows, "columns": columns}


def corners(mode: str) -> Iterator[Inputs]:
    """Every number of columns up to 33 with 0 to 6 rows, then long sums of the lowest and the highest byte."""
    rule, rng = MODES[mode], np.random.default_rng(0)
    for columns in range(34):
        shape = (columns % 7, columns)
        yield _input_set(np.frombuffer(rng.bytes(shape[0] * shape[1]), rule.dtype).reshape(shape))
    limits = np.iinfo(rule.dtype)
    for byte in (limits.min, limits.max):
        for shape in ((2, BEYOND_16_BITS), (BEYOND_16_BITS, 17)):
            yield _input_set(np.full(shape, byte, rule.dtype))


def sample(rng: np.random.Generator, mode: str, lengths: tuple[int, int] = (1, 300), sums: int = 40) -> Inputs:
    """At most so many sums, of any bytes, of the highest or of the lowest ones: of 400 these need more than 16 bits."""
    rule = MODES[mode]
    length, count = int(rng.integers(*lengths)), int(rng.integers(1, sums, endpoint=True))
    limits = np.iinfo(rule.dtype)
    low, high = int(limits.min), int(limits.max)
    ranges = ((low, high), (high - (high - low) // 5, high), (low, low + (high - low) // 5))
    shape = (count, length) if rule.of_rows else (length, count)
    return _input_set(rng.integers(*ranges[rng.integers(3)], shape, rule.dtype, endpoint=True))


def long_sample(rng: np.random.Generator, mode: str) -> Inputs:
    """Up to 600 sums; of every fourth set those of high and of low bytes need more than 16 bits, of either sign."""
    return sample(rng, mode, (380, 460) if rng.random() < 1 / 4 else (1, 60), sums=600)
