"""Quantized addition of uint8: Simd's SynetQuantizedAdd on each backend, its page, and the integer adds of TFLite.

    Simd, uint8 + uint8 -> uint8:  v = a * ad + b * bd + t in float32, then rounded and clamped; where each backend
                                   rounds on the way, and how it rounds at last, is what tells them apart
    TFLite, CMSIS-NN:              three fixed-point rescalings in int32
    XNNPACK:                       two multipliers and one shift

The contract of every `add_*`: `a` and `b` are integer arrays in 0..255 (or ints) that broadcast, `parameters` are
`AddParameters`; the result is a new uint8 array.  `TypeError`: not of an integer dtype; `ValueError`: outside 0..255.
Those of the folded form do not apply the activation, as upstream does not, and `fold` what they need of the parameters.
Sources: docs/spec/quantized_add.md; docs/spec/neighbours.md section 13; docs/spec/known_differences.md row 10d.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import convention
from sim.golden.derivation import Derived, derive_tflite, derive_tflite_single_rounding
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, Int64Array, clamp, told_range, wrap_int32
from sim.golden.floating_point import (
    Float32Array,
    away_by_half,
    fused_multiply_add,
    to_int32_ties_even,
    to_int32_ties_even_indefinite,
    to_int32_truncated,
)
from sim.golden.integer_addition import LEFT_SHIFTS, Rescale, add_rescaled, multipliers_of_bits, rescaling_of
from sim.golden.scaling import double_rounding, single_rounding

Uint8Array = npt.NDArray[np.uint8]
Bytes = npt.NDArray[np.integer[Any]] | int
LEFT_SHIFT: Final = LEFT_SHIFTS[8]
_XNNPACK_BITS: Final = 21  # of the larger multiplier


@dataclass(frozen=True)
class Quantization:
    """real = (byte - zero_point) * scale.

    `scale` is taken to the nearest float32 and may be any, as Simd accepts 0, negative, infinite and NaN scales.
    `zero_point` is an int in int32; `TypeError` or `ValueError` where it is not.
    """

    scale: np.float32 | float = 1.0
    zero_point: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.zero_point, int) or isinstance(self.zero_point, bool):
            raise TypeError(f"zero_point is {self.zero_point!r}: give an int")
        if not INT32_MIN <= self.zero_point <= INT32_MAX:
            raise ValueError(f"zero_point is {self.zero_point}: it must lie in int32, {INT32_MIN}..{INT32_MAX}")
        with np.errstate(over="ignore", under="ignore"):
            object.__setattr__(self, "scale", np.float32(self.scale))

    @property
    def zero(self) -> np.float32:
        """The zero point as float32, rounded where it has more than 24 bits."""
        return np.float32(self.zero_point)


def rectify(values: Float32Array) -> Float32Array:
    """ReLU as Simd's Base has it: 0 where a value is below 0, else the value, NaN and -0.0 too."""
    return np.asarray(np.where(values < 0, np.float32(0), values), np.float32)


def larger(x: Float32Array | np.float32, y: Float32Array | np.float32) -> Float32Array:
    """x where x > y, else y: so y where one is NaN, and the second of two zeros."""
    return np.asarray(np.where(x > y, x, y), np.float32)


def smaller(x: Float32Array | np.float32, y: Float32Array | np.float32) -> Float32Array:
    """x where x < y, else y: so y where one is NaN, and the second of two zeros."""
    return np.asarray(np.where(x < y, x, y), np.float32)


_ZERO, _ONE = np.float32(0), np.float32(1)


def _leaky(values: Float32Array, slope: np.float32, _: np.float32) -> Float32Array:
    return np.asarray(larger(_ZERO, values) + slope * smaller(_ZERO, values))


def _restricted(values: Float32Array, lower: np.float32, upper: np.float32) -> Float32Array:
    return smaller(larger(lower, values), upper)


def _hard_swish(values: Float32Array, shift: np.float32, scale: np.float32) -> Float32Array:
    return np.asarray(larger(smaller(values, shift) + shift, _ZERO) * scale * values)


def _hard_sigmoid(values: Float32Array, scale: np.float32, shift: np.float32) -> Float32Array:
    return larger(_ZERO, smaller(values * scale + shift, _ONE))


ACTIVATIONS: Final[dict[str, Callable[[Float32Array, np.float32, np.float32], Float32Array]]] = {
    "Identity": lambda values, *_: values,
    "ReLU": lambda values, *_: rectify(values),
    "LeakyRelu": _leaky,
    "RestrictRange": _restricted,
    "Hswish": _hard_swish,
    "HardSigmoid": _hard_sigmoid,
}
"""The activations of Simd that float32 additions, products and comparisons define, of a value and two parameters.

Every operation is rounded. The others are none of them: Elu, Mish, Swish and Gelu take an exponential or an error
function, of which no page says how it is rounded, and Prelu a slope for each channel, which an addition does not know.
"""


@dataclass(frozen=True)
class Activation:
    """What is applied to a sum: a name of `ACTIVATIONS` and Simd's actParams, of which some use none, one or two.

    LeakyRelu takes (slope,), RestrictRange (lower, upper), Hswish (shift, scale), HardSigmoid (scale, shift); what is
    left out is 0, as where upstream is given NULL. Any float is accepted, to the nearest float32: infinite ones, NaN,
    a lower bound above the upper. `ValueError`: another name, or more than two parameters.

    >>> Activation("RestrictRange", (-1, 6)).of(np.array([-3, 2, 9], np.float32)).tolist()
    [-1.0, 2.0, 6.0]
    """

    name: str = "Identity"
    parameters: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in ACTIVATIONS:
            raise ValueError(f"the activation {self.name!r} is not defined: give one of {', '.join(ACTIVATIONS)}")
        if len(self.parameters) > 2:
            raise ValueError(f"there are {len(self.parameters)} parameters of {self.name}: give at most 2")
        with np.errstate(over="ignore", under="ignore"):
            filled = tuple(float(np.float32(number)) for number in (*self.parameters, 0.0, 0.0)[:2])
        object.__setattr__(self, "parameters", filled)

    def of(self, values: Float32Array) -> Float32Array:
        """The activated float32 values."""
        first, second = (np.float32(number) for number in self.parameters)
        with np.errstate(all="ignore"):
            return ACTIVATIONS[self.name](values, first, second)


IDENTITY: Final = Activation()
RELU: Final = Activation("ReLU")


def relu_if(asked: bool) -> Activation:
    """ReLU where it is asked for, else none."""
    return RELU if asked else IDENTITY


@dataclass(frozen=True)
class AddParameters:
    """The quantization of both operands and of the output, and the activation that is asked for."""

    a: Quantization = Quantization()
    b: Quantization = Quantization()
    output: Quantization = Quantization()
    activation: Activation = IDENTITY

    @property
    def relu(self) -> bool:
        """Whether ReLU is asked for."""
        return self.activation.name == "ReLU"


@dataclass(frozen=True)
class Folded:
    """The parameters as the uint8 kernels take them: v = a * a_factor + b * b_factor + constant (ad, bd and t)."""

    a_factor: np.float32
    b_factor: np.float32
    constant: np.float32


def fold(parameters: AddParameters) -> Folded:
    """ad, bd and t, every operation rounded to float32: a build that does not contract.

    Formula: ad = sa / sd, bd = sb / sd, t = zd - (ad * za + bd * zb).  Used by Simd's Base
    (docs/spec/known_differences.md row 10f).

    >>> fold(AddParameters(Quantization(0.5, 2), Quantization(0.25, 4), Quantization(0.5, 10))).constant
    np.float32(6.0)
    """
    with np.errstate(all="ignore"):
        a_factor, b_factor = factors_of(parameters)
        zeros = a_factor * parameters.a.zero + b_factor * parameters.b.zero
        return Folded(a_factor, b_factor, parameters.output.zero - zeros)


def fold_contracted(parameters: AddParameters) -> Folded:
    """ad, bd and t in a build that contracts: the first product of t is not rounded by itself.

    Formula: as `fold`, but t = zd - fma(ad, za, bd * zb).  Used by Simd's AVX2 files under -mfma and by AArch64 builds
    with the compilers' default (docs/spec/known_differences.md row 10f).
    """
    with np.errstate(all="ignore"):
        a_factor, b_factor = factors_of(parameters)
        zeros = fused_multiply_add(a_factor, parameters.a.zero, b_factor * parameters.b.zero)
        return Folded(a_factor, b_factor, np.float32(parameters.output.zero - zeros))


def factors_of(parameters: AddParameters) -> tuple[np.float32, np.float32]:
    """The scales of both operands over the output's, rounded to float32."""
    scale = np.float32(parameters.output.scale)
    return np.float32(parameters.a.scale) / scale, np.float32(parameters.b.scale) / scale


Addends = tuple[Float32Array, Float32Array]
"""The sum of the first two terms, and of all three: v."""


def sum_b_first_in_double(a: Bytes, b: Bytes, folded: Folded) -> Addends:
    """b * bd + t, then a * ad added; each product and sum in float64, each line then rounded to float32.

    Used by Simd's Base and SSE4.1.
    """
    with np.errstate(all="ignore"):
        first = (byte_operand(b, "b") * np.float64(folded.b_factor) + np.float64(folded.constant)).astype(np.float32)
        total = byte_operand(a, "a") * np.float64(folded.a_factor) + first.astype(np.float64)
        return np.asarray(first), total.astype(np.float32)


def sum_b_first_fused(a: Bytes, b: Bytes, folded: Folded) -> Addends:
    """fma(b, bd, t), then fma(a, ad, that): Simd's AVX2 and AVX-512."""
    first = fused_multiply_add(_floats(b, "b"), folded.b_factor, folded.constant)
    return first, fused_multiply_add(_floats(a, "a"), folded.a_factor, first)


def sum_a_first_fused(a: Bytes, b: Bytes, folded: Folded) -> Addends:
    """fma(a, ad, t), then fma(b, bd, that): Simd's NEON where VMLA became FMLA, as compilers do by default."""
    first = fused_multiply_add(_floats(a, "a"), folded.a_factor, folded.constant)
    return first, fused_multiply_add(_floats(b, "b"), folded.b_factor, first)


def sum_a_first_unfused(a: Bytes, b: Bytes, folded: Folded) -> Addends:
    """t + a * ad, then b * bd added, every operation rounded to float32: Simd's NEON with -ffp-contract=off."""
    with np.errstate(all="ignore"):
        first = np.asarray(folded.constant + _floats(a, "a") * folded.a_factor)
        return first, np.asarray(first + _floats(b, "b") * folded.b_factor)


@convention(
    formula="clamp(rint(v), 0, 255), v of `sum_b_first_in_double`",
    users="Simd's Base",
    rows=("10", "10b", "10c", "10d", "10e", "11"),
)
def add_base(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Simd's Base built for AArch64: in steps of float64, ties to even, saturating.

    >>> add_base(2, 5, AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02)))
    array(4, dtype=uint8)
    """
    return to_bytes(to_int32_ties_even(sum_b_first_in_double(a, b, fold(parameters))[1]))


@convention(
    formula="clamp(rint(v) where it lies in int32 else -2^31, 0, 255), v of `sum_b_first_in_double`",
    users="Simd's Base and SSE4.1 on x86",
    rows=("10", "10b", "10d", "10e", "10f"),
)
def add_base_x86(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Simd's Base and SSE4.1 on x86: as `add_base`, but what lies outside int32 becomes -2^31 and so 0.

    >>> huge = AddParameters(Quantization(1e8))
    >>> add_base_x86(255, 0, huge), add_base(255, 0, huge)
    (array(0, dtype=uint8), array(255, dtype=uint8))
    """
    return to_bytes(to_int32_ties_even_indefinite(sum_b_first_in_double(a, b, fold(parameters))[1]))


@convention(
    formula="clamp(rint(v) where it lies in int32 else -2^31, 0, 255), v of `sum_b_first_fused`",
    users="Simd's AVX2 and AVX-512 files, and of uint8 by ONNX Runtime's MLAS on x86-64 (1.32.0, measured)",
    rows=("10", "10f"),
)
def add_avx2(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Simd's AVX2 and AVX-512 under -mfma: fused, t contracted, ties to even, INT32_MIN outside int32.

    >>> scales = (Quantization(0.06571889, 171), Quantization(0.06253845, 195), Quantization(0.10072092, 98))
    >>> add_base_x86(145, 112, AddParameters(*scales)), add_avx2(145, 112, AddParameters(*scales))
    (array(30, dtype=uint8), array(29, dtype=uint8))
    """
    return to_bytes(to_int32_ties_even_indefinite(sum_b_first_fused(a, b, fold_contracted(parameters))[1]))


@convention(
    formula="clamp(trunc(float32(v +- 1/2)), 0, 255), v of `sum_a_first_fused`",
    users="the NEON code of one snapshot of Simd",
    rows=("10", "10c", "10e", "11"),
)
def add_neon_ties_away(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Simd's NEON snapshot, contracted: fused, ties away by adding a half, saturating.

    >>> scales = AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02))
    >>> add_neon_ties_away(0, 1, scales), add_neon_ties_even(0, 1, scales)
    (array(1, dtype=uint8), array(0, dtype=uint8))
    """
    return to_bytes(to_int32_truncated(away_by_half(sum_a_first_fused(a, b, fold_contracted(parameters))[1])))


@convention(
    formula="clamp(trunc(float32(v +- 1/2)), 0, 255), v of `sum_a_first_unfused`",
    users="the NEON code of one snapshot of Simd, built without contraction",
    rows=("10", "10c"),
)
def add_neon_ties_away_unfused(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """As `add_neon_ties_away`, built with -ffp-contract=off: every operation rounded, those of t too.

    >>> parameters = AddParameters(Quantization(0.18, 249), Quantization(0.17, 29), Quantization(0.1, 100))
    >>> add_neon_ties_away(206, 16, parameters), add_neon_ties_away_unfused(206, 16, parameters)
    (array(0, dtype=uint8), array(1, dtype=uint8))
    """
    return to_bytes(to_int32_truncated(away_by_half(sum_a_first_unfused(a, b, fold(parameters))[1])))


@convention(
    formula="clamp(rint(v), 0, 255), v of `sum_a_first_fused`",
    users="Simd's NEON code of the first commit and from 7.2.165",
    rows=("10",),
)
def add_neon_ties_even(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Simd's NEON of the first commit and from 7.2.165, contracted: fused, ties to even, saturating.

    >>> add_neon_ties_even(0, 3, AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02)))
    array(2, dtype=uint8)
    """
    return to_bytes(to_int32_ties_even(sum_a_first_fused(a, b, fold_contracted(parameters))[1]))


@convention(
    formula="clamp(rint(v), 0, 255), v of `sum_a_first_unfused`",
    users="Simd's NEON code of the first commit and from 7.2.165, built without contraction",
    rows=("10",),
)
def add_neon_ties_even_unfused(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """As `add_neon_ties_even`, built with -ffp-contract=off: every operation rounded, those of t too.

    >>> parameters = AddParameters(Quantization(0.18, 249), Quantization(0.17, 29), Quantization(0.1, 100))
    >>> add_neon_ties_even(206, 16, parameters), add_neon_ties_even_unfused(206, 16, parameters)
    (array(0, dtype=uint8), array(1, dtype=uint8))
    """
    return to_bytes(to_int32_ties_even(sum_a_first_unfused(a, b, fold(parameters))[1]))


@convention(
    formula="clamp(rint(activate((a - za) * sa + (b - zb) * sb) / sd) + zd, 0, 255)",
    users="Simd's page alone",
    rows=("10b", "10d"),
)
def add_page(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """What Simd's page says, step by step in float32: activation, division, ties to even, then the zero point.

    `activate` is any of `ACTIVATIONS`.  The page leaves open what becomes of NaN (here 0) and of quotients outside
    int32 (here saturated).

    >>> add_page(2, 5, AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02)))
    array(3, dtype=uint8)
    """
    with np.errstate(all="ignore"):
        total = dequantize(a, parameters.a) + dequantize(b, parameters.b)
        quotient = np.asarray(parameters.activation.of(total) / np.float32(parameters.output.scale))
    placed = to_int32_ties_even(quotient).astype(np.int64) + parameters.output.zero_point
    return np.asarray(np.clip(placed, 0, 255)).astype(np.uint8)


def dequantize(values: Bytes, quantization: Quantization) -> Float32Array:
    """(byte - zero point) * scale in float32; the difference wraps in int32, as upstream's does on AArch64."""
    difference = wrap_int32(byte_operand(values, "values").astype(np.int64) - quantization.zero_point)
    with np.errstate(all="ignore"):
        return np.asarray(difference.astype(np.float32) * np.float32(quantization.scale))


def to_bytes(integers: Int32Array) -> Uint8Array:
    """Saturate to 0..255."""
    return clamp(integers, 0, 255).astype(np.uint8)


@convention(
    formula=(
        "u = (a - za) << 20, likewise v; u' = M(u, sa / (2m)), v' = M(v, sb / (2m)), m = max(sa, sb); clamp(M(u' "
        "+ v', 2m / (2^20 sd)) + zd, 0, 255)"
    ),
    users="TFLite's and CMSIS-NN's default builds",
    rows=("11",),
)
def add_tflite(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """TFLite's and CMSIS-NN's integer add, rescaling with double rounding: the default of both.

    Scales must be above 0 and finite, zero points in 0..255, else `ValueError`. The activation is the lower bound zd,
    as TFLite makes ReLU.

    >>> add_tflite(0, 1, AddParameters(Quantization(0.01), Quantization(0.01), Quantization(0.02)))
    array(1, dtype=uint8)
    """
    return _add_in_integers(a, b, parameters, double_rounding, derive_tflite)


@convention(
    formula="that of `add_tflite`, M being `single_rounding`",
    users="TFLite's and CMSIS-NN's single-rounding builds",
)
def add_tflite_single_rounding(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """As `add_tflite` in a build with single rounding.

    >>> scales = AddParameters(Quantization(0.01), Quantization(0.01, 3), Quantization(0.02, 10))
    >>> add_tflite(0, 0, scales), add_tflite_single_rounding(0, 0, scales)
    (array(8, dtype=uint8), array(9, dtype=uint8))
    """
    return _add_in_integers(a, b, parameters, single_rounding, derive_tflite_single_rounding)


@convention(
    formula=(
        "clamp(((A (a - za) + B (b - zb) + 2^(s-1)) >> s) + zd, 0, 255), A = rint(sa/sd 2^s), B likewise, s = 20 - the "
        "exponent of the larger of sa/sd and sb/sd"
    ),
    users="XNNPACK, so LiteRT's default kernels",
    rows=("27",),
)
def add_xnnpack(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """XNNPACK's add of qs8 and qu8: two multipliers of at most 21 bits, one rounding, ties up.

    Scales must be above 0, finite, and 2^-10 up to 2^8 of the output's for the larger one, zero points in 0..255, else
    `ValueError`. The activation is the lower bound zd.

    >>> scales = AddParameters(Quantization(0.01), Quantization(0.01, 3), Quantization(0.02, 10))
    >>> add_tflite(0, 0, scales), add_xnnpack(0, 0, scales)
    (array(8, dtype=uint8), array(9, dtype=uint8))
    """
    left, right = integer_operands(a, b, parameters, "XNNPACK's add")
    first, second, shift = multipliers_of_bits(_XNNPACK_BITS, *factors_of(parameters), "XNNPACK")
    zero = parameters.output.zero_point
    placed = (left * first + right * second + (1 << (shift - 1)) >> shift) + zero
    return np.asarray(np.clip(placed, zero if parameters.relu else 0, 255)).astype(np.uint8)


def _add_in_integers(
    a: Bytes, b: Bytes, parameters: AddParameters, rescale: Rescale, derive: Callable[[float], Derived]
) -> Uint8Array:
    left, right = integer_operands(a, b, parameters, "the integer add")
    by_a, by_b, by_output = (float(q.scale) for q in (parameters.a, parameters.b, parameters.output))
    total = add_rescaled(left, right, rescaling_of((by_a, by_b, by_output), LEFT_SHIFT, derive), LEFT_SHIFT, rescale)
    zero = parameters.output.zero_point
    return clamp(wrap_int32(total.astype(np.int64) + zero), zero if parameters.relu else 0, 255).astype(np.uint8)


def integer_operands(a: Bytes, b: Bytes, parameters: AddParameters, adder: str) -> tuple[Int64Array, Int64Array]:
    """Both operands less their zero points.

    `ValueError` for what integer additions do not take: a scale that is not above 0 and finite, a zero point outside
    0..255, an activation that `adder` does not apply.
    """
    for name, quantization in (("a", parameters.a), ("b", parameters.b), ("output", parameters.output)):
        if not (np.isfinite(quantization.scale) and quantization.scale > 0):
            raise ValueError(f"the scale of {name} is {quantization.scale}: the integer add takes finite ones above 0")
        if not 0 <= quantization.zero_point <= 255:
            raise ValueError(f"the zero point of {name} is {quantization.zero_point}: it must lie in 0..255")
    require_identity_or_relu(parameters.activation, adder)
    left, right = (byte_operand(values, "values").astype(np.int64) for values in (a, b))
    return np.asarray(left - parameters.a.zero_point), np.asarray(right - parameters.b.zero_point)


def require_identity_or_relu(activation: Activation, adder: str) -> None:
    """Raise `ValueError` for another activation, which `adder` does not apply."""
    if activation.name not in ("Identity", "ReLU"):
        raise ValueError(f"the activation is {activation.name}: {adder} knows Identity and ReLU")


def _floats(values: Bytes, name: str) -> Float32Array:
    return byte_operand(values, name).astype(np.float32)


def byte_operand(values: Bytes, name: str) -> Uint8Array:
    """`values` as uint8, known to lie in 0..255; TypeError and ValueError name them."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: give an integer array or an int")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise ValueError(f"{name}: {told_range(array)}, every number must lie in 0..255")
    return array.astype(np.uint8)
