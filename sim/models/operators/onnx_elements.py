"""Layers of ONNX that ONNX Runtime has no integers for: bounds, hard swish, the larger of two, and means.

Between pairs they are what the file says, of real numbers.  Sources: ONNX's definitions; the rest was found by trial;
docs/spec/neighbours.md sections 45 and 46.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

import numpy as np

from sim.explanation.rule import CandidateRule
from sim.golden.layers.sums_in_float32 import means_in_float32
from sim.models.layers import ByRules, Computed, FromReals, Inputs, operand, scale_of
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, require_size
from sim.models.onnx_pairs import EITHER
from sim.models.operators.onnx_functions import one_scale, rectified
from sim.models.operators.onnx_moves import axes_of, whole_numbers
from sim.models.operators.onnx_reals import by_place
from sim.models.rules.dequantizing import dequantized
from sim.models.rules.quantizing import quantizing_rules

_AT_ONCE: Final = 4
"""Arrays of 64 bits that a layer takes, each of the size of its operands."""
ONE_BY_ONE: Final = "of sums_one_by_one"
_SLOPES: Final = {"HardSigmoid": (0.2, 0.5), "HardSwish": (1 / 6, 0.5)}
"""Alpha and beta, where none are stated."""


def _bounded(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals | AnyArray:
    """Not below the one bound, then not above the other; 0 is the lower one of Relu."""
    low, high = (0, None) if layer.operator == "Relu" else (_bound(layer, at, given) for at in ("min", "max"))
    x = _as_stated(network, layer, given, 0)
    made = x if low is None else np.maximum(x, x.dtype.type(low))
    return _placed(network, layer, made if high is None else np.minimum(made, x.dtype.type(high)))


def _bound(layer: NetworkLayer, name: str, given: Inputs) -> float | int | None:
    """By an input, or by the attribute that was in its place before; None where neither is there."""
    place = ("min", "max").index(name) + 1
    if place >= len(layer.inputs) or layer.inputs[place] < 0:
        return layer.options.get(name)
    bound = operand(layer, place, given)
    if bound.size != 1 or np.isnan(bound).any():
        raise NotComputed("its bounds are not one number each")
    stated: float | int = bound.item()
    return stated


def _hard(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """alpha * x + beta within 0 and 1; hard swish is x times that."""
    x, (alpha, beta) = _as_stated(network, layer, given, 0), _SLOPES[layer.operator]
    if layer.operator == "HardSigmoid":
        alpha, beta = layer.options.get("alpha", alpha), layer.options.get("beta", beta)
    with np.errstate(all="ignore"):  # a file may have any slope
        share = np.maximum(np.minimum(x * np.float32(alpha) + np.float32(beta), np.float32(1)), np.float32(0))
    return _of_reals(network, layer, x * share if layer.operator == "HardSwish" else share)


def _chosen(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals | AnyArray:
    """The largest or the smallest of all operands, broadcast."""
    parts = [_as_stated(network, layer, given, place) for place in range(len(layer.inputs))]
    require_size((_AT_ONCE, *np.broadcast_shapes(*(part.shape for part in parts))))
    return _placed(network, layer, reduce(np.maximum if layer.operator == "Max" else np.minimum, parts))


def _mean(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals | ByRules:
    """Of real numbers, along axes of the second input or an attribute, or all; in two orders where threads decide."""
    x = _as_stated(network, layer, given, 0)
    stated = whole_numbers(layer, 1, given, "axes")
    if not stated and layer.options.get("noop_with_empty_axes"):
        return _of_reals(network, layer, x)
    axes = axes_of(x, stated or range(x.ndim))
    if not x.size:
        raise NotComputed("it has no numbers")
    shape = [1 if axis in axes else length for axis, length in enumerate(x.shape)]
    with np.errstate(all="ignore"):  # a file may have any scale
        means = means_in_float32(x, axes)
    made, *others = (
        _of_reals(network, layer, one.reshape(shape) if layer.options.get("keepdims", 1) else one) for one in means
    )
    if all(np.array_equal(made.numbers, one.numbers) for one in others):
        return made
    to, dtype = made.scale, network.output_of(layer).dtype
    rules: list[CandidateRule] = []
    for one, order in zip((made, *others), ("", ONE_BY_ONE), strict=True):
        rules += quantizing_rules(one.numbers.ravel(), to.scales[0], to.zero_point, np.dtype(dtype), order)
    return by_place(rules, made.numbers.shape, dtype)


def _as_stated(network: Network, layer: NetworkLayer, given: Inputs, place: int) -> AnyArray:
    """An operand: between pairs the real numbers that integers of one scale stand for, else as it is."""
    numbers = operand(layer, place, given)
    if numbers.dtype not in (np.int8, np.uint8, np.int16):
        raise NotComputed(f"{layer.operator} of {numbers.dtype} is not computed")
    if not is_of_reals(layer):
        return numbers
    scale = scale_of(network.tensors[layer.inputs[place]])
    if scale.scales.size > 1:
        raise NotComputed(f"{layer.operator} of {numbers.dtype} with {scale.counted} is not computed")
    require_size((_AT_ONCE, *numbers.shape))
    with np.errstate(over="ignore"):  # what is not finite is refused behind
        return dequantized(numbers, scale.scales[0], scale.zero_point)


def is_of_reals(layer: NetworkLayer) -> bool:
    """Whether numbers stand for real ones: of what is between pairs, and of what takes no integers."""
    return layer.operator not in EITHER or "pairs" in layer.options


def _placed(network: Network, layer: NetworkLayer, made: AnyArray) -> FromReals | AnyArray:
    """In the output's scale, or as it is."""
    return _of_reals(network, layer, made) if is_of_reals(layer) else made


def _of_reals(network: Network, layer: NetworkLayer, made: AnyArray) -> FromReals:
    if not np.isfinite(made).all():
        raise NotComputed("its numbers leave float32")
    return FromReals(numbers=rectified(layer, made), scale=one_scale(network, layer))


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    **dict.fromkeys(("Relu", "Clip"), _bounded),
    **dict.fromkeys(("HardSigmoid", "HardSwish"), _hard),
    **dict.fromkeys(("Max", "Min"), _chosen),
    "ReduceMean": _mean,
}
