"""A net of fifty layers that are not sums of windows or rows, and what such a layer makes with one number wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tflite

from sim.golden.derivation import derive_tflite
from sim.golden.integer_addition import LEFT_SHIFTS, add_rescaled, rescaling_of
from sim.golden.layers.bilinear import IN_INTEGERS, Resizing
from sim.golden.layers.l2_normalization import reciprocal_root
from sim.golden.layers.prelu import factors_of, prelu
from sim.golden.layers.sigmoid_table import factor_of, looked_up
from sim.golden.scaling import double_rounding, single_rounding
from sim.models.network import Network, NetworkLayer, NetworkTensor
from support.tflite_models import ModelWriter

SIZE, CHANNELS = 14, 8
SHAPE = (1, SIZE, SIZE, CHANNELS)
Int64Array = npt.NDArray[np.int64]
_LAST_TWO: Final = ("sizes", "images", "functions")
"""Of each block, by the seed: a net has enough layers of a kind to tell what they are."""
MULTIPLIERS: Final = {
    "SUB": 3, "PRELU": 2, "ABS": 1, "TRANSPOSE_CONV": CHANNELS, "BATCH_MATMUL": 1, "QUANTIZE": 1, "LOGISTIC": 1,
    "TANH": 1, "RESIZE_BILINEAR": 0, "L2_NORMALIZATION": 0,
}  # fmt: skip
"""How many a layer has, each of which may be off."""
ONLY_TWO_ROUNDINGS: Final = ("SUB", "PRELU", "L2_NORMALIZATION", "RESIZE_BILINEAR")
"""What rounds twice, or once: in the place of that by ties away, images round ties up."""


def fifty_other_layers(seed: int) -> bytes:
    """Ten times TRANSPOSE_CONV, SUB and PRELU, and then ABS and BATCH_MATMUL, RESIZE_BILINEAR and L2_NORMALIZATION, or
    QUANTIZE to int16 and LOGISTIC or TANH."""
    rng, made = np.random.default_rng(seed), ModelWriter()
    before = made.tensor("x", "int8", SHAPE, 2.0**-5, -3)
    made.inputs = [before]

    def tensor(name: str) -> int:
        scale = float(rng.choice([2.0**-5, 3 * 2.0**-7, 5 * 2.0**-7]))
        return made.tensor(name, "int8", SHAPE, scale, int(rng.integers(-20, 21)))

    def held(name: str, of: tuple[int, ...], scales: npt.ArrayLike, zero: int = 0) -> int:
        return made.tensor(name, "int8", of, scales, zero, rng.integers(-127, 128, of).astype(np.int8))

    shape = made.tensor("shape", "int32", (4,), data=np.array(SHAPE, np.int32))
    larger = made.tensor("larger", "int32", (2,), data=np.array([2 * SIZE, 2 * SIZE], np.int32))
    pattern = _LAST_TWO[seed % 3]
    for number in range(10):
        name = f"block{number}"
        scales = (rng.choice([1, 3, 5, 7], CHANNELS) * 2.0**-11).astype(np.float32)
        turned, difference, sloped = (tensor(f"{name}_{each}") for each in ("turned", "difference", "sloped"))
        made.layer(
            "TRANSPOSE_CONV", (shape, held(f"{name}_weights", (CHANNELS, 3, 3, CHANNELS), scales), before), (turned,),
            "TransposeConvOptions", Padding=tflite.Padding.SAME, StrideH=1, StrideW=1,
            FusedActivationFunction=int(rng.integers(0, 2)),
        )  # fmt: skip
        made.layer("SUB", (before, turned), (difference,), "SubOptions", FusedActivationFunction=int(number % 4 == 3))
        slopes = held(f"{name}_slopes", (1, 1, CHANNELS), float(rng.choice([3, 5])) * 2.0**-8, int(rng.integers(9)))
        made.layer("PRELU", (difference, slopes), (sloped,))
        of_sloped = made.tensors[sloped]
        if pattern == "sizes":
            absolute, before = tensor(f"{name}_absolute"), tensor(f"{name}_product")
            made.layer("ABS", (sloped,), (absolute,))
            matrix = held(f"{name}_matrix", (1, SIZE, CHANNELS, CHANNELS), 5 * 2.0**-9, int(rng.integers(9)))
            made.layer("BATCH_MATMUL", (absolute, matrix), (before,), "BatchMatMulOptions")
        elif pattern == "images":
            resized = made.tensor(f"{name}_resized", "int8", (1, 2 * SIZE, 2 * SIZE, CHANNELS), of_sloped["scales"],
                                  of_sloped["zero"])  # fmt: skip
            made.layer("RESIZE_BILINEAR", (sloped, larger), (resized,), "ResizeBilinearOptions", HalfPixelCenters=True)
            before = made.tensor(f"{name}_over_root", "int8", SHAPE, 2.0**-7)
            made.layer("L2_NORMALIZATION", (sloped,), (before,), "L2NormOptions")
            made.outputs.append(resized)
        else:
            wide = made.tensor(f"{name}_wide", "int16", SHAPE, float(rng.choice([2.0**-5, 2.0**-6])))
            made.layer("QUANTIZE", (sloped,), (wide,))
            share = made.tensor(f"{name}_function", "int16", SHAPE, 2.0**-15)
            made.layer(("LOGISTIC", "TANH")[number % 2], (wide,), (share,))
            made.outputs.append(share)
            before = sloped
    made.outputs.append(before)
    return made.content()


def zero_points_of(layer: NetworkLayer) -> tuple[int, ...]:
    """The tensors of a layer whose zero points may be any; those of the weights of TRANSPOSE_CONV are 0 upstream."""
    first, output = layer.inputs[0], layer.outputs[0]
    own: Mapping[str, tuple[int, ...]] = {
        "TRANSPOSE_CONV": (*layer.inputs[2:3], *layer.inputs[1:2], output),
        "ABS": (first, output),
        "QUANTIZE": (first,),
        "L2_NORMALIZATION": (first,),
        "AVERAGE_POOL_2D": (first,),
        **dict.fromkeys(("LOGISTIC", "TANH", "RESIZE_BILINEAR"), ()),
    }
    return own.get(layer.operator, (*layer.inputs[:2], output))


def placed_otherwise(
    network: Network,
    layer: NetworkLayer,
    given: Mapping[int, npt.NDArray[Any]],
    rounds_once: bool,
    off: tuple[int, int],
) -> Int64Array:
    """What a layer of arithmetics of its own makes before its bounds; `off` is by how much which multiplier is."""
    tensors = [network.tensors[number] for number in (*layer.inputs, layer.outputs[0])]
    numbers = [given[number].astype(np.int64) for number in layer.inputs]
    rescale, output = single_rounding if rounds_once else double_rounding, tensors[-1]
    match layer.operator:
        case "SUB" | "PRELU":
            left, right = (q - _zero(one) for q, one in zip(numbers, tensors, strict=False))
            a, b, y = (_scale(one) for one in tensors)
            if layer.operator == "SUB":
                by = one_off(rescaling_of((a, b, y), LEFT_SHIFTS[8], derive_tflite), *off)
                return add_rescaled(left, right, by, LEFT_SHIFTS[8], rescale, subtracts=True) + np.int64(_zero(output))
            single = np.float32(a) / np.float32(y), np.float32(a) * np.float32(b) / np.float32(y)
            left, right = np.broadcast_arrays(left, right)
            return prelu(left, right, one_off(factors_of(*map(float, single)), *off), rescale) + _zero(output)
        case "RESIZE_BILINEAR":
            name = "bilinear_in_10_bits_ties_up" if rounds_once else "bilinear_in_10_bits"
            rows, columns = numbers[1].tolist()
            return IN_INTEGERS[name](given[layer.inputs[0]], Resizing(rows, columns, False, True))
        case "L2_NORMALIZATION":
            differences = numbers[0] - _zero(tensors[0])
            multipliers, left_shifts = reciprocal_root((differences**2).sum(axis=-1, keepdims=True).reshape(-1))
            to = (*SHAPE[:-1], 1)
            return rescale(differences, multipliers.reshape(to), left_shifts.reshape(to) + 7).astype(np.int64)
        case "LOGISTIC" | "TANH":
            function = layer.operator.lower()
            factor = factor_of(function, np.float32(_scale(tensors[0])))
            return looked_up(function, numbers[0], factor._replace(multiplier=factor.multiplier + off[0]))
    raise NotImplementedError(layer.operator)


def one_off(factors: Any, by: int, which: int) -> Any:
    """Factors of which one has a multiplier that is so much larger."""
    name = factors._fields[which]
    one = getattr(factors, name)
    return factors._replace(**{name: one._replace(multiplier=one.multiplier + by)})


def _scale(tensor: NetworkTensor) -> float:
    assert tensor.scale is not None
    return float(tensor.scale.scales[0])


def _zero(tensor: NetworkTensor) -> int:
    assert tensor.scale is not None
    return tensor.scale.zero_point
