"""Input sets of arithmetic_addition: scales whose sums fall on ties and next to them, then any.

A sum is a tie where the output's scale is twice an input's; where it is no power of two, products round to either side.
"""

from collections.abc import Iterator
from itertools import product
from typing import Final

import numpy as np

from sim.kernels.arithmetic_addition.golden import MODES
from sim.kernels.kernel import Inputs

RATIOS: Final = (
    (0.5, 0.5, 1.0),
    (0.25, 0.5, 0.5),
    (0.5, 1.0, 1.0),
    (0.05, 0.05, 0.1),
    (0.1, 0.3, 0.2),
    (1.5, 0.5, 1.0),
)
NAMES: Final = ("a", "b", "output")
LOWEST, HIGHEST = 2.0**-6, 2.0**6
"""Of the scales: with them no sum leaves int32 before it is narrowed."""


def _input_set(
    rng: np.random.Generator, mode: str, length: int, scales: tuple[float, ...], zeros: tuple[int, ...]
) -> Inputs:
    rule = MODES[mode]
    limits = np.iinfo(rule.dtype)
    some = (limits.min, limits.max, 0, 1, limits.max - 1)
    edges, arrays = rng.random((2, length)) < 0.2, {}
    for name, at_edge in zip("ab", edges, strict=True):
        numbers = rng.integers(limits.min, limits.max, length, rule.dtype, endpoint=True)
        arrays[name] = np.where(at_edge, rng.choice(some, length), numbers).astype(rule.dtype)
    given = {**arrays, "length": length}
    if rule.block:
        given |= {f"{name}_scale": float(np.float32(scale)) for name, scale in zip(NAMES, scales, strict=True)}
    if rule.block and rule.dtype.kind == "u":
        given |= {f"{name}_zero": zero for name, zero in zip(NAMES, zeros, strict=True)}
    return given


def corners(mode: str) -> Iterator[Inputs]:
    """Every length up to two steps and a tail, then each of the ratios with zero points 0, odd and extreme."""
    rng = np.random.default_rng(0)
    for length in range(49):
        yield _input_set(rng, mode, length, RATIOS[length % len(RATIOS)], (length, 3, 128 + length))
    for scales, zeros in product(RATIOS, ((0, 0, 0), (128, 127, 131), (255, 255, 255), (0, 255, 1))):
        yield _input_set(rng, mode, 43, scales, zeros)


def sample(rng: np.random.Generator, mode: str, longest: int = 64) -> Inputs:
    """One of the ratios, scaled, in most sets."""
    scales: tuple[float, ...] = RATIOS[rng.integers(len(RATIOS))]
    if rng.random() < 0.3:
        scales = tuple(float(scale) for scale in np.exp2(rng.uniform(-5.9, 5.9, 3)))
    elif rng.random() < 0.5:
        factor = float(np.exp2(rng.uniform(-1.5, 5)))
        scales = tuple(scale * factor for scale in scales)
    zeros = tuple(int(zero) for zero in rng.integers(0, 256, 3))
    return _input_set(rng, mode, int(rng.integers(0, longest + 1)), scales, zeros)
