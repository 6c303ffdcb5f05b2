"""Input sets of the integer add: the corners first, then seeded random ones.

Factors are odd multiples of 1/2, 1/4 or 1/8, so that many sums are ties; where the left shift is small, the first two
roundings decide bytes too.  Multipliers below 0, which TFLite does not make, are among the corners only.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.golden.addition import LEFT_SHIFT, AddParameters, Quantization
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.kernel import Inputs
from sim.kernels.quantized_add.golden_tflite import Parameters, Scale, derived
from sim.kernels.quantized_add.vectors import pairs, random_bytes
from sim.kernels.scaling_vectors import HALF, random_multiplier

SUM: Final = Scale(HALF, 1 - LEFT_SHIFT)
"""Of operands scaled by 1/2 each, their sum: ties are exact."""
HALVES: Final = Scale(HALF, -1)
LENGTHS: Final = range(48)

CORNER_PARAMETERS: Final = (
    Parameters(Scale(HALF), Scale(HALF), SUM),
    Parameters(Scale(HALF), Scale(HALF), SUM, 255, 255, 255),
    Parameters(Scale(HALF), Scale(HALF), SUM, 0, 255, 128),
    Parameters(Scale(HALF), Scale(HALF), SUM, 255, 0, 7, lower=7),
    Parameters(Scale(HALF), Scale(HALF), SUM, 10, 10, 20, lower=255),
    Parameters(Scale(HALF), Scale(HALF), SUM, 10, 10, 20, upper=0),
    Parameters(Scale(HALF), Scale(HALF), SUM, 3, 200, 100, lower=99, upper=101),
    Parameters(Scale(HALF), Scale(3 * HALF // 2), Scale(INT32_MAX), 127, 128, 128, left_shift=0),
    Parameters(HALVES, HALVES, Scale(INT32_MAX), 128, 128, 128, left_shift=1),
    Parameters(HALVES, Scale(HALF, -2), HALVES, 128, 131, 128, left_shift=3),
    Parameters(Scale(INT32_MAX), Scale(INT32_MAX), Scale(INT32_MAX), 255, 0, 128),
    Parameters(Scale(INT32_MAX), Scale(INT32_MAX), Scale(INT32_MAX, -20), 128, 128, 128),
    Parameters(Scale(INT32_MIN), Scale(INT32_MIN), Scale(INT32_MIN, -20), 128, 128, 128),
    Parameters(Scale(INT32_MIN), Scale(INT32_MIN), Scale(INT32_MIN), 255, 255, 128),
    Parameters(Scale(-HALF), Scale(HALF), SUM, 0, 255, 128),
    Parameters(Scale(0), Scale(1), Scale(INT32_MAX), 0, 0, 128),
    Parameters(Scale(1518500250, -1), Scale(1140850688), Scale(1717986918, -18), 47, 30, 38),
)


def corners() -> Iterator[Inputs]:
    """Corner parameters and every shift, on every pair of corner bytes; then every length behind 16 lanes."""
    a, b = pairs()
    for parameters in (*CORNER_PARAMETERS, *_every_shift()):
        yield {"a": a, "b": b, "parameters": parameters}
    for length in LENGTHS:
        parameters = CORNER_PARAMETERS[length % len(CORNER_PARAMETERS)]
        yield {"a": np.resize(a, length), "b": np.resize(b, length), "parameters": parameters}


def _every_shift() -> Iterator[Parameters]:
    """Each shift to the right of an operand and of the sum, the other keeping the sum among the bytes if it can."""
    for right in range(32):
        moved, rest = Scale(HALF, -right), Scale(HALF, -max(LEFT_SHIFT - 1 - right, 0))
        yield Parameters(moved, moved, rest, 128, 100, 128)
        yield Parameters(rest, moved, HALVES, 128, 100, 128)
        yield Parameters(rest, rest, moved, 128, 100, 128)


def sample(rng: np.random.Generator) -> Inputs:
    """A random row of up to 96 pairs of bytes; half of the parameters as TFLite makes them of scales."""
    length = int(rng.integers(0, 97))
    parameters = _of_scales(rng) if rng.random() < 0.5 else _of_integers(rng)
    return {"a": random_bytes(rng, length), "b": random_bytes(rng, length), "parameters": parameters}


def _of_scales(rng: np.random.Generator) -> Parameters:
    output = rng.choice([0.015, 0.02, 0.1, 1.0, 3.0, rng.random() + 0.01])
    scales = (output * _factor(rng), output * _factor(rng), output)
    a, b, to = (Quantization(scale, _zero(rng)) for scale in scales)
    return derived(AddParameters(a, b, to, relu=bool(rng.random() < 0.2)))


def _factor(rng: np.random.Generator) -> float:
    return float((2 * rng.integers(0, 6) + 1) / 2 ** rng.integers(1, 4))


def _zero(rng: np.random.Generator) -> int:
    return int(rng.choice([0, 128, 255]) if rng.random() < 0.5 else rng.integers(0, 256))


def _of_integers(rng: np.random.Generator) -> Parameters:
    """Shifts such that sums of about 256 come out, seldom any; bounds in a quarter."""
    left_shift = LEFT_SHIFT if rng.random() < 0.5 else int(rng.integers(0, LEFT_SHIFT + 1))
    right = int(rng.integers(0, 4) if rng.random() < 0.9 else rng.integers(0, 32))
    rest = left_shift - 2 - right + int(rng.integers(-1, 4))
    scales = (_scale(rng, right), _scale(rng, right + int(rng.integers(0, 2))), _scale(rng, rest))
    lower, upper = sorted(rng.integers(0, 256, 2).tolist()) if rng.random() < 0.25 else (0, 255)
    return Parameters(*scales, _zero(rng), _zero(rng), _zero(rng), left_shift, lower, upper)


def _scale(rng: np.random.Generator, right: int) -> Scale:
    return Scale(random_multiplier(rng, negative=False), -min(max(right, 0), 31))
