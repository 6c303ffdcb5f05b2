"""Input sets of quantize_down: the corners first, then seeded random ones.

Random accumulators almost never meet a tie, so for given parameters the accumulators around every tie, saturation
edge and sign change are computed backwards from the values wanted after the multiply and after the shift.  The other
modes get the parameters that only they define, besides those of the default, whose bounds are spread over the range of
the output.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sim.golden.bounds import bounds_20_05
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, wrap_int32
from sim.kernels.kernel import Inputs
from sim.kernels.quantize_down.golden import MODES, Parameters

LENGTHS = range(48)  # every tail length behind none, one and two steps of sixteen lanes
HALF = 1 << 30  # the multiplier 0.5
CORNER_PARAMETERS = (
    Parameters(HALF, 0),
    Parameters(HALF, 1),
    Parameters(HALF, 2, 5, 7, 7),
    Parameters(254601600, 1, 2),
    Parameters(254601601, 1, 2, 1, 173),
    Parameters(INT32_MIN, 0),
    Parameters(INT32_MIN, 31, 5),
    Parameters(-HALF, 3, -7),
    Parameters(INT32_MAX, 0, 128),
    Parameters(INT32_MAX, 31),
    Parameters(HALF, 0, INT32_MAX),
    Parameters(HALF, 0, INT32_MIN),
    Parameters(0, 4, 10),
    Parameters(1717986918, 5, 100, 10, 210),
    Parameters(1518500250, 8, 128, 255, 255),
    Parameters(1140850688, 3, 3, 0, 255),
)
MIDDLING = 1518500250  # no power of two, so that products fall on both sides of every edge
LEFT_SHIFT_PARAMETERS = tuple(
    Parameters(multiplier, -left, offset)
    for left in (1, 2, 7, 15, 30, 31)
    for multiplier, offset in ((HALF, 0), (MIDDLING, 128), (INT32_MIN, 5))
)
BOUNDS_20_05_PARAMETERS = tuple(
    Parameters(MIDDLING, shift, 100, minimum, maximum)
    for shift in (-3, 0, 4)
    for minimum, maximum in ((0, 0), (7, 7), (255, 255), (INT32_MIN, INT32_MAX), (INT32_MIN, 200), (-256, 255), (0, 9))
)
ANY_SHIFT_PARAMETERS = tuple(
    Parameters(multiplier, shift, offset)
    for shift in (-1, -4, -31, -32, -128, 32, 33, 63, 127, 128, 224, 225, 255, 256, 257, INT32_MIN, INT32_MAX)
    for multiplier, offset in ((HALF, 3), (INT32_MAX, 128))
)
FUSED_PARAMETERS = tuple(
    Parameters(MIDDLING, shift, offset, minimum, maximum)
    for shift in (0, 3)
    for offset in (-7, 128)
    for minimum, maximum in ((0, 0), (7, 7), (0, 300), (-5, 200), (200, 100), (INT32_MIN, INT32_MAX), (256, 511))
)
SIGNED_20_05_PARAMETERS = tuple(
    Parameters(MIDDLING, shift, -28, minimum, maximum)
    for shift in (-3, 0, 4)
    for minimum, maximum in ((0, 0), (7, 7), (127, 127), (INT32_MIN, INT32_MAX), (-128, 100), (-128, 127), (-20, 9))
)
INT16_20_05_PARAMETERS = tuple(
    Parameters(multiplier, shift, 0, minimum, maximum)
    for shift in (-30, -15, -1, 0, 4)
    for multiplier in (HALF, MIDDLING, INT32_MIN)
    for minimum, maximum in ((0, 0), (7, 7), (INT32_MIN, INT32_MAX), (-32768, 9000), (-20000, 32767))
)
BIASES = (0, 1, -1, 1000, INT32_MAX, INT32_MIN, -123456)


def corner_accumulators(parameters: Parameters, mode: str = "acl_19_08") -> Int32Array:
    """int32[n]: extremes, ties of the multiply and of the shift both ways, edges of the output and of the bounds.

    Where the shift is to the left, those around the wraps too; one beyond 31 bits counts modulo 32.
    """
    low, high = MODES[mode].range
    edges = (-1, 0, 1, parameters.minimum, parameters.maximum, high, high + 1, *((low - 1, low) if low else ()))
    after_shift = [edge - parameters.offset for edge in edges]
    shift = parameters.shift
    right, left = (shift & 31, 0) if shift >= 0 else (0, -shift & 31)
    half = (1 << right) >> 1
    after_multiply = [scaled << right for scaled in after_shift]
    after_multiply += [sign * odd * half for sign in (1, -1) for odd in (1, 3, 5)]
    before = list[int]()
    for wanted in after_multiply if parameters.multiplier else ():  # what the multiply takes to it and to the next tie
        exact, tie = (wanted << 31) // parameters.multiplier, ((2 * wanted + 1) << 30) // parameters.multiplier
        before += [middle + step for middle in (exact, tie) for step in (-1, 0, 1)]
    extremes = [INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, 0, 1, -1, 2, -2]
    if left:  # what the left shift takes near to them, and the same a wrap away
        wraps = (0, 1 << (31 - left), -1 << (32 - left))
        before = [(value >> left) + step + wrap for value in before for step in (0, 1) for wrap in wraps]
    values = dict.fromkeys(min(max(value, INT32_MIN), INT32_MAX) for value in (*extremes, *before))
    return np.array(list(values), np.int32)


def _row(values: Int32Array, length: int, first: int) -> Int32Array:
    return np.resize(np.roll(values, -first), length).astype(np.int32)


def _input_set(biased: Int32Array, bias: Int32Array | None, parameters: Parameters) -> Inputs:
    """The input set whose accumulators become `biased` when the bias is added."""
    accumulators = biased if bias is None else wrap_int32(biased.astype(np.int64) - bias)
    return {"accumulators": accumulators, "bias": bias, "parameters": parameters}


def corners(mode: str = "acl_19_08") -> Iterator[Inputs]:
    """Every corner accumulator of every corner parameter, then every length in turn; with and without bias."""
    choices = [_of_output(parameters, mode) for parameters in CORNER_PARAMETERS]
    choices += MODE_CORNERS.get(mode, ())
    for number, parameters in enumerate(choices):
        values = corner_accumulators(parameters, mode)
        bias = None if number % 2 else np.resize(np.array(BIASES, np.int32), values.shape)
        yield _input_set(values, bias, parameters)
    for length in LENGTHS:
        parameters = choices[length % len(choices)]
        row = _row(corner_accumulators(parameters, mode), length, first=5 * length)
        bias = _row(np.array(BIASES, np.int32), length, first=length) if length % 3 else None
        yield _input_set(row, bias, parameters)


def sample(rng: np.random.Generator, mode: str = "acl_19_08", longest: int = 64) -> Inputs:
    """A random row of at most so many accumulators: corners of its parameters, small ones, and any."""
    multiplier = int(rng.integers(HALF, INT32_MAX) if rng.random() < 0.7 else rng.integers(INT32_MIN, INT32_MAX))
    offset = int(rng.integers(-256, 512) if rng.random() < 0.9 else rng.integers(INT32_MIN, INT32_MAX))
    minimum, maximum = sorted(int(bound) for bound in rng.integers(0, 256, 2))
    bounds = (minimum, maximum) if rng.random() < 0.5 else (0, 0)
    shift = int(rng.integers(0, 12) if rng.random() < 0.7 else rng.integers(0, 32))
    parameters = _of_output(Parameters(multiplier, shift, offset, *bounds), mode)
    if mode in MODE_VARIATIONS and rng.random() < 0.8:
        parameters = MODE_VARIATIONS[mode](parameters, rng)
    length = int(rng.integers(0, longest + 1))
    pools = (
        rng.choice(corner_accumulators(parameters, mode), length),
        rng.integers(-6000, 6001, length),
        rng.integers(INT32_MIN, INT32_MAX, length, endpoint=True),
    )
    biased = np.choose(rng.integers(0, 3, length), pools).astype(np.int32)
    bias = None if rng.random() < 0.3 else rng.choice(np.array(BIASES, np.int32), length)
    return _input_set(biased, bias, parameters)


def _of_output(parameters: Parameters, mode: str) -> Parameters:
    """Parameters of a stage to uint8 for another output: bounds spread over its range, an offset where there is one."""
    rule = MODES[mode]
    low, high = rule.range
    each = (high - low + 1) // 256
    if (parameters.minimum, parameters.maximum) == (0, 0):  # not bounded, as 19.08 says it
        minimum, maximum = (0, 0) if rule.bounds is not bounds_20_05 or not low else (INT32_MIN, INT32_MAX)
    else:
        minimum = low + each * parameters.minimum
        maximum = low + each * (parameters.maximum + 1) - 1 if parameters.minimum != parameters.maximum else minimum
    return replace(parameters, offset=parameters.offset * rule.has_offset, minimum=minimum, maximum=maximum)


def _with_left_shift(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    return replace(parameters, shift=int(rng.integers(-30, 0))) if rng.random() < 0.6 else parameters


def _with_bounds_of_20_05(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    minimum, maximum = sorted(int(bound) for bound in rng.integers(0, 256, 2))
    pairs = ((INT32_MIN, INT32_MAX), (0, 0), (maximum, maximum), (INT32_MIN, maximum), (minimum, INT32_MAX))
    bounds = pairs[rng.integers(len(pairs))]
    return replace(_with_left_shift(parameters, rng), minimum=bounds[0], maximum=bounds[1])


def _with_signed_bounds_of_20_05(parameters: Parameters, rng: np.random.Generator, highest: int) -> Parameters:
    minimum, maximum = sorted(int(bound) for bound in rng.integers(-highest - 1, highest, 2, endpoint=True))
    pairs = ((INT32_MIN, INT32_MAX), (0, 0), (maximum, maximum), (minimum, maximum))
    bounds = pairs[rng.integers(len(pairs))]
    return replace(_with_left_shift(parameters, rng), minimum=bounds[0], maximum=bounds[1])


def _with_any_shift(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    widest = (31, 255, INT32_MAX)[rng.integers(3)]
    return replace(parameters, shift=int(rng.integers(-widest, widest, endpoint=True)))


def _with_fused_bounds(parameters: Parameters, rng: np.random.Generator) -> Parameters:
    minimum, maximum = (int(bound) for bound in rng.integers(-300, 800, 2))
    pairs = ((0, 0), (0, 255), (minimum, minimum), (minimum, maximum), (INT32_MIN, INT32_MAX))
    bounds = pairs[rng.integers(len(pairs))]
    return replace(parameters, minimum=bounds[0], maximum=bounds[1])


MODE_CORNERS = {
    "acl_20_02_left_shift": LEFT_SHIFT_PARAMETERS,
    "acl_20_05_bounds": LEFT_SHIFT_PARAMETERS + BOUNDS_20_05_PARAMETERS,
    "acl_19_08_lanes_and_tail": ANY_SHIFT_PARAMETERS,
    "acl_19_08_fused": FUSED_PARAMETERS,
    "acl_20_02_s8": LEFT_SHIFT_PARAMETERS,
    "acl_20_05_s8": LEFT_SHIFT_PARAMETERS + SIGNED_20_05_PARAMETERS,
    "acl_20_05_s16": INT16_20_05_PARAMETERS,
}
"""By mode, the parameters that everybody must try besides those of the default."""

MODE_VARIATIONS: dict[str, Callable[[Parameters, np.random.Generator], Parameters]] = {
    "acl_20_02_left_shift": _with_left_shift,
    "acl_20_05_bounds": _with_bounds_of_20_05,
    "acl_19_08_lanes_and_tail": _with_any_shift,
    "acl_19_08_fused": _with_fused_bounds,
    "acl_20_02_s8": _with_left_shift,
    "acl_20_05_s8": partial(_with_signed_bounds_of_20_05, highest=127),
    "acl_20_05_s16": partial(_with_signed_bounds_of_20_05, highest=32767),
}
"""By mode, how random parameters become some that it is about."""
