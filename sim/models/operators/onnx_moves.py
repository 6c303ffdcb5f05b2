"""Layers of ONNX that put numbers in other places: their axes in another order, cut, padded, repeated, or as they are.

Sources: ONNX's definitions, and ONNX Runtime's `core/optimizer/qdq_transformer/selectors_actions`, where these lose
their pairs; docs/spec/neighbours.md sections 31 and 44.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from sim.models.layers import (
    Computed,
    FromReals,
    Inputs,
    Several,
    operand,
    require_one_scale,
    several,
    to_reals,
)
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, require_size
from sim.models.operators.onnx_functions import one_scale, rectified
from sim.models.rules.dequantizing import dequantized

_AT_ONCE: Final = 4
"""Arrays of 64 bits that a layer takes, each of the size of its output."""
_OF_COPIES: Final = ("reflect", "edge", "wrap")
"""How Pad repeats what is in the image; else it is a constant."""


def _turned(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """With its axes in another order, turned round where none is said."""
    require_one_scale(network, layer)
    order = layer.options.get("perm")
    return np.transpose(operand(layer, 0, given), None if order is None else tuple(order))


def _gathered(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The places along an axis that the second input names, in its shape; those below zero count from the end."""
    require_one_scale(network, layer)
    x, places, axis = operand(layer, 0, given), operand(layer, 1, given), int(layer.options.get("axis", 0))
    if places.dtype.kind not in "iu" or not -x.ndim <= axis < x.ndim:
        raise NotComputed("it has not whole numbers for places, or no such axis")
    axis %= x.ndim
    require_size((*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))
    return np.asarray(np.take(x, places, axis))


def _split(network: Network, layer: NetworkLayer, given: Inputs) -> Several:
    """In parts along an axis: as long as the second input or `split` says, or alike, of which the last may be shorter.

    Shorter it is only where the file says how many there are.
    """
    x, count = operand(layer, 0, given), len(layer.outputs)
    (axis,) = axes_of(x, [layer.options.get("axis", 0)])
    length, stated = x.shape[axis], whole_numbers(layer, 1, given, "split")
    if stated is None:
        each = -(-length // count)
        if length % count and layer.options.get("num_outputs") != count:
            raise NotComputed(f"its axis is {length} long, not {count} equal parts")
        stated = [max(min(each, length - at * each), 0) for at in range(count)]
    if min(stated, default=0) < 0 or sum(stated) != length:
        raise NotComputed(f"its parts are not together {length} long")
    ends = np.cumsum(stated, dtype=np.int64)[:-1]
    return several(network, layer, np.split(x, ends, axis), 0)


def _cut(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """From starts to ends, in steps, along some axes or the first ones."""
    require_one_scale(network, layer)
    x = operand(layer, 0, given)
    starts, ends = (whole_numbers(layer, place, given, name) for place, name in ((1, "starts"), (2, "ends")))
    if starts is None or ends is None:
        raise NotComputed("it states no starts or no ends")
    stated, steps = whole_numbers(layer, 3, given, "axes"), whole_numbers(layer, 4, given, "")
    axes = axes_of(x, range(len(starts)) if stated is None else stated)
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise NotComputed("it has not a start, an end and a step for each of its axes")
    found = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        found[axis] = _part(x.shape[axis], start, end, step)
    return x[tuple(found)]


def _part(length: int, start: int, end: int, step: int) -> slice:
    """Of an axis: what is below zero counts from the end; backwards both are held within it, the end before it too."""
    start, end = (at + length if at < 0 else at for at in (start, end))
    if step > 0:
        return slice(max(start, 0), max(end, 0), step)
    start, end = min(max(start, 0), length - 1), min(max(end, -1), length - 1)
    return slice(start, None if end < 0 else end, step) if length else slice(0)


def _padded(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray | FromReals:
    """With a number around, or those of the image; between pairs that number is a real one, 0 if none is stated."""
    x, mode = operand(layer, 0, given), layer.options.get("mode", "constant")
    around = _pairs_of_counts(layer, given, x)
    require_size([max(length + sum(pair), 0) for length, pair in zip(x.shape, around, strict=True)])
    if mode in _OF_COPIES:
        return _padded_with_copies(network, layer, x, around, mode)
    if mode != "constant":
        raise NotComputed(f"it is padded by {mode}")
    kept = [(max(-pair[0], 0), length - max(-pair[1], 0)) for length, pair in zip(x.shape, around, strict=True)]
    if any(begin > end for begin, end in kept):
        raise NotComputed("it is cut by more than there is")
    part = tuple(slice(begin, end) for begin, end in kept)
    grown = [(max(before, 0), max(behind, 0)) for before, behind in around]
    number, is_real = _surrounding(network, layer, given), "pairs" in layer.options
    if number.size != 1 or not np.isfinite(number).all() or number.dtype != (np.float32 if is_real else x.dtype):
        raise NotComputed("what is around is not one finite number of its type")
    if is_real and number.any():
        require_size((_AT_ONCE, *(length + sum(pair) for length, pair in zip(x.shape, around, strict=True))))
        reals = np.pad(to_reals(network, layer, given).exact[part], grown, constant_values=np.float32(number.item()))
        return FromReals(numbers=rectified(layer, reals), scale=one_scale(network, layer))
    require_one_scale(network, layer)
    placed = one_scale(network, layer).zero_point if is_real else number.item()
    return np.pad(x[part], grown, constant_values=placed)


def _pairs_of_counts(layer: NetworkLayer, given: Inputs, x: AnyArray) -> list[tuple[int, int]]:
    """How many are put before and behind each axis; below 0 they are cut off."""
    stated, some = whole_numbers(layer, 1, given, "pads"), whole_numbers(layer, 3, given, "")
    axes = axes_of(x, range(x.ndim) if some is None else some)
    if stated is None or len(stated) != 2 * len(axes):
        raise NotComputed("it is not padded by two counts for each of its axes")
    around = [(0, 0)] * x.ndim
    for axis, before, behind in zip(axes, stated, stated[len(axes) :], strict=False):
        around[axis] = (before, behind)
    return around


def _padded_with_copies(
    network: Network, layer: NetworkLayer, x: AnyArray, around: Sequence[tuple[int, int]], mode: Any
) -> AnyArray:
    require_one_scale(network, layer)
    there = [length - (mode == "reflect") for length in x.shape]
    if any(min(pair) < 0 for pair in around) or (
        mode != "edge" and any(max(pair) > max(most, 0) for pair, most in zip(around, there, strict=True))
    ):
        raise NotComputed(f"it is cut in the mode {mode}, or padded by more than there is")
    return np.pad(x, around, mode)


def _surrounding(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """What is put around, of the third input or `value`; an integer with a scale is the real number that it is."""
    if len(layer.inputs) <= _VALUE or layer.inputs[_VALUE] < 0:
        dtype = np.float32 if "pairs" in layer.options else given[layer.inputs[0]].dtype
        return np.asarray(layer.options.get("value", 0), dtype)
    number, scale = operand(layer, _VALUE, given), network.tensors[layer.inputs[_VALUE]].scale
    return number if scale is None else dequantized(number, scale.scales[0], scale.zero_point)


def _expanded(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """Repeated along axes to the shape that its own and the second input broadcast to."""
    require_one_scale(network, layer)
    x, to = operand(layer, 0, given), whole_numbers(layer, 1, given, "")
    if to is None or min(to, default=0) < 0:
        raise NotComputed("it states no shape")
    require_size(to)
    shape = np.broadcast_shapes(x.shape, tuple(to))
    require_size(shape)
    return np.broadcast_to(x, shape)


def _same(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The first input as it is: Identity, and Dropout of a net that is not trained."""
    require_one_scale(network, layer)
    if len(layer.inputs) > _TRAINS and layer.inputs[_TRAINS] >= 0 and operand(layer, _TRAINS, given).any():
        raise NotComputed("it drops numbers, as in training")
    return operand(layer, 0, given)


def _shape(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """How long each axis is, or those of some axes that follow each other."""
    x, options = operand(layer, 0, given), layer.options
    return np.array(x.shape[slice(options.get("start", 0), options.get("end"))], np.int64)


def axes_of(x: AnyArray, axes: Sequence[Any]) -> list[int]:
    """The axes of an array, each once, those below zero from the end; raises NotComputed for what is none of it."""
    found = [int(axis) + x.ndim * (int(axis) < 0) for axis in axes]
    if len(set(found)) != len(found) or not all(0 <= axis < x.ndim for axis in found):
        raise NotComputed(f"its axes {', '.join(map(str, axes))} are not different ones of {x.ndim}")
    return found


def whole_numbers(layer: NetworkLayer, place: int, given: Inputs, name: str) -> list[int] | None:
    """Whole numbers of an input, or of the attribute that was in its place before; None where neither is there."""
    if place < len(layer.inputs) and layer.inputs[place] >= 0:
        numbers = operand(layer, place, given)
        if numbers.dtype.kind not in "iu" or numbers.ndim > 1:
            raise NotComputed(f"its input {place} is not a row of whole numbers")
        return [int(number) for number in numbers.ravel()]
    stated = layer.options.get(name)
    return None if stated is None else [int(number) for number in stated]


_VALUE: Final = 2
"""Which input of Pad is put around."""
_TRAINS: Final = 2
"""Which input of Dropout says that it is trained."""
TURNS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "Transpose": _turned,
    "Gather": _gathered,
    "Split": _split,
    "Slice": _cut,
    "Pad": _padded,
    "Expand": _expanded,
    "Identity": _same,
    "Dropout": _same,
    "Shape": _shape,
}
"""Of any type."""
