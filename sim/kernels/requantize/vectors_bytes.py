"""Input sets of requantize to bytes: corner parameters first, then seeded random ones.

The values are computed backwards from outputs at a tie, at the zero point and at the bounds.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, wrap_int32
from sim.kernels.kernel import Inputs
from sim.kernels.requantize.golden import FLOAT_SCALE, FloatScale, IntegerScale
from sim.kernels.scaling_vectors import EXTREMES

LENGTHS = range(27)  # every tail behind none to three steps of eight lanes
SCALES = (0.5, 0.25, 0.75, 1.0, 3.0, 2.0**-32, 255.99998, 0.1, 0.33333334, 2.0**-9, 1.5 * 2.0**-20, 0.0078125)
INTEGERS = (
    IntegerScale(0, 1, 1), IntegerScale(-2, 1, 2), IntegerScale(-1, 1, 2, 1, 172), IntegerScale(0, 2, 13, 10, 210),
    IntegerScale(200, 2, 13, 10, 210), IntegerScale(0, -3, 0), IntegerScale(INT32_MIN, 5, 31),
    IntegerScale(INT32_MAX, INT32_MIN, 31), IntegerScale(0, 0, 0), IntegerScale(-2, 255, 8, 7, 7),
)  # fmt: skip
BIASES = np.array([0, 1, -1, 1000, INT32_MAX, INT32_MIN, -123456], np.int32)


def separating_float_values(parameters: FloatScale) -> Int32Array:
    """int32[n]: around products that are ties, at 0 and at the bounds; integers that float32 rounds; extremes."""
    bounds = [bound - parameters.zero_point for bound in (parameters.minimum, parameters.maximum)]
    ties = [middle + step / 2 for middle in (0, *bounds) for step in range(-7, 8)]
    middles = [int(tie / float(parameters.scale)) for tie in ties]
    inexact = [sign * (odd << bit) + 1 for sign in (1, -1) for odd in (1, 3) for bit in range(23, 30)]
    return _within((middle + step for middle in middles for step in (-1, 0, 1)), inexact)


def separating_integer_values(parameters: IntegerScale) -> Int32Array:
    """int32[n]: around the sums that the shift ties, at 0 and at the bounds, and around where they wrap; extremes."""
    half = (1 << parameters.right_shift) >> 1
    outputs = (0, parameters.minimum, parameters.maximum, 255)
    wanted = [(output << parameters.right_shift) + step * half for output in outputs for step in range(-3, 4)]
    wanted += [2**31, -(2**31), 2**32]
    middles = [total // parameters.multiplier - parameters.offset for total in wanted if parameters.multiplier]
    return _within((middle + step for middle in middles for step in (-1, 0, 1)), [-parameters.offset])


def _within(values: Iterator[int], more: Sequence[int]) -> Int32Array:
    found = dict.fromkeys((*EXTREMES, *values, *more))
    return np.array([value for value in found if INT32_MIN <= value <= INT32_MAX], np.int32)


def float_corners(mode: str) -> Iterator[Inputs]:
    """Every corner scale, with zero points and bounds in turn; then every length."""
    limits = np.iinfo(FLOAT_SCALE[mode])
    bounds = [(limits.min, limits.max), (limits.min + 1, limits.max - 9), (limits.max - 1, limits.max)]
    zeros = [limits.min, limits.max, limits.max // 2]
    for number, scale in enumerate(SCALES):
        parameters = FloatScale(np.float32(scale), zeros[number % 3], *bounds[number // 3 % 3])
        yield {"values": separating_float_values(parameters), "parameters": parameters}
    for length in LENGTHS:
        parameters = FloatScale(np.float32(SCALES[length % len(SCALES)]), zeros[2], *bounds[0])
        yield {"values": np.resize(separating_float_values(parameters), length), "parameters": parameters}


def float_sample(rng: np.random.Generator, mode: str, longest: int = 160) -> Inputs:
    """At most so many values for a random scale, often a short binary fraction; most are ties, edges or next to one."""
    limits = np.iinfo(FLOAT_SCALE[mode])
    lower, upper = sorted(int(bound) for bound in rng.choice(np.arange(limits.min, limits.max + 1), 2, replace=False))
    bounds = (lower, upper) if rng.random() < 1 / 2 else (limits.min, limits.max)
    fraction = rng.integers(8, 16) / 8 if rng.random() < 2 / 3 else rng.uniform(1, 2)
    scale = np.float32(fraction * 2.0 ** int(rng.integers(-32, 8) if rng.random() < 1 / 4 else rng.integers(-12, 0)))
    parameters = FloatScale(min(scale, np.float32(255.99998)), int(rng.integers(limits.min, limits.max + 1)), *bounds)
    return {"values": _mixed(rng, separating_float_values(parameters), longest), "parameters": parameters}


def integer_corners() -> Iterator[Inputs]:
    """Every separating value of the corner parameters, with a bias and without; then every length."""
    for number, parameters in enumerate(INTEGERS):
        yield _with_bias(separating_integer_values(parameters), parameters, biased=number % 2 == 0)
    for length in LENGTHS:
        parameters = INTEGERS[length % len(INTEGERS)]
        yield _with_bias(np.resize(separating_integer_values(parameters), length), parameters, biased=length % 3 == 0)


def integer_sample(rng: np.random.Generator, longest: int = 160) -> Inputs:
    """At most so many values for random parameters, most of them ties, edges or their neighbours."""
    minimum, maximum = sorted(int(bound) for bound in rng.integers(0, 256, 2))
    shift = int(rng.integers(0, 14) if rng.random() < 3 / 4 else rng.integers(0, 32))
    multiplier = int(rng.integers(-3, 300) if rng.random() < 3 / 4 else rng.integers(INT32_MIN, INT32_MAX))
    offset = int(rng.integers(-200, 201) if rng.random() < 3 / 4 else rng.integers(INT32_MIN, INT32_MAX))
    bounds = (minimum, maximum) if rng.random() < 1 / 2 else (0, 0)
    parameters = IntegerScale(offset, multiplier, shift, *bounds)
    return _with_bias(
        _mixed(rng, separating_integer_values(parameters), longest), parameters, biased=rng.random() < 1 / 2
    )


def _with_bias(sums: Int32Array, parameters: IntegerScale, biased: bool) -> Inputs:
    """The input set whose values become `sums` when the bias is added."""
    bias = np.resize(BIASES, sums.shape).astype(np.int32) if biased else None
    values = sums if bias is None else wrap_int32(sums.astype(np.int64) - bias)
    return {"values": values.astype(np.int32), "bias": bias, "parameters": parameters}


def _mixed(rng: np.random.Generator, directed: Int32Array, longest: int) -> Int32Array:
    length = int(rng.integers(0, longest + 1))
    plain = rng.integers(INT32_MIN, INT32_MAX, length, endpoint=True)
    return np.where(rng.random(length) < 7 / 8, rng.choice(directed, length), plain).astype(np.int32)
