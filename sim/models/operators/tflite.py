"""The layers of TensorFlow Lite.

Sources: its quantization specification and its reference kernels in `tensorflow/lite/kernels/internal/reference`
(`integer_ops/conv.h`, `integer_ops/depthwise_conv.h`, `integer_ops/fully_connected.h`) with `kernels/padding.h` and
`kernels/kernel_util.cc`; docs/spec/requantization.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import wrap_int32
from sim.kernels.activation_table.golden import FUNCTIONS, MODES
from sim.kernels.quantized_add.golden_tflite_pot import log2_of
from sim.models.layers import (
    Activated,
    Added,
    Averaged,
    Computed,
    FromReals,
    Inputs,
    Normalized,
    Pooled,
    Requantized,
    added,
    broadcast,
    centred,
    operand,
    quantized,
    scale_of,
    to_reals,
)
from sim.models.network import Network, NetworkLayer, NotComputed, require_size
from sim.models.operators.activation import activation_bounds
from sim.models.operators.sums import (
    WindowSteps,
    convolved,
    convolved_by_channel,
    matrix_product,
    patches_of,
    same_pads,
)
from sim.models.rules.functions.activated import activation_rules
from sim.models.rules.functions.activating import mode_of

_AT_ONCE: Final = 4
"""Arrays of 64 bits that a softmax takes, each of its size."""
_LARGEST_RATIO: Final = 1 << 22
"""Of scales, and what a zero point may be multiplied by."""
_INTEGERS: Final = ("int8", "uint8", "int16")
_SOFTMAXES: Final = {
    ("int8", "int8"): (1 / 256, -128),
    ("uint8", "uint8"): (1 / 256, 0),
    ("int8", "int16"): (1 / 65536, -32768),
    ("uint8", "int16"): (1 / 65536, -32768),
    ("int16", "int16"): (1 / 32768, 0),
}
"""By the types of input and output, the scale and the zero point of the output."""
_BYTES: Final = (("int8", "int8"), ("uint8", "uint8"))
_BOUNDED: Final = {
    **dict.fromkeys(("RELU", "RELU6"), (*_BYTES, ("int16", "int16"))),
    "RELU_N1_TO_1": _BYTES,
}
"""By operator, the types of input and output that TFLite takes."""


def requantized(
    network: Network, layer: NetworkLayer, sums: npt.NDArray[np.int64], given: Inputs, factor: npt.NDArray[np.float64]
) -> Requantized:
    """Sums of products of the first two inputs, with the third as bias; `factor` is the product of their scales."""
    output = network.output_of(layer)
    scale = scale_of(output)
    minimum, maximum = _bounds(network, layer)
    of_input, of_weights = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    with np.errstate(all="ignore"):  # a file may have any numbers; what is not finite is not tried
        single = of_input * of_weights / scale.scales[0]
    bias = given[layer.inputs[2]].astype(np.int64) if len(layer.inputs) > 2 and layer.inputs[2] in given else 0
    return Requantized(
        accumulators=wrap_int32(sums + bias).astype(np.int32), scale=factor / np.float64(scale.scales[0]),
        zero_point=scale.zero_point, minimum=minimum, maximum=maximum, single=single,
    )  # fmt: skip


def _fully_connected(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    if layer.options.get("WeightsFormat"):
        raise NotComputed("its weights are shuffled")
    x, weights = centred(network, layer, 0, given), centred(network, layer, 1, given)
    sums = matrix_product(x.reshape(-1, weights.shape[1]), weights.T).reshape(network.output_of(layer).shape)
    return requantized(network, layer, sums, given, product_of_scales(network, layer))


def _convolution(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    weights = centred(network, layer, 1, given)
    patches = _patches(centred(network, layer, 0, given), weights.shape[1:3], layer.options)
    if patches.shape[3] != weights.shape[3]:
        raise NotComputed("it is a grouped convolution")
    sums = convolved(patches, weights)
    return requantized(network, layer, sums, given, products_of_scales(network, layer))


def _depthwise(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    weights = centred(network, layer, 1, given)
    patches = _patches(centred(network, layer, 0, given), weights.shape[1:3], layer.options)
    channels = patches.shape[3]
    if weights.shape[3] % channels:
        raise NotComputed("its channels are not a multiple of those of its input")
    split = weights[0].reshape(*weights.shape[1:3], channels, -1)
    sums = convolved_by_channel(patches, split)
    return requantized(network, layer, sums, given, products_of_scales(network, layer))


def product_of_scales(network: Network, layer: NetworkLayer) -> npt.NDArray[np.float64]:
    """Of the first two inputs, in float32: GetQuantizedConvolutionMultipler."""
    of_input, of_weights = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    return np.asarray((of_input * of_weights).astype(np.float64))


def products_of_scales(network: Network, layer: NetworkLayer) -> npt.NDArray[np.float64]:
    """Of input and weights, in float64: PopulateConvolutionQuantizationParams."""
    of_input, of_weights = (scale_of(network.tensors[number]).scales for number in layer.inputs[:2])
    return of_input.astype(np.float64) * of_weights.astype(np.float64)


def _patches(x: npt.NDArray[np.int64], size: Sequence[int], options: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    return patches_of(x, size, window_of(x.shape[1:3], size, options))


def window_of(lengths: Sequence[int], size: Sequence[int], options: Mapping[str, Any]) -> WindowSteps:
    """How a window of that size goes over an image of those lengths; raises NotComputed."""
    dilations = [options.get(name, 1) for name in ("DilationHFactor", "DilationWFactor")]
    strides = [options.get(name, 1) for name in ("StrideH", "StrideW")]
    padding = options.get("Padding")
    if padding not in ("SAME", "VALID"):
        raise NotComputed("its padding is neither SAME nor VALID")
    widths = [(of - 1) * dilation + 1 for of, dilation in zip(size, dilations, strict=True)]
    pads = same_pads(lengths, widths, strides) if padding == "SAME" else [(0, 0), (0, 0)]
    return WindowSteps(strides, dilations, pads)


def _addition(network: Network, layer: NetworkLayer, given: Inputs) -> Added:
    """`by_powers` as `kernels/add.cc` has it: of 16 bits, marked, and all scales powers of two."""
    made = added(network, layer, given)
    is_marked = network.output_of(layer).dtype == "int16" and layer.options.get("PotScaleInt16", True)
    by_powers = is_marked and all(log2_of(float(scale.scales[0])) is not None for scale in made.scales)
    minimum, maximum = _bounds(network, layer)
    return replace(made, minimum=minimum, maximum=maximum, by_powers=by_powers)


def _product(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """Products of two tensors, element by element, broadcast: `kernels/mul.cc`, with the factor in float32.

    `micro/kernels/mul_common.cc` of TensorFlow Lite Micro has it in float64.
    """
    a, b = broadcast(*(centred(network, layer, place, given) for place in (0, 1)))
    of_a, of_b, of_output = (scale_of(network.tensors[number]) for number in (*layer.inputs[:2], layer.outputs[0]))
    minimum, maximum = _bounds(network, layer)
    double = of_a.scales.astype(np.float64) * of_b.scales / of_output.scales
    return Requantized(
        accumulators=(a * b).astype(np.int32), zero_point=of_output.zero_point, minimum=minimum, maximum=maximum,
        scale=(of_a.scales * of_b.scales / of_output.scales).astype(np.float64), double=double,
    )  # fmt: skip


def _largest(network: Network, layer: NetworkLayer, given: Inputs) -> Pooled:
    """The largest of each window; what lies outside of the input is smaller than all of it."""
    x = operand(layer, 0, given)
    lowest = int(np.iinfo(x.dtype).min)
    found = _windows(x.astype(np.int64) - lowest, layer).max(axis=(4, 5)) + lowest
    minimum, maximum = _bounds(network, layer)
    return Pooled(sums=found, counts=None, dtype=str(x.dtype), minimum=minimum, maximum=maximum)


def _average(network: Network, layer: NetworkLayer, given: Inputs) -> Pooled:
    """The average of each window, of the numbers that lie in the input: `reference/integer_ops/pooling.h`."""
    x = operand(layer, 0, given)
    minimum, maximum = _bounds(network, layer)
    sums, counts = (
        _windows(numbers, layer).sum(axis=(4, 5)) for numbers in (x.astype(np.int64), np.ones_like(x, np.int64))
    )
    return Pooled(sums=sums, counts=counts, dtype=str(x.dtype), minimum=minimum, maximum=maximum)


def _windows(x: npt.NDArray[np.int64], layer: NetworkLayer) -> npt.NDArray[np.int64]:
    return _patches(x, [layer.options.get(name, 0) for name in ("FilterHeight", "FilterWidth")], layer.options)


def _quantization(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized | FromReals:
    """Real numbers to integers, or integers of one scale to those of another: `reference/requantize.h`."""
    if operand(layer, 0, given).dtype == np.float32:
        return quantized(network, layer, given)
    of_x, of_output = scale_of(network.tensors[layer.inputs[0]]), scale_of(network.output_of(layer))
    single = of_x.scales / of_output.scales
    return Requantized(
        accumulators=wrap_int32(centred(network, layer, 0, given)).astype(np.int32), minimum=None, maximum=None,
        scale=of_x.scales.astype(np.float64) / of_output.scales, zero_point=of_output.zero_point, single=single,
    )  # fmt: skip


def _bounded(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """RELU and its like alone, from any scale to any: `kernels/activations.cc`, the quotient of scales in float32."""
    if (str(operand(layer, 0, given).dtype), network.output_of(layer).dtype) not in _BOUNDED[layer.operator]:
        raise NotComputed(f"TFLite has no {layer.operator} of {operand(layer, 0, given).dtype}")
    made = _quantization(network, layer, given)
    assert isinstance(made, Requantized)  # of integers
    assert made.single is not None
    to = network.output_of(layer)
    minimum, maximum = activation_bounds(layer.operator, scale_of(to), to.dtype)
    return replace(
        made, scale=made.single.astype(np.float64), double=made.scale, single=None, minimum=minimum, maximum=maximum
    )


def _activated(network: Network, layer: NetworkLayer, given: Inputs) -> Activated:
    """LOGISTIC and TANH, whose output has the scale that TFLite prescribes: `kernels/activations.cc`."""
    x, scale, to = operand(layer, 0, given), scale_of(network.tensors[layer.inputs[0]]), network.output_of(layer)
    if x.dtype not in _INTEGERS:
        raise NotComputed(f"{layer.operator} of {x.dtype} is not computed")
    function, of_output = layer.operator.lower(), scale_of(to)
    if x.dtype == np.int16:
        if scale.zero_point:
            raise NotComputed(f"{layer.operator} of int16 with zero point {scale.zero_point}, which TFLite refuses")
        prescribed, zero = np.float32(2.0**-15), 0
    else:
        prescribed = np.float32(2.0 ** -FUNCTIONS[function].units)
        zero = MODES[mode_of(function, x.dtype)].output_zero
    if (of_output.scales[0], of_output.zero_point) != (prescribed, zero):
        raise NotComputed(f"its output has not the scale {prescribed:g} and zero point {zero}")
    made = Activated(numbers=x, function=function, scale=scale)
    activation_rules(made)  # refuses scales that no table is made of
    return made


def _between_scales(network: Network, layer: NetworkLayer, given: Inputs) -> Activated:
    """HARD_SWISH of bytes and LEAKY_RELU of bytes or int16, between any two scales: `kernels/activations.cc`."""
    x, scale, to = operand(layer, 0, given), scale_of(network.tensors[layer.inputs[0]]), network.output_of(layer)
    of_output = scale_of(to)
    if layer.operator == "HARD_SWISH" and x.dtype == np.int16:
        raise NotComputed("TFLite has no HARD_SWISH of int16: all its kernels refuse it")
    if x.dtype not in _INTEGERS or max(scale.scales.size, of_output.scales.size) > 1:
        raise NotComputed(f"{layer.operator} of {x.dtype}, or with a scale for each channel, is not computed")
    alpha = float(layer.options.get("Alpha", 0))
    made = Activated(numbers=x, function=layer.operator.lower(), scale=scale, to=of_output, alpha=alpha)
    activation_rules(made)  # refuses scales that TFLite refuses
    return made


def _normalized(network: Network, layer: NetworkLayer, given: Inputs) -> Normalized:
    """SOFTMAX, whose output has the scale that TFLite prescribes, within a thousandth: SoftmaxPrepare.

    Of bytes to bytes or int16, or of int16 to int16.
    """
    x, scale, to = operand(layer, 0, given), scale_of(network.tensors[layer.inputs[0]]), network.output_of(layer)
    of_output, types = scale_of(to), (str(x.dtype), to.dtype)
    if types not in _SOFTMAXES or max(scale.scales.size, of_output.scales.size) > 1 or not x.ndim:
        raise NotComputed(
            f"SOFTMAX of {x.dtype} to {to.dtype}, with a scale for each channel or without an axis, is not computed"
        )
    prescribed, zero = np.float32(_SOFTMAXES[types][0]), _SOFTMAXES[types][1]
    if abs(of_output.scales[0] - prescribed) > prescribed * np.float32(0.001) or of_output.zero_point != zero:
        raise NotComputed(f"its output has not the scale {prescribed:g} and zero point {zero}")
    beta = np.float32(layer.options.get("Beta", 0))
    if not (np.isfinite(beta * scale.scales[0]) and beta > 0 and x.size):
        raise NotComputed(f"its beta is {beta}, times the scale no positive number, or it has no numbers")
    require_size((_AT_ONCE, *x.shape))
    return Normalized(numbers=x, scale=scale, to=of_output, dtype=to.dtype, beta=float(beta))


def _averaged(network: Network, layer: NetworkLayer, given: Inputs) -> Averaged:
    """MEAN of bytes or int16 along the axes that the second input names: `kernels/reduce.cc`."""
    x, named, scale = operand(layer, 0, given), operand(layer, 1, given), scale_of(network.tensors[layer.inputs[0]])
    of_output = scale_of(network.output_of(layer))
    if x.dtype not in _INTEGERS or max(scale.scales.size, of_output.scales.size) > 1:
        raise NotComputed(f"MEAN of {x.dtype}, or with a scale for each channel, is not computed")
    if named.dtype.kind not in "iu" or not x.size or not ((-x.ndim <= named) & (named < x.ndim)).all():
        raise NotComputed("its axes are not those of its input, or it has no numbers")
    axes, keeps = tuple(sorted({int(axis) % x.ndim for axis in named.ravel()})), bool(layer.options.get("KeepDims"))
    sums = x.sum(axis=axes, dtype=np.int64, keepdims=keeps)
    count = x.size // max(sums.size, 1)
    if count >= 1 << (30 - np.iinfo(x.dtype).bits):
        raise NotComputed(f"a mean of {count:,} numbers is not computed: their sum may leave 32 bits")
    ratio = float(scale.scales[0]) / float(of_output.scales[0])
    if not 1 / _LARGEST_RATIO < ratio < _LARGEST_RATIO:
        raise NotComputed(f"its input's scale is {ratio:g} of its output's")
    of_images = x.ndim == 4 and axes == (1, 2) and keeps
    return Averaged(
        sums=np.asarray(sums), count=count, dtype=str(x.dtype), scale=scale, to=of_output, is_of_images=of_images
    )


def _bounds(network: Network, layer: NetworkLayer) -> tuple[int | None, int | None]:
    output = network.output_of(layer)
    return activation_bounds(layer.options.get("FusedActivationFunction", "NONE"), scale_of(output), output.dtype)


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "FULLY_CONNECTED": _fully_connected,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _depthwise,
    "ADD": _addition,
    "MUL": _product,
    "MAX_POOL_2D": _largest,
    "AVERAGE_POOL_2D": _average,
    "QUANTIZE": _quantization,
    "DEQUANTIZE": to_reals,
    **dict.fromkeys(_BOUNDED, _bounded),
    "LOGISTIC": _activated,
    "TANH": _activated,
    "HARD_SWISH": _between_scales,
    "LEAKY_RELU": _between_scales,
    "SOFTMAX": _normalized,
    "MEAN": _averaged,
}
MOVES: Final = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
"""Layers that only give numbers another shape, of any type."""
