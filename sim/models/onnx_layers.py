"""The layers of ONNX that take scales and zero points, and of ONNX Runtime's own QLinearAdd,
QLinearMul and QLinearGlobalAveragePool.

Sources: the operators' definitions, those of ONNX and those that ONNX Runtime adds, and ONNX Runtime's
`core/providers/cpu/quantization/qlinearconv.cc`, where the factor is (scale of x * scale of w) / scale of y in float32;
images are [N, C, H, W].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import wrap_int32
from sim.models.layers import Computed, Inputs, Pooled, Requantized, added, broadcast, centred, operand, scale_of
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed
from sim.models.sums import convolved, matrix_product, patches_of, same_pads

_LIMITS: Final[Mapping[str, Any]] = {"auto_pad": "NOTSET", "strides": [1, 1], "dilations": [1, 1], "pads": [0, 0, 0, 0]}
"""What the attributes of a window are where they are left out."""


def _convolution(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    x, weights = centred(network, layer, 0, given), centred(network, layer, 1, given)
    if x.ndim != 4 or weights.ndim != 4:
        raise NotComputed("it is a convolution of other than images")
    groups = int(layer.options.get("group", 1))
    if groups < 1 or len(weights) % groups or x.shape[1] != weights.shape[1] * groups:
        raise NotComputed("its groups do not go with its channels")
    patches = _patches(x, weights.shape[2:], layer.options)
    of_input, of_output = weights.shape[1], len(weights) // groups
    parts = []
    for group in range(groups):
        own = weights[group * of_output : (group + 1) * of_output].transpose(0, 2, 3, 1)
        parts.append(convolved(patches[:, :, :, group * of_input : (group + 1) * of_input], own))
    sums = np.concatenate(parts, axis=-1)
    if len(layer.inputs) > 2 and layer.inputs[2] in given:
        sums = sums + given[layer.inputs[2]].astype(np.int64)
    return _requantized(network, layer, sums.transpose(0, 3, 1, 2), axis=1)


def _matrix_product(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    a, b = centred(network, layer, 0, given), centred(network, layer, 1, given)
    if b.ndim != 2:
        raise NotComputed("its second matrix is a stack of matrices")
    sums = matrix_product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[1])
    return _requantized(network, layer, sums, axis=-1)


def _requantized(network: Network, layer: NetworkLayer, sums: npt.NDArray[np.int64], axis: int) -> Requantized:
    of_a, of_b = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    of_output = scale_of(network.output_of(layer))
    return Requantized(
        accumulators=wrap_int32(sums).astype(np.int32), scale=(of_a * of_b / of_output.scales).astype(np.float64),
        zero_point=of_output.zero_point, minimum=None, maximum=None, axis=axis,
    )  # fmt: skip


def _patches(x: npt.NDArray[np.int64], size: tuple[int, ...], options: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    padding, strides, dilations, pads = (options.get(name, default) for name, default in _LIMITS.items())
    image = x.transpose(0, 2, 3, 1)
    widths = [(of - 1) * dilation + 1 for of, dilation in zip(size, dilations, strict=True)]
    if padding == "NOTSET":
        around = [(int(pads[0]), int(pads[2])), (int(pads[1]), int(pads[3]))]
    elif padding in ("SAME_UPPER", "SAME_LOWER"):
        around = same_pads(image.shape[1:3], widths, strides)
        around = [pair[::-1] for pair in around] if padding == "SAME_LOWER" else around
    elif padding == "VALID":
        around = [(0, 0), (0, 0)]
    else:
        raise NotComputed(f"its padding is {padding}")
    return patches_of(image, size, strides, dilations, around)


def _product(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """Products of two tensors, element by element, broadcast."""
    a, b = broadcast(*(centred(network, layer, place, given) for place in (0, 1)))
    return _requantized(network, layer, a * b, axis=-1)


def _largest(network: Network, layer: NetworkLayer, given: Inputs) -> Pooled:
    """The largest of each window; what lies outside of the image is smaller than all of it."""
    x = operand(layer, 0, given)
    if layer.options.get("ceil_mode") or x.dtype.kind not in "iu":
        raise NotComputed("it rounds the number of windows up, or is of floating point")
    lowest = int(np.iinfo(x.dtype).min)
    size = tuple(layer.options.get("kernel_shape", ()))
    found = _patches(x.astype(np.int64) - lowest, size, layer.options).max(axis=(4, 5)) + lowest
    return Pooled(sums=found.transpose(0, 3, 1, 2), counts=None, dtype=str(x.dtype))


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
    )  # fmt: skip


def flattened(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The same numbers with two axes."""
    x, axis = operand(layer, 0, given), int(layer.options.get("axis", 1))
    same: AnyArray = x.reshape(int(np.prod(x.shape[:axis])), -1)
    return same


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "QLinearConv": _convolution,
    "QLinearMatMul": _matrix_product,
    "QLinearAdd": added,
    "QLinearMul": _product,
    "QLinearGlobalAveragePool": _average_of_all,
    "MaxPool": _largest,
}
MOVES: Final = ("Reshape", "Squeeze", "Unsqueeze")
"""Layers that only give numbers another shape, of any type."""
