"""A network run by the golden reference, every layer under one convention of scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

from sim.golden.derivation import derive_tflite
from sim.golden.integer_addition import LEFT_SHIFTS, add_rescaled, rescaling_of
from sim.golden.scaling import double_rounding, double_rounding_ties_up, scale_float_ties_even, single_rounding
from sim.kernels.pool.golden import ties_away
from sim.kernels.quantized_add.golden_tflite_pot import derived_of_powers, steps
from sim.models.computed import computed
from sim.models.layers import (
    Activated,
    Added,
    Averaged,
    ByRules,
    FromReals,
    Normalized,
    OneOutput,
    Pooled,
    Requantized,
    Several,
    ToReals,
)
from sim.models.network import AnyArray, ModelError, Network, NotComputed, TensorScale, require_size
from sim.models.rules.averaging import averaging_rules
from sim.models.rules.functions.activated import activation_rules
from sim.models.rules.functions.normalizing import normalizing_rules

Scaled = npt.NDArray[np.int32]
_FIXED: Final[Mapping[str, Callable[[Any, int, int], Scaled]]] = {
    "double_rounding": double_rounding,
    "double_rounding_ties_up": double_rounding_ties_up,
    "single_rounding": single_rounding,
}
_INTEGERS: Final = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FORWARD_CONVENTIONS: Final = (*_FIXED, "fp32")
"""By which layers are scaled, as the modes of the kernels fully_connected and conv2d are named."""


def forward(network: Network, given: Mapping[int, AnyArray], convention: str, first: int = 0) -> dict[int, AnyArray]:
    """The tensors that the layers from `first` on make of the given ones, by number, with these.

    What a layer takes is what the layers before it made.  A layer that cannot be computed makes nothing, and what needs
    its output neither.  Additions are TFLite's integer addition in every convention, by shifts where the file says so,
    averages round ties away from zero, logistic and tanh are tables that are made in float32, hard swish, leaky ReLU
    and mean are TFLite's reference, softmax is its table of float32.
    """
    tensors = network.constants | dict(given)
    behind = network.layers[first:]
    for number in {number for layer in behind for number in layer.outputs}:
        tensors.pop(number, None)
    for layer in behind:
        try:
            made = computed(network, layer, tensors)
            if isinstance(made, Several):
                tensors.update(zip(layer.outputs, made.parts, strict=True))
            else:
                tensors[layer.outputs[0]] = output_under(convention, made, network.output_of(layer).dtype)
        except NotComputed:
            continue
    return tensors


def drawn_inputs(network: Network, seed: int) -> dict[int, AnyArray]:
    """Any numbers of the inputs' types, of a seed; raises ModelError for inputs of other types, or too large.

    Real numbers that are quantized are what all integers stand for, and half-way between them.
    """
    rng, found = np.random.default_rng(seed), dict[int, AnyArray]()
    for number in network.inputs:
        tensor = network.tensors[number]
        require_size(tensor.shape or ())
        scale = _scale_behind(network, number)
        if tensor.dtype == "float32" and tensor.shape is not None and scale is not None:
            halves = rng.integers(-600, 600, tensor.shape, np.int16)
            found[number] = halves * (np.float32(0.5) * scale.scales[0])
            continue
        if tensor.dtype not in ("int8", "uint8", "int16") or tensor.shape is None:
            raise ModelError(f"the input {tensor.name} is {tensor}: give numbers for it with --inputs FILE.npz")
        limits = np.iinfo(tensor.dtype)
        found[number] = rng.integers(limits.min, limits.max, tensor.shape, tensor.dtype, endpoint=True)
    return found


def _scale_behind(network: Network, number: int) -> TensorScale | None:
    """Of what a tensor is quantized to."""
    users = (layer for layer in network.layers if layer.inputs[:1] == (number,) and layer.outputs)
    return next((network.output_of(one).scale for one in users if one.operator in ("QUANTIZE", "QuantizeLinear")), None)


def output_under(convention: str, made: OneOutput, dtype: str) -> AnyArray:
    """What a layer gives under a convention; raises NotComputed where it does not define that."""
    if isinstance(made, Requantized | Added | FromReals) and dtype not in _INTEGERS:
        raise NotComputed(f"its output is {dtype}")
    match made:
        case Requantized():
            placed = _requantized(made, convention)
        case Added():
            placed = _sum(made, dtype)
        case Pooled():
            placed, dtype = _average(made), made.dtype
        case FromReals():
            return _quantized(made, convention, dtype)
        case ToReals():
            return made.exact
        case Activated():
            return _activated(made, dtype)
        case Normalized():
            return _normalized(made, dtype)
        case Averaged():
            placed = _mean(made, dtype)
        case ByRules():
            placed = _by_rule(made, dtype)
        case np.ndarray():
            return made
        case _:
            assert_never(made)
    limits = np.iinfo(dtype)
    minimum, maximum = (None, None) if isinstance(made, Averaged) else (made.minimum, made.maximum)
    lower = limits.min if minimum is None else minimum
    upper = limits.max if maximum is None else maximum
    return np.clip(placed, lower, upper).astype(dtype)


def _requantized(made: Requantized, convention: str) -> npt.NDArray[np.int64]:
    if not made.accumulators.ndim:
        raise NotComputed("its output is one number without an axis")
    if not made.accumulators.size:
        return made.accumulators.astype(np.int64)
    try:
        if made.scale.size == 1:
            scaled = _scaled(made.accumulators, made.scale.item(), convention)
        else:
            channels = np.moveaxis(made.accumulators, made.axis, 0)
            factors = np.broadcast_to(made.scale, len(channels))
            each = [_scaled(*one, convention) for one in zip(channels, factors.tolist(), strict=True)]
            scaled = np.stack(each, axis=made.axis)
    except ValueError as error:
        raise NotComputed(f"{convention} does not define it: {error}") from None
    return scaled.astype(np.int64) + made.zero_point


def _scaled(sums: Scaled, factor: float, convention: str) -> Scaled:
    if convention in _FIXED:
        return _FIXED[convention](sums, *derive_tflite(factor))
    return scale_float_ties_even(sums, np.float32(factor))


def _sum(made: Added, dtype: str) -> npt.NDArray[np.int64]:
    bits = np.iinfo(dtype).bits
    if bits not in LEFT_SHIFTS:
        raise NotComputed(f"an addition to {dtype} is not computed")
    a, b, output = made.scales
    scales = (float(a.scales[0]), float(b.scales[0]), float(output.scales[0]))
    if made.by_powers:
        try:
            by = derived_of_powers(*scales)
        except ValueError as error:
            raise NotComputed(str(error)) from None
        return steps({"a": made.a, "b": made.b, "parameters": by})["sum"].astype(np.int64)
    left, right = (array.astype(np.int64) - scale.zero_point for array, scale in ((made.a, a), (made.b, b)))
    try:
        rescaling = rescaling_of(scales, LEFT_SHIFTS[bits], derive_tflite)
        total = add_rescaled(left, right, rescaling, LEFT_SHIFTS[bits], double_rounding)
    except ValueError as error:
        raise NotComputed(f"the integer addition does not define it: {error}") from None
    return total.astype(np.int64) + output.zero_point


def _quantized(made: FromReals, convention: str, dtype: str) -> AnyArray:
    """The quotient to nearest, ties to even by `fp32`, away from zero by the others, then the zero point."""
    quotient = (made.numbers / made.scale.scales[0]).astype(np.float64)
    away = np.sign(quotient) * np.floor(np.abs(quotient) + 0.5)
    limits = np.iinfo(dtype)
    rounded = np.rint(quotient) if convention == "fp32" else away
    placed: AnyArray = np.clip(rounded + made.scale.zero_point, limits.min, limits.max).astype(dtype)
    return placed


def _activated(made: Activated, dtype: str) -> AnyArray:
    if made.numbers.dtype != dtype:
        raise NotComputed(f"{made.function} of {made.numbers.dtype} becomes {dtype}")
    limits = np.iinfo(dtype)
    placed = activation_rules(made)[0].run({"byte": made.numbers.astype(np.int64)})
    return np.clip(placed, limits.min, limits.max).astype(dtype)


def _normalized(made: Normalized, dtype: str) -> AnyArray:
    if made.dtype != dtype:
        raise NotComputed(f"a softmax that becomes {made.dtype} becomes {dtype}")
    try:
        placed = normalizing_rules(made)[0].run({"place": np.arange(made.numbers.size)})
    except ValueError as error:
        raise NotComputed(f"{error}") from None
    limits = np.iinfo(dtype)
    return np.clip(placed, limits.min, limits.max).astype(dtype).reshape(made.numbers.shape)


def _mean(made: Averaged, dtype: str) -> npt.NDArray[np.int64]:
    if dtype != made.dtype:
        raise NotComputed(f"a mean of {made.dtype} becomes {dtype}")
    try:
        placed = averaging_rules(made)[0].run({"sum": made.sums.ravel()})
    except ValueError as error:
        raise NotComputed(f"{error}") from None
    return placed.astype(np.int64).reshape(made.sums.shape)


def _by_rule(made: ByRules, dtype: str) -> npt.NDArray[np.int64]:
    if dtype != made.dtype:
        raise NotComputed(f"what makes {made.dtype} makes {dtype}")
    try:
        placed = made.rules[0].run({name: array.ravel() for name, array in made.operands.items()})
    except ValueError as error:
        raise NotComputed(str(error)) from None
    return placed.astype(np.int64).reshape(made.numbers.shape)


def _average(made: Pooled) -> npt.NDArray[np.int64]:
    return made.sums if made.counts is None else ties_away(made.sums, made.counts)
