"""Sums of layers against loops that are written from the definition, and the bounds of fused activations."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tflite

from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.layers import Added, Pooled, Requantized
from sim.models.network import Network, NotComputed, TensorScale
from sim.models.operators.activation import activation_bounds
from sim.models.operators.sums import matrix_product
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

Sums = npt.NDArray[np.int64]
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID


def network_of(made: ModelWriter, folder: Path) -> Network:
    path = folder / "made.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def window_sums(x: Sums, weights: Sums, place: tuple[int, int], step: tuple[int, int], spread: tuple[int, int]) -> Sums:
    """One output place of a convolution, tap by tap; what lies outside of the input adds nothing."""
    total = np.zeros(len(weights), np.int64)
    for i, j in product(range(weights.shape[1]), range(weights.shape[2])):
        row, column = place[0] + i * spread[0], place[1] + j * spread[1]
        if 0 <= row < x.shape[0] and 0 <= column < x.shape[1]:
            for channel in range(x.shape[2]):
                total += x[row, column, channel] * weights[:, i, j, channel]
    return total


def sums_of(x: Sums, weights: Sums, strides: tuple[int, int], spread: tuple[int, int], padding: int) -> Sums:
    """x [H, W, C] without its zero point, weights [O, kh, kw, C]: TensorFlow's definition of SAME and VALID."""
    places = []
    for axis in (0, 1):
        width, length = (weights.shape[1 + axis] - 1) * spread[axis] + 1, x.shape[axis]
        count = -(-length // strides[axis]) if padding == SAME else -(-(length - width + 1) // strides[axis])
        before = max((count - 1) * strides[axis] + width - length, 0) // 2 if padding == SAME else 0
        places.append([k * strides[axis] - before for k in range(count)])
    rows = [[window_sums(x, weights, (i, j), strides, spread) for j in places[1]] for i in places[0]]
    return np.array(rows)


CASES = [(SAME, (1, 1), (1, 1), (3, 3)), (SAME, (2, 3), (1, 1), (3, 2)), (VALID, (1, 2), (1, 1), (2, 3)),
         (SAME, (1, 1), (2, 3), (3, 3)), (VALID, (2, 1), (2, 1), (2, 2)), (VALID, (1, 1), (1, 1), (1, 1))]  # fmt: skip


@pytest.mark.parametrize(("padding", "strides", "spread", "size"), CASES)
@pytest.mark.parametrize("is_depthwise", [False, True])
def test_a_convolution_sums_what_its_definition_sums(
    padding: int, strides: tuple[int, int], spread: tuple[int, int], size: tuple[int, int], is_depthwise: bool,
    tmp_path: Path,
) -> None:  # fmt: skip
    rng, made = np.random.default_rng(7), ModelWriter()
    numbers = rng.integers(-128, 128, (1, 7, 8, 3)).astype(np.int8)
    weights = rng.integers(-127, 128, (6, *size, 3)).astype(np.int8)
    if is_depthwise:  # two outputs of each channel: [O, kh, kw, C] with zeros says the same
        weights *= np.arange(6)[:, None, None, None] // 2 == np.arange(3)
    bias = rng.integers(-1000, 1000, 6).astype(np.int32)
    expected = sums_of(numbers[0].astype(np.int64) + 5, weights.astype(np.int64), strides, spread, padding) + bias
    stored, axis, scales = weights, 0, np.linspace(0.01, 0.02, 6).astype(np.float32)
    if is_depthwise:
        stored, axis = weights.sum(axis=3, dtype=np.int8).transpose(1, 2, 0)[None], 3
    x = made.tensor("x", "int8", numbers.shape, 0.5, -5)
    kernel = made.tensor("weights", "int8", stored.shape, scales, 0, np.ascontiguousarray(stored), axis)
    added = made.tensor("bias", "int32", (6,), scales, 0, bias)
    output = made.tensor("output", "int8", (1, *expected.shape), 0.25, 9)
    kind = "DepthwiseConv2DOptions" if is_depthwise else "Conv2DOptions"
    more = {"DepthMultiplier": 2} if is_depthwise else {}
    made.layer(
        "DEPTHWISE_CONV_2D" if is_depthwise else "CONV_2D", (x, kernel, added), (output,), kind, Padding=padding,
        StrideH=strides[0], StrideW=strides[1], DilationHFactor=spread[0], DilationWFactor=spread[1], **more,
    )  # fmt: skip
    network = network_of(made, tmp_path)
    given = {t.number: t.data for t in network.tensors if t.data is not None} | {x: numbers}
    found = computed(network, network.layers[0], given)
    assert isinstance(found, Requantized)
    np.testing.assert_array_equal(found.accumulators[0], expected)
    np.testing.assert_array_equal(found.scale, np.float64(0.5) * scales.astype(np.float64) / 0.25)
    assert (found.zero_point, found.minimum, found.maximum) == (9, None, None)


def fully_connected(folder: Path, **changed: Any) -> tuple[Network, dict[int, Any]]:
    """int8 [2, 5] by [3, 5] with its bias, and what is given of it."""
    rng, made = np.random.default_rng(3), ModelWriter()
    numbers, weights = rng.integers(-128, 128, (2, 5)).astype(np.int8), rng.integers(-128, 128, (3, 5)).astype(np.int8)
    x = made.tensor("x", "int8", (2, 5), 0.1, 7)
    kernel = made.tensor("weights", "int8", (3, 5), 0.3, 2, weights)
    added = made.tensor("bias", "int32", (3,), 0.03, 0, np.array([2**31 - 1, 5, -7], np.int32))
    output = made.tensor("output", changed.get("dtype", "int8"), (2, 3), changed.get("scale", 0.7), -1)
    options = {"FusedActivationFunction": changed.get("activation", 0)}
    made.layer(
        changed.get("operator", "FULLY_CONNECTED"), (x, kernel, added), (output,), "FullyConnectedOptions", **options
    )
    network = network_of(made, folder)
    return network, {t.number: t.data for t in network.tensors if t.data is not None} | {x: numbers}


def test_a_fully_connected_layer_wraps_its_sums_and_multiplies_its_scales_in_float32(tmp_path: Path) -> None:
    network, given = fully_connected(tmp_path)
    found = computed(network, network.layers[0], given)
    assert isinstance(found, Requantized)
    for row, column in product(range(2), range(3)):
        total = sum((int(given[0][row, k]) - 7) * (int(given[1][column, k]) - 2) for k in range(5)) + int(
            given[2][column]
        )
        assert found.accumulators[row, column] == (total + 2**31) % 2**32 - 2**31
    product_of_scales = np.float32(0.1) * np.float32(0.3)
    assert found.scale.tolist() == [float(product_of_scales) / float(np.float32(0.7))]


def test_an_addition_is_its_operands_and_their_scales(tmp_path: Path) -> None:
    made = ModelWriter()
    a, b = made.tensor("a", "int8", (2, 2), 0.1, 3), made.tensor("b", "int8", (1, 2), 0.2, -4)
    made.layer("ADD", (a, b), (made.tensor("sum", "int8", (2, 2), 0.3, 5),), "AddOptions", FusedActivationFunction=1)
    network = network_of(made, tmp_path)
    numbers = {a: np.array([[1, 2], [3, 4]], np.int8), b: np.array([[5, 6]], np.int8)}
    found = computed(network, network.layers[0], numbers)
    assert isinstance(found, Added)
    assert (found.b.tolist(), found.minimum, found.maximum) == ([[5, 6], [5, 6]], 5, 127)
    assert [(float(scale.scales[0]), scale.zero_point) for scale in found.scales] == [
        (float(np.float32(0.1)), 3), (float(np.float32(0.2)), -4), (float(np.float32(0.3)), 5)
    ]  # fmt: skip


def test_the_largest_of_a_window_is_exact(tmp_path: Path) -> None:
    made = ModelWriter()
    x = made.tensor("x", "int8", (1, 3, 4, 1), 0.1, 3)
    output = made.tensor("output", "int8", (1, 2, 2, 1), 0.1, 3)
    made.layer("MAX_POOL_2D", (x,), (output,), "Pool2DOptions", Padding=SAME, StrideH=2, StrideW=2, FilterHeight=2,
               FilterWidth=2)  # fmt: skip
    network = network_of(made, tmp_path)
    numbers = np.array([[-128, -127, 3, 4], [-128, -128, 9, -9], [-100, -101, -102, -103]], np.int8).reshape(1, 3, 4, 1)
    found = computed(network, network.layers[0], {x: numbers})
    assert isinstance(found, Pooled)
    assert (found.sums[0, :, :, 0].tolist(), found.counts) == ([[-127, 9], [-100, -102]], None)


@pytest.mark.parametrize(
    ("activation", "zero", "scale", "bounds"),
    [("NONE", 3, 0.1, (None, None)), ("RELU", -7, 0.1, (-7, 127)), ("RELU6", 0, 0.1, (0, 60)),
     ("RELU6", -128, 0.0235, (-128, 127)), ("RELU_N1_TO_1", 10, 0.4, (7, 13)), ("RELU", -300, 1.0, (-128, 127))],
)  # fmt: skip
def test_a_fused_activation_bounds_in_the_outputs_numbers(
    activation: str, zero: int, scale: float, bounds: tuple[int | None, int | None]
) -> None:
    found = activation_bounds(activation, TensorScale(np.array([scale], np.float32), np.array([zero]), 0), "int8")
    assert found == bounds  # 1 / 0.4 = 2.5 goes away from zero: 10 + 3


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"operator": "LOG_SOFTMAX"}, "the operator is not among those that are computed"),
     ({"activation": 4}, "the fused activation TANH is not computed"),
     ({"scale": ()}, "output has no scale")],
)  # fmt: skip
def test_what_is_not_computed_is_refused_with_its_reason(changed: dict[str, Any], reason: str, tmp_path: Path) -> None:
    network, given = fully_connected(tmp_path, **changed)
    with pytest.raises(NotComputed) as caught:
        computed(network, network.layers[0], given)
    assert str(caught.value) == reason


def test_scales_multiplied_in_float32_are_told_from_those_in_float64(tmp_path: Path) -> None:
    """XNNPACK multiplies and divides the scales in float32: of these, that is another number, and it shows in sums."""
    rng = np.random.default_rng(3)
    while True:
        of_input, of_weights, of_output = (np.float32(number) for number in rng.uniform(0.01, 0.02, 3))
        of_output *= np.float32(100)
        single = of_input * of_weights / of_output
        scale = np.float32(float(of_input) * float(of_weights) / float(of_output))
        sums = np.arange(1, int(126 / scale), dtype=np.int32)
        made = np.rint(sums.astype(np.float32) * single)
        telling = np.flatnonzero(made != np.rint(sums.astype(np.float32) * scale))
        if telling.size:
            break
    chosen = np.concatenate([telling[:4], rng.integers(0, sums.size, 60)])
    channels, net = chosen.size, ModelWriter()
    x, output = net.tensor("x", "int8", (1, 1, 1, 1), of_input), net.tensor("y", "int8", (1, 1, 1, channels), of_output)
    weights = net.tensor("w", "int8", (channels, 1, 1, 1), of_weights, 0, np.zeros((channels, 1, 1, 1), np.int8))
    bias = net.tensor("b", "int32", (channels,), of_input * of_weights, 0, sums[chosen])
    net.layer("CONV_2D", (x, weights, bias), (output,), "Conv2DOptions", Padding=VALID, StrideH=1, StrideW=1,
              DilationHFactor=1, DilationWFactor=1)  # fmt: skip
    net.inputs, net.outputs = [x], [output]
    tensors = {x: np.zeros((1, 1, 1, 1), np.int8), output: made[chosen].astype(np.int8).reshape(1, 1, 1, channels)}
    (layer,) = compared(network_of(net, tmp_path), tensors)
    assert "product_xnnpack of scales_in_float32" in layer.conventions
    assert not any(name.endswith("scales_in_float64") for name in layer.conventions)


@pytest.mark.parametrize(("arithmetic", "made"), [("scales_in_float32", 70), ("scales_in_float64", 71)])
def test_the_factor_of_a_product_in_float32_is_told_from_that_in_float64(
    arithmetic: str, made: int, tmp_path: Path
) -> None:
    """1353 * 5/96 is 70.46875, and 70 or 71: docs/spec/neighbours.md section 21."""
    of_a, of_b, of_output = (np.float32(number) for number in (5 / 128, 1 / 32, 3 / 128))
    single, double = float(of_a * of_b / of_output), float(of_a) * float(of_b) / float(of_output)
    halved = []
    for factor in (single, double):
        high = (1353 * round(Fraction(factor) * 2**35) + 2**30) >> 31  # the rounding multiply, of a positive number
        halved.append((high + 2**3) >> 4)
    assert halved == [70, 71]
    net = ModelWriter()
    shape = (1, 2)
    a, b = net.tensor("a", "int8", shape, of_a), net.tensor("b", "int8", shape, of_b)
    output = net.tensor("product", "int8", shape, of_output)
    net.layer("MUL", (a, b), (output,), "MulOptions")
    net.inputs, net.outputs = [a, b], [output]
    tensors = {
        a: np.array([[33, 48]], np.int8), b: np.array([[41, 2]], np.int8), output: np.array([[made, 5]], np.int8)
    }  # fmt: skip
    (layer,) = compared(network_of(net, tmp_path), tensors)
    told = [name for name in layer.conventions if name.startswith("double_rounding of derive_tflite ")]
    assert told[0] == f"double_rounding of derive_tflite of {arithmetic}"
    assert all(f" of {arithmetic}" in name for name in told), told


def test_a_product_that_would_fill_the_memory_beside_its_copies_is_not_computed() -> None:
    """Of 2^27 numbers, which one array may have, but not four."""
    rows, columns = (np.broadcast_to(np.int64(1), shape) for shape in ((1 << 25, 1), (1, 4)))
    with pytest.raises(NotComputed, match="it takes 536,870,912 numbers at a time, and 268,435,456 are allowed"):
        matrix_product(rows, columns)
