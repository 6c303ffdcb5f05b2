"""Input sets of quantized_add: the corners first, then seeded random ones.

With factors that are a few units in the last place off an odd multiple of 1/2, 1/4 or 1/8, a good part of all pairs of
bytes lies on a tie or next to one, where the backends part.  Other rows are made so that a value lost in an early
rounding decides a byte.  For a float32 operand the elements that bring the scaled sum to a tie are computed backwards.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from sim.golden.addition import (
    ACTIVATIONS,
    Activation,
    AddParameters,
    Folded,
    Quantization,
    fold,
    fold_contracted,
    relu_if,
)
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.kernels.kernel import Inputs
from sim.kernels.quantized_add.golden import Tensor, real

TINY, HUGE = float(np.float32(1e-45)), float(np.finfo(np.float32).max)
SPECIAL_SCALES: Final = (0.0, -0.0, -0.5, np.inf, -np.inf, np.nan, TINY, HUGE, 1e8, -3e9)
SPECIAL_REALS: Final = (0.0, -0.0, 0.5, -0.5, 1.5, 254.5, 255.5, np.inf, -np.inf, np.nan, TINY, HUGE, 2.0**31, -3e9)
SPECIAL_ZEROS: Final = (INT32_MIN, INT32_MAX, -1, 256, 2**24 + 1)
RARELY: Final = 0.08  # how often a scale is special, or brings sums outside int32: such rows tell little else
BYTES: Final = np.array([0, 1, 2, 3, 5, 127, 128, 252, 253, 254, 255], np.uint8)


def _parameters(scales: tuple[float, float, float], zeros: tuple[int, int, int] = (0, 0, 0)) -> AddParameters:
    a, b, output = (Quantization(scale, zero) for scale, zero in zip(scales, zeros, strict=True))
    return AddParameters(a, b, output)


CORNER_PARAMETERS: Final = (
    _parameters((0.01, 0.01, 0.02)),
    _parameters((0.49999997, 1.0, 1.0)),
    _parameters((1.0, 1.0, 1.0), (10, 10, 20)),
    _parameters((1e8, 1.0, 1.0)),
    _parameters((-1e8, 1.0, 1.0)),
    _parameters((0.06571889, 0.06253845, 0.10072092), (171, 195, 98)),
    _parameters((0.010, 0.020, 0.015), (47, 30, 38)),
    _parameters((0.25, 0.75, 0.5), (3, 7, 255)),
    _parameters((1.0, 1.0, 0.0), (1, 1, 0)),
    _parameters((np.nan, 1.0, 1.0)),
    _parameters((np.inf, 1.0, 1.0)),
    _parameters((1.0, 1.0, np.inf), (0, 0, 7)),
    _parameters((1.0, 1.0, 1.0), (INT32_MIN, INT32_MAX, -1)),
    _parameters((HUGE, -HUGE, 1.0), (0, 0, 1)),
    _parameters((1.0, 1.0, 1.0), (0, 0, INT32_MAX)),
    _parameters((TINY, TINY, TINY), (0, 3, 2**24 + 1)),
)
"""Those of docs/spec/known_differences.md rows 10, 10b, 10c, 10d, 10e and 10f, upstream's test, then scales and zero
points at the edges.
"""


def folded_corners() -> Iterator[Inputs]:
    """Every corner parameter on every pair of corner bytes, t made both ways; then every length behind 16 lanes."""
    for number, parameters in enumerate(CORNER_PARAMETERS):
        a, b = pairs()
        made = (fold, fold_contracted)[number % 2](parameters)
        yield {"a": a, "b": b, "parameters": parameters, "folded": made}
    for length in range(48):
        a, b = (np.resize(values, length) for values in pairs())
        yield {"a": a, "b": b, "parameters": CORNER_PARAMETERS[0], "folded": fold(CORNER_PARAMETERS[0])}


def folded_sample(rng: np.random.Generator, longest: int = 96) -> Inputs:
    """A random row of at most so many pairs of bytes, most of them on or next to a tie."""
    length = int(rng.integers(0, longest + 1))
    if rng.random() < 0.2:  # lanes with a = 0 show whether a product, or a float64 sum, was rounded by itself
        byte, factor, sign = HALF_WAY_FACTORS[rng.integers(len(HALF_WAY_FACTORS))]
        constant = np.float32(sign * 2.0 ** -int(rng.integers(30, 90)))
        a, b = random_bytes(rng, length), random_bytes(rng, length)
        directed = rng.random(length) < 0.7
        return {
            "a": np.where(directed, 0, a).astype(np.uint8),
            "b": np.where(directed, byte, b).astype(np.uint8),
            "parameters": AddParameters(Quantization(0.5), Quantization(factor), Quantization(1.0)),
            "folded": Folded(np.float32(0.5), factor, constant),
        }
    parameters = _random_parameters(rng)
    made: Folded = (fold, fold_contracted)[rng.integers(2)](parameters)
    return {"a": random_bytes(rng, length), "b": random_bytes(rng, length), "parameters": parameters, "folded": made}


def _half_way_factors() -> list[tuple[int, np.float32, int]]:
    """Every (b, b_factor, sign), b up to 255, such that b * b_factor lies half-way between k + 1/2 and its neighbour.

    The neighbour in float32 is the one above for even k, then sign is 1, the one below for odd k, then it is -1.  A
    constant of that sign, however small, decides to which the sum is rounded, and so between bytes k and k + 1, unless
    the product, or a float64 sum, was rounded before.
    """
    found = []
    for k in range(255):
        sign, middle = 1 - 2 * (k % 2), k + 0.5
        exact = (middle + float(np.nextafter(np.float32(middle), np.float32(sign * np.inf)))) / 2
        factors = ((b, np.float32(exact / b), sign) for b in range(3, 256, 2))
        found += [(b, factor, sign) for b, factor, sign in factors if b * float(factor) == exact]
    return found


HALF_WAY_FACTORS: Final = _half_way_factors()


def generic_corners(a_type: str, b_type: str) -> Iterator[Inputs]:
    """Every corner parameter on corner elements of these types, with and without ReLU; then every length."""
    a, b = pairs()
    for number, parameters in enumerate(CORNER_PARAMETERS):
        for relu in (False, True):
            rng = np.random.default_rng(number)
            chosen = replace(parameters, activation=relu_if(relu))
            yield _generic_inputs(rng, _corner(a, a_type, rng), _corner(b, b_type, rng), chosen)
    for length in range(24):
        yield {"a": _resized(a, a_type, length), "b": _resized(b, b_type, length), "parameters": CORNER_PARAMETERS[7]}


def generic_sample(rng: np.random.Generator, a_type: str, b_type: str, longest: int = 64) -> Inputs:
    """A random row of at most so many elements of these types, many of them on or next to a tie."""
    parameters = _random_parameters(rng)
    length = int(rng.integers(0, longest + 1))
    a, b = (_corner(random_bytes(rng, length), kind, rng) for kind in (a_type, b_type))
    return _generic_inputs(rng, a, b, parameters)


ACTIVATION_CORNERS: Final = (
    *(Activation("LeakyRelu", (slope,)) for slope in (0.0, 0.1, -0.5, 1.0, 3.0, np.nan, np.inf)),
    *(Activation("RestrictRange", pair) for pair in ((0, 6), (-1, 2.5), (3, -3), (-0.0, np.nan), (np.nan, 1), (-1, 0))),
    *(Activation("Hswish", pair) for pair in ((3, 1 / 6), (-1, 1), (0, 1), (HUGE, 1), (3, -0.0))),
    *(Activation("HardSigmoid", pair) for pair in ((1 / 6, 0.5), (-1, 3), (0, np.nan), (np.inf, 1), (TINY, 0.25))),
)
"""Usual parameters, bounds the wrong way round, and those at the edges of float32."""


def page_corners() -> Iterator[Inputs]:
    """Every corner activation on two of the corner parameters, then those of `generic_corners` for bytes."""
    a, b = pairs()
    for number, activation in enumerate(ACTIVATION_CORNERS):
        for parameters in (CORNER_PARAMETERS[6], CORNER_PARAMETERS[number % len(CORNER_PARAMETERS)]):
            yield {"a": a, "b": b, "parameters": replace(parameters, activation=activation)}
    yield from generic_corners("uint8", "uint8")


def page_sample(rng: np.random.Generator, longest: int = 64) -> Inputs:
    """A random row as `generic_sample` makes it, with any activation, its bounds where the sums are."""
    if rng.random() < 0.1:  # HardSigmoid, whose product cancels in most lanes, so that its rounding decides at a tie
        byte, slope = int(rng.integers(3, 256)), np.float32(rng.uniform(0.3, 3))
        tie = (int(rng.integers(0, 255)) + 0.5) / 256
        line = Activation("HardSigmoid", (float(slope), tie - byte * float(slope)))
        length = int(rng.integers(0, longest + 1))
        a = np.where(rng.random(length) < 0.7, byte, random_bytes(rng, length)).astype(np.uint8)
        parameters = AddParameters(Quantization(1.0), Quantization(1.0), Quantization(1 / 256), line)
        return {"a": a, "b": np.zeros(length, np.uint8), "parameters": parameters}
    inputs = generic_sample(rng, "uint8", "uint8", longest)
    parameters = inputs["parameters"]
    name = str(rng.choice(list(ACTIVATIONS)))
    return {
        **inputs,
        "parameters": replace(parameters, activation=Activation(name, _two_numbers(rng, name, parameters))),
    }


def _two_numbers(rng: np.random.Generator, name: str, parameters: AddParameters) -> tuple[float, float]:
    """Parameters of the activation of that name, now and then special ones."""
    if rng.random() < RARELY:
        first, second = rng.choice(np.array(SPECIAL_REALS, np.float32), 2)
        return float(first), float(second)
    unit = abs(float(parameters.output.scale))
    width = unit * 128 if 0 < unit < HUGE / 256 else 1.0
    if name == "RestrictRange":
        low, high = sorted(rng.uniform(-width, 2 * width, 2))
        return float(low), float(high)
    if name == "Hswish":
        return float(rng.uniform(0, width)), float(rng.choice([1 / 6, 0.25, rng.random() / width]))
    if name == "HardSigmoid":
        return float(rng.choice([1 / 6, 0.2, 1 / width])), float(rng.choice([0.5, rng.random()]))
    return float(rng.choice([0.01, 0.1, 0.5, rng.random()])), 0.0


def _generic_inputs(rng: np.random.Generator, a: Tensor, b: Tensor, parameters: AddParameters) -> Inputs:
    """With float32 operands set so that the sum is a tie of the output, or a few units in the last place off it."""
    scale = np.float32(parameters.output.scale)
    with np.errstate(all="ignore"):
        wanted = (rng.integers(-3, 259, a.shape) - parameters.output.zero_point + np.float64(0.5)) * np.float64(scale)
        if a.dtype == np.float32:
            a = np.where(rng.random(a.shape) < 0.7, _moved(rng, wanted - real(b, parameters.b)), a)
        elif b.dtype == np.float32:
            b = np.where(rng.random(b.shape) < 0.7, _moved(rng, wanted - real(a, parameters.a)), b)
    return {"a": a, "b": b, "parameters": parameters}


def _moved(rng: np.random.Generator, values: Tensor) -> Tensor:
    """As float32, each by -1, 0 or 1 units in the last place off."""
    near = np.asarray(values, np.float32)
    direction = rng.choice(np.array([-np.inf, np.nan, np.inf], np.float32), near.shape)
    return np.where(np.isnan(direction), near, np.nextafter(near, direction))


def _corner(values: Tensor, kind: str, rng: np.random.Generator) -> Tensor:
    """The bytes themselves, or of float32 as many numbers: special ones and small ones."""
    if kind == "uint8":
        return values
    small = rng.normal(0, 100, values.shape).astype(np.float32)
    special = rng.choice(np.array(SPECIAL_REALS, np.float32), values.shape)
    return np.where(rng.random(values.shape) < 0.3, special, small)


def _resized(values: Tensor, kind: str, length: int) -> Tensor:
    return np.resize(values, length).astype(kind)


def pairs() -> tuple[Tensor, Tensor]:
    """Every pair of corner bytes."""
    return np.repeat(BYTES, len(BYTES)), np.tile(BYTES, len(BYTES))


def random_bytes(rng: np.random.Generator, length: int) -> Tensor:
    """So many bytes, every fifth a corner."""
    any_byte = rng.integers(0, 256, length, np.uint8)
    return np.where(rng.random(length) < 0.2, rng.choice(BYTES, length), any_byte)


def _random_parameters(rng: np.random.Generator) -> AddParameters:
    """Factors next to an odd multiple of 1/2, 1/4 or 1/8; now and then one that reaches 2^31, or a special scale."""
    output = np.float32(rng.choice([0.015, 0.02, 0.1, 1.0, 3.0, rng.random() + 0.01]))
    scales = np.append(_moved(rng, output * np.array([_factor(rng), _factor(rng)])), output)
    zeros = rng.integers(0, 256, 3) * (rng.random(3) < 0.7)
    made = []
    for scale, zero in zip(scales, zeros, strict=True):
        chosen = np.float32(rng.choice(SPECIAL_SCALES)) if rng.random() < RARELY else scale
        placed = rng.choice(SPECIAL_ZEROS) if rng.random() < RARELY / 4 else zero
        made.append(Quantization(chosen, int(placed)))
    a, b, to = made
    return AddParameters(a, b, to, relu_if(rng.random() < 0.5))


def _factor(rng: np.random.Generator) -> float:
    if rng.random() < RARELY:
        return float(2**31 / rng.integers(1, 256))
    odd, power = 2 * int(rng.integers(0, 6)) + 1, int(rng.integers(1, 4))
    return float(rng.choice([1, 1, 1, -1]) * odd / 2**power)
