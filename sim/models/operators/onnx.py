"""The layers of ONNX that take scales and zero points, of ONNX Runtime's own QGemm, QLinearAdd, QLinearMul
and QLinearGlobalAveragePool, and those of floating point between DequantizeLinear and QuantizeLinear.

Sources: the operators' definitions, those of ONNX and those that ONNX Runtime adds, and ONNX Runtime's
`core/providers/cpu/quantization/qlinearconv.cc`, where the factor is (scale of x * scale of w) / scale of y in float32;
images are [N, C, H, W].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import wrap_int32
from sim.golden.pytorch.real_bias import LayerScales
from sim.models.layers import (
    Activated,
    Added,
    Computed,
    FromReals,
    Inputs,
    Pooled,
    Requantized,
    added,
    broadcast,
    centred,
    moved,
    operand,
    quantized,
    require_one_scale,
    scale_of,
    to_reals,
)
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed
from sim.models.onnx_pairs import PAIRED
from sim.models.operators.activation import activation_bounds
from sim.models.operators.sums import WindowSteps, convolved, matrix_product, patches_of, same_pads
from sim.models.rules.real_bias import RealBias

_LARGEST_BIAS: Final = 1 << 31
_LIMITS: Final[Mapping[str, Any]] = {"auto_pad": "NOTSET", "strides": [1, 1], "dilations": [1, 1], "pads": [0, 0, 0, 0]}
"""What the attributes of a window are where they are left out."""


def _convolution(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    x, weights = centred(network, layer, 0, given), centred(network, layer, 1, given)
    if x.ndim != 4 or weights.ndim != 4:
        raise NotComputed("it is a convolution of other than images")
    groups = int(layer.options.get("group", 1))
    if groups < 1 or len(weights) % groups or x.shape[1] != weights.shape[1] * groups:
        raise NotComputed("its groups do not go with its channels")
    patches = patches_of_image(x, weights.shape[2:], layer.options)
    of_input, of_output = weights.shape[1], len(weights) // groups
    parts = []
    for group in range(groups):
        own = weights[group * of_output : (group + 1) * of_output].transpose(0, 2, 3, 1)
        parts.append(convolved(patches[:, :, :, group * of_input : (group + 1) * of_input], own))
    sums = np.concatenate(parts, axis=-1)
    return _with_bias(network, layer, sums.transpose(0, 3, 1, 2), given, axis=1)


def _matrix_product(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    a, b = centred(network, layer, 0, given), centred(network, layer, 1, given)
    if b.ndim < 2 or a.ndim < (1 if b.ndim == 2 else 2) or layer.options.get("transA"):
        raise NotComputed("it is not of matrices, or its first is transposed")
    if any(layer.options.get(name, 1.0) != 1.0 for name in ("alpha", "beta")):
        raise NotComputed("it multiplies its product or its bias by a number")
    b = b.T if layer.options.get("transB") else b
    if b.ndim > 2:
        return _with_bias(network, layer, matrix_product(a, b), given, axis=-1)
    sums = matrix_product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[1])
    return _with_bias(network, layer, sums, given, axis=-1)


def _with_bias(
    network: Network, layer: NetworkLayer, sums: npt.NDArray[np.int64], given: Inputs, axis: int
) -> Requantized:
    """Sums of products with their bias: integers in units of the sums, or real numbers, which are rounded to these."""
    of_a, of_b = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    with np.errstate(all="ignore"):  # a file may have any numbers; what is not finite is not tried
        of_sums = of_a * of_b
    bias: AnyArray = np.zeros(1, np.int64)
    has_bias = len(layer.inputs) > 2 and layer.inputs[2] in given
    if has_bias:
        bias = given[layer.inputs[2]].reshape(-1)
    if bias.size not in (1, sums.shape[axis]) or not np.isfinite(bias).all() or bias.dtype.kind not in "iuf":
        raise NotComputed("its bias is not one finite number for each channel")
    if bias.dtype.kind == "f":
        real = bias.astype(np.float32)
        with np.errstate(all="ignore"):
            units = np.rint(real * (np.float32(1) / of_sums)).astype(np.float64)
        if not (np.abs(units) < _LARGEST_BIAS).all():
            raise NotComputed("its bias is too large for its scales")
        whole = units.astype(np.int64)
    else:
        whole = np.broadcast_to(bias.astype(np.int64), np.broadcast_shapes(bias.shape, of_sums.shape))
        real = (whole * of_sums).astype(np.float32)
    along = [1] * sums.ndim
    along[axis] = -1
    made = _requantized(network, layer, sums + whole.reshape(along), axis)
    if not has_bias and layer.operator not in PAIRED:  # PyTorch, whose nets are pairs, computes so without a bias too
        return made
    try:
        scales = LayerScales(of_a, of_b, scale_of(network.output_of(layer)).scales)
    except ValueError as error:
        raise NotComputed(str(error)) from None
    return replace(made, real=RealBias(real, whole, scales))


def _requantized(network: Network, layer: NetworkLayer, sums: npt.NDArray[np.int64], axis: int) -> Requantized:
    of_a, of_b = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    output = network.output_of(layer)
    scale = scale_of(output)
    with np.errstate(all="ignore"):
        factor, reciprocal = of_a * of_b / scale.scales, of_a * of_b * (np.float32(1) / scale.scales)
    minimum, maximum = _bounds(network, layer)
    return Requantized(
        accumulators=wrap_int32(sums).astype(np.int32), scale=factor.astype(np.float64), reciprocal=reciprocal,
        zero_point=scale.zero_point, minimum=minimum, maximum=maximum, axis=axis,
    )  # fmt: skip


def _bounds(network: Network, layer: NetworkLayer) -> tuple[int | None, int | None]:
    output = network.output_of(layer)
    return activation_bounds(layer.options.get("FusedActivationFunction", "NONE"), scale_of(output), output.dtype)


def addition(network: Network, layer: NetworkLayer, given: Inputs) -> Added:
    """Of bytes, broadcast, bounded by a Relu between."""
    minimum, maximum = _bounds(network, layer)
    return replace(added(network, layer, given), minimum=minimum, maximum=maximum)


def _requantization(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """Integers of one scale that become those of another, through real numbers."""
    return FromReals(numbers=to_reals(network, layer, given).exact, scale=scale_of(network.output_of(layer)))


def _quantization(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    is_real = operand(layer, 0, given).dtype == np.float32
    return (quantized if is_real else _requantization)(network, layer, given)


def patches_of_image(
    x: npt.NDArray[np.int64], size: Sequence[int], options: Mapping[str, Any]
) -> npt.NDArray[np.int64]:
    """[N, H', W', C, kh, kw] of images [N, C, H, W], with zeros around them; raises NotComputed."""
    return patches_of(x.transpose(0, 2, 3, 1), size, window_of(x.shape[2:], size, options))


def window_of(lengths: Sequence[int], size: Sequence[int], options: Mapping[str, Any]) -> WindowSteps:
    """How a window of that size goes over an image of those lengths; raises NotComputed."""
    padding, strides, dilations, pads = (options.get(name, default) for name, default in _LIMITS.items())
    widths = [(of - 1) * dilation + 1 for of, dilation in zip(size, dilations, strict=True)]
    if padding == "NOTSET":
        around = [(int(pads[0]), int(pads[2])), (int(pads[1]), int(pads[3]))]
    elif padding in ("SAME_UPPER", "SAME_LOWER"):
        around = same_pads(lengths, widths, strides)
        around = [pair[::-1] for pair in around] if padding == "SAME_LOWER" else around
    elif padding == "VALID":
        around = [(0, 0), (0, 0)]
    else:
        raise NotComputed(f"its padding is {padding}")
    if options.get("ceil_mode") and padding == "NOTSET" and min(strides) > 0:
        each = zip(lengths, widths, strides, around, strict=True)
        around = [(pair[0], pair[1] + _beyond(length, width, stride, pair)) for length, width, stride, pair in each]
    return WindowSteps(strides, dilations, around)


def _beyond(length: int, width: int, stride: int, pair: tuple[int, int]) -> int:
    """By how much the last window is larger than what is left, if it begins in the image or before it."""
    steps = -(-(length + sum(pair) - width) // stride)
    steps -= steps * stride >= length + pair[0]
    return max(steps * stride + width - length - sum(pair), 0)


def _product(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """Products of two tensors, element by element, broadcast."""
    a, b = broadcast(*(centred(network, layer, place, given) for place in (0, 1)))
    return _requantized(network, layer, a * b, axis=-1)


def _largest(network: Network, layer: NetworkLayer, given: Inputs) -> Pooled:
    """The largest of each window; what lies outside of the image is smaller than all of it."""
    x = operand(layer, 0, given)
    if x.dtype.kind not in "iu":
        raise NotComputed("it is of floating point")
    require_one_scale(network, layer)
    lowest = int(np.iinfo(x.dtype).min)
    size = tuple(layer.options.get("kernel_shape", ()))
    found = patches_of_image(x.astype(np.int64) - lowest, size, layer.options).max(axis=(4, 5)) + lowest
    minimum, maximum = _bounds(network, layer) if "FusedActivationFunction" in layer.options else (None, None)
    return Pooled(sums=found.transpose(0, 3, 1, 2), counts=None, dtype=str(x.dtype), minimum=minimum, maximum=maximum)


def _average_of_all(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """The average of each channel: the sum without zero points, and the scale of x over those of y and the count."""
    x = centred(network, layer, 0, given)
    if x.ndim != 4 or layer.options.get("channels_last"):
        raise NotComputed("its image has not four axes, channels second")
    of_x, of_y = (scale_of(tensor) for tensor in (network.tensors[layer.inputs[0]], network.output_of(layer)))
    count = np.float32(x.shape[2] * x.shape[3])
    return Requantized(
        accumulators=x.sum(axis=(2, 3), keepdims=True).astype(np.int32), minimum=None, maximum=None,
        scale=(of_x.scales / (of_y.scales * count)).astype(np.float64), zero_point=of_y.zero_point, axis=1,
        reciprocal=of_x.scales / of_y.scales * (np.float32(1) / count),
    )  # fmt: skip


def _activated(network: Network, layer: NetworkLayer, given: Inputs) -> Activated:
    """Logistic and tanh of the real numbers that bytes stand for."""
    x, scale, to = operand(layer, 0, given), scale_of(network.tensors[layer.inputs[0]]), network.output_of(layer)
    of_output = scale_of(to)
    if x.dtype not in (np.int8, np.uint8) or scale.scales.size > 1 or of_output.scales.size > 1:
        raise NotComputed(f"{layer.operator} of {x.dtype} with {scale.counted} is not computed")
    if "FusedActivationFunction" in layer.options:
        raise NotComputed(f"{layer.operator} with {layer.options['FusedActivationFunction']} is not computed")
    return Activated(numbers=x, function=_FUNCTIONS[layer.operator], scale=scale, to=of_output)


def flattened(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The same numbers with two axes."""
    require_one_scale(network, layer)
    x, axis = operand(layer, 0, given), int(layer.options.get("axis", 1))
    same: AnyArray = x.reshape(int(np.prod(x.shape[:axis])), -1)
    return same


def reshaped(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The same numbers in the shape that the file states, or that its second input is.

    There 0 is the size of the input's axis, unless `allowzero` says that it is 0.
    """
    if network.output_of(layer).shape is not None:
        return moved(network, layer, given)
    require_one_scale(network, layer)
    x, wanted = operand(layer, 0, given), operand(layer, 1, given).tolist()
    kept = not layer.options.get("allowzero")
    same: AnyArray = x.reshape([x.shape[axis] if size == 0 and kept else size for axis, size in enumerate(wanted)])
    return same


_FUNCTIONS: Final = {"Sigmoid": "logistic", "QLinearSigmoid": "logistic", "Tanh": "tanh"}
OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "QLinearConv": _convolution,
    "QLinearMatMul": _matrix_product,
    "QGemm": _matrix_product,
    "QLinearAdd": added,
    "Conv": _convolution,
    "MatMul": _matrix_product,
    "Gemm": _matrix_product,
    "Mul": _product,
    "GlobalAveragePool": _average_of_all,
    "QuantizeLinear": _quantization,
    "DequantizeLinear": to_reals,
    "QLinearMul": _product,
    "QLinearGlobalAveragePool": _average_of_all,
    "MaxPool": _largest,
    **dict.fromkeys(_FUNCTIONS, _activated),
}
MOVES: Final = ("Squeeze", "Unsqueeze")
"""Layers that only give numbers another shape, of any type."""
