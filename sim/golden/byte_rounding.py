"""float32 to uint8, int8 or int16, as each system does it: one named function per order and rule of rounding.

Every function takes `values`, float32 of any shape; `scale`, a float32 that is finite and above 0; `zero_point`, an int
in the range of the output; and returns a new array of that shape, of int8 where the name begins so, else of uint8.
Those that round before the zero point is added take any range: `to` is the output's type, uint8 if it is left out.
`TypeError`: values or scale are not float32 (a Python float is taken as the float32 nearest to it), zero_point is no
int.  `ValueError`: scale or zero_point is outside of what is stated; a value is NaN where the convention does not say
what becomes of it.  Infinities saturate.
Source: docs/spec/known_differences.md rows 12, 16, 25 and 26; docs/spec/neighbours.md section 14;
docs/spec/requantization.md section 4.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.golden.declaration import convention
from sim.golden.fixed_point import Int32Array, clamp
from sim.golden.floating_point import (
    Float32Array,
    Float32s,
    Float64Array,
    fused_multiply_add,
    require_float32,
    to_int32_ties_even,
    to_int32_truncated,
)

Uint8Array = npt.NDArray[np.uint8]
Int8Array = npt.NDArray[np.int8]
Byte = type[np.uint8] | type[np.int8]
Output = Byte | type[np.int16]
Integers = npt.NDArray[Any]
"""Of the type that is asked for."""


@convention(
    formula="clamp(rint(float32(v / s)) + z, 0, 255)",
    users="ONNX QuantizeLinear and by ONNX Runtime's MLAS",
    rows=("12", "25"),
)
def round_even_then_offset(
    values: Float32s, scale: np.float32 | float, zero_point: int, to: Output = np.uint8
) -> Integers:
    """Round v / scale to nearest, ties to even, then add the zero point and saturate.

    NaN is not defined.

    >>> round_even_then_offset(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([1, 3, 1], dtype=uint8)
    """
    return _offset_exactly(np.rint(_quotient(values, scale)), zero_point, to)


@convention(
    formula="clamp(round(float32(v / s)) + z, 0, 255)",
    users=(
        "the scalar code of ACL, by ArmNN, by ArmNN's float reference, which so differs from its fixed-point class, "
        "and by the reference QUANTIZE of TFLite"
    ),
    rows=("12", "16"),
)
def round_away_then_offset(
    values: Float32s, scale: np.float32 | float, zero_point: int, to: Output = np.uint8
) -> Integers:
    """Round v / scale to nearest, ties away from zero, then add the zero point and saturate.

    NaN is not defined.

    >>> round_away_then_offset(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([2, 3, 0], dtype=uint8)
    """
    quotient = _quotient(values, scale)
    return _offset_exactly(np.sign(quotient) * np.floor(np.abs(quotient) + 0.5), zero_point, to)


@convention(
    formula="clamp(rint(float32(z + float32(v * float32(1 / s)))), 0, 255)",
    users=(
        "the vectors of ACL on AArch64 where product and sum are not contracted, and by fbgemm's Quantize in its "
        "default, legacy order"
    ),
    rows=("12",),
)
def offset_then_round_even(values: Float32s, scale: np.float32 | float, zero_point: int) -> Uint8Array:
    """Add the zero point to v times the reciprocal of the scale, then round ties to even and saturate; NaN gives 0.

    >>> offset_then_round_even(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([2, 2, 0], dtype=uint8)
    """
    return _saturated(to_int32_ties_even(_placed(values, scale, zero_point)))


@convention(
    formula="clamp(rint(float32(z + v * float32(1 / s))), 0, 255), the inner sum rounded once",
    users=(
        "the vectors of ACL on AArch64 in a build that contracts, as compilers do by default, and by PyTorch's "
        "quantize_per_tensor in its wheel for x86-64"
    ),
    rows=("12",),
)
def offset_then_round_even_fused(values: Float32s, scale: np.float32 | float, zero_point: int) -> Uint8Array:
    """As `offset_then_round_even`, with product and sum contracted to one FMLA.

    >>> value = np.array([-0.95], np.float32)
    >>> offset_then_round_even(value, 0.1, 10), offset_then_round_even_fused(value, 0.1, 10)
    (array([0], dtype=uint8), array([1], dtype=uint8))
    """
    reciprocal, zero = _reciprocal(scale), np.float32(_zero(zero_point))
    return _saturated(to_int32_ties_even(fused_multiply_add(_float32(values), reciprocal, zero)))


@convention(
    formula="clamp(trunc(float32(z + float32(v * float32(1 / s)))), 0, 255)",
    users="the vectors of ACL on AArch32",
    rows=("12",),
)
def offset_then_truncate(values: Float32s, scale: np.float32 | float, zero_point: int) -> Uint8Array:
    """Add the zero point to v times the reciprocal of the scale, then truncate and saturate; NaN gives 0.

    >>> offset_then_truncate(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([1, 2, 0], dtype=uint8)
    """
    return _saturated(to_int32_truncated(_placed(values, scale, zero_point)))


@convention(
    formula="clamp(rint(float32(v * float32(1 / s))) + z, 0, 255)",
    users="fbgemm without its legacy order, XNNPACK and by TFLite's optimised QUANTIZE (PyTorch: row 12)",
    rows=("25",),
)
def reciprocal_round_even_then_offset(
    values: Float32s, scale: np.float32 | float, zero_point: int, to: Output = np.uint8
) -> Integers:
    """As `round_even_then_offset`, with a product by the reciprocal for the quotient.

    NaN is not defined.

    >>> value, scale = np.array([0.273939937], np.float32), 0.00214854861
    >>> reciprocal_round_even_then_offset(value, scale, 0), round_even_then_offset(value, scale, 0)
    (array([128], dtype=uint8), array([127], dtype=uint8))
    """
    return _offset_exactly(np.rint(_product(values, scale)), zero_point, to)


@convention(
    formula="clamp(rint(float32(v / s)) + z, -128, 127)",
    users="ONNX QuantizeLinear and by ONNX Runtime's MLAS, to int8",
    rows=("26",),
)
def int8_round_even_then_offset(values: Float32s, scale: np.float32 | float, zero_point: int) -> Int8Array:
    """As `round_even_then_offset`, to int8.

    >>> int8_round_even_then_offset(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([1, 3, 1], dtype=int8)
    """
    return round_even_then_offset(values, scale, zero_point, np.int8)


@convention(
    formula="clamp(rint(float32(v * float32(1 / s))) + z, -128, 127)",
    users="fbgemm without its legacy order, XNNPACK and by TFLite's optimised QUANTIZE, to int8 (PyTorch: row 30)",
    rows=("26", "30"),
)
def int8_reciprocal_round_even_then_offset(values: Float32s, scale: np.float32 | float, zero_point: int) -> Int8Array:
    """As `reciprocal_round_even_then_offset`, to int8.

    >>> int8_reciprocal_round_even_then_offset(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([1, 3, 1], dtype=int8)
    """
    return reciprocal_round_even_then_offset(values, scale, zero_point, np.int8)


@convention(
    formula="clamp(rint(float32(z + float32(v * float32(1 / s)))), -128, 127)",
    users="fbgemm's Quantize in its default, legacy order, and by PyTorch where parameters are floats (embeddings)",
    rows=("26", "30"),
)
def int8_offset_then_round_even(values: Float32s, scale: np.float32 | float, zero_point: int) -> Int8Array:
    """Add the zero point to v times the reciprocal of the scale, then round ties to even, to int8; NaN gives 0.

    An odd zero point moves ties: they are even after it is added.

    >>> int8_offset_then_round_even(np.array([0.5, 1.5, -0.5], np.float32), 1.0, 1)
    array([2, 2, 0], dtype=int8)
    """
    return _saturated(to_int32_ties_even(_placed(values, scale, zero_point, np.int8)), np.int8)


@convention(
    formula="clamp(rint(float32(z + v * float32(1 / s))), -128, 127), the inner sum rounded once",
    users="PyTorch's quantize_per_tensor to qint8 in its wheel for x86-64",
    rows=("30",),
)
def int8_offset_then_round_even_fused(values: Float32s, scale: np.float32 | float, zero_point: int) -> Int8Array:
    """As `offset_then_round_even_fused`, to int8.

    >>> value = np.array([-0.95], np.float32)
    >>> int8_offset_then_round_even(value, 0.1, 10), int8_offset_then_round_even_fused(value, 0.1, 10)
    (array([0], dtype=int8), array([1], dtype=int8))
    """
    reciprocal, zero = _reciprocal(scale), np.float32(_zero(zero_point, np.int8))
    return _saturated(to_int32_ties_even(fused_multiply_add(_float32(values), reciprocal, zero)), np.int8)


def _quotient(values: Float32s, scale: np.float32 | float) -> Float64Array:
    """float32(v / s), as float64 so that a half can be added exactly; without NaN."""
    with np.errstate(over="ignore", under="ignore"):
        quotient = _float32(values) / _scale(scale)
    if np.isnan(quotient).any():
        raise ValueError("values hold NaN: this convention does not say what byte it becomes")
    return quotient.astype(np.float64)


def _product(values: Float32s, scale: np.float32 | float) -> Float64Array:
    """float32(v * float32(1 / s)), as float64 so that a zero point can be added exactly; without NaN."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        product = _float32(values) * _reciprocal(scale)
    if np.isnan(product).any():
        raise ValueError("values hold NaN: this convention does not say what byte it becomes")
    return product.astype(np.float64)


def _placed(values: Float32s, scale: np.float32 | float, zero_point: int, byte: Byte = np.uint8) -> Float32Array:
    zero = np.float32(_zero(zero_point, byte))
    with np.errstate(all="ignore"):
        return np.asarray(_float32(values) * _reciprocal(scale) + zero)


def _reciprocal(scale: np.float32 | float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(1) / _scale(scale)


def _offset_exactly(integral: Float64Array, zero_point: int, to: Output) -> Integers:
    limits = np.iinfo(to)
    return np.asarray(np.clip(integral + _zero(zero_point, to), limits.min, limits.max)).astype(to)


def _saturated(integers: Int32Array, to: Byte = np.uint8) -> Integers:
    limits = np.iinfo(to)
    return clamp(integers, limits.min, limits.max).astype(to)


def _float32(values: Any) -> Float32Array:
    require_float32(values, "values")
    return np.asarray(values)


def _scale(scale: np.float32 | float) -> np.float32:
    if not isinstance(scale, np.float32 | float) or isinstance(scale, np.float64):
        raise TypeError(f"scale is {scale!r}: give a float32 or a Python float")
    with np.errstate(over="ignore", under="ignore"):
        nearest = np.float32(scale)
    if not (np.isfinite(nearest) and nearest > 0):
        raise ValueError(f"scale is {scale}: as float32 it must be finite and above 0")
    return nearest


def _zero(zero_point: int, to: Output = np.uint8) -> int:
    if not isinstance(zero_point, int) or isinstance(zero_point, bool):
        raise TypeError(f"zero_point is {zero_point!r}: give an int")
    low, high = int(np.iinfo(to).min), int(np.iinfo(to).max)
    if not low <= zero_point <= high:
        raise ValueError(f"zero_point is {zero_point}: it must lie in {low}..{high}")
    return zero_point
