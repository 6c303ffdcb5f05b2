"""Input sets of offset_contribution: corners first, then seeded random ones, for the kernel of either mode.

Random sums wrap somewhere in nearly every lane or never, so the products are computed backwards: what is added to them
is subtracted from results around the ends of int32, and the sums of every batch and row are different ones.
An input set holds `mm` (int32, rows padded), `column_sums`, `row_sums`, `bias` (int32, padded likewise, or None),
`columns` (the length of a row without its padding) and `parameters`; for the mode that launches on a window also `box`,
the planes and rows of it.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, wrap_int32
from sim.kernels.kernel import Inputs
from sim.kernels.offset_contribution.golden import MODES, Box, Parameters, folded, in_boxes, steps

Shape = tuple[int, ...]

EXTREMES: Final = (INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, -1, 0, 1, 2**16, -(2**16), 2**30, -(2**30))
OFFSETS: Final = (0, 1, -1, -128, 255, 2**16, INT32_MAX, INT32_MIN)
PAIRS: Final = (
    (0, 0), (1, 0), (0, 1), (-2, 13), (5, -9), (INT32_MIN, INT32_MIN), (INT32_MAX, INT32_MIN), (INT32_MAX, INT32_MAX),
    (INT32_MIN, 0), (0, INT32_MIN), (2**16, 2**15), (-1, -1),
)  # fmt: skip
SHAPES: Final[tuple[tuple[Shape, bool], ...]] = (
    ((5,), False), ((3, 4), False), ((2, 1, 1), False), ((3, 2, 7), False), ((2, 3, 2, 6), False),
    ((2, 2, 2, 1, 3), False), ((3, 2, 5), True), ((2, 3, 2, 4), True), ((2, 2, 2, 3, 1), True),
    ((0, 3), False), ((2, 0), False), ((0, 2, 3), False),
)  # fmt: skip
"""Shapes of a product, [..., rows, columns]; true where the row sums make dimension 2 the depth of a 3-D one."""


def corners(mode: str) -> Iterator[Inputs]:
    """Every shape with every pair of offsets, then every length up to two steps; with and without bias and batches."""
    rng = np.random.default_rng(0)
    for (shape, is_3d), pair in product(SHAPES, PAIRS):
        yield _input_set(rng, shape, is_3d, Parameters(_one_of(rng, EXTREMES), *pair), mode)
    for columns in range(1, 2 * MODES[mode].columns_per_step + 2):
        yield _input_set(rng, (2, 2, columns), False, Parameters(columns, 3, -7), mode)


def sample(rng: np.random.Generator, mode: str, longest: int = 40) -> Inputs:
    """A product of up to 81 rows or at most so many columns, of any kind of shape, with offsets of any size."""
    rank = _one_of(rng, (1, 2, 3, 3, 4, 4, 5))
    outer = tuple(int(size) for size in rng.integers(1, 4, rank - 1))
    a_offset = 0 if rng.random() < 0.25 else _offset(rng)  # with 0, NEON goes wrong in batches of another kind
    parameters = Parameters(_one_of(rng, (1, 21, 923, 2**15, *EXTREMES)), a_offset, _offset(rng))
    columns = int(rng.integers(1, longest + 1 if rank < 4 else 9))
    return _input_set(rng, (*outer, columns), rank > 2 and rng.random() < 0.5, parameters, mode)


def _offset(rng: np.random.Generator) -> int:
    if rng.random() < 0.5:
        return int(rng.integers(-255, 256))
    return _one_of(rng, OFFSETS)


def _input_set(rng: np.random.Generator, shape: Shape, is_3d: bool, parameters: Parameters, mode: str) -> Inputs:
    *lead, columns = shape
    step, has_bias = MODES[mode].columns_per_step, MODES[mode].has_bias
    stride = -(-columns // step) * step + int(rng.choice((0, 0, 1, 5)))
    needless = not has_bias and rng.random() < 0.3  # sums whose offset is 0, which OpenCL cannot be given
    outer, planes, rows, _ = folded(shape)
    shows_depth = is_3d and (parameters.b_offset != 0 or needless)  # only the row sums do
    depth = max(planes, 1) if shows_depth else 1
    batches = outer * planes // depth
    column_batches = max(batches, 1) if rng.random() < 0.8 else 1
    column_sums = numbers(rng, (column_batches, stride)) if parameters.a_offset or needless else None
    row_sums = numbers(rng, (batches, depth * rows)) if parameters.b_offset or needless else None
    bias = numbers(rng, (stride,)) if has_bias and rng.random() < 0.25 else None
    padded = (*lead, stride)
    terms = steps(np.zeros(padded, np.int32), column_sums, row_sums, bias, parameters, mode)
    launched = {}
    if MODES[mode].sums_from_window_start:
        launched = {"box": Box(*_span(rng, outer * planes), *_span(rng, rows))}
        terms = in_boxes(terms, iter(launched.values()), mode)
    directed = rng.random(padded) < 0.6  # so that the sum is a number around the ends of int32, or 0
    sums = rng.choice(np.array((INT32_MIN, INT32_MAX, 0)), padded) + rng.integers(-2, 3, padded)
    mm = np.where(directed, wrap_int32(sums - terms["result"]), numbers(rng, padded)).astype(np.int32)
    return {"mm": mm, "column_sums": column_sums, "row_sums": row_sums, "bias": bias, "columns": columns,
            "parameters": parameters} | launched  # fmt: skip


def _span(rng: np.random.Generator, size: int) -> tuple[int, int]:
    """A first number and one behind the last, of `size` numbers; now and then none or all of them."""
    first, end = sorted(int(number) for number in rng.integers(0, size + 1, 2))
    return (0, size) if rng.random() < 0.2 else (first, end)


def numbers(rng: np.random.Generator, shape: Shape) -> Int32Array:
    """Extremes, sums as small as those of short rows of bytes, and any number."""
    pools = (
        rng.choice(np.array(EXTREMES), shape),
        rng.integers(0, 255 * 64, shape),
        rng.integers(INT32_MIN, INT32_MAX, shape, endpoint=True),
    )
    return np.choose(rng.integers(0, 3, shape), pools).astype(np.int32)


def _one_of(rng: np.random.Generator, numbers: tuple[int, ...]) -> int:
    return numbers[int(rng.integers(len(numbers)))]
