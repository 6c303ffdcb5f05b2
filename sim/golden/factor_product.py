"""An int32 accumulator times a real factor: a derivation of `sim.golden.derivation` and the scaling that goes with it.

Operands: `values` as in `sim.golden.fixed_point`, and one real `factor`; the result is a new int32 array. `TypeError`
and `ValueError` as in the derivation and the scaling, a factor that the system refuses among them.
"""

from typing import Final

import numpy as np

from sim.golden.declaration import convention
from sim.golden.derivation import (
    Real,
    derive_acl_19_08,
    derive_acl_20_02,
    derive_armnn,
    derive_tflite,
    derive_tflite_single_rounding,
)
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array, Integers, as_int32, int32_operand
from sim.golden.scaling import (
    double_rounding,
    scale_float_ties_even,
    scale_operand,
    shift_after_rounding_in_tail,
    single_rounding,
)

MAGIC: Final = np.float32(3 << 22)
"""1.5 * 2^23: from 2^23 to 2^24 a float32 counts integers, so a sum with it is rounded to one, ties to even."""


@convention(
    formula="double_rounding(x, derive_armnn(factor)), 0 <= factor < 1",
    users="ArmNN's QuantizedMultiplierSmallerThanOne",
    rows=("6", "6b", "6c", "6d", "16"),
)
def product_armnn(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as ArmNN's class does; a factor in (0, 2^-32) is refused, upstream leaves it undefined.

    >>> product_armnn(1, 0.25)
    array(1, dtype=int32)
    """
    return double_rounding(values, *derive_armnn(factor))


@convention(
    formula="shift_after_rounding_in_tail(x, derive_armnn(factor)), 0 <= factor < 1",
    users="ArmNN's QuantizedMultiplierSmallerThanOne, compiled",
    rows=("6c",),
)
def product_armnn_count_mod_32(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as ArmNN's class does in a build for x86, where a shift counts modulo 32.

    >>> product_armnn_count_mod_32(1000, 2.0**-33)
    array(500, dtype=int32)
    """
    return shift_after_rounding_in_tail(values, *derive_armnn(factor))


@convention(
    formula="double_rounding(x, derive_acl_19_08(factor))",
    users="ACL 19.08",
    rows=("6", "6b"),
)
def product_acl_19_08(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as the layers of ACL 19.08 do: near 1 it becomes 2^-31, near 0 it becomes 0.

    >>> product_acl_19_08(100, 1.0), product_acl_19_08(10**7, 9e-6)
    (array(0, dtype=int32), array(0, dtype=int32))
    """
    return double_rounding(values, *derive_acl_19_08(factor))


@convention(
    formula="double_rounding(x, derive_acl_20_02(factor))",
    users="ACL 20.02 and later",
    rows=("6", "6b", "6d"),
)
def product_acl_20_02(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as the layers of ACL 20.02 do: near 0 it becomes 0, from 1 on there is a left shift.

    >>> product_acl_20_02(100, 1.0), product_acl_20_02(10**7, 9e-6)
    (array(100, dtype=int32), array(0, dtype=int32))
    """
    return double_rounding(values, *derive_acl_20_02(factor))


@convention(
    formula="double_rounding(x, derive_tflite(factor))",
    users="TFLite's default build",
    rows=("6", "6b", "6c", "6d"),
)
def product_tflite(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as TFLite's default build does; a factor below 2^-32 becomes 0.

    >>> product_tflite(np.array([100, 1000]), 1.0), product_tflite(1000, 2.0**-33)
    (array([ 100, 1000], dtype=int32), array(0, dtype=int32))
    """
    return double_rounding(values, *derive_tflite(factor))


@convention(
    formula="single_rounding(x, derive_tflite_single_rounding(factor)), factor >= 0",
    users="TFLite's single-rounding build",
    rows=("1", "1b"),
)
def product_tflite_single_rounding(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor as TFLite's single-rounding build does.

    >>> product_tflite_single_rounding(1, 0.25)
    array(0, dtype=int32)
    """
    return single_rounding(values, *derive_tflite_single_rounding(factor))


@convention(
    formula="saturate(round(float32(float32(x) * float32(factor))))",
    users="ArmNN's float reference of quantized layers, before its zero point",
    rows=("16",),
)
def product_in_float(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor in float32 and round to nearest, ties away from zero; int32 saturates.

    >>> product_in_float(np.array([1, 2, -2]), 0.25)
    array([ 0,  1, -1], dtype=int32)
    """
    with np.errstate(over="ignore"):  # an infinite product saturates
        single = np.float32(factor)
        if not np.isfinite(single):
            raise ValueError(f"the factor is {factor}: give a number that is finite in float32")
        exact = (int32_operand(values, "values").astype(np.float32) * single).astype(np.float64)
    rounded = np.sign(exact) * np.floor(np.abs(exact) + 0.5)
    return as_int32(np.clip(rounded, INT32_MIN, INT32_MAX).astype(np.int64))


@convention(
    formula="scale_float_ties_even(x, float32(factor)), factor 2^-32 up to but not 256",
    users=(
        "XNNPACK's fp32 requantization (qs8, qc8), ONNX Runtime's MLAS, PyTorch and fbgemm, and by QNNPACK's fp32 "
        "form, before zero point and bounds"
    ),
    rows=("24", "31"),
)
def product_xnnpack(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor in float32 and round to nearest, ties to even; int32 saturates.

    >>> product_xnnpack(np.array([1, 2, 6]), 0.25)
    array([0, 0, 2], dtype=int32)
    """
    return scale_float_ties_even(values, np.float32(factor))


@convention(
    formula="saturate(bits(float32(float32(float32(x) * float32(factor)) + 1.5 * 2^23)) - bits(1.5 * 2^23))",
    users="the kernels of XNNPACK's fp32 requantization (qc8) that bound the integer, before zero point and bounds",
    rows=("24",),
)
def product_by_magic_number(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor in float32 and round by adding 1.5 * 2^23, whose bits are then those of an integer.

    It equals `product_xnnpack` where the product lies in -2^22..2^22; outside it rises with the product, faster at
    first, so that bounds of 8 or 16 bits hide it.  A factor as there.

    >>> product_by_magic_number(np.array([1, 2, 6, 2**22 + 1]), 1.0), product_by_magic_number(-(2**22) - 1, 1.0)
    (array([      1,       2,       6, 4194304], dtype=int32), array(-4194306, dtype=int32))
    """
    scaled = int32_operand(values, "values").astype(np.float32) * scale_operand(np.float32(factor))
    bits = np.asarray(scaled + MAGIC).view(np.int32).astype(np.int64) - int(MAGIC.view(np.int32))
    return as_int32(np.maximum(bits, INT32_MIN))


@convention(
    formula="floor((x * rint(256 factor) + 128) / 256), factor 2^-8 up to 2^7",
    users="XNNPACK's qs8 and qu8 converts, so LiteRT's QUANTIZE of integers to others of the same type, before bounds",
    rows=("31",),
)
def product_of_eight_bits(values: Integers, factor: Real) -> Int32Array:
    """Multiply by a factor of eight bits behind the point, ties up: where only few bits are multiplied.

    The result saturates to int32, where upstream's would wrap: its values are bytes.

    >>> product_of_eight_bits(130, 0.01), product_xnnpack(130, 0.01)
    (array(2, dtype=int32), array(1, dtype=int32))
    """
    if not 2.0**-8 <= factor <= 2.0**7:
        raise ValueError(f"the factor is {factor}: it must lie in 2^-8..2^7")
    wide = int32_operand(values, "values") * int(np.rint(256 * float(factor)))
    return as_int32(np.clip((wide + 128) >> 8, INT32_MIN, INT32_MAX))
