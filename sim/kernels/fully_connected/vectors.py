"""Input sets of fully_connected: for each mode the corner factors first, then seeded random ones.

Sums of random bytes almost never meet a tie of their factor, so in one row the bias makes them what separates: sums
around the ties of the scaling that are not cut off by the bounds, around the bounds, and the edges of int32.
`directed_bias`, `separating_sums` and the random parameters are those of every layer.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, Int64Array, wrap_int32
from sim.kernels.fully_connected.golden import MODES, AnyArray, FloatChannels, Parameters, without_zero
from sim.kernels.kernel import Inputs
from sim.kernels.requantize.golden import Channels
from sim.kernels.scaling_vectors import EXTREMES, TIED_MULTIPLIERS, random_multiplier, separating_values

MULTIPLIERS: Final = (*TIED_MULTIPLIERS, 0, INT32_MAX, 1583594044, 1717986918)
SHIFTS: Final = (-31, -30, -9, -2, -1, 0, 1, 7, 30)
SCALES: Final = (0.5, 0.25, 0.75, 1.0, 3.0, 2.0**-32, 255.99998, 0.1, 2.0**-9, 1.5 * 2.0**-20, 0.0078125)
DEPTHS: Final = range(36)  # every tail behind none to two steps of sixteen bytes


def separating_sums(parameters: Parameters, column: int) -> Int32Array:
    """int32[n] for one column: around ties of its factor near 0 and near the bounds, in fixed point of any size."""
    factors = parameters.factors
    if isinstance(factors, Channels):
        place = column % len(factors.multipliers)
        multiplier, left_shift = factors.multipliers[place], factors.left_shifts[place]
        factor, found = multiplier * 2.0 ** (left_shift - 31), separating_values(multiplier, left_shift).tolist()
    else:
        factor = float(factors.scales[column % len(factors.scales)])
        found = [*EXTREMES, *(sign * (odd << bit) + 1 for sign in (1, -1) for odd in (1, 3) for bit in range(23, 30))]
    bounds = [bound - parameters.output_zero for bound in (parameters.minimum, parameters.maximum)]
    ties = [middle + step / 2 for middle in (0, *bounds) for step in range(-7, 8)]
    middles = [int(tie / factor) for tie in ties] if factor else []
    found += [middle + step for middle in middles for step in (-1, 0, 1)]
    return np.array([x for x in dict.fromkeys(found) if INT32_MIN <= x <= INT32_MAX], np.int32)


def directed_bias(products: Int64Array, rows: Int64Array, wanted: Int32Array) -> Int32Array:
    """int32[columns] that make of products [rows, columns] the wanted sums, in one row of each column."""
    chosen = products[rows, np.arange(products.shape[1])]
    return wrap_int32(wanted - chosen)


def separating_bias(rng: np.random.Generator, sums: Int64Array, parameters: Parameters, columns: int) -> Int32Array:
    """int32[columns] that make one of the sums [..., columns] of most columns one that separates."""
    of_columns = sums.reshape(sums.size // max(columns, 1), columns)
    directed = [rng.choice(separating_sums(parameters, j)) for j in range(columns)]
    plain = rng.integers(INT32_MIN, INT32_MAX, columns, endpoint=True)
    wanted = np.where(rng.random(columns) < 7 / 8, directed, plain).astype(np.int32)
    if not len(of_columns):
        return wanted
    return directed_bias(of_columns, rng.integers(0, len(of_columns), columns), wanted)


def corners(mode: str) -> Iterator[Inputs]:
    """Every separating sum of every corner factor; every depth, with columns in turn; the largest products."""
    rng = np.random.default_rng(0)
    for number, parameters in enumerate(corner_parameters(mode)):
        sums = separating_sums(parameters, 0)
        yield input_set(rng, 1, 1 + number % 3, parameters, mode, sums)
    for depth in DEPTHS:
        parameters = random_parameters(rng, mode, depth % 9)
        wanted = np.array([rng.choice(separating_sums(parameters, j)) for j in range(depth % 9)], np.int32)
        yield input_set(rng, depth % 4, depth, parameters, mode, wanted, has_bias=depth % 3 != 0)
    limits = np.iinfo(MODES[mode].dtype)
    for zero in (limits.min, limits.max):
        shape, parameters = (2, 41), random_parameters(rng, mode, 3, input_zero=zero)
        lowest, highest = (np.full(shape, byte, MODES[mode].dtype) for byte in (limits.min, limits.max))
        for a, b in ((lowest, lowest), (lowest, highest), (highest, highest)):
            yield {"input": a, "weights": np.resize(b, (3, 41)), "bias": None, "parameters": parameters}


def sample(rng: np.random.Generator, mode: str, deepest: int = 40, widest: int = 12) -> Inputs:
    """Up to 3 rows and so many columns of at most so many bytes; most columns have a row that separates."""
    columns, rows, depth = int(rng.integers(1, widest + 1)), int(rng.integers(1, 4)), int(rng.integers(0, deepest + 1))
    parameters = random_parameters(rng, mode, columns)
    plain = rng.integers(INT32_MIN, INT32_MAX, columns, endpoint=True)
    directed = [rng.choice(separating_sums(parameters, j)) for j in range(columns)]
    wanted = np.where(rng.random(columns) < 7 / 8, directed, plain).astype(np.int32)
    return input_set(rng, rows, depth, parameters, mode, wanted, has_bias=rng.random() < 7 / 8)


def typical(mode: str) -> Inputs:
    """Four rows of 256 bytes to 32 columns."""
    rng = np.random.default_rng(0)
    return input_set(rng, 4, 256, random_parameters(rng, mode, 32), mode, np.zeros(32, np.int32))


def input_set(
    rng: np.random.Generator, rows: int, depth: int, parameters: Parameters, mode: str, wanted: Int32Array,
    *, has_bias: bool = True,
) -> Inputs:  # fmt: skip
    """Random bytes, with the bias that makes one sum of each column the wanted one, or without any."""
    columns = len(wanted)
    input, weights = random_bytes(rng, (rows, depth), mode), random_bytes(rng, (columns, depth), mode)
    bias = None
    if has_bias:
        products = without_zero(input, parameters.input_zero) @ without_zero(weights, parameters.weights_zero).T
        bias = directed_bias(products, rng.integers(0, rows, columns), wanted) if rows else wanted
    return {"input": input, "weights": weights, "bias": bias, "parameters": parameters}


def corner_parameters(mode: str) -> Iterator[Parameters]:
    """Every corner factor, with zero points and bounds in turn."""
    limits = np.iinfo(MODES[mode].dtype)
    zeros = (limits.min, limits.max, limits.max // 2)
    bounds = ((limits.min, limits.max), (limits.min + 1, limits.max - 9), (limits.max // 2, limits.max // 2))
    all_factors: list[Channels | FloatChannels] = [FloatChannels((np.float32(scale),)) for scale in SCALES]
    if MODES[mode].rounding is not None:
        all_factors = [Channels((multiplier,), (shift,)) for multiplier in MULTIPLIERS for shift in SHIFTS]
    for number, factors in enumerate(all_factors):
        minimum, maximum = bounds[0 if number % 4 else number // 4 % 3]
        yield Parameters(
            factors=factors, input_zero=zeros[number % 3], output_zero=zeros[number // 3 % 3],
            weights_zero=zeros[number // 2 % 3] if limits.min == 0 else 0, minimum=minimum, maximum=maximum,
        )  # fmt: skip


def random_parameters(rng: np.random.Generator, mode: str, columns: int, **given: Any) -> Parameters:
    """Any zero points; bounds of the type or any; one factor or one for each column, most of them below 1."""
    limits = np.iinfo(MODES[mode].dtype)
    input_zero, weights_zero, output_zero = (int(n) for n in rng.integers(limits.min, limits.max + 1, 3))
    lower, upper = sorted(int(bound) for bound in rng.integers(limits.min, limits.max + 1, 2))
    minimum, maximum = (lower, upper) if rng.random() < 1 / 4 else (limits.min, limits.max)
    count = 1 if rng.random() < 1 / 4 else columns
    shifts = range(-31, 31) if rng.random() < 1 / 8 else range(-9, 2)
    factors: Channels | FloatChannels
    if MODES[mode].rounding is None:
        fractions = np.where(rng.random(count) < 2 / 3, rng.integers(8, 16, count) / 8, rng.uniform(1, 2, count))
        factors = FloatChannels(tuple(np.ldexp(fractions, rng.integers(-12, 3, count)).astype(np.float32)))
    else:
        multipliers = tuple(random_multiplier(rng, negative=False) for _ in range(count))
        factors = Channels(multipliers, tuple(int(shift) for shift in rng.choice(shifts, count)))
    made = {
        "input_zero": input_zero, "weights_zero": weights_zero if limits.min == 0 else 0, "output_zero": output_zero,
        "minimum": minimum, "maximum": maximum,
    }  # fmt: skip
    return Parameters(**{"factors": factors, **made, **given})


def random_bytes(rng: np.random.Generator, shape: tuple[int, ...], mode: str) -> AnyArray:
    """Any bytes, of which an eighth are the lowest or the highest."""
    dtype = MODES[mode].dtype
    limits = np.iinfo(dtype)
    plain = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    extreme = rng.choice(np.array((limits.min, limits.max), dtype), shape)
    return np.where(rng.random(shape) < 1 / 8, extreme, plain)
