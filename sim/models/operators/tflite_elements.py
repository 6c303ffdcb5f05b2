"""Layers of TensorFlow Lite by kernels that are not those of sums: element by element, and images that are resized.

Sources: its `kernels/sub.cc`, `kernels/resize_bilinear.cc`, `kernels/activations.cc`, `kernels/elementwise.cc` and
`kernels/l2norm.cc`; docs/spec/neighbours.md sections 34, 36, 38 and 39.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final

import numpy as np

from sim.golden.layers.bilinear import Resizing
from sim.golden.layers.l2_normalization import LARGEST_SUM
from sim.kernels.quantized_add.golden_tflite_pot import log2_of
from sim.models.layers import ByRules, Computed, Inputs, Requantized, broadcast, centred, operand, scale_of
from sim.models.network import Network, NetworkLayer, NotComputed, require_size
from sim.models.operators.activation import activation_bounds
from sim.models.operators.tflite_moves import resized
from sim.models.rules.functions.sloping import over_root_rules, sloping_rules
from sim.models.rules.interpolating import interpolating_rules
from sim.models.rules.subtracting import Scales, subtracting_rules

_AT_ONCE: Final = 8
"""Arrays of 64 bits, each of the size of an image, that its interpolation takes."""
_BITS: Final = {"int8": 8, "uint8": 8, "int16": 16}


def _difference(network: Network, layer: NetworkLayer, given: Inputs) -> ByRules:
    """Of two tensors, broadcast; by shifts as for a sum: of 16 bits, marked, and all scales powers of two."""
    a, b = broadcast(operand(layer, 0, given), operand(layer, 1, given))
    scales, dtype = scales_of(network, layer), _only_type(network, layer, given)
    bits = _BITS[dtype]
    is_marked = bits == 16 and bool(layer.options.get("PotScaleInt16", True))
    by_powers = is_marked and all(log2_of(float(one.scales[0])) is not None for one in scales)
    activation = layer.options.get("FusedActivationFunction", "NONE")
    minimum, maximum = activation_bounds(activation, scales[2], dtype)
    rules = subtracting_rules(scales, bits, by_powers)
    return ByRules(operands={"a": a, "b": b}, rules=rules, dtype=dtype, minimum=minimum, maximum=maximum)


def scales_of(network: Network, layer: NetworkLayer) -> Scales:
    """Those of two operands and of the output; raises NotComputed where one has none, or one for each channel."""
    tensors = [*(network.tensors[number] for number in layer.inputs[:2]), network.output_of(layer)]
    if len(tensors) < 3:
        raise NotComputed("it has not two inputs")
    a, b, output = (scale_of(tensor) for tensor in tensors)
    if max(one.scales.size for one in (a, b, output)) > 1:
        raise NotComputed(f"{layer.operator} with a scale for each channel is not computed")
    return a, b, output


def _only_type(network: Network, layer: NetworkLayer, given: Inputs) -> str:
    """The type that both operands and the output have; raises NotComputed where they have several, or another one."""
    types = (*(str(operand(layer, place, given).dtype) for place in (0, 1)), network.output_of(layer).dtype)
    if len(set(types)) > 1 or types[0] not in _BITS:
        raise NotComputed(f"{layer.operator} of {types[0]} and {types[1]} to {types[2]} is not computed")
    return types[0]


def _interpolated(network: Network, layer: NetworkLayer, given: Inputs) -> ByRules:
    """RESIZE_BILINEAR: an image with the rows and columns that the second input says."""
    x, (rows, columns) = resized(network, layer, given)
    by = Resizing(rows, columns, bool(layer.options.get("AlignCorners")), bool(layer.options.get("HalfPixelCenters")))
    if by.corners and by.centres:
        raise NotComputed("its corners are aligned and its centres too, which TFLite refuses")
    if str(x.dtype) not in _BITS:
        raise NotComputed(f"RESIZE_BILINEAR of {x.dtype} is not computed")
    require_size((_AT_ONCE, x.shape[0], rows, max(x.shape[2], columns), x.shape[3]))
    shape = (x.shape[0], rows, columns, x.shape[3])
    places = np.arange(prod(shape)).reshape(shape)
    return ByRules(operands={"place": places}, rules=interpolating_rules(x, by), dtype=str(x.dtype))


def _sloped(network: Network, layer: NetworkLayer, given: Inputs) -> ByRules:
    """PRELU, of bytes by slopes of the same type, or of int16 by slopes of int8, which are broadcast."""
    a, b = broadcast(operand(layer, 0, given), operand(layer, 1, given))
    dtype, scales = network.output_of(layer).dtype, scales_of(network, layer)
    if dtype not in _BITS or str(a.dtype) != dtype or str(b.dtype) != ("int8" if dtype == "int16" else dtype):
        raise NotComputed(f"PRELU of {a.dtype} with slopes of {b.dtype} to {dtype} is not computed")
    return ByRules(operands={"a": a, "b": b}, rules=sloping_rules(scales), dtype=dtype)


def _absolute(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """ABS of int8 and int16, from any scale to any: the size without the zero point, the quotient in float32."""
    of_x, of_output = scale_of(network.tensors[layer.inputs[0]]), scale_of(network.output_of(layer))
    types = str(operand(layer, 0, given).dtype), network.output_of(layer).dtype
    if types not in (("int8", "int8"), ("int16", "int16")) or max(of_x.scales.size, of_output.scales.size) > 1:
        raise NotComputed(f"ABS of {types[0]} to {types[1]}, or with a scale for each channel, is not computed")
    single = of_x.scales / of_output.scales
    return Requantized(
        accumulators=np.abs(centred(network, layer, 0, given)).astype(np.int32), scale=single.astype(np.float64),
        zero_point=of_output.zero_point, minimum=None, maximum=None,
        double=of_x.scales.astype(np.float64) / of_output.scales,
    )  # fmt: skip


def _over_root(network: Network, layer: NetworkLayer, given: Inputs) -> ByRules:
    """L2_NORMALIZATION of bytes along the last axis, whose output has the scale that TFLite prescribes."""
    x, to = operand(layer, 0, given), network.output_of(layer)
    prescribed = {"int8": 0, "uint8": 128}.get(to.dtype)
    if prescribed is None or str(x.dtype) != to.dtype or not x.ndim:
        raise NotComputed(f"L2_NORMALIZATION of {x.dtype} to {to.dtype}, or without an axis, is not computed")
    of_output = scale_of(to)
    if (of_output.scales[0], of_output.zero_point) != (np.float32(2.0**-7), prescribed):
        raise NotComputed(f"its output has not the scale 0.0078125 and zero point {prescribed}")
    if layer.options.get("FusedActivationFunction", "NONE") != "NONE":
        raise NotComputed(f"it has the activation {layer.options['FusedActivationFunction']}, which TFLite refuses")
    require_size((_AT_ONCE, *x.shape))
    differences = x.astype(np.int64) - scale_of(network.tensors[layer.inputs[0]]).zero_point
    sums = (differences**2).sum(axis=-1, keepdims=True)
    if sums.max(initial=0) >= LARGEST_SUM:
        raise NotComputed(f"a sum of squares is {sums.max():,}: below 2^31 they are computed")
    operands = {"a": differences, "sum": np.broadcast_to(sums, x.shape)}
    return ByRules(operands=operands, rules=over_root_rules(prescribed), dtype=to.dtype)


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "SUB": _difference,
    "RESIZE_BILINEAR": _interpolated,
    "PRELU": _sloped,
    "ABS": _absolute,
    "L2_NORMALIZATION": _over_root,
}
