"""Layers of TensorFlow Lite whose sums of products are not those of windows or rows: transposed and stacked ones.

Sources: its reference kernels `reference/integer_ops/transpose_conv.h` and `reference/batch_matmul.h` with
`kernels/transpose_conv.cc`, `kernels/batch_matmul.cc` and `kernels/padding.h`; docs/spec/neighbours.md section 35.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from sim.models.layers import ByRules, Computed, Inputs, Requantized, centred, operand, scale_of
from sim.models.network import Network, NetworkLayer, NotComputed
from sim.models.operators.sums import WindowSteps, matrix_product, same_pads, scattered
from sim.models.operators.tflite import product_of_scales, products_of_scales, requantized
from sim.models.rules.long_sums import LONGEST, long_scaling_rules

_LARGEST_SUM: Final = 1 << 31


def _transposed(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized:
    """TRANSPOSE_CONV: the first input says how large its output is, then come weights, image and bias."""
    if len(layer.inputs) < 3:
        raise NotComputed("input 2 is not there")
    shape = operand(layer, 0, given)
    as_convolution = replace(layer, inputs=(layer.inputs[2], layer.inputs[1], *layer.inputs[3:4]))
    x, weights = (centred(network, as_convolution, place, given) for place in (0, 1))
    if shape.shape != (4,) or shape.dtype.kind not in "iu" or shape.min() < 1 or x.ndim != 4 or weights.ndim != 4:
        raise NotComputed("it is not of images, or its first input is not how large its output is")
    lengths, size = [int(length) for length in shape[1:3]], weights.shape[1:3]
    strides = [int(layer.options.get(name, 1)) for name in ("StrideH", "StrideW")]
    is_same = layer.options.get("Padding") == "SAME"
    pads = same_pads(lengths, size, strides) if is_same else [(0, 0), (0, 0)]
    by = [max(stride, 1) for stride in strides]
    steps = [
        -(-(length - (0 if is_same else of - 1)) // stride)
        for length, of, stride in zip(lengths, size, by, strict=True)
    ]
    if steps != [*x.shape[1:3]] or (x.shape[0], len(weights)) != (shape[0], shape[3]):
        raise NotComputed(f"of an output {[*map(int, shape)]} its windows and strides do not make its input")
    sums = scattered(x, weights, lengths, WindowSteps(strides, (1, 1), pads))
    return requantized(network, as_convolution, sums, given, products_of_scales(network, as_convolution))


def _stacked(network: Network, layer: NetworkLayer, given: Inputs) -> Requantized | ByRules:
    """BATCH_MATMUL: stacks of matrices, broadcast, either of them transposed or not.

    Of int16 upstream has sums of 64 bits.
    """
    for number in layer.inputs[:2]:
        if scale_of(network.tensors[number]).scales.size > 1:
            raise NotComputed("BATCH_MATMUL with a scale for each channel is not computed")
    a, b = (centred(network, layer, place, given) for place in (0, 1))
    if min(a.ndim, b.ndim) < 2:
        raise NotComputed("it is not of two matrices, or stacks of them")
    a, b = (np.swapaxes(one, -1, -2) if layer.options.get(name) else one for one, name in ((a, "AdjX"), (b, "AdjY")))
    sums, factor = matrix_product(a, b), product_of_scales(network, layer)
    of_output = scale_of(network.output_of(layer))
    largest = int(np.abs(sums).max(initial=0))
    if largest < _LARGEST_SUM or operand(layer, 0, given).dtype != np.int16:
        return requantized(network, layer, sums, given, factor)
    if largest >= 1 << (LONGEST - 1):
        raise NotComputed(f"a sum is {largest:,}: below 2^{LONGEST - 1} they are computed")
    rules = long_scaling_rules(float(factor[0]) / float(of_output.scales[0]), of_output.zero_point)
    return ByRules(operands={"sum": sums}, rules=rules, dtype="int16")


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "TRANSPOSE_CONV": _transposed,
    "BATCH_MATMUL": _stacked,
}
