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
from sim.models.kernel_form import LAYERS, KernelForm, form_of
from sim.models.network import AnyArray, Network, NetworkLayer, NetworkTensor, NotComputed, require_size
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
            form = _form_of(network, layer)
            kernel, places = form.built_in(form.dtype, convention), form.output_shape[:-1]
            at_once = _AT_ONCE[kernel.name]
            run = form.windows if _has_windows(form) else form.columns  # the kernel begins anew with each channel
            times = {at_once: run // at_once * (form.columns // run), 1: run % at_once * (form.columns // run)}
            empty = kernel_call(kernel, _part(form, kernel, 0, 1))
            lines = [
                (many, _Line.of(kernel, *(_part(form, kernel, count, rows) for rows in (1, 2))))
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
        yield LayerCycles(
            layer=layer, kernel=kernel.name, work=prod(form.output_shape) * form.products, cycles=tuple(found)
        )


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


def _form_of(network: Network, layer: NetworkLayer) -> KernelForm:
    """The layer's form, of zeros.  Raises NotComputed for one that no kernel computes, or whose sizes are not known."""
    if layer.operator not in LAYERS:
        raise NotComputed("no kernel computes it")
    form = form_of(layer, {number: _zeros(network.tensors[number]) for number in layer.inputs[:2]})
    if 0 in (*form.output_shape, form.products):
        raise NotComputed("it makes nothing")
    return form


def _zeros(tensor: NetworkTensor) -> AnyArray:
    """Numbers that take no memory, in the shape of a tensor."""
    if tensor.dtype not in ("int8", "uint8"):
        raise NotComputed(f"it takes {tensor}")
    if tensor.shape is None:
        raise NotComputed(f"the file does not state the sizes of {tensor.name}")
    require_size(tensor.shape)
    return np.broadcast_to(np.zeros((), tensor.dtype), tensor.shape)


def _has_windows(form: KernelForm) -> bool:
    """Whether the image is depthwise, with several windows for each channel."""
    return form.kernel == "depthwise_conv2d" and form.windows > 1


def _part(form: KernelForm, kernel: Kernel, columns: int, rows: int) -> Inputs:
    """Inputs of the layer's depth and window: so many columns and rows, twice as many rows of an image."""
    bias, dtype = np.zeros(columns, np.int32), kernel.typical["input"].dtype
    is_fixed = "multipliers" in kernel.domain
    factors = Channels((1 << 30,), (-8,)) if is_fixed else FloatChannels((np.float32(2.0**-9),))
    parameters = replace(kernel.typical["parameters"], factors=factors)
    is_depthwise = form.kernel == "depthwise_conv2d"
    taps = (*form.weights.shape[:2], columns) if is_depthwise else (columns, *form.weights.shape[1:])
    part = {"weights": np.ones(taps, dtype), "bias": bias, "parameters": parameters}
    if form.geometry is None:
        return {**part, "input": np.ones((rows, form.products), dtype)}
    by, window = form.geometry, form.weights.shape[:2] if is_depthwise else form.weights.shape[1:3]
    height = (2 * rows - 1) * by.stride_y + window[0] - by.top - by.bottom
    width = (min(form.output_shape[2], _WIDEST[kernel.name]) - 1) * by.stride_x + window[1] - by.left - by.right
    channels = columns if is_depthwise else form.input.shape[3]
    if _has_windows(form):
        channels = min(columns, 1)
    size = (1, max(height, 1), max(width, 1), channels)
    require_size(size)
    image = np.ones(size, dtype)
    return {**part, "input": image, "geometry": by}
