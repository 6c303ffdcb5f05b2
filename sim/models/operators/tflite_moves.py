"""Layers of TensorFlow Lite that put numbers in other places: padded, joined, cut, their axes in another order.

And those that take one of several numbers as it is: the nearest of an image, the larger or smaller of two; and those
that have several outputs.

Sources: `kernels/split.cc`, `kernels/split_v.cc` and `kernels/gather.cc`; its reference kernels `reference/pad.h`,
`reference/concatenation.h`, `reference/transpose.h`, `reference/strided_slice.h`, `reference/gather.h` and
`reference/resize_nearest_neighbor.h`, with `kernels/pad.cc`, where what is padded with stands for zero, and
`kernels/concatenation.cc`, where int8 has one scale (uint8 of several: docs/spec/neighbours.md section 47).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from sim.models.layers import ByRules, Inputs, Several, broadcast, operand, require_one_scale, several
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, require_size
from sim.models.rules.joining import Joining

_AT_ONCE: Final = 8
"""Arrays of 64 bits, each as long as what is resized or joined, that this takes."""


def _padded(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """With the zero point around it, as many as the second input says before and behind each axis."""
    require_one_scale(network, layer)
    x, around, scale = operand(layer, 0, given), operand(layer, 1, given), network.output_of(layer).scale
    if around.shape != (x.ndim, 2) or around.dtype.kind not in "iu" or around.min(initial=0) < 0:
        raise NotComputed("its paddings are not a pair of counts for each axis")
    pairs = [(int(before), int(behind)) for before, behind in around]
    require_size([length + sum(pair) for length, pair in zip(x.shape, pairs, strict=True)])
    return np.pad(x, pairs, constant_values=0 if scale is None else scale.zero_point)


def _joined(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray | ByRules:
    """One behind the other along an axis; uint8 may be of other scales than the output."""
    if layer.options.get("FusedActivationFunction", "NONE") != "NONE":
        raise NotComputed(f"it is joined with {layer.options['FusedActivationFunction']}")
    axis = int(layer.options.get("Axis", 0))
    tensors = [network.tensors[number] for number in (*layer.inputs, *layer.outputs[:1])]
    scales = [one.scale for one in tensors if one.scale is not None and one.scale.scales.size == 1]
    is_alike = len({(float(scale.scales[0]), scale.zero_point) for scale in scales}) == 1
    if {one.dtype for one in tensors} != {"uint8"} or len(scales) < len(tensors) or is_alike:
        return np.concatenate(_parts_of_one_scale(network, layer, given), axis=axis)
    parts = _parts(layer, given)
    require_size((_AT_ONCE, sum(part.size for part in parts)))
    which = [np.full(part.shape, number, np.int64) for number, part in enumerate(parts)]
    operands = {"byte": np.concatenate(parts, axis=axis), "tensor": np.concatenate(which, axis=axis)}
    return ByRules(operands=operands, rules=[Joining(scales[:-1], scales[-1])], dtype="uint8")


def _turned(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """With its axes in the order that the second input says."""
    require_one_scale(network, layer)
    order = tuple(int(axis) for axis in operand(layer, 1, given).ravel())
    return np.transpose(operand(layer, 0, given), order)


def _cut_out(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """From the second input's places on, as many as the third says; -1 for all that are left."""
    require_one_scale(network, layer)
    x = operand(layer, 0, given)
    begins, sizes = (_one_for_each_axis(x, operand(layer, place, given)) for place in (1, 2))
    ends = [length if size == -1 else begin + size for begin, size, length in zip(begins, sizes, x.shape, strict=True)]
    if not all(0 <= begin <= end <= length for begin, end, length in zip(begins, ends, x.shape, strict=True)):
        raise NotComputed("it cuts out more than there is")
    return x[tuple(map(slice, begins, ends))]


def _cut_in_steps(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """From the second input's places to the third's, in steps of the fourth; by masks from end to end, or one place."""
    require_one_scale(network, layer)
    if layer.options.get("EllipsisMask") or layer.options.get("NewAxisMask") or layer.options.get("Offset"):
        raise NotComputed("it is cut with an ellipsis, a new axis or an offset")
    x = operand(layer, 0, given)
    begins, ends, steps = (_one_for_each_axis(x, operand(layer, place, given)) for place in (1, 2, 3))
    found: list[slice | int] = []
    for axis, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):
        from_end, to_end, is_one = (
            layer.options.get(name, 0) >> axis & 1 for name in ("BeginMask", "EndMask", "ShrinkAxisMask")
        )
        if is_one:
            found.append(0 if from_end and step > 0 else -1 if from_end else begin)
        else:
            found.append(slice(None if from_end else begin, None if to_end else end, step))
    return np.asarray(x[tuple(found)])


def _one_for_each_axis(x: AnyArray, numbers: AnyArray) -> list[int]:
    if numbers.shape != (x.ndim,) or numbers.dtype.kind not in "iu":
        raise NotComputed("it has not one number for each axis")
    return [int(number) for number in numbers]


def _stacked(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """One behind the other along a new axis."""
    return np.stack(_parts_of_one_scale(network, layer, given), axis=int(layer.options.get("Axis", 0)))


def _parts_of_one_scale(network: Network, layer: NetworkLayer, given: Inputs) -> list[AnyArray]:
    for place in range(len(layer.inputs)):
        require_one_scale(network, layer, place)
    return _parts(layer, given)


def _parts(layer: NetworkLayer, given: Inputs) -> list[AnyArray]:
    """All inputs, of one type, where together they are not too large."""
    parts = [operand(layer, place, given) for place in range(len(layer.inputs))]
    require_size((sum(part.size for part in parts),))
    if len({part.dtype for part in parts}) > 1:
        raise NotComputed("its inputs have several types")
    return parts


def _split(network: Network, layer: NetworkLayer, given: Inputs) -> Several:
    """The second input in as many equal parts as there are outputs, along the axis that the first says."""
    x, axis = operand(layer, 1, given), _axis(operand(layer, 0, given))
    return several(network, layer, np.split(x, len(layer.outputs), axis), 1)


def _split_by_sizes(network: Network, layer: NetworkLayer, given: Inputs) -> Several:
    """In parts as long as the second input says, one of which may be -1, what is left, along the third's axis."""
    x, sizes, axis = operand(layer, 0, given), operand(layer, 1, given), _axis(operand(layer, 2, given))
    length = x.shape[axis]
    lengths = [int(size) for size in sizes.ravel()]
    if -1 in lengths:
        lengths[lengths.index(-1)] = length - 1 - sum(lengths)
    if sizes.dtype.kind not in "iu" or min(lengths, default=0) < 0 or sum(lengths) != length:
        raise NotComputed(f"its parts are not together {length} long")
    return several(network, layer, np.split(x, np.cumsum(lengths)[:-1], axis), 0)


def _unstacked(network: Network, layer: NetworkLayer, given: Inputs) -> Several:
    """Each place along an axis by itself, without that axis."""
    return several(network, layer, list(np.moveaxis(operand(layer, 0, given), int(layer.options.get("Axis", 0)), 0)), 0)


def _axis(numbers: AnyArray) -> int:
    if numbers.size != 1 or numbers.dtype.kind not in "iu":
        raise NotComputed("its axis is not one whole number")
    return int(numbers.ravel()[0])


def _gathered(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The places along an axis that the second input names, in its shape; of each batch those that its part names."""
    require_one_scale(network, layer)
    x, places = operand(layer, 0, given), operand(layer, 1, given)
    axis, batched = int(layer.options.get("Axis", 0)), int(layer.options.get("BatchDims", 0))
    axis, batched = axis + x.ndim * (axis < 0), batched + places.ndim * (batched < 0)
    if not 0 <= batched <= axis < x.ndim or batched > places.ndim:
        raise NotComputed("its axis is none of its input's, or lies in its batches")
    batches, length = x.shape[:batched], x.shape[axis]
    if places.dtype.kind not in "iu" or places.shape[:batched] != batches:
        raise NotComputed("it has not whole numbers for places, or not of as many batches as its input")
    if places.size and not (places.min() >= 0 and places.max() < length):
        raise NotComputed(f"it names places from {places.min()} to {places.max()}, and its axis has {length}")
    require_size((*x.shape[:axis], *places.shape[batched:], *x.shape[axis + 1 :]))
    named = places.ndim - batched
    each = [np.arange(batch).reshape(-1, *[1] * (places.ndim - at - 1)) for at, batch in enumerate(batches)]
    found = np.moveaxis(x, axis, batched)[(*each, places)]
    return np.moveaxis(found, range(batched, batched + named), range(axis, axis + named))


def _shape(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """How long each axis is, in the output's type."""
    dtype = network.output_of(layer).dtype
    if dtype not in ("int32", "int64"):
        raise NotComputed(f"a shape in {dtype} is not computed")
    return np.array(operand(layer, 0, given).shape, dtype)


def _nearest(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """An image [N, H, W, C] with the rows and columns that the second input says, each the nearest one."""
    x, lengths = resized(network, layer, given)
    rows, columns = (_nearest_of(x.shape[axis], lengths[axis - 1], layer) for axis in (1, 2))
    return x[:, rows][:, :, columns]


def resized(network: Network, layer: NetworkLayer, given: Inputs) -> tuple[AnyArray, tuple[int, int]]:
    """An image [N, H, W, C], and the rows and columns that it will have, of the same scale; raises NotComputed."""
    require_one_scale(network, layer)
    x, lengths = operand(layer, 0, given), operand(layer, 1, given)
    if x.ndim != 4 or not x.size or lengths.shape != (2,) or lengths.dtype.kind not in "iu" or lengths.min() < 1:
        raise NotComputed("it is not of images, or to no rows and columns")
    rows, columns = (int(length) for length in lengths)
    require_size((_AT_ONCE, x.shape[0], rows, columns, x.shape[3]))
    return x, (rows, columns)


def _nearest_of(before: int, behind: int, layer: NetworkLayer) -> AnyArray:
    """The places that are taken, in float32 as upstream has it."""
    aligns, is_centred = bool(layer.options.get("AlignCorners")), bool(layer.options.get("HalfPixelCenters"))
    corners = int(aligns and behind > 1)
    scale = np.float32(before - corners) / np.float32(behind - corners)
    at = (np.arange(behind, dtype=np.float32) + np.float32(0.5 * is_centred)) * scale
    places = np.floor(at.astype(np.float64) + 0.5 * aligns).astype(np.int64)
    return np.minimum(places, before - 1)


def _chosen(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The larger or the smaller of two integers of one scale, broadcast."""
    for place in (0, 1):
        require_one_scale(network, layer, place)
    a, b = broadcast(operand(layer, 0, given), operand(layer, 1, given))
    if a.dtype != b.dtype or a.dtype.kind not in "iu":
        raise NotComputed(f"{layer.operator} of {a.dtype} and {b.dtype} is not computed")
    return np.maximum(a, b) if layer.operator == "MAXIMUM" else np.minimum(a, b)


def _negated(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """NEG of integers of one scale that count from zero, the lowest of which stays what it is: `reference/neg.h`."""
    require_one_scale(network, layer)
    x, scale = operand(layer, 0, given), network.output_of(layer).scale
    if x.dtype.kind != "i" or (scale is not None and scale.zero_points.any()):
        raise NotComputed(f"NEG of {x.dtype}, or that does not count from zero, is not computed")
    return -x


TURNS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], AnyArray | Several | ByRules]]] = {
    "PAD": _padded,
    "CONCATENATION": _joined,
    "TRANSPOSE": _turned,
    "SLICE": _cut_out,
    "STRIDED_SLICE": _cut_in_steps,
    "PACK": _stacked,
    "SPLIT": _split,
    "SPLIT_V": _split_by_sizes,
    "UNPACK": _unstacked,
    "GATHER": _gathered,
    "SHAPE": _shape,
    "RESIZE_NEAREST_NEIGHBOR": _nearest,
    "NEG": _negated,
    "MAXIMUM": _chosen,
    "MINIMUM": _chosen,
}
"""By operator, of any type."""
