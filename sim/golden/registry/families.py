"""The families of conventions: what they take, and the numbers that are tried to tell two of them apart."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from sim.golden.addition import AddParameters, Quantization, relu_if
from sim.golden.fixed_point import INT32_MAX, INT32_MIN
from sim.golden.pytorch.real_bias import LayerScales
from sim.golden.registry.record import Family, Function, Numbers, Operand

HALF = 1 << 30  # 0.5 in Q0.31
TENTH = 1717986918  # 0.1 in Q0.31 and 3 bits to the right, derived from a double
PUBLISHED = 1583594044  # the multiplier of TensorFlow's issue 25087, with 9 bits to the right
EDGES = tuple(
    sign * odd * (1 << bit) + step for bit in range(31) for odd in (1, 3) for step in (0, -1, 1) for sign in (1, -1)
)
"""Around the powers of two and three times them."""


def _int32(name: str, *corners: int) -> Operand:
    inside = dict.fromkeys(corner for corner in corners if INT32_MIN <= corner <= INT32_MAX)
    return Operand(name, "int32", INT32_MIN, INT32_MAX, tuple(inside))


VALUE = _int32("value", *EDGES, 10**7, INT32_MIN, INT32_MAX)
MULTIPLIER = _int32("multiplier", HALF, TENTH, PUBLISHED, INT32_MAX, HALF + 1, 3 << 29, 1, 0, -HALF, INT32_MIN)
COUNTS = (0, 1, 2, 3, 4, 8, 16, 31)
LEFT_SHIFT = _int32("left_shift", 0, -1, 1, -2, 2, -3, -4, -8, -9, 7, -16, -31, 30, 31, -32, 32)
FACTOR = Operand(
    "factor", "float", -np.inf, np.inf,
    (1.0, 0.5, 0.25, 0.1, 0.75, 9e-6, 1e-5, 2.0**-31, 2.0**-32, 2.0**-33, 1 - 2.0**-24, 1 - 1e-10, 1.5, 2 - 1e-11,
     255.0, 2.0**30, 2.0**40, 0.0, -0.5, 2.0**-149),
)  # fmt: skip


def derived(derive: Function, factor: float) -> Numbers:
    """Multiplier and left shift, in one row."""
    return np.array([derive(factor)])


def added(
    add: Function, a: Numbers, b: Numbers, a_scale: float, a_zero: int, b_scale: float, b_zero: int,
    output_scale: float, output_zero: int, relu: bool,
) -> Numbers:  # fmt: skip
    """A quantized addition, its parameters one by one."""
    quantizations = (
        Quantization(a_scale, a_zero),
        Quantization(b_scale, b_zero),
        Quantization(output_scale, output_zero),
    )
    sums: Numbers = add(a, b, AddParameters(*quantizations, relu_if(relu)))
    return sums


def with_real_bias(
    convention: Function, value: Numbers, bias: float, input_scale: float, weights_scale: float, output_scale: float,
    zero_point: int,
) -> Numbers:  # fmt: skip
    """A layer's accumulators with a bias in real units, its scales one by one."""
    scales = LayerScales(*(np.float32(scale) for scale in (input_scale, weights_scale, output_scale)))
    found: Numbers = convention(value, np.float32(bias), scales, zero_point)
    return found


def sums_of_batch(choose: Function, first: Numbers, second: Numbers, batch: int) -> Numbers:
    """The column sums that one of two batches uses."""
    sums: Numbers = choose(np.stack([first, second]), 2)[batch]
    return sums


def lane_of_row(complete: Function, element: Numbers, padding: Numbers, width: int, lane: int) -> Numbers:
    """One lane of a row of equal elements behind which there is equal padding."""
    row, rest = (
        np.repeat(part[..., None], count, axis=-1) for part, count in ((element, width), (padding, -width % 16))
    )
    lanes: Numbers = complete(row, rest)[..., lane]
    return lanes


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _scaled(value: int, multiplier: int, left_shift: int) -> Fraction:
    return value * multiplier * _power(left_shift - 31)


def _sum_of_reals(a: int, b: int, *parameters: Any) -> Fraction:
    a_scale, a_zero, b_scale, b_zero, output_scale, output_zero, relu = parameters
    scales = [Fraction(float(np.float32(scale))) for scale in (a_scale, b_scale, output_scale)]
    real = (a - a_zero) * scales[0] + (b - b_zero) * scales[1]
    rectified: Fraction = max(real, Fraction(0)) if relu else real
    return rectified / scales[2] + int(output_zero)


@cache
def _factors() -> Sequence[tuple[float, ...]]:
    """The corners of a factor and all numbers of half precision, which take long to list."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite: list[float] = halves[np.isfinite(halves)].astype(np.float64).tolist()
    return [(factor,) for factor in (*FACTOR.corners, *finite)]


_WORD = (INT32_MIN, INT32_MAX)
_BYTE = tuple(Operand(name, "uint8", 0, 255, ()) for name in ("a", "b", "element", "padding"))
_ADD_PARAMETERS = (
    *(Operand(f"{name}_{part}", kind, low, high, ())
      for name in ("a", "b", "output")
      for part, kind, low, high in (("scale", "float32", -np.inf, np.inf), ("zero_point", "int", *_WORD))),
    Operand("relu", "bool", 0, 1, ()),
)  # fmt: skip

RIGHT_SHIFT = Family(
    "right shift",
    (VALUE, _int32("shift", 1, 2, *COUNTS, -1, -2, -31, 32, 33, 255, 256, -32, INT32_MIN, INT32_MAX)),
    exact=lambda value, shift: value / _power(shift),
)
HIGH_MULTIPLY = Family(
    "high multiply", (VALUE, MULTIPLIER), exact=lambda value, multiplier: Fraction(value * multiplier, 1 << 31)
)
LEFT_SHIFTS = Family(
    "left shift", (VALUE, _int32("shift", 1, 2, *COUNTS)), exact=lambda value, shift: value * _power(shift)
)
SCALING = Family("scaling", (VALUE, MULTIPLIER, LEFT_SHIFT), exact=_scaled)
DIRECTION = Family("shift direction", (VALUE, MULTIPLIER, _int32("shift", 1, -1, 2, -2, 31, -31)))
DERIVATION = Family(
    "derivation", (FACTOR,), swept=0, evaluate=derived, exact=Fraction, refusal_counts=True,
    given=_factors,
)  # fmt: skip
FACTOR_PRODUCT = Family(
    "product by a factor", (VALUE, FACTOR), exact=lambda value, factor: value * Fraction(factor), refusal_counts=True
)
INTEGER_SCALE = Family(
    "integer scale",
    (
        VALUE,
        _int32("offset", 0, 1, -2, INT32_MAX),
        _int32("multiplier", 1, 2, -1, 65535),
        _int32("shift", 1, 2, *COUNTS),
    ),
    exact=lambda value, offset, multiplier, shift: (value + offset) * multiplier / _power(shift),
)
SCALE_AND_OFFSET = Family(
    "scale and offset",
    (
        VALUE,
        _int32("multiplier", 1, 2, 3, -1, 65535),
        _int32("offset", 0, 1, -2, INT32_MAX),
        _int32("shift", 1, 2, *COUNTS),
    ),
    exact=lambda value, multiplier, offset, shift: (value * multiplier + offset) / _power(shift),
)
BOUNDS = Family(
    "bounds",
    (VALUE, _int32("minimum"), _int32("maximum")),
    given=lambda: (
        (0, 0),
        (7, 7),
        (255, 255),
        (10, 200),
        (0, 255),
        _WORD,
        (INT32_MIN, 200),
        (0, 300),
        (-5, 200),
        (9, 8),
    ),
    refusal_counts=True,
)
_REAL = Operand("value", "float32", -np.inf, np.inf, (0.49999997, -0.95, 2.0**24 + 2, 0.273939937))
_STEP = Operand("scale", "float32", 0, np.inf, (1.0, 0.5, 0.02, 0.1, 3.0, 0.00214854861))


def _quantized(value: float, scale: float, zero: int) -> Fraction:
    return Fraction(float(value)) / Fraction(float(np.float32(scale))) + zero


FLOAT_TO_BYTE = Family(
    "float to byte", (_REAL, _STEP, Operand("zero_point", "int", 0, 255, (0, 1, 10, 128, 255))), exact=_quantized
)
FLOAT_TO_INT8 = Family(
    "float to int8", (_REAL, _STEP, Operand("zero_point", "int", -128, 127, (0, 1, -1, 10, -128, 127))),
    exact=_quantized,
)  # fmt: skip


def _of_real_bias(
    value: int, bias: float, input_scale: float, weights_scale: float, output_scale: float, zero_point: int
) -> Fraction:
    of_input, of_weights, of_output, real = (
        Fraction(float(np.float32(number))) for number in (input_scale, weights_scale, output_scale, bias)
    )
    return (value * of_input * of_weights + real) / of_output + zero_point


REAL_BIAS = Family(
    "scaling with a real bias",
    (
        VALUE,
        Operand("bias", "float32", -np.inf, np.inf, ()),
        *(Operand(f"{name}_scale", "float32", 0, np.inf, ()) for name in ("input", "weights", "output")),
        Operand("zero_point", "int", *_WORD, ()),
    ),
    evaluate=with_real_bias,
    exact=_of_real_bias,
    given=lambda: (
        (0.0, 0.5, 1.0, 1.0, 1),
        (0.125, 0.5, 0.5, 1.0, 0),
        (2.5, 3.0, 1.0, 5.0, 0),
        (0.0, 3.0, 7.0, 2.0, 0),
    ),
)
QUANTIZED_ADD = Family(
    "quantized add",
    (*_BYTE[:2], *_ADD_PARAMETERS),
    swept=2,
    evaluate=added,
    exact=_sum_of_reals,
    given=lambda: (
        (0.01, 0, 0.01, 0, 0.02, 0, False),
        (0.49999997, 0, 1.0, 0, 1.0, 0, False),
        (0.06571889, 171, 0.06253845, 195, 0.10072092, 98, False),
        (1e8, 0, 1.0, 0, 1.0, 0, False),
        (0.18, 249, 0.17, 29, 0.1, 100, False),
    ),
)
GEMM_OFFSETS = Family(
    "gemm offsets",
    (*(_int32(name) for name in ("a", "b")), *(_int32(name, 0, 1, 2, 3, -128) for name in ("a_offset", "b_offset"))),
    swept=2,
)
COLUMN_SUMS = Family(
    "column sums", (_int32("first"), _int32("second"), Operand("batch", "int", 0, 1, (0, 1))),
    swept=2, evaluate=sums_of_batch,
)  # fmt: skip
TAIL_LANES = Family(
    "tail lanes",
    (*_BYTE[2:], Operand("width", "int", 1, 64, ()), Operand("lane", "int", 0, 63, ())),
    swept=2,
    evaluate=lane_of_row,
    given=lambda: tuple(product((17,), (17, 16, 31))),
)
