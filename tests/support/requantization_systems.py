"""What systems of docs/spec/requantization.md compute for one number, in Python integers and fractions.

Each function is written from the definition of the system that it names, step by step as that takes them, and takes
nothing from `sim.golden`.  `CASES` says with which convention it must agree, and on which numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

LOW, HIGH = -(2**31), 2**31 - 1
MAGIC = 12582912
MAGIC_BITS = 0x4B400000


def wrap(number: int) -> int:
    return (number - LOW) % 2**32 + LOW


def limit(number: int, low: int, high: int) -> int:
    return max(low, min(number, high))


def float32(exact: Fraction) -> Fraction:
    """The float32 nearest to a number, ties to even; its range is not left here."""
    if not exact:
        return exact
    exponent = max(abs(exact.numerator).bit_length() - exact.denominator.bit_length() - 24, -149)
    while abs(exact) >= Fraction(2) ** (exponent + 24):
        exponent += 1
    return round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent


def bits_of(number: Fraction) -> int:
    """A float32 read as an int32; for normal numbers."""
    magnitude = abs(number)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    pattern = (exponent + 127 << 23) + int((magnitude / Fraction(2) ** exponent - 1) * 2**23)
    return pattern if number > 0 else wrap(pattern | 1 << 31)


def tvm_to_nearest(x: int, q: int, e: int) -> int:
    left, right = (e, 0) if e > 0 else (0, -e)
    wide, total = (x << left) * q, right + 31
    return wrap(wide + (2 ** (total - 1) if wide >= 0 else 2 ** (total - 1) - 1) >> total)


def tvm_upward(x: int, q: int, e: int) -> int:
    left, right = (e, 0) if e > 0 else (0, -e)
    return wrap((x << left) * q + 2 ** (right + 30) >> right + 31)


def qnnpack_precise(x: int, q: int, e: int) -> int:
    """By magnitude; its multiplier is the significand, so q is a multiple of 2^7 and e is 0 at most."""
    significand, shift = q >> 7, 24 - e
    scaled = (abs(x) * significand + (1 << shift - 1)) >> shift
    return scaled if x >= 0 else -scaled


def xnnpack_rndna(x: int, q: int, e: int) -> int:
    significand, shift = q >> 7, 24 - e
    return x * significand - (x < 0) + (1 << shift - 1) >> shift


def xnnpack_rndnu(x: int, q: int, e: int) -> int:
    significand, shift = q >> 7, 24 - e
    return x * significand + (1 << shift - 1) >> shift


def xnnpack_rndnu_neon(x: int, q: int, e: int) -> int:
    """SQSHL, SQDMULH, SRSHL."""
    post = max(-e, 1)
    shifted = limit(x * 2 ** (post + e), LOW, HIGH)
    high = floor(Fraction(2 * shifted * q, 2**32))
    return floor(Fraction(high, 2**post) + Fraction(1, 2))


def nvdla_converter(x: int, q: int, e: int) -> int:
    """Shift, and add the guard bit unless the number is negative and nothing lies below that bit."""
    wide, shift = x * q, 31 - e
    guard = wide >> shift - 1 & 1
    sticky = wide & (1 << shift - 1) - 1 != 0
    return wrap((wide >> shift) + (guard & (wide >= 0 or sticky)))


def fbgemm_fixed_point(x: int, q: int, e: int) -> int:
    shift = 31 - e
    return wrap(x * q + (1 << shift - 1) >> shift)


def pulp_nn(x: int, q: int, e: int) -> int:
    return wrap(floor(Fraction(x * q, 2 ** (31 - e))))


def vela_to_zero(x: int, q: int, e: int) -> int:
    return wrap(int(Fraction(x * q, 2 ** (31 - e))))


def vela_half_up(x: int, q: int, e: int) -> int:
    return wrap(floor(Fraction(x * q, 2 ** (31 - e)) + Fraction(1, 2)))


def cmsis_s64(x: int, q: int, e: int) -> int:
    reduced = q + (1 << 15) >> 16 if q < 0x7FFF0000 else 0x7FFF
    doubled = wrap(x * reduced >> 14 - e)
    return wrap(doubled + 1) >> 1


def pulp_batch_norm(x: int, k: int, offset: int, d: int) -> int:
    return wrap(k * x + offset >> d)


def pulp_batch_norm_32(x: int, k: int, offset: int, d: int) -> int:
    return wrap(wrap(k * x) + offset) >> d


def magic_sum(x: int, factor: float) -> int:
    """The bits of a float32 sum, less those of 1.5 * 2^23, without bounds."""
    scaled = float32(float32(Fraction(x)) * float32(Fraction(factor)))
    return max(bits_of(float32(scaled + MAGIC)) - MAGIC_BITS, LOW)


def lrintf_of_product(x: int, factor: float) -> int:
    return limit(round(float32(float32(Fraction(x)) * float32(Fraction(factor)))), LOW, HIGH)


def pytorch(low: int) -> Callable[[float, float, int], int]:
    def quantize(value: float, scale: float, zero: int) -> int:
        inverse = float32(1 / float32(Fraction(scale)))
        return limit(zero + round(float32(Fraction(value) * inverse)), low, low + 255)

    return quantize


def onnx(low: int) -> Callable[[float, float, int], int]:
    def quantize(value: float, scale: float, zero: int) -> int:
        return limit(zero + round(float32(Fraction(value) / float32(Fraction(scale)))), low, low + 255)

    return quantize


def fbgemm_legacy(low: int) -> Callable[[float, float, int], int]:
    def quantize(value: float, scale: float, zero: int) -> int:
        inverse = float32(1 / float32(Fraction(scale)))
        return limit(round(float32(zero + float32(Fraction(value) * inverse))), low, low + 255)

    return quantize


Operands = tuple[Any, ...]
Drawn = Callable[[random.Random], Operands]
EDGES = (0, 1, -1, 2, -2, 3, -3, 255, -256, 2**22, -(2**22), 2**22 + 1, -(2**22) - 1, 2**30 - 1, 2**30, -(2**30), LOW,
         LOW + 1, HIGH - 1, HIGH)  # fmt: skip
MULTIPLIERS = (2**30, 2**30 + 1, 3 * 2**29, 1717986918, 1583594044, HIGH, 1, 0)
SIGNIFICANDS = (2**30, 2**30 + 2**7, 3 * 2**29, 1717986944, 2**31 - 2**7)
ZEROS = (0, 1, 2, 10, 127)
SCALES = [float(float32(Fraction(number % 997 + 11, 1013))) for number in range(17, 40000, 613)]
"""Few, so that a convention is asked of many values at once; around 1 and far from powers of two."""


@dataclass(frozen=True)
class Case:
    """A system, the convention that must give the same, the operands at its edges, and how others are drawn."""

    system: Callable[..., int]
    convention: str
    edges: Sequence[Operands]
    draw: Drawn

    def operands(self, seed: int, drawn: int) -> Iterator[Operands]:
        rng = random.Random(seed)
        yield from self.edges
        for _ in range(drawn):
            yield self.draw(rng)


def near_tie(rng: random.Random, factor: int, right: int) -> int:
    """A number whose product, shifted to the right, lies at a half or beside it; any number where there is none."""
    middle = ((2 * rng.randrange(-300, 300) + 1) << right) // (2 * factor) if factor else 0
    wanted = middle + rng.randrange(-1, 2)
    return wanted if LOW <= wanted <= HIGH else rng.randrange(LOW, HIGH + 1)


def scaled(multipliers: Sequence[int], least: int, most: int, step: int = 1) -> Drawn:
    def draw(rng: random.Random) -> Operands:
        q = rng.choice(multipliers) if rng.random() < 0.3 else rng.randrange(2**30, 2**31, step)
        e = rng.randrange(least, most + 1)
        wide = rng.randrange(LOW >> (bits := rng.randrange(31)), HIGH + 1 >> bits)
        return (near_tie(rng, q, 31 - e) if rng.random() < 0.5 else wide), q, e

    return draw


def _scaling(
    system: Callable[..., int], convention: str, multipliers: Sequence[int], least: int, most: int, step: int = 1
) -> Case:
    shifts = [e for e in (least, -20, -9, -3, -1, 0, 1, 5, most) if least <= e <= most]
    edges = [(x, q, e) for x in EDGES for q in multipliers for e in shifts]
    return Case(system, convention, edges, scaled(multipliers, least, most, step))


def _draw_batch_norm(rng: random.Random) -> Operands:
    x, k, offset = (rng.randrange(LOW >> (bits := rng.randrange(31)), HIGH + 1 >> bits) for _ in range(3))
    return x, k, offset, rng.randrange(32)


def _draw_product(rng: random.Random) -> Operands:
    factor = SCALES[rng.randrange(len(SCALES))] * 2.0 ** rng.randrange(-25, 5)
    middle = int((2 * rng.randrange(-300, 300) + 1) / (2 * factor)) + rng.randrange(-1, 2)
    x = limit(middle, LOW, HIGH) if rng.random() < 0.5 else rng.randrange(LOW >> rng.randrange(31), HIGH)
    return x, factor


def _draw_quantize(low: int) -> Drawn:
    zeros = [low, low + 1, low + 255, *(max(low, 0) + zero for zero in (0, 1, 2, 9, 60, 101))]

    def draw(rng: random.Random) -> Operands:
        scale = SCALES[rng.randrange(len(SCALES))]
        wanted = (
            Fraction(2 * rng.randrange(-260, 260) + 1, 2) if rng.random() < 0.7 else Fraction(rng.uniform(-300, 300))
        )
        return float(float32(wanted * Fraction(scale))), scale, rng.choice(zeros)

    return draw


def _quantizing(system: Callable[..., int], convention: str, low: int) -> Case:
    values = (0.0, 0.5, -0.5, 1.5, 2.5, 0.49999997, 0.273939937, -127.5, 1e9, -1e9)
    edges = [
        (float(float32(Fraction(value))), scale, zero + low * (zero == 127))
        for value in values
        for scale in (1.0, 0.5, 0.1, 0.00214854861)
        for zero in ZEROS
    ]
    return Case(system, convention, edges, _draw_quantize(low))


_BATCH_NORM = [
    (x, k, o, s) for x in EDGES for k in (1, 3, -1, 65535, LOW) for o in (0, 1, LOW, HIGH) for s in (0, 1, 31)
]
_PRODUCTS = list(product(EDGES, (1.0, 0.5, 0.25, 0.1, 2.0**-31, 255.0)))
CASES = (
    _scaling(tvm_to_nearest, "single_rounding_ties_away", MULTIPLIERS, -31, 30),
    _scaling(qnnpack_precise, "single_rounding_ties_away", SIGNIFICANDS, -31, 0, 128),
    _scaling(xnnpack_rndna, "single_rounding_ties_away", SIGNIFICANDS, -31, 0, 128),
    _scaling(nvdla_converter, "single_rounding_ties_away", (*MULTIPLIERS, -1, LOW), -31, 30),
    _scaling(tvm_upward, "single_rounding", MULTIPLIERS, -31, 30),
    _scaling(xnnpack_rndnu, "single_rounding", SIGNIFICANDS, -31, 0, 128),
    _scaling(fbgemm_fixed_point, "single_rounding", MULTIPLIERS, -31, 30),
    _scaling(vela_half_up, "single_rounding", MULTIPLIERS, -31, 30),
    _scaling(xnnpack_rndnu_neon, "single_rounding_by_vector_saturating_left", SIGNIFICANDS, -31, 8, 128),
    _scaling(pulp_nn, "single_rounding_floor", (*MULTIPLIERS, -1, LOW), -31, 30),
    _scaling(vela_to_zero, "single_rounding_truncated", (*MULTIPLIERS, -1, LOW), -31, 30),
    _scaling(cmsis_s64, "single_rounding_of_long_narrowed", MULTIPLIERS, -31, 7),
    Case(pulp_batch_norm, "scale_then_offset_floor", _BATCH_NORM, _draw_batch_norm),
    Case(pulp_batch_norm_32, "scale_then_offset_floor_wrapped", _BATCH_NORM, _draw_batch_norm),
    Case(lrintf_of_product, "product_xnnpack", _PRODUCTS, _draw_product),
    Case(magic_sum, "product_by_magic_number", _PRODUCTS, _draw_product),
    _quantizing(pytorch(0), "reciprocal_round_even_then_offset", 0),
    _quantizing(fbgemm_legacy(0), "offset_then_round_even", 0),
    _quantizing(onnx(0), "round_even_then_offset", 0),
    _quantizing(pytorch(-128), "int8_reciprocal_round_even_then_offset", -128),
    _quantizing(fbgemm_legacy(-128), "int8_offset_then_round_even", -128),
    _quantizing(onnx(-128), "int8_round_even_then_offset", -128),
)
