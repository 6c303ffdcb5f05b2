"""Quantized addition of uint8 as PyTorch computes it: by vectors of its processor, behind them, and in QNNPACK.

The contract of every `add_*` is that of `sim.golden.addition`; the activation is the lower bound zd.
Source: docs/spec/requantization.md section 6.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.addition import (
    AddParameters,
    Bytes,
    Quantization,
    Uint8Array,
    byte_operand,
    dequantize,
    factors_of,
    integer_operands,
    require_identity_or_relu,
)
from sim.golden.declaration import convention
from sim.golden.fixed_point import divide_by_power_of_two_ties_away, wrap_int32
from sim.golden.floating_point import Float32Array, fused_multiply_add, to_int32_ties_even
from sim.golden.integer_addition import multipliers_of_bits

_BITS_OF_A_MULTIPLIER: Final = 22


@convention(
    formula=(
        "clamp(rint((a' + b') * float32(1 / sd)) + zd, 0, 255), a' = a * sa + float32(-za * sa) rounded once, b' too"
    ),
    users="PyTorch's quantized::add on x86-64, in whole vectors of a tensor",
    rows=("27",),
)
def add_pytorch(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Fused products, a sum, a product by the reciprocal, ties to even, then the zero point.

    >>> scales = AddParameters(Quantization(0.5), Quantization(0.5), Quantization(1.0, 1))
    >>> add_pytorch(0, 1, scales), add_pytorch_tail(0, 1, scales)
    (array(1, dtype=uint8), array(2, dtype=uint8))
    """
    with np.errstate(all="ignore"):
        quotient = np.asarray((_fused(a, parameters.a) + _fused(b, parameters.b)) * _reciprocal(parameters))
    return _bounded(to_int32_ties_even(quotient).astype(np.int64) + parameters.output.zero_point, parameters)


@convention(
    formula="clamp(rint(((a - za) * sa + (b - zb) * sb) * float32(1 / sd) + zd), 0, 255), each step in float32",
    users="PyTorch's quantized::add on x86-64, behind the last whole vector of a tensor, or of a thread's part of it",
    rows=("27",),
)
def add_pytorch_tail(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Differences of bytes, products, a sum, a product by the reciprocal, the zero point, then ties to even.

    >>> scales = AddParameters(Quantization(0.5), Quantization(0.5), Quantization(1.0))
    >>> add_pytorch_tail(0, 1, scales), add_pytorch_tail(0, 3, scales)
    (array(0, dtype=uint8), array(2, dtype=uint8))
    """
    with np.errstate(all="ignore"):
        quotient = (dequantize(a, parameters.a) + dequantize(b, parameters.b)) * _reciprocal(parameters)
        placed = np.asarray(quotient + parameters.output.zero)
    return _bounded(to_int32_ties_even(placed), parameters)


@convention(
    formula=(
        "clamp(RDP(A (a - za) + B (b - zb), s) + zd, 0, 255), A = rint(sa/sd 2^s), B likewise, s = 21 - the exponent "
        "of the larger of sa/sd and sb/sd"
    ),
    users="QNNPACK, so PyTorch's quantized::add with the engine qnnpack",
    rows=("27",),
)
def add_qnnpack(a: Bytes, b: Bytes, parameters: AddParameters) -> Uint8Array:
    """Two multipliers of at most 22 bits, one rounding, ties away from zero: XNNPACK's has 21 bits and ties up.

    Scales must be above 0, finite, and 2^-10 up to 2^8 of the output's for the larger one, zero points in 0..255, else
    `ValueError`.

    >>> scales = AddParameters(Quantization(0.5, 3), Quantization(0.5), Quantization(1.0, 10))
    >>> add_qnnpack(0, 0, scales), add_qnnpack(4, 0, scales)
    (array(8, dtype=uint8), array(11, dtype=uint8))
    """
    left, right = integer_operands(a, b, parameters, "PyTorch's add")
    first, second, shift = multipliers_of_bits(_BITS_OF_A_MULTIPLIER, *factors_of(parameters), "QNNPACK")
    total = wrap_int32(left * first + right * second)
    placed = divide_by_power_of_two_ties_away(total, shift).astype(np.int64) + parameters.output.zero_point
    return _bounded(placed, parameters)


def _fused(values: Bytes, quantization: Quantization) -> Float32Array:
    """Byte * scale - zero point * scale, the last product rounded, the rest at once."""
    scale = np.float32(quantization.scale)
    return fused_multiply_add(byte_operand(values, "values").astype(np.float32), scale, -quantization.zero * scale)


def _reciprocal(parameters: AddParameters) -> np.float32:
    return np.float32(1) / np.float32(parameters.output.scale)


def _bounded(placed: npt.NDArray[np.integer[Any]], parameters: AddParameters) -> Uint8Array:
    require_identity_or_relu(parameters.activation, "PyTorch's add")
    lowest = max(parameters.output.zero_point, 0) if parameters.relu else 0
    return np.asarray(np.clip(placed, lowest, 255)).astype(np.uint8)
