"""A net of fifty functions, averages and softmaxes, and what such a layer makes with one number wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.layers import hard_swish, leaky_relu, mean, softmax
from sim.golden.scaling import double_rounding, single_rounding
from sim.models.network import Network, NetworkLayer, TensorScale
from support.planted_elements import one_off
from support.tflite_models import ModelWriter

SHAPE = (7, 4, 4, 16)
LOWEST: Final = {"int8": -128, "uint8": 0, "int16": -32768}
Int64Array = npt.NDArray[np.int64]
FUNCTION_MULTIPLIERS: Final = {"LEAKY_RELU": 2, "HARD_SWISH": 2, "MEAN": 1, "SOFTMAX": 1}
"""How many a layer has, each of which may be off."""


class Planted(NamedTuple):
    """What is wrong: another arithmetic by its name, and by how many units which multiplier is off."""

    other: str = ""
    by: int = 0
    which: int = 0


def fifty_functions(seed: int) -> bytes:
    """Ten times LEAKY_RELU, behind it or behind the input HARD_SWISH, two times MEAN, and SOFTMAX: of bytes.

    Of int16, every third seed, LEAKY_RELU two times, as there is no HARD_SWISH.  Scales and slopes are fractions of
    small numbers, of int16 finer ones, and some scales any.
    """
    rng, made = np.random.default_rng(seed), ModelWriter()
    dtype = ("int8", "uint8", "int16")[seed % 3]
    wide, lowest = dtype == "int16", LOWEST[dtype]
    unit = 2.0**-13 if wide else 2.0**-5

    def tensor(name: str, shape: tuple[int, ...] = SHAPE, units: float = 0) -> int:
        zero = 0 if wide else lowest + 128 + int(rng.integers(-20, 21))
        drawn = units or float(rng.choice([1, 3 / 4, 5 / 4, rng.uniform(0.7, 1.3)]))
        return made.tensor(name, dtype, shape, unit * drawn, zero)

    def axes(name: str, *of: int) -> int:
        return made.tensor(name, "int32", (len(of),), data=np.array(of, np.int32))

    before = tensor("x", units=5 / 4)
    made.inputs = [before]
    of_images, of_others = axes("rows and columns", 1, 2), axes("images", 0)
    for number in range(10):
        leaked = tensor(f"leaked{number}", units=0 if number else 3 / 4)  # the first reaches its bounds
        curved = tensor(f"curved{number}")
        bent = leaked
        if not wide and (number > 4 or number % 2):
            # at most scales hard swish has no ties below zero, and both its roundings are one; some stay as drawn
            bent = made.inputs[0]
            made.tensors[curved]["scales"][0] = unit * (1 / 2, 3 / 2)[number // 2 % 2]
        slopes = [3 / 4, 5 / 4, 7 / 8, -3 / 4, -7 / 8]
        alpha = float(rng.choice(slopes))
        made.layer("LEAKY_RELU", (before,), (leaked,), "LeakyReluOptions", Alpha=alpha)
        if wide:
            made.layer("LEAKY_RELU", (leaked,), (curved,), "LeakyReluOptions", Alpha=float(rng.choice(slopes)))
        else:
            made.layer("HARD_SWISH", (bent,), (curved,))
        small, other = tensor(f"of_images{number}", (7, 1, 1, 16)), tensor(f"of_all{number}", (4, 4, 16))
        made.layer("MEAN", (leaked, of_images), (small,), "ReducerOptions", KeepDims=True)
        made.layer("MEAN", (leaked, of_others), (other,), "ReducerOptions", KeepDims=False)
        share = made.tensor(f"share{number}", dtype, SHAPE, 2.0**-15 if wide else 2.0**-8, 0 if wide else lowest)
        made.layer("SOFTMAX", (curved,), (share,), "SoftmaxOptions", Beta=float(rng.choice([1.0, 3.0])))
        made.outputs += [small, other, share]
        before = leaked if alpha > 0 else before  # else nothing negative would be left
    return made.content()


def zeros_of_function(layer: NetworkLayer) -> tuple[int, ...]:
    """The tensors of a layer whose zero points may be off; of SOFTMAX that of the input changes nothing."""
    return layer.outputs[:1] if layer.operator == "SOFTMAX" else (layer.inputs[0], layer.outputs[0])


def others_of(network: Network, layer: NetworkLayer) -> tuple[str, ...]:
    """Arithmetics that a layer may have instead of the one that a net is run by."""
    wide = network.output_of(layer).dtype == "int16"
    return {
        "LEAKY_RELU": ("single_rounding",) if wide else ("single_rounding", "leaky_relu_of_8_bits"),
        "HARD_SWISH": ("hard_swish_by_vector",),
        "MEAN": ("mean_by_single_rounding", "mean_in_float32", *(() if wide else ("mean_by_reciprocal",))),
        "SOFTMAX": ("softmax_by_interpolation_of_float32",) if wide else ("softmax_in_fixed_point",),
    }[layer.operator]


def made_by_function(
    network: Network, layer: NetworkLayer, given: Mapping[int, npt.NDArray[Any]], fault: Planted
) -> Int64Array:
    """What a layer makes before its bounds."""
    x, from_, to = given[layer.inputs[0]], network.tensors[layer.inputs[0]].scale, network.output_of(layer).scale
    assert from_ is not None
    assert to is not None
    match layer.operator:
        case "LEAKY_RELU":
            return _leaking(x, from_, to, np.float32(layer.options["Alpha"]), fault) + to.zero_point
        case "HARD_SWISH":
            by = one_off(hard_swish.factors_of(from_.scales[0], to.scales[0]), fault.by, fault.which)
            if fault.other:  # all of them in whole vectors
                return hard_swish.hard_swish_by_vector(x, from_.zero_point, by, to.zero_point)
            return hard_swish.hard_swish(x, from_.zero_point, by, to.zero_point)
        case "MEAN":
            axes = tuple(given[layer.inputs[1]].tolist())
            sums = x.astype(np.int64).sum(axis=axes, keepdims=bool(layer.options["KeepDims"]))
            by_count = mean.MeanScales(from_.scales[0], from_.zero_point, to.scales[0], to.zero_point, fault.by)
            return _averaging(sums, x.size // sums.size, by_count, fault.other)
        case "SOFTMAX":
            beta = np.float32(layer.options["Beta"])
            scales = softmax.SoftmaxScales(from_.scales[0], to.scales[0], beta)
            return _normalizing(x, scales, to.zero_point, fault)
    raise NotImplementedError(layer.operator)


def _leaking(x: npt.NDArray[Any], from_: TensorScale, to: TensorScale, alpha: np.float32, fault: Planted) -> Int64Array:
    scale, of_output = from_.scales[0], to.scales[0]
    if fault.other == "leaky_relu_of_8_bits":
        return leaky_relu.leaky_relu_of_8_bits(
            x, from_.zero_point, leaky_relu.factors_of_8_bits(scale, of_output, alpha)
        )
    factors = leaky_relu.factors_of(float(scale / of_output), float(scale * alpha / of_output))
    by = one_off(factors, fault.by, fault.which)
    rescale = single_rounding if fault.other == "single_rounding" else double_rounding
    return leaky_relu.leaky_relu(x, from_.zero_point, by, rescale)


def _averaging(sums: Int64Array, count: int, by: mean.MeanScales, other: str) -> Int64Array:
    match other:
        case "mean_in_float32":
            return mean.mean_in_float32(sums, count, by)
        case "mean_by_reciprocal":
            return mean.mean_by_reciprocal(sums, count, by)
    rescale = single_rounding if other == "mean_by_single_rounding" else double_rounding
    return mean.mean_in_fixed_point(sums, count, by, rescale)


def _normalizing(x: npt.NDArray[Any], by: softmax.SoftmaxScales, zero: int, fault: Planted) -> Int64Array:
    if x.dtype == np.int16:
        made = softmax.by_interpolation(x, by, zero, np.float32 if fault.other else np.float64, units=fault.by)
    else:
        made = (softmax.in_fixed_point if fault.other else softmax.by_table)(x, by, zero, units=fault.by)
    return np.asarray(made["output"], np.int64)
