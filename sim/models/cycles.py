"""How long the layers of a network take on a core, as the built-in kernels would run them: estimates from parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from sim.cycles.input import TimedCall, kernel_call
from sim.kernels.fully_connected.golden import FloatChannels
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.requantize.golden import Channels
from sim.models.kernel_in_layer import LAYER_KERNELS, geometry_of, layer_kernel, require_one_window
from sim.models.network import Network, NetworkLayer, NotComputed
from sim.timing.model.core import Core
from sim.timing.native.scheduling import schedule

_AT_ONCE = {"fully_connected": 4, "conv2d": 4, "depthwise_conv2d": 8}
"""Columns that each kernel takes together; what is left over it takes one by one."""
_WIDEST = {"conv2d": 4, "depthwise_conv2d": 12}
"""Pixels of such a row: many, where those at its ends take less, as they have taps outside of the image."""


@dataclass(frozen=True, kw_only=True)
class LayerCycles:
    """The multiply-accumulates of a layer and its cycles on each core, by name; none with the reason."""

    layer: NetworkLayer
    kernel: str = ""
    work: int = 0
    cycles: tuple[tuple[str, int], ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.layer.number,
            "operator": self.layer.operator,
            "kernel": self.kernel,
            "multiply_accumulates": self.work,
            "cycles": dict(self.cycles),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class NetworkCycles:
    """The layers of a network with their cycles, as the convention's kernels take them."""

    network: Network
    convention: str
    layers: tuple[LayerCycles, ...]

    @property
    def total(self) -> dict[str, int]:
        """By core, of all layers that are estimated."""
        found: dict[str, int] = {}
        for layer in self.layers:
            for core, count in layer.cycles:
                found[core] = found.get(core, 0) + count
        return found

    def as_json(self) -> dict[str, Any]:
        layers = [layer.as_json() for layer in self.layers]
        return {"model": self.network.name, "convention": self.convention, "layers": layers, "total": self.total}


def cycles_of_layers(network: Network, cores: Sequence[Core], convention: str) -> Iterator[LayerCycles]:
    """An estimate of each layer that a built-in kernel computes, in the network's order.

    A kernel takes four or eight of its columns at once, and what these take grows with the rows or pixels: so calls
    without columns, with so many and with one are timed on some pixels and on twice as many, with the layer's own depth
    and window, and what the columns cost is taken as often as the layer has them.  Caches hit always.
    """
    for layer in network.layers:
        try:
            kernel, shape = _kernel_of(network, layer, convention)
            *places, columns, _ = shape
            at_once = _AT_ONCE[kernel.name]
            times = {at_once: columns // at_once, 1: columns % at_once}
            empty = kernel_call(kernel, _part(network, layer, kernel, 0, 1))
            lines = [
                (many, _Line.of(kernel, *(_part(network, layer, kernel, count, rows) for rows in (1, 2))))
                for count, many in times.items()
                if many
            ]
        except NotComputed as error:
            yield LayerCycles(layer=layer, reason=str(error))
            continue
        found = []
        for core in cores:
            alone = schedule(empty.stream, core).cycles
            total = alone + sum(many * (line.cycles(core, prod(places)) - alone) for many, line in lines)
            found.append((core.name, round(total)))
        yield LayerCycles(layer=layer, kernel=kernel.name, work=prod(shape), cycles=tuple(found))


@dataclass(frozen=True)
class _Line:
    """Two calls of the same columns and of different places."""

    places: tuple[int, int]
    calls: tuple[TimedCall, TimedCall]

    @classmethod
    def of(cls, kernel: Kernel, small: Inputs, large: Inputs) -> _Line:
        places = (prod(kernel.golden(inputs)["output"].shape[:-1]) for inputs in (small, large))
        return cls((next(places), next(places)), (kernel_call(kernel, small), kernel_call(kernel, large)))

    def cycles(self, core: Core, places: int) -> float:
        """At so many places."""
        few, more = (schedule(call.stream, core).cycles for call in self.calls)
        return few + (more - few) / (self.places[1] - self.places[0]) * (places - self.places[0])


def _kernel_of(network: Network, layer: NetworkLayer, convention: str) -> tuple[Kernel, tuple[int, ...]]:
    """And the sizes of the layer: rows or pixels each way, columns, products of a sum.  Raises NotComputed."""
    if layer.operator not in LAYER_KERNELS:
        raise NotComputed("no kernel computes it")
    of_input, of_weights = (network.tensors[number] for number in layer.inputs[:2])
    weights, output = of_weights.shape, network.output_of(layer).shape
    if of_input.dtype not in ("int8", "uint8") or not weights or not output or 0 in (*weights, *output):
        raise NotComputed(f"it takes {of_input}")
    if layer.operator != "FULLY_CONNECTED" and (len(weights) != 4 or len(output) != 4):
        raise NotComputed("its window has not two axes")
    columns, products = weights[0], prod(weights[1:])
    if layer.operator == "DEPTHWISE_CONV_2D":
        require_one_window(layer, of_input.shape or (), weights)
        columns, products = weights[3], prod(weights[1:3])
    return layer_kernel(layer, of_input.dtype, convention), (*output[:-1], columns, products)


def _part(network: Network, layer: NetworkLayer, kernel: Kernel, columns: int, rows: int) -> Inputs:
    """Inputs of the layer's depth and window: so many columns and rows, twice as many rows of an image."""
    weights = network.tensors[layer.inputs[1]].shape or ()
    bias, dtype = np.zeros(columns, np.int32), kernel.typical["input"].dtype
    is_fixed = "multipliers" in kernel.domain
    factors = Channels((1 << 30,), (-8,)) if is_fixed else FloatChannels((np.float32(2.0**-9),))
    parameters = replace(kernel.typical["parameters"], factors=factors)
    is_depthwise = layer.operator == "DEPTHWISE_CONV_2D"
    taps = (*weights[1:3], columns) if is_depthwise else (columns, *weights[1:])
    part = {"weights": np.ones(taps, dtype), "bias": bias, "parameters": parameters}
    if layer.operator == "FULLY_CONNECTED":
        return {**part, "input": np.ones((rows, prod(weights[1:])), dtype)}
    output, image_shape = network.output_of(layer).shape or (), network.tensors[layer.inputs[0]].shape or ()
    geometry = geometry_of(layer, image_shape, weights)
    height = (2 * rows - 1) * geometry.stride_y + weights[1] - geometry.top - geometry.bottom
    width = (min(output[2], _WIDEST[kernel.name]) - 1) * geometry.stride_x + weights[2] - geometry.left - geometry.right
    image = np.ones((1, max(height, 1), max(width, 1), columns if is_depthwise else weights[3]), dtype)
    return {**part, "input": image, "geometry": geometry}
