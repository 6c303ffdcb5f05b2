"""Input sets of matrix_product: every number of steps up to five, extreme bytes, products beyond 16 bits."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.golden.gemm_lowp import Bytes
from sim.kernels.kernel import Inputs
from sim.kernels.matrix_product.golden import MODES, Mode

BLOCKS: Final = ((1, 1), (2, 1), (1, 2), (0, 2), (2, 0), (3, 2))
"""Panels of a and of b with none to five steps."""


def _input_set(a: Bytes, b: Bytes, steps: int) -> Inputs:
    return {"a": a, "b": b, "row_blocks": len(a), "column_blocks": len(b), "steps": steps}


def corners(mode: str) -> Iterator[Inputs]:
    """Up to five steps with blocks in turn; then blocks of the lowest and highest bytes, in each pair of them."""
    rule, rng = MODES[mode], np.random.default_rng(0)
    for steps, blocks in enumerate(BLOCKS):
        yield random_set(rng, rule, blocks, steps)
    limits = np.iinfo(rule.dtype)
    for one, other in ((limits.min, limits.min), (limits.min, limits.max), (limits.max, limits.max)):
        a = np.full((1, 3 * rule.rows * rule.depth), one, rule.dtype)
        yield _input_set(a, np.full((1, 3 * rule.columns * rule.depth), other, rule.dtype), 3)


def sample(rng: np.random.Generator, mode: str, most: int = 3, longest: int = 12) -> Inputs:
    """Up to so many panels each, of at most so many steps."""
    row_blocks, column_blocks = (int(count) for count in rng.integers(1, most, 2, endpoint=True))
    return random_set(rng, MODES[mode], (row_blocks, column_blocks), int(rng.integers(1, longest, endpoint=True)))


def random_set(rng: np.random.Generator, rule: Mode, blocks: tuple[int, int], steps: int) -> Inputs:
    """So many panels of a and of b, of so many steps."""
    a = random_bytes(rng, (blocks[0], rule.rows * rule.depth * steps), rule)
    return _input_set(a, random_bytes(rng, (blocks[1], rule.columns * rule.depth * steps), rule), steps)


def random_bytes(rng: np.random.Generator, shape: tuple[int, int], rule: Mode) -> Bytes:
    """Any bytes, of which an eighth are the lowest or the highest."""
    limits = np.iinfo(rule.dtype)
    plain = rng.integers(limits.min, limits.max, shape, rule.dtype, endpoint=True)
    extreme = rng.choice(np.array((limits.min, limits.max), rule.dtype), shape)
    made: Bytes = np.where(rng.random(shape) < 1 / 8, extreme, plain)
    return made
