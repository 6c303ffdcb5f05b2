"""Accumulators of a layer whose bias is a real number: where it is added, and what is rounded before and behind it.

    y = scale and round(x, bias) + z,  x an int32 sum of products, si, sw, so the scales of input, weights and output

The contract of every function: `values` as in `sim.golden.fixed_point`; `bias` float32 in real units, `scales` a
`LayerScales`, each one number or one for each element; the result, the zero point in it, is a new int32 array that
saturates.  `TypeError` for a bias that is not float32, `ValueError` for scales that are not finite and above 0.
Every operation is rounded to float32 where nothing else is said.  Source: docs/spec/requantization.md section 6.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import convention
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, Integers, as_int32, int32_operand, wrap_int32
from sim.golden.floating_point import Float32Array, Float32s, fused_multiply_add, require_float32


@dataclass(frozen=True, eq=False)
class LayerScales:
    """The float32 scales of input, weights and output; `ValueError` where one is not finite and above 0."""

    input: Float32s
    weights: Float32s
    output: Float32s

    def __post_init__(self) -> None:
        for name in ("input", "weights", "output"):
            with np.errstate(over="ignore", under="ignore"):
                nearest = np.asarray(getattr(self, name), np.float32)
            if not (np.isfinite(nearest) & (nearest > 0)).all():
                raise ValueError(f"the scale of the {name} is {getattr(self, name)}: it must be finite and above 0")
            object.__setattr__(self, name, nearest)

    @property
    def of_sums(self) -> Float32Array:
        """That of the accumulators: si * sw."""
        return np.asarray(self.input * self.weights)


@convention(
    formula="rint((x + b / (si sw)) * ((si sw) / so)) + z, each step in float32",
    users=(
        "fbgemm of weights with a scale for each channel, so PyTorch's linear and conv2d with the engine fbgemm, and "
        "its linear with x86"
    ),
    rows=("28", "29"),
)
def bias_divided(values: Integers, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    """The bias in units of the accumulators, not rounded to an integer, added in float32; then scaled, ties to even.

    >>> scales, bias = LayerScales(np.float32(0.5), np.float32(0.5), np.float32(1)), np.float32(0.125)
    >>> bias_divided(np.array([1, 2]), bias, scales, 0), bias_rounded(np.array([1, 2]), bias, scales, 0)
    (array([0, 1], dtype=int32), array([0, 0], dtype=int32))
    """
    of_sums = scales.of_sums
    return _scaled(_floats(values) + _real(bias) / of_sums, np.asarray(of_sums / scales.output), zero_point)


@convention(
    formula="rint(float32(x + b * (1 / (si sw))) * ((si sw) / so)) + z, the inner sum rounded once",
    users="fbgemm where all weights have one scale, in a build by GCC, which contracts",
    rows=("28",),
)
def bias_by_reciprocal(values: Integers, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    """As `bias_divided`, with a product by the reciprocal, fused with the sum, for the quotient.

    >>> scales, bias = LayerScales(np.float32(3), np.float32(1), np.float32(5)), np.float32(2.5)
    >>> bias_divided(0, bias, scales, 0), bias_by_reciprocal(0, bias, scales, 0)
    (array(0, dtype=int32), array(1, dtype=int32))
    """
    of_sums = scales.of_sums
    with_bias = fused_multiply_add(_real(bias), np.asarray(np.float32(1) / of_sums), _floats(values))
    return _scaled(with_bias, np.asarray(of_sums / scales.output), zero_point)


@convention(
    formula=(
        "rint((x + rint(b * (1 / (si sw)))) * ((si sw) * (1 / so))) + z, the first sum in int32, the rest in float32"
    ),
    users="QNNPACK in PyTorch, whose bias is quantized when it is packed",
    rows=("28", "29"),
)
def bias_rounded(values: Integers, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    """The bias as an integer of int32, added to the accumulators; then scaled by a product of reciprocals.

    >>> scales = LayerScales(np.float32(0.5), np.float32(0.5), np.float32(1))
    >>> bias_rounded(np.array([1, 2]), np.float32(0.3), scales, 7)
    array([7, 8], dtype=int32)
    """
    of_sums = scales.of_sums
    rounded = np.clip(np.rint(_real(bias) * (np.float32(1) / of_sums)).astype(np.float64), INT32_MIN, INT32_MAX)
    sums = int32_operand(values, "values") + rounded.astype(np.int64)
    return _scaled(_floats(wrap_int32(sums)), np.asarray(of_sums * (np.float32(1) / scales.output)), zero_point)


@convention(
    formula="rint(((x * (1 / (1 / si))) * sw + b) * (1 / so) + z), each step in float32",
    users="oneDNN's convolutions with AVX-512, so PyTorch's conv2d with the engines x86 and onednn",
    rows=("28", "29"),
)
def bias_in_reals(values: Integers, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    """The accumulators made real, the bias added, then quantized: the zero point before the rounding, ties to even.

    The scale of the input is inverted on its way to the library, and there again.

    >>> halves, bias = LayerScales(np.float32(0.5), np.float32(1), np.float32(1)), np.float32(0)
    >>> bias_in_reals(np.array([1, 3]), bias, halves, 1), bias_divided(np.array([1, 3]), bias, halves, 1)
    (array([2, 2], dtype=int32), array([1, 3], dtype=int32))
    """
    return _quantized(_floats(values) * _twice_inverted(scales.input) * scales.weights, bias, scales, zero_point)


@convention(
    formula="rint(((x * (1 / (1 / si))) * (1 / (1 / sw)) + b) * (1 / so) + z), each step in float32",
    users="oneDNN's matrix products with AVX-512, so PyTorch's linear with the engine onednn",
    rows=("28", "29"),
)
def bias_in_reals_of_products(values: Integers, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    """As `bias_in_reals`, with the scales of the weights inverted twice too.

    >>> scales, bias = LayerScales(np.float32(3), np.float32(7), np.float32(2)), np.float32(0)
    >>> bias_in_reals(3, bias, scales, 0), bias_in_reals_of_products(3, bias, scales, 0)
    (array(32, dtype=int32), array(31, dtype=int32))
    """
    weights = _twice_inverted(scales.weights)
    return _quantized(_floats(values) * _twice_inverted(scales.input) * weights, bias, scales, zero_point)


def _twice_inverted(scale: Float32s) -> Float32Array:
    return np.asarray(np.float32(1) / (np.float32(1) / scale))


def _quantized(products: Float32Array, bias: Float32s, scales: LayerScales, zero_point: int) -> Int32Array:
    quotient = (products + _real(bias)) * (np.float32(1) / scales.output)
    return _whole(np.rint(quotient + np.float32(zero_point)), 0)


def _scaled(sums: Float32Array, factor: Float32Array, zero_point: int) -> Int32Array:
    return _whole(np.rint(sums * factor), zero_point)


def _whole(rounded: npt.NDArray[np.float32], zero_point: int) -> Int32Array:
    """Integers of float32, and a zero point added exactly, in int32."""
    return as_int32(np.clip(rounded.astype(np.float64) + zero_point, INT32_MIN, INT32_MAX).astype(np.int64))


def _floats(values: Integers) -> Float32Array:
    return int32_operand(values, "values").astype(np.float32)


def _real(bias: Any) -> Float32Array:
    require_float32(bias, "bias")
    return np.asarray(bias)
