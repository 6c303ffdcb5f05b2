"""Input sets of the integer add of 16 bits: the corners first, then seeded random ones; many sums are ties."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.golden.fixed_point import INT32_MAX
from sim.kernels.kernel import Inputs
from sim.kernels.quantized_add.golden_tflite import Scale
from sim.kernels.quantized_add.golden_tflite_s16 import (
    HIGHEST,
    LEFT_SHIFT,
    LOWEST,
    Int16Array,
    ParametersOf16,
    derived_of_16,
)
from sim.kernels.scaling_vectors import HALF, random_multiplier

NUMBERS: Final = (LOWEST, LOWEST + 1, -255, -3, -2, -1, 0, 1, 2, 3, 5, 254, HIGHEST - 1, HIGHEST)
SUM: Final = Scale(HALF, 1 - LEFT_SHIFT)
"""Of operands scaled by 1/2 each, their sum: ties are exact."""


def corners() -> Iterator[Inputs]:
    """Extreme scales and every shift on every pair of corner numbers; then every length up to two steps and a tail."""
    a, b = (part.astype(np.int16).ravel() for part in np.meshgrid(NUMBERS, NUMBERS, indexing="ij"))
    half, whole = Scale(HALF), Scale(INT32_MAX)
    chosen = [
        ParametersOf16(a=half, b=half, total=SUM),
        ParametersOf16(a=half, b=Scale(3 * HALF // 2), total=whole, left_shift=0),
        ParametersOf16(a=Scale(HALF, -1), b=Scale(HALF, -1), total=whole, left_shift=1),
        ParametersOf16(a=Scale(HALF, -1), b=Scale(HALF, -2), total=Scale(HALF, -1), left_shift=3),
        ParametersOf16(a=whole, b=whole, total=whole),
        ParametersOf16(a=whole, b=whole, total=Scale(INT32_MAX, -15), lower=-3, upper=5),
        ParametersOf16(a=Scale(0), b=Scale(1), total=whole, lower=7, upper=7),
    ]
    for right in range(32):
        moved, rest = Scale(HALF, -right), Scale(HALF, -max(LEFT_SHIFT - 1 - right, 0))
        for first, second, total in ((moved, moved, rest), (rest, moved, Scale(HALF, -1)), (rest, rest, moved)):
            chosen.append(ParametersOf16(a=first, b=second, total=total))
    for parameters in chosen:
        yield {"a": a, "b": b, "parameters": parameters}
    for length in range(26):
        yield {"a": np.resize(a, length), "b": np.resize(b, length), "parameters": chosen[length % 7]}


def sample(rng: np.random.Generator, longest: int = 64) -> Inputs:
    """A random row of at most so many pairs; half of the parameters as TFLite makes them of scales."""
    length = int(rng.integers(0, longest + 1))
    return {"a": numbers(rng, length), "b": numbers(rng, length), "parameters": _parameters(rng)}


def numbers(rng: np.random.Generator, length: int) -> Int16Array:
    """Any, small ones, and the extremes."""
    size = rng.choice([8, 300, HIGHEST])
    plain = rng.integers(-size - 1, size, length, np.int16, endpoint=True)
    made: Int16Array = np.where(rng.random(length) < 1 / 8, rng.choice(np.array(NUMBERS, np.int16), length), plain)
    return made


def _parameters(rng: np.random.Generator) -> ParametersOf16:
    if rng.random() < 1 / 2:
        output = float(rng.choice([0.015, 1.0, 3.0, rng.random() + 0.01]))
        a, b = (float((2 * rng.integers(0, 6) + 1) / 2 ** rng.integers(1, 4)) for _ in range(2))
        return derived_of_16(a * output, b * output, output)
    left_shift = LEFT_SHIFT if rng.random() < 1 / 2 else int(rng.integers(0, LEFT_SHIFT + 1))
    right = int(rng.integers(0, 4) if rng.random() < 9 / 10 else rng.integers(0, 32))
    rest = left_shift - 2 - right + int(rng.integers(-1, 4))
    scales = (
        Scale(random_multiplier(rng, negative=False), -min(max(by, 0), 31))
        for by in (right, right + int(rng.integers(0, 2)), rest)
    )
    first, second, total = scales
    lower, upper = sorted(rng.integers(LOWEST, HIGHEST, 2).tolist()) if rng.random() < 1 / 4 else (LOWEST, HIGHEST)
    return ParametersOf16(a=first, b=second, total=total, left_shift=left_shift, lower=lower, upper=upper)
