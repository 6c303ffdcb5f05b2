"""Layers of TensorFlow Lite that put numbers in other places: padded, joined, with their axes in another order.

Sources: its reference kernels `reference/pad.h`, `reference/concatenation.h` and `reference/transpose.h`, with
`kernels/pad.cc`, where what is padded with stands for zero, and `kernels/concatenation.cc`, where int8 has one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sim.models.layers import Inputs, operand, require_one_scale
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, require_size


def _padded(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """With the zero point around it, as many as the second input says before and behind each axis."""
    require_one_scale(network, layer)
    x, around, scale = operand(layer, 0, given), operand(layer, 1, given), network.output_of(layer).scale
    if around.shape != (x.ndim, 2) or around.dtype.kind not in "iu" or around.min(initial=0) < 0:
        raise NotComputed("its paddings are not a pair of counts for each axis")
    pairs = [(int(before), int(behind)) for before, behind in around]
    require_size([length + sum(pair) for length, pair in zip(x.shape, pairs, strict=True)])
    return np.pad(x, pairs, constant_values=0 if scale is None else scale.zero_point)


def _joined(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """One behind the other along an axis."""
    if layer.options.get("FusedActivationFunction", "NONE") != "NONE":
        raise NotComputed(f"it is joined with {layer.options['FusedActivationFunction']}")
    for place in range(len(layer.inputs)):
        require_one_scale(network, layer, place)
    parts = [operand(layer, place, given) for place in range(len(layer.inputs))]
    require_size((sum(part.size for part in parts),))
    if len({part.dtype for part in parts}) > 1:
        raise NotComputed("its inputs have several types")
    return np.concatenate(parts, axis=int(layer.options.get("Axis", 0)))


def _turned(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """With its axes in the order that the second input says."""
    require_one_scale(network, layer)
    order = tuple(int(axis) for axis in operand(layer, 1, given).ravel())
    return np.transpose(operand(layer, 0, given), order)


TURNS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], AnyArray]]] = {
    "PAD": _padded,
    "CONCATENATION": _joined,
    "TRANSPOSE": _turned,
}
"""By operator, of any type."""
