"""Layers of ONNX that ONNX Runtime has no integers for: transposed convolutions, images that are resized.

Between pairs they are what the file says, of real numbers; bytes are resized as they are too.
Sources: ONNX's definitions, ONNX Runtime's `core/providers/cpu/nn/conv_transpose.cc`,
`core/providers/cpu/tensor/upsample.cc` and `upsamplebase.h`; docs/spec/neighbours.md sections 42 and 43.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from sim.explanation.rule import CandidateRule
from sim.golden.layers.resize_onnx import (
    COORDINATES,
    CROPPED,
    NEAREST,
    Stretch,
    between_four,
    between_sixteen,
    lies_outside,
    nearest_places,
)
from sim.golden.layers.transposed_in_float32 import transposed_in_float32
from sim.models.layers import ByRules, Computed, FromReals, Inputs, operand, scale_of, to_reals
from sim.models.network import AnyArray, Network, NetworkLayer, NotComputed, TensorScale, require_size
from sim.models.operators.onnx_functions import byte_scale, one_scale, rectified
from sim.models.rules.interpolating import CutInterpolation
from sim.models.rules.quantizing import quantizing_rules

_AT_ONCE: Final = 8
"""Arrays of 64 bits, each of the size of all products, that a layer takes."""
_MOST_CHANNELS: Final = 1 << 14
_LARGEST_SCALE: Final = 1 << 28
OF_REAL_BIAS: Final = "of bias_in_reals"


def _transposed(network: Network, layer: NetworkLayer, given: Inputs) -> ByRules:
    """ConvTranspose of images: real numbers, with a bias as it is or rounded to units of the sums."""
    scale, to = byte_scale(network, layer, given), one_scale(network, layer)
    x, weights = to_reals(network, layer, given).exact, _weights(network, layer, given)
    options = layer.options
    if x.ndim != 4 or weights.ndim != 4 or not x.size:
        raise NotComputed("it is not of images")
    groups, strides, dilations = (
        int(options.get("group", 1)),
        _pair(options, "strides", 1),
        _pair(options, "dilations", 1),
    )
    further = _pair(options, "output_padding", 0)
    if groups < 1 or x.shape[1] != len(weights) or len(weights) % groups or len(weights) > _MOST_CHANNELS:
        raise NotComputed("its groups do not go with its channels")
    if min(*strides, *dilations) < 1 or min(further) < 0 or min(weights.shape) < 1:
        raise NotComputed("its strides, dilations or windows are no sizes")
    reach = [(of - 1) * dilation + 1 for of, dilation in zip(weights.shape[2:], dilations, strict=True)]
    lengths = [(of - 1) * stride + more for of, stride, more in zip(x.shape[2:], strides, reach, strict=True)]
    whole_lengths = [length + more for length, more in zip(lengths, further, strict=True)]
    pads = _pads(options, whole_lengths, [of * stride for of, stride in zip(x.shape[2:], strides, strict=True)])
    if any(length <= pads[at] + pads[at + 2] for at, length in enumerate(whole_lengths)):
        raise NotComputed("its pads leave nothing of it")
    require_size((_AT_ONCE, len(x), weights.shape[1] * groups, *whole_lengths))
    require_size((_AT_ONCE, len(x), *x.shape[2:], weights.size))
    each = len(weights) // groups
    with np.errstate(all="ignore"):  # a file may have any scales
        parts = [
            transposed_in_float32(x[:, at : at + each], weights[at : at + each], strides, dilations)
            for at in range(0, len(weights), each)
        ]
    whole = np.pad(np.concatenate(parts, axis=1), [(0, 0), (0, 0), (0, further[0]), (0, further[1])])
    sums = whole[:, :, pads[0] : whole.shape[2] - pads[2], pads[1] : whole.shape[3] - pads[3]]
    rules: list[CandidateRule] = []
    for of, bias in _biases(network, layer, given, scale, weights.shape[1], groups):
        made = rectified(layer, sums + bias.reshape(-1, 1, 1))
        if not np.isfinite(made).all():
            raise NotComputed("its numbers leave float32")
        dtype = np.dtype(network.output_of(layer).dtype)
        rules += quantizing_rules(made.ravel(), to.scales[0], to.zero_point, dtype, of)
    return by_place(rules, sums.shape, network.output_of(layer).dtype)


def _pads(options: Mapping[str, Any], whole: Sequence[int], same: Sequence[int]) -> Sequence[int]:
    """Tops and lefts, then bottoms and rights: as they are stated, or what cuts `whole` to the output that is.

    `same` is what SAME means. What is odd is cut at the end by SAME_UPPER, else at the beginning.
    """
    padding, lengths = options.get("auto_pad", "NOTSET"), options.get("output_shape")
    if padding not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise NotComputed(f"its padding is {padding}")
    if lengths is None and padding in ("NOTSET", "VALID"):
        pads = options.get("pads", [0] * 4) if padding == "NOTSET" else [0] * 4
        if len(pads) != 4 or min(pads) < 0:
            raise NotComputed("its pads are no sizes")
        return [int(pad) for pad in pads]
    to = same if lengths is None else [int(length) for length in lengths][-2:]
    cut = [of - length for of, length in zip(whole, to, strict=True)]
    if lengths is not None and min(cut) < 0:
        raise NotComputed(f"its output is {to[0]} x {to[1]}, and its windows make {whole[0]} x {whole[1]}")
    smaller, larger = ([max(one + more, 0) // 2 for one in cut] for more in (0, 1))
    return [*smaller, *larger] if padding == "SAME_UPPER" else [*larger, *smaller]


def _weights(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """As real numbers; scales for each channel lie along the second axis."""
    numbers, scale = operand(layer, 1, given), scale_of(network.tensors[layer.inputs[1]])
    if numbers.ndim != 4 or (scale.scales.size > 1 and scale.axis != 1) or numbers.dtype.kind not in "iu":
        raise NotComputed("its weights are not of windows, with a scale for all or for each channel of the output")
    along = (1, -1, 1, 1) if scale.scales.size > 1 else (1, 1, 1, 1)
    differences = numbers.astype(np.int64) - scale.zero_points.reshape(along)
    return np.asarray(differences.astype(np.float32) * scale.scales.reshape(along))


def _biases(
    network: Network, layer: NetworkLayer, given: Inputs, scale: TensorScale, channels: int, groups: int
) -> list[tuple[str, AnyArray]]:
    """The bias of each channel as real numbers: rounded to units of the sums first, and as it is in the file."""
    if len(layer.inputs) < 3 or layer.inputs[2] not in given:
        return [("", np.zeros(channels * groups, np.float32))]
    bias, of_weights = given[layer.inputs[2]].reshape(-1), scale_of(network.tensors[layer.inputs[1]]).scales
    if bias.size != channels * groups or bias.dtype.kind not in "iuf" or not np.isfinite(bias).all():
        raise NotComputed("its bias is not one finite number for each channel")
    with np.errstate(all="ignore"):
        units = np.tile(np.broadcast_to(scale.scales[0] * of_weights, channels), groups)
        if bias.dtype.kind != "f":
            return [("", bias.astype(np.float32) * units)]
        real = bias.astype(np.float32)
        rounded = np.rint(real / units)
    if not (np.abs(rounded) < 1 << 31).all():
        return [(OF_REAL_BIAS, real)]
    return [("", rounded * units), (OF_REAL_BIAS, real)]


def _pair(options: Mapping[str, Any], name: str, default: int) -> Sequence[int]:
    found = [int(one) for one in options.get(name, [default] * 2)]
    if len(found) != 2:
        raise NotComputed(f"its {name} are not two numbers")
    return found


def _resized(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals | ByRules | AnyArray:
    """Rows and columns of images, each the nearest, or between four numbers or sixteen; to any scale."""
    x, options = operand(layer, 0, given), layer.options
    mode, coordinates = options.get("mode", "nearest"), options.get("coordinate_transformation_mode", "half_pixel")
    nearest = options.get("nearest_mode", "round_prefer_floor")
    if mode not in ("nearest", "linear", "cubic") or coordinates not in COORDINATES or nearest not in NEAREST:
        raise NotComputed(f"a resize that is {mode}, {coordinates}, {nearest} is not computed")
    if options.get("antialias") or "axes" in options or options.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise NotComputed("it is resized without aliases, along some axes, or in proportion")
    if x.dtype not in (np.int8, np.uint8) or x.ndim != 4 or not x.size:
        raise NotComputed(f"it is not of images of bytes, but {x.dtype} with {x.ndim} axes")
    rows, columns = _stretches(layer, given, x.shape, coordinates)
    shape = (*x.shape[:2], rows.behind, columns.behind)
    require_size((_AT_ONCE, *shape))
    before, behind = network.tensors[layer.inputs[0]].scale, network.output_of(layer).scale
    is_same = (
        before is None
        or behind is None
        or (np.array_equal(before.scales, behind.scales) and np.array_equal(before.zero_points, behind.zero_points))
    )
    is_bytes, is_copied = is_same and "FusedActivationFunction" not in options, shape == x.shape
    beyond, outside = np.float32(options.get("extrapolation_value", 0.0)), lies_outside(rows, columns, coordinates)

    def resized(images: AnyArray) -> AnyArray:
        """In the type of the images, of which real numbers lie between others."""
        if is_copied:
            return images
        if mode == "nearest":
            places = [nearest_places(one, coordinates, nearest) for one in (rows, columns)]
            made = images[:, :, places[0]][:, :, :, places[1]]
        elif mode == "linear":
            made = between_four(images, rows, columns, coordinates)
        else:
            a, excludes = np.float32(options.get("cubic_coeff_a", -0.75)), bool(options.get("exclude_outside"))
            made = between_sixteen(images, rows, columns, coordinates, a, excludes)
        return np.where(outside, beyond.astype(made.dtype), made)

    if mode == "nearest" and is_bytes:
        if outside.any() and not is_copied:
            raise NotComputed("it reaches outside of the image, where bytes as they are and those of pairs differ")
        return resized(x)
    rules: list[CandidateRule] = []
    if before is not None and behind is not None:
        with np.errstate(all="ignore"):  # a file may have any coefficient
            reals, to = rectified(layer, resized(to_reals(network, layer, given).exact)), one_scale(network, layer)
        if not np.isfinite(reals).all():
            raise NotComputed("its numbers leave float32")
        if mode == "nearest":
            return FromReals(numbers=reals, scale=to)
        rules += quantizing_rules(reals.ravel(), to.scales[0], to.zero_point, np.dtype(network.output_of(layer).dtype))
    if mode == "linear" and is_bytes and np.iinfo(x.dtype).min <= beyond <= np.iinfo(x.dtype).max:
        rules.append(CutInterpolation(resized(x.astype(np.float32)).ravel()))
    return by_place(rules, shape, network.output_of(layer).dtype)


def _stretches(layer: NetworkLayer, given: Inputs, shape: Sequence[int], coordinates: str) -> tuple[Stretch, Stretch]:
    """Of rows and columns, by scales or by sizes, and where a part is cut out, that; other axes stay as they are."""
    stated = {
        place: given[number].ravel() for place, number in enumerate(layer.inputs) if place > 1 and number in given
    }
    scales, sizes = stated.get(2), stated.get(3)
    if sizes is not None and sizes.shape == (4,) and sizes.dtype.kind in "iu":
        behind = [int(size) for size in sizes]
        factors = [np.float32(to) / np.float32(of) for to, of in zip(behind, shape, strict=True)]
    elif (
        scales is not None
        and scales.shape == (4,)
        and scales.dtype == np.float32
        and (np.abs(scales) < _LARGEST_SCALE).all()
    ):
        factors = list(scales)
        behind = [int(scale * np.float32(of)) for scale, of in zip(scales, shape, strict=True)]
    else:
        raise NotComputed("it states no scale or size of each of four axes")
    if behind[:2] != list(shape[:2]) or min(behind) < 1 or min(factors) <= 0:
        raise NotComputed("other axes than rows and columns are resized, or to no size")
    part: AnyArray = np.repeat(np.array([0, 1], np.float32), len(shape))
    if coordinates == CROPPED and len(layer.inputs) > 1 and layer.inputs[1] >= 0:
        part = operand(layer, 1, given).ravel()
    if part.shape != (2 * len(shape),) or part.dtype != np.float32 or not (np.abs(part) < _LARGEST_SCALE).all():
        raise NotComputed("what is cut out is not a beginning and an end of each of four axes")
    starts, ends = part.reshape(2, -1)
    rows, columns = (
        Stretch(shape[axis], behind[axis], np.float32(factors[axis]), starts[axis], ends[axis]) for axis in (2, 3)
    )
    return rows, columns


def by_place(rules: Sequence[CandidateRule], shape: Sequence[int], dtype: str) -> ByRules:
    if not rules:
        raise NotComputed("its output has no scale that it could be quantized by")
    return ByRules(operands={"number": np.arange(prod(shape)).reshape(shape)}, rules=rules, dtype=dtype)


OPERATORS: Final[Mapping[str, Callable[[Network, NetworkLayer, Inputs], Computed]]] = {
    "ConvTranspose": _transposed,
    "Resize": _resized,
}
