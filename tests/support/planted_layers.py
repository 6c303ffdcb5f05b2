"""A net of fifty quantized layers, and what a device makes of it that has one number, or one rounding, wrong.

Random numbers come to a tie in one of some hundred elements only where factors are fractions of small numbers; so are
these, else a multiplier that is one off would change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import tflite

from sim.golden import derive_tflite, double_rounding, double_rounding_ties_up, single_rounding
from sim.golden.integer_addition import LEFT_SHIFTS, add_rescaled, rescaling_of
from sim.golden.scaling import scale_float_ties_even
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.layers import Activated, Added, ByRules, Pooled, Requantized
from sim.models.network import Network, NetworkLayer
from support.planted_elements import (
    MULTIPLIERS,
    ONLY_TWO_ROUNDINGS,
    fifty_other_layers,
    one_off,
    placed_otherwise,
    zero_points_of,
)
from support.planted_functions import (
    FUNCTION_MULTIPLIERS,
    Planted,
    fifty_functions,
    made_by_function,
    others_of,
    zeros_of_function,
)
from support.tflite_models import ModelWriter

Tensors = dict[int, npt.NDArray[Any]]
FaultKind = Literal["multiplier", "rounding", "zero point", "bound"]
KINDS: tuple[FaultKind, ...] = ("multiplier", "rounding", "zero point", "bound")
FIXED = {
    "double_rounding": double_rounding,
    "double_rounding_ties_up": double_rounding_ties_up,
    "single_rounding": single_rounding,
}
CONVENTIONS = (*FIXED, "fp32")
SAME, RELU6 = tflite.Padding.SAME, tflite.ActivationFunctionType.RELU6
SIZE, CHANNELS = 14, 8


@dataclass(frozen=True)
class Fault:
    """What is wrong in a layer, by how much, and where: a channel, an operand, an end of the range."""

    layer: int
    kind: FaultKind
    by: int
    where: int
    other: str = ""


def fifty_layers(seed: int) -> bytes:
    """Ten times conv, depthwise, conv, an addition with the first, and a pool or a product; a fully connected one."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    before = made.tensor("x", "int8", (1, SIZE, SIZE, CHANNELS), 2.0**-5, -3)
    made.inputs = [before]
    shape = (1, SIZE, SIZE, CHANNELS)

    def scale() -> float:
        return float(rng.choice([2.0**-5, 3 * 2.0**-7, 5 * 2.0**-7]))

    def tensor(name: str, of: float | None = None, zero: int | None = None) -> int:
        return made.tensor(name, "int8", shape, scale() if of is None else of,
                           int(rng.integers(-20, 21)) if zero is None else zero)  # fmt: skip

    def weights(name: str, dims: tuple[int, ...], axis: int, source: int) -> tuple[int, int]:
        data = rng.integers(-127, 128, dims).astype(np.int8)
        scales = (rng.choice([1, 3, 5, 7], CHANNELS) * 2.0**-11).astype(np.float32)
        added = rng.integers(-500, 501, CHANNELS).astype(np.int32)
        of_source = made.tensors[source]["scales"][0]
        return (
            made.tensor(f"{name}_weights", "int8", dims, scales, 0, data, axis),
            made.tensor(f"{name}_bias", "int32", (CHANNELS,), scales * of_source, 0, added),
        )

    window = {"Padding": SAME, "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    for block in range(10):
        first = before
        for step, (operator, dims, axis) in enumerate(
            (("CONV_2D", (CHANNELS, 3, 3, CHANNELS), 0), ("DEPTHWISE_CONV_2D", (1, 3, 3, CHANNELS), 3),
             ("CONV_2D", (CHANNELS, 1, 1, CHANNELS), 0))
        ):  # fmt: skip
            name = f"block{block}_{step}"
            output = tensor(name)
            more = {"DepthMultiplier": 1} if axis else {}
            made.layer(
                operator, (before, *weights(name, dims, axis, before)), (output,),
                "DepthwiseConv2DOptions" if axis else "Conv2DOptions", **window, **more,
                FusedActivationFunction=RELU6 if rng.random() < 0.5 else 0,
            )  # fmt: skip
            before = output
        total = tensor(f"block{block}_sum")
        made.layer("ADD", (first, before), (total,), "AddOptions", FusedActivationFunction=int(rng.integers(0, 2)))
        of_total = made.tensors[total]
        if block % 2:
            before = tensor(f"block{block}_product")
            made.layer("MUL", (total, first), (before,), "MulOptions")
        else:
            before = tensor(f"block{block}_pool", float(of_total["scales"][0]), of_total["zero"])
            made.layer("AVERAGE_POOL_2D", (total,), (before,), "Pool2DOptions", Padding=SAME, StrideH=1, StrideW=1,
                       FilterHeight=2, FilterWidth=2, FusedActivationFunction=int(rng.integers(0, 2)))  # fmt: skip
    made.outputs = [before]
    return made.content()


NETS: Mapping[str, Callable[[int], bytes]] = {
    "windows": fifty_layers, "elements": fifty_other_layers, "functions": fifty_functions,
}  # fmt: skip
"""Of a seed, by what their layers are."""


@cache
def _derived(factor: float) -> tuple[int, int]:
    return tuple(derive_tflite(factor))  # type: ignore[return-value]


def clean(network: Network, seed: int, convention: str) -> Tensors:
    """What a device makes that is right."""
    x, rng = network.tensors[network.inputs[0]], np.random.default_rng(seed)
    limits = np.iinfo(x.dtype)
    assert x.shape is not None
    drawn = rng.integers(limits.min, limits.max + 1, x.shape).astype(x.dtype)
    return forward(network, {x.number: drawn}, convention)


def recorded(network: Network, tensors: Tensors, convention: str, fault: Fault) -> Tensors:
    """What a device makes of the same input with a fault."""
    layer = network.layers[fault.layer]
    wrong = {**tensors, layer.outputs[0]: faulty(network, layer, tensors, convention, fault)}
    return forward(network, wrong, convention, fault.layer + 1)


def faulty(network: Network, layer: NetworkLayer, tensors: Tensors, convention: str, fault: Fault) -> npt.NDArray[Any]:
    """A layer's output, written once more from its sums: with the wrong number, or rounded otherwise."""
    if fault.kind == "zero point":
        network = with_zero_point(network, zeros_of(layer)[fault.where], fault.by)
    is_function = layer.operator in FUNCTION_MULTIPLIERS
    made = None if is_function else computed(network, layer, tensors)
    assert made is None or isinstance(made, Requantized | Added | Pooled | ByRules | Activated)
    dtype = network.output_of(layer).dtype
    limits = np.iinfo(dtype)
    minimum, maximum = (None, None) if made is None or isinstance(made, Activated) else (made.minimum, made.maximum)
    ends = [limits.min if minimum is None else minimum, limits.max if maximum is None else maximum]
    if fault.kind == "bound":
        ends[fault.where] = int(np.clip(ends[fault.where] + fault.by, limits.min, limits.max))
    rounding = fault.other if fault.kind == "rounding" else convention
    by = fault.by if fault.kind == "multiplier" else 0
    if is_function:
        placed = made_by_function(network, layer, tensors, Planted(fault.other, by, fault.where if by else 0))
    elif isinstance(made, Requantized):
        placed = scaled(made, rounding, by, fault.where) + made.zero_point
    elif isinstance(made, Added):
        placed = added(made, fault.kind == "rounding", by, fault.where)
    elif isinstance(made, Pooled):
        placed = divided(made, rounding)
    else:
        placed = placed_otherwise(network, layer, tensors, fault.kind == "rounding", (by, fault.where if by else 0))
    return np.asarray(np.clip(placed, ends[0], ends[1]), dtype)


def zeros_of(layer: NetworkLayer) -> tuple[int, ...]:
    is_function = layer.operator in FUNCTION_MULTIPLIERS
    return zeros_of_function(layer) if is_function else zero_points_of(layer)


def scaled(made: Requantized, convention: str, by: int, channel: int) -> npt.NDArray[np.int64]:
    """Sums by their multipliers or float32 scales, one of them `by` units in the last place off."""
    channels = made.accumulators.shape[-1]
    factors = np.broadcast_to(made.scale, (channels,))
    found = []
    for at, factor in enumerate(factors.tolist()):
        off = by * (made.scale.size == 1 or at == channel)
        if convention == "fp32":
            scale = np.float32(factor)
            scale = np.nextafter(scale, np.float32(np.inf * off)) if off else scale
            found.append(scale_float_ties_even(made.accumulators[..., at], scale))
        else:
            multiplier, shift = _derived(factor)
            found.append(FIXED[convention](made.accumulators[..., at], multiplier + off, shift))
    return np.stack(found, -1).astype(np.int64)


def added(made: Added, is_rounding: bool, by: int, which: int) -> npt.NDArray[np.int64]:
    """TFLite's addition, of double rounding in every convention: one of its multipliers off, or by single rounding."""
    a, b, output = made.scales
    rescaling = rescaling_of((float(a.scales[0]), float(b.scales[0]), float(output.scales[0])), 20, derive_tflite)
    rescaling = one_off(rescaling, by, which)
    left, right = made.a.astype(np.int64) - a.zero_point, made.b.astype(np.int64) - b.zero_point
    rounding = single_rounding if is_rounding else double_rounding
    return add_rescaled(left, right, rescaling, LEFT_SHIFTS[8], rounding).astype(np.int64) + output.zero_point


def divided(made: Pooled, convention: str) -> npt.NDArray[np.int64]:
    """An average, ties away from zero, or towards it."""
    assert made.counts is not None
    half = 0 if convention == "truncated" else made.counts // 2
    return np.asarray(np.sign(made.sums) * ((np.abs(made.sums) + half) // made.counts), np.int64)


def with_zero_point(network: Network, number: int, by: int) -> Network:
    tensor = network.tensors[number]
    assert tensor.scale is not None
    moved = replace(tensor, scale=replace(tensor.scale, zero_points=tensor.scale.zero_points + by))
    return replace(network, tensors=[moved if one is tensor else one for one in network.tensors])


def drawn_fault(network: Network, kind: FaultKind, convention: str, rng: np.random.Generator) -> Fault:
    """Any of the kind, in any layer that can have it."""
    layer = network.layers[int(rng.integers(len(network.layers)))]
    by = int(rng.choice([-1, 1]))
    own = {"ADD": 3, "AVERAGE_POOL_2D": 0, **MULTIPLIERS, **FUNCTION_MULTIPLIERS}
    multipliers = own.get(layer.operator, CHANNELS)
    zeros = len(zeros_of(layer))
    if kind == "rounding":
        if layer.operator in ("LOGISTIC", "TANH"):  # there is one
            return drawn_fault(network, kind, convention, rng)
        if layer.operator in FUNCTION_MULTIPLIERS:
            return Fault(layer.number, kind, 0, 0, str(rng.choice(others_of(network, layer))))
        others = [one for one in CONVENTIONS if one != convention]
        twice = "single_rounding" if layer.operator in ("ADD", *ONLY_TWO_ROUNDINGS) else ""
        pools = layer.operator == "AVERAGE_POOL_2D"
        return Fault(layer.number, kind, 0, 0, "truncated" if pools else twice or str(rng.choice(others)))
    if kind == "bound":
        return Fault(layer.number, kind, by, int(rng.integers(2)))
    choices = multipliers if kind == "multiplier" else zeros
    if not choices:
        return drawn_fault(network, kind, convention, rng)
    return Fault(layer.number, kind, by, int(rng.integers(choices)) if choices > 1 else 0)
