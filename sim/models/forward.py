"""A network run by the golden reference, every layer under one convention of scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.addition import AddParameters, Quantization, add_tflite, relu_if
from sim.golden.derivation import derive_tflite
from sim.golden.scaling import double_rounding, double_rounding_ties_up, scale_float_ties_even, single_rounding
from sim.models.computed import computed
from sim.models.layers import Added, Computed
from sim.models.network import AnyArray, Network, NotComputed

Scaled = npt.NDArray[np.int32]
_FIXED: Final[Mapping[str, Callable[[Any, int, int], Scaled]]] = {
    "double_rounding": double_rounding,
    "double_rounding_ties_up": double_rounding_ties_up,
    "single_rounding": single_rounding,
}
FORWARD_CONVENTIONS: Final = (*_FIXED, "fp32")
"""By which layers are scaled, as the modes of the kernels fully_connected and conv2d are named."""


def forward(network: Network, given: Mapping[int, AnyArray], convention: str, first: int = 0) -> dict[int, AnyArray]:
    """The tensors that the layers from `first` on make of the given ones, by number, with these.

    What a layer takes is what the layers before it made.  A layer that cannot be computed makes nothing, and what needs
    its output neither.  Additions are TFLite's integer addition in every convention.
    """
    tensors = network.constants | dict(given)
    behind = network.layers[first:]
    for number in {number for layer in behind for number in layer.outputs}:
        tensors.pop(number, None)
    for layer in behind:
        try:
            made = output_under(convention, computed(network, layer, tensors), network.output_of(layer).dtype)
        except NotComputed:
            continue
        tensors[layer.outputs[0]] = made
    return tensors


def output_under(convention: str, made: Computed, dtype: str) -> AnyArray:
    """What a layer gives under a convention; raises NotComputed where it does not define that."""
    if isinstance(made, np.ndarray):
        return made
    if isinstance(made, Added):
        return _sum(made, dtype)
    limits = np.iinfo(dtype)
    channels = np.moveaxis(made.accumulators, made.axis, -1)
    try:
        scaled = [
            _scaled(channels[..., channel], float(factor), convention)
            for channel, factor in enumerate(np.broadcast_to(made.scale, channels.shape[-1:]))
        ]
    except ValueError as error:
        raise NotComputed(f"{convention} does not define it: {error}") from None
    placed = np.stack(scaled, axis=made.axis).astype(np.int64) + made.zero_point
    lower = limits.min if made.minimum is None else made.minimum
    upper = limits.max if made.maximum is None else made.maximum
    return np.clip(placed, lower, upper).astype(dtype)


def _scaled(sums: Scaled, factor: float, convention: str) -> Scaled:
    if convention in _FIXED:
        return _FIXED[convention](sums, *derive_tflite(factor))
    return scale_float_ties_even(sums, np.float32(factor))


def _sum(made: Added, dtype: str) -> AnyArray:
    """The golden reference takes uint8: int8 is 128 less, zero points and all."""
    if dtype not in ("int8", "uint8") or made.activation not in ("NONE", "RELU"):
        raise NotComputed(f"an addition to {dtype} with the activation {made.activation} is not computed")
    less = 128 if dtype == "int8" else 0
    a, b, output = (Quantization(float(scale.scales[0]), scale.zero_point + less) for scale in made.scales)
    x, y = ((array.astype(np.int16) + less).astype(np.uint8) for array in (made.a, made.b))
    parameters = AddParameters(a, b, output, relu_if(made.activation == "RELU"))
    return (add_tflite(x, y, parameters).astype(np.int16) - less).astype(dtype)
