"""Input sets of fused_output_stage: corners first, then seeded random ones.

What the stage takes to ties, to its bounds and to wraps is known of quantize_down and of requantize; the products are
computed backwards from there: the terms of offsets and bias are subtracted. The sums of every batch and row are others.
An input set holds `mm`, `column_sums`, `row_sums`, `bias` (int32 or None), `offsets` and `stage`.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, wrap_int32
from sim.kernels.fused_output_stage.golden import MODES
from sim.kernels.kernel import Inputs
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.offset_contribution.golden import folded, offset_contribution
from sim.kernels.offset_contribution.vectors import EXTREMES, OFFSETS, PAIRS, SHAPES, numbers
from sim.kernels.quantize_down.golden import Parameters as Stage
from sim.kernels.quantize_down.vectors import CORNER_PARAMETERS, FUSED_PARAMETERS, HALF, corner_accumulators
from sim.kernels.requantize.golden import IntegerScale
from sim.kernels.requantize.vectors_bytes import INTEGERS, separating_integer_values

Shape = tuple[int, ...]

FIXED_POINT, INTEGER_SCALE, ASSEMBLY = MODES
WRAPPING_OFFSETS: Final = tuple(
    Stage(HALF, shift, INT32_MIN + above, minimum, INT32_MAX)
    for shift in (1, 2)
    for above in (0, 1, 5)
    for minimum in (INT32_MIN + above, 0)
)
"""Additions of the offset that wrap, so that the fix-up is seen that the lower bound seems to cover."""


def stages(mode: str) -> tuple[Stage, ...]:
    """The corner parameters of the mode's stage."""
    if mode == INTEGER_SCALE:
        return tuple(Stage(by.multiplier, by.right_shift, by.offset, by.minimum, by.maximum) for by in INTEGERS)
    return CORNER_PARAMETERS + (FUSED_PARAMETERS + WRAPPING_OFFSETS if mode == ASSEMBLY else ())


def separating_sums(stage: Stage, mode: str) -> Int32Array:
    """int32[n]: what the stage takes to ties, edges of the output and of the bounds, and wraps, and its neighbours."""
    if mode == INTEGER_SCALE:
        scale = IntegerScale(stage.offset, stage.multiplier, stage.shift, stage.minimum, stage.maximum)
        return separating_integer_values(scale)
    return corner_accumulators(stage, "acl_19_08_fused" if mode == ASSEMBLY else "acl_19_08")


def corners(mode: str) -> Iterator[Inputs]:
    """Every corner stage, every shape with every pair of offsets, every tail; with and without bias and batches."""
    rng, choices = np.random.default_rng(0), stages(mode)
    for number, stage in enumerate(choices):
        columns = len(separating_sums(stage, mode))
        offsets = Offsets(number, *PAIRS[number % len(PAIRS)])
        yield _input_set(rng, (2, columns), False, offsets, stage, mode, directed=1.0)
    for number, ((shape, is_3d), pair) in enumerate(product(SHAPES, PAIRS)):
        offsets = Offsets(int(rng.choice(EXTREMES)), *pair)
        yield _input_set(rng, shape, is_3d, offsets, choices[number % len(choices)], mode)
    for columns in range(34):
        stage = choices[columns % len(choices)]
        yield _input_set(rng, (2, 2, columns), False, Offsets(columns, 3, -7), stage, mode)


def sample(rng: np.random.Generator, mode: str, longest: int = 40) -> Inputs:
    """A product of up to 27 rows, of at most so many columns, of any kind of shape, with a random stage."""
    rank = int(rng.choice((1, 2, 3, 3, 4)))
    outer = tuple(int(size) for size in rng.integers(1, 4, rank - 1))
    shape = (*outer, int(rng.integers(1, longest + 1 if rank < 4 else 20)))
    offsets = Offsets(int(rng.choice((1, 21, 923, *EXTREMES))), _offset(rng), _offset(rng))
    return _input_set(rng, shape, rank > 2 and rng.random() < 0.5, offsets, _stage(rng, mode), mode)


def _stage(rng: np.random.Generator, mode: str) -> Stage:
    choices = stages(mode)
    if rng.random() < 0.3:
        return choices[int(rng.integers(len(choices)))]
    minimum, maximum = sorted(int(bound) for bound in rng.integers(0, 256, 2))
    bounds = (minimum, maximum) if rng.random() < 0.5 else (0, 0)
    if mode == INTEGER_SCALE:
        multiplier = int(rng.integers(-3, 300) if rng.random() < 0.75 else rng.integers(INT32_MIN, INT32_MAX))
        return Stage(multiplier, int(rng.integers(0, 14)), int(rng.integers(-200, 201)), *bounds)
    if mode == ASSEMBLY and rng.random() < 0.5:
        minimum, maximum = (int(bound) for bound in rng.integers(-300, 800, 2))
        bounds = (minimum, minimum if rng.random() < 0.2 else maximum)
    multiplier = int(rng.integers(HALF, INT32_MAX) if rng.random() < 0.8 else rng.integers(INT32_MIN, INT32_MAX))
    return Stage(multiplier, int(rng.integers(0, 12)), int(rng.integers(-256, 512)), *bounds)


def _offset(rng: np.random.Generator) -> int:
    if rng.random() < 0.7:
        return int(rng.integers(-255, 256))
    return int(rng.choice(OFFSETS))


def _input_set(
    rng: np.random.Generator, shape: Shape, is_3d: bool, offsets: Offsets, stage: Stage, mode: str,
    directed: float = 0.8,
) -> Inputs:  # fmt: skip
    """Products that become separating sums, in this share of the lanes, when all terms are added."""
    *_, columns = shape
    outer, planes, rows, _ = folded(shape)
    depth = planes if is_3d and offsets.b_offset else 1  # only the row sums show it
    batches = outer * planes // max(depth, 1)
    column_batches = max(batches, 1) if rng.random() < 0.7 else 1
    column_sums = numbers(rng, (column_batches, columns)) if offsets.a_offset else None
    row_sums = numbers(rng, (batches, depth * rows)) if offsets.b_offset else None
    bias = numbers(rng, (columns,)) if rng.random() < 0.5 else None
    zeros = np.zeros(shape, np.int32)
    terms = offset_contribution(zeros, column_sums, row_sums, None, offsets, MODES[mode].offsets).astype(np.int64)
    sums = separating_sums(stage, mode)
    wanted = np.resize(sums, shape) if directed == 1 else rng.choice(sums, shape)
    backwards = wrap_int32(wanted.astype(np.int64) - terms - (0 if bias is None else bias))
    mm = np.where(rng.random(shape) < directed, backwards, numbers(rng, shape)).astype(np.int32)
    return {"mm": mm, "column_sums": column_sums, "row_sums": row_sums, "bias": bias, "offsets": offsets,
            "stage": stage}  # fmt: skip
