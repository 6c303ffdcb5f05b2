"""Input sets of the integer add: the corners first, then seeded random ones.

Factors are odd multiples of 1/2, 1/4 or 1/8, so that many sums are ties; where the left shift is small, the first two
roundings decide bytes too.  Multipliers below 0, which TFLite does not make, are among the corners only.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from sim.golden.addition import LEFT_SHIFT, AddParameters, Quantization, relu_if
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
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=255, b_zero=255, output_zero=255),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=0, b_zero=255, output_zero=128),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=255, b_zero=0, output_zero=7, lower=7),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=10, b_zero=10, output_zero=20, lower=255),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=10, b_zero=10, output_zero=20, upper=0),
    Parameters(a=Scale(HALF), b=Scale(HALF), total=SUM, a_zero=3, b_zero=200, output_zero=100, lower=99, upper=101),
    Parameters(
        a=Scale(HALF),
        b=Scale(3 * HALF // 2),
        total=Scale(INT32_MAX),
        a_zero=127,
        b_zero=128,
        output_zero=128,
        left_shift=0,
    ),
    Parameters(a=HALVES, b=HALVES, total=Scale(INT32_MAX), a_zero=128, b_zero=128, output_zero=128, left_shift=1),
    Parameters(a=HALVES, b=Scale(HALF, -2), total=HALVES, a_zero=128, b_zero=131, output_zero=128, left_shift=3),
    Parameters(a=Scale(INT32_MAX), b=Scale(INT32_MAX), total=Scale(INT32_MAX), a_zero=255, b_zero=0, output_zero=128),
    Parameters(
        a=Scale(INT32_MAX), b=Scale(INT32_MAX), total=Scale(INT32_MAX, -20), a_zero=128, b_zero=128, output_zero=128
    ),
    Parameters(
        a=Scale(INT32_MIN), b=Scale(INT32_MIN), total=Scale(INT32_MIN, -20), a_zero=128, b_zero=128, output_zero=128
    ),
    Parameters(a=Scale(INT32_MIN), b=Scale(INT32_MIN), total=Scale(INT32_MIN), a_zero=255, b_zero=255, output_zero=128),
    Parameters(a=Scale(-HALF), b=Scale(HALF), total=SUM, a_zero=0, b_zero=255, output_zero=128),
    Parameters(a=Scale(0), b=Scale(1), total=Scale(INT32_MAX), a_zero=0, b_zero=0, output_zero=128),
    Parameters(
        a=Scale(1518500250, -1), b=Scale(1140850688), total=Scale(1717986918, -18), a_zero=47, b_zero=30, output_zero=38
    ),
)


def corners() -> Iterator[Inputs]:
    """Corner parameters and every shift, on every pair of corner bytes; then every length behind 16 lanes."""
    a, b = pairs()
    chosen = [*CORNER_PARAMETERS]
    for right in range(32):  # of an operand, of both, of the sum; the rest keeps the sum among the bytes if it can
        moved, rest = Scale(HALF, -right), Scale(HALF, -max(LEFT_SHIFT - 1 - right, 0))
        for first, second, total in ((moved, moved, rest), (rest, moved, HALVES), (rest, rest, moved)):
            chosen.append(Parameters(a=first, b=second, total=total, a_zero=128, b_zero=100, output_zero=128))
    for parameters in chosen:
        yield {"a": a, "b": b, "parameters": parameters}
    for length in LENGTHS:
        parameters = CORNER_PARAMETERS[length % len(CORNER_PARAMETERS)]
        yield {"a": np.resize(a, length), "b": np.resize(b, length), "parameters": parameters}


def sample(rng: np.random.Generator, longest: int = 96) -> Inputs:
    """A random row of at most so many pairs of bytes; half of the parameters as TFLite makes them of scales."""
    length = int(rng.integers(0, longest + 1))
    if rng.random() < 0.5:
        output = rng.choice([0.015, 0.02, 0.1, 1.0, 3.0, rng.random() + 0.01])
        scales = (output * _factor(rng), output * _factor(rng), output)
        a, b, to = (Quantization(scale, _zero(rng)) for scale in scales)
        parameters = derived(AddParameters(a, b, to, relu_if(rng.random() < 0.2)))
    else:
        parameters = _of_integers(rng)
    return {"a": random_bytes(rng, length), "b": random_bytes(rng, length), "parameters": parameters}


def _factor(rng: np.random.Generator) -> float:
    return float((2 * rng.integers(0, 6) + 1) / 2 ** rng.integers(1, 4))


def _zero(rng: np.random.Generator) -> int:
    return int(rng.choice([0, 128, 255]) if rng.random() < 0.5 else rng.integers(0, 256))


def _of_integers(rng: np.random.Generator) -> Parameters:
    """Shifts such that sums of about 256 come out, seldom any; bounds in a quarter."""
    left_shift = LEFT_SHIFT if rng.random() < 0.5 else int(rng.integers(0, LEFT_SHIFT + 1))
    right = int(rng.integers(0, 4) if rng.random() < 0.9 else rng.integers(0, 32))
    rest = left_shift - 2 - right + int(rng.integers(-1, 4))
    a, b, total = _scale(rng, right), _scale(rng, right + int(rng.integers(0, 2))), _scale(rng, rest)
    lower, upper = sorted(rng.integers(0, 256, 2).tolist()) if rng.random() < 0.25 else (0, 255)
    return Parameters(
        a=a,
        b=b,
        total=total,
        a_zero=_zero(rng),
        b_zero=_zero(rng),
        output_zero=_zero(rng),
        left_shift=left_shift,
        lower=lower,
        upper=upper,
    )


def _scale(rng: np.random.Generator, right: int) -> Scale:
    return Scale(random_multiplier(rng, negative=False), -min(max(right, 0), 31))
