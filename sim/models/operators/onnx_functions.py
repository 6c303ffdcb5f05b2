"""Layers of ONNX between any two scales that ONNX Runtime computes by real numbers or tables: averages of windows,
softmax, leaky and parametric ReLU, differences, and tensors that are joined.

Sources: ONNX's definitions, and ONNX Runtime's `contrib_ops/cpu/quantization`: `qlinear_pool.cc`, `qlinear_softmax.cc`,
`qlinear_lookup_table.cc` and `qlinear_concat.cc`; docs/spec/neighbours.md sections 31 and 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.golden.bounds import REALS
from sim.models.layers import (
    Added,
    Computed,
    FromReals,
    Inputs,
    Normalized,
    broadcast,
    centred,
    operand,
    scale_of,
    to_reals,
)
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, TensorScale, require_size
from sim.models.operators.onnx import addition, patches_of_image
from sim.models.rules.dequantizing import dequantized

_AT_ONCE: Final = 4
"""Arrays of 64 bits that a layer takes, each of the size of its windows."""
_LEAST_SHARE: Final = 2.0**-24
"""What a scale of shares may be: below that a byte holds none that float32 tells from 0."""
_FLATTENS: Final = 13
"""Softmax of an earlier version of the operators is over the axis and all behind it."""


def _average(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """The average of each window: real numbers added in float32, row by row, and divided by how many there are."""
    x, scale = centred(network, layer, 0, given), _plain_byte_scale(network, layer, given)
    size = tuple(layer.options.get("kernel_shape", ()))
    if x.ndim != 4 or len(size) != 2 or layer.options.get("channels_last"):
        raise NotComputed("it is not of images with their channels second")
    counted = np.ones((1, 1, *x.shape[2:]), np.int64)
    patches, ones = (patches_of_image(numbers, size, layer.options) for numbers in (x, counted))
    require_size((_AT_ONCE, *patches.shape))
    with np.errstate(over="ignore"):
        reals = patches.reshape(*patches.shape[:4], -1).astype(np.float32) * scale.scales[0]
        totals = np.add.accumulate(reals, axis=-1, dtype=np.float32)[..., -1]
    counts = np.asarray(size[0] * size[1] if layer.options.get("count_include_pad") else ones.sum(axis=(4, 5)))
    if not totals.size or counts.min() < 1 or not np.isfinite(totals).all():
        raise NotComputed("it has no windows, or one that lies outside of the image, or sums beyond float32")
    averages = np.asarray(totals / counts.astype(np.float32), np.float32).transpose(0, 3, 1, 2)
    return FromReals(numbers=averages, scale=one_scale(network, layer), of_windows=True)


def _leaky_relu(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """Real numbers, those below zero times alpha."""
    _plain_byte_scale(network, layer, given)
    x, alpha = to_reals(network, layer, given).exact, np.float32(layer.options.get("alpha", 0.01))
    with np.errstate(all="ignore"):  # a file may have any alpha
        scaled = alpha * x
    if not np.isfinite(scaled).all():
        raise NotComputed(f"its alpha is {alpha}")
    return FromReals(numbers=np.where(x >= 0, x, scaled), scale=one_scale(network, layer))


def _of_two(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """Sub, Div and PRelu of bytes, Add of int16: the real numbers of two operands, broadcast, in float32."""
    types = (np.int16,) if layer.operator == "Add" else (np.int8, np.uint8)
    parts = []
    for place in (0, 1):
        numbers, scale = operand(layer, place, given), scale_of(network.tensors[layer.inputs[place]])
        if numbers.dtype not in types or scale.scales.size > 1:
            raise NotComputed(f"{layer.operator} of {numbers.dtype} with {scale.counted} is not computed")
        parts.append(dequantized(numbers, scale.scales[0], scale.zero_point))
    a, b = broadcast(*parts)
    require_size((_AT_ONCE, *a.shape))
    with np.errstate(all="ignore"):  # a file may have any scales
        match layer.operator:
            case "Add":
                made = a + b
            case "Sub":
                made = a - b
            case "Div":
                made = a / b
            case _:
                made = np.where(a >= 0, a, a * b)
    if not np.isfinite(made).all():
        raise NotComputed("its numbers leave float32")
    return FromReals(numbers=rectified(layer, made), scale=one_scale(network, layer))


def _sum(network: Network, layer: NetworkLayer, given: Inputs) -> Added | FromReals:
    """Of int16 ONNX Runtime has no operator that takes the pairs too."""
    is_wide = network.output_of(layer).dtype == "int16"
    return _of_two(network, layer, given) if is_wide else addition(network, layer, given)


def _softmax(network: Network, layer: NetworkLayer, given: Inputs) -> Normalized:
    x, scale, of_output = operand(layer, 0, given), _plain_byte_scale(network, layer, given), one_scale(network, layer)
    is_whole = int(layer.options.get("opset", _FLATTENS)) < _FLATTENS
    axis = int(layer.options.get("axis", 1 if is_whole else -1))
    if not x.size or not -x.ndim <= axis < x.ndim:
        raise NotComputed("it has no numbers or no such axis")
    if not _LEAST_SHARE <= of_output.scales[0] <= 1:
        raise NotComputed(f"its output's scale is {of_output.scales[0]:g}, not from 2^-24 to 1")
    require_size((_AT_ONCE, *x.shape))
    return Normalized(
        numbers=x, scale=scale, to=of_output, dtype=str(x.dtype), beta=None, axis=axis % x.ndim, to_the_end=is_whole
    )


def _joined(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals | AnyArray:
    """One behind the other along an axis, those of other scales than the output's through real numbers."""
    parts = [operand(layer, place, given) for place in range(len(layer.inputs))]
    axis = int(layer.options.get("axis", 0))
    require_size((_AT_ONCE, sum(part.size for part in parts)))
    if len({part.dtype for part in parts}) > 1:
        raise NotComputed("its inputs have several types")
    if network.output_of(layer).scale is None:
        return np.concatenate(parts, axis=axis)
    to, scales = one_scale(network, layer), [scale_of(network.tensors[number]) for number in layer.inputs]
    if any(scale.scales.size > 1 for scale in scales) or "FusedActivationFunction" in layer.options:
        raise NotComputed("an input has a scale for each channel, or it is joined with an activation")
    if all((scale.scales[0], scale.zero_point) == (to.scales[0], to.zero_point) for scale in scales):
        return np.concatenate(parts, axis=axis)
    reals = [dequantized(part, scale.scales[0], scale.zero_point) for part, scale in zip(parts, scales, strict=True)]
    return FromReals(numbers=np.concatenate(reals, axis=axis), scale=to)


def byte_scale(network: Network, layer: NetworkLayer, given: Inputs) -> TensorScale:
    """The one scale of the first input; raises NotComputed for other than bytes."""
    x, scale = operand(layer, 0, given), scale_of(network.tensors[layer.inputs[0]])
    if x.dtype not in (np.int8, np.uint8) or scale.scales.size > 1:
        raise NotComputed(f"{layer.operator} of {x.dtype} with {scale.counted} is not computed")
    return scale


def _plain_byte_scale(network: Network, layer: NetworkLayer, given: Inputs) -> TensorScale:
    """And there is no activation behind: what ONNX Runtime fuses with one was not compared."""
    if "FusedActivationFunction" in layer.options:
        raise NotComputed(f"{layer.operator} with {layer.options['FusedActivationFunction']} is not computed")
    return byte_scale(network, layer, given)


def rectified(layer: NetworkLayer, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What a Relu, or a Clip to bounds that have a name, leaves of real numbers behind a layer."""
    low, high = REALS.get(layer.options.get("FusedActivationFunction", "NONE"), (None, None))
    numbers = numbers if low is None else np.maximum(numbers, np.float32(low))
    return numbers if high is None else np.minimum(numbers, np.float32(high))


def rectified_move(network: Network, layer: NetworkLayer, moved: AnyArray) -> FromReals:
    """Of numbers that are only moved, between pairs, what a Relu or Clip behind leaves of them."""
    scale = one_scale(network, layer)
    reals = dequantized(moved, scale.scales[0], scale.zero_point)
    return FromReals(numbers=rectified(layer, reals), scale=scale)


def one_scale(network: Network, layer: NetworkLayer) -> TensorScale:
    """That of the output; raises NotComputed where it has one for each channel."""
    scale = scale_of(network.output_of(layer))
    if scale.scales.size > 1:
        raise NotComputed("its output has a scale for each channel")
    return scale


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    **dict.fromkeys(("AveragePool", "QLinearAveragePool"), _average),
    **dict.fromkeys(("LeakyRelu", "QLinearLeakyRelu"), _leaky_relu),
    **dict.fromkeys(("Sub", "Div", "PRelu"), _of_two),
    "Add": _sum,
    **dict.fromkeys(("Softmax", "QLinearSoftmax"), _softmax),
    **dict.fromkeys(("Concat", "QLinearConcat"), _joined),
}
