"""Pairs of DequantizeLinear and QuantizeLinear as layers, and real numbers that become bytes and come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from sim.explanation.question import Sum
from sim.golden import AddParameters, Quantization, add_pytorch, add_pytorch_tail
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import Requantized
from sim.models.network import ModelError, Network
from sim.models.onnx_file import read_onnx
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.onnx_models import OnnxWriter, paired_net, reference_net
from support.tflite_models import ModelWriter, quantizing_net


def read(content: bytes, folder: Path) -> Network:
    path = folder / "net.onnx"
    path.write_bytes(content)
    return read_onnx(path)


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return read(paired_net(), tmp_path)


def test_an_operator_between_pairs_is_one_layer_of_what_was_quantized(network: Network) -> None:
    told = [
        (layer.operator, [network.tensors[number].name for number in layer.inputs], network.output_of(layer).name)
        for layer in network.layers
    ]
    assert told == [
        ("Conv", ["x", "conv_w"], "conv"), ("Conv", ["conv", "turned_w", "turned_b"], "turned"),
        ("Add", ["conv", "turned"], "sum"), ("QuantizeLinear", ["sum"], "other"), ("Flatten", ["other"], "row"),
        ("Gemm", ["row", "output_w", "output_b"], "output"),
    ]  # fmt: skip
    assert [layer.options.get("FusedActivationFunction") for layer in network.layers[:2]] == ["RELU", None]
    assert str(network.tensors[0]) == "uint8[1,3,6,6] 0.02 from 120"


def test_a_layer_with_pairs_has_the_sums_and_bounds_that_it_would_have_as_an_operator(network: Network) -> None:
    """A convolution of one pixel and channel after the other, from the definition."""
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    named = {tensor.name: tensor for tensor in network.tensors}
    made = computed(network, network.layers[1], tensors)
    assert isinstance(made, Requantized)
    x, weights = (tensors[named[name].number].astype(int) for name in ("conv", "turned_w"))
    for channel, row, column in ((0, 0, 0), (3, 2, 5), (7, 5, 1)):
        total = int(tensors[named["turned_b"].number][channel])
        for i in range(3):
            for j in range(3):
                at = row + i - 1, column + j - 1
                if min(at) >= 0 and max(at) < 6:
                    total += (x[0, channel, at[0], at[1]] - 117) * weights[channel, 0, i, j]
        assert made.accumulators[0, channel, row, column] == total
    assert (made.minimum, made.zero_point) == (None, 99)
    first = computed(network, network.layers[0], tensors)
    assert isinstance(first, Requantized)
    assert (first.minimum, first.maximum) == (117, 255)


def test_a_bias_of_real_numbers_is_kept_and_rounded_in_the_sums(network: Network) -> None:
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    made = computed(network, network.layers[5], tensors)
    assert isinstance(made, Requantized)
    assert made.real is not None
    named = {tensor.name: tensor for tensor in network.tensors}
    bias, scale = named["output_b"].data, named["output_w"].scale
    assert bias is not None
    assert scale is not None
    np.testing.assert_array_equal(made.real.bias, bias)
    units = bias.astype(float) / (float(np.float32(0.07)) * scale.scales.astype(float))
    assert abs(made.real.whole - units).max() <= 0.501
    plain = (tensors[named["row"].number].astype(int) - 3) @ tensors[named["output_w"].number].T.astype(int)
    np.testing.assert_array_equal(made.accumulators, plain + made.real.whole)


def reports_of(network: Network, tensors: dict[int, Any]) -> list[LayerReport]:
    return list(compared(network, tensors))


def test_what_one_convention_makes_is_named_in_every_layer(network: Network) -> None:
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    reports = reports_of(network, tensors)
    assert [report.outcome for report in reports] == ["equal"] * 6
    assert "round_even_then_offset" in reports[3].conventions


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        ([("MaxPool", {"kernel_shape": [2, 2]})], "its output has another scale than its input"),
        ([("Conv", {}), ("Softplus", {})], "the operator is not among those that are computed"),
    ],
)
def test_what_is_no_layer_by_integers_is_skipped_with_the_reason(
    stage: list[tuple[str, dict[str, Any]]], reason: str, tmp_path: Path
) -> None:
    made = OnnxWriter()
    made.nodes.append(helper.make_node("DequantizeLinear", made.scale("x", 0.5, 3), ["real"]))
    name = "real"
    for number, (operator, options) in enumerate(stage):
        more = [made.constant("w", np.ones((1, 1, 1, 1), np.float32))] if operator == "Conv" else []
        made.nodes.append(helper.make_node(operator, [name, *more], [f"made_{number}"], **options))
        name = f"made_{number}"
    made.nodes.append(helper.make_node("QuantizeLinear", [name, *made.scale("y", 0.25, 3)[1:]], ["y"]))
    network = read(made.content((1, 1, 4, 4), "y"), tmp_path)
    tensors: dict[int, Any] = drawn_inputs(network, 1)
    for number in network.made:
        tensor = network.tensors[number]
        tensors[number] = np.zeros(tensor.shape or (1, 1, 3, 3), "uint8" if tensor.name == "y" else "float32")
    assert reason in [report.reason for report in reports_of(network, tensors)]


def test_scales_that_the_network_computes_leave_the_operators_as_they_are(tmp_path: Path) -> None:
    """Dynamic quantization: listed, and skipped."""
    made = OnnxWriter()
    made.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["bytes", "scale", "zero"]))
    made.nodes.append(helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["y"]))
    network = read(made.content((1, 4), "y", TensorProto.FLOAT), tmp_path)
    assert [layer.operator for layer in network.layers] == ["DynamicQuantizeLinear", "DequantizeLinear"]
    assert all(tensor.scale is None for tensor in network.tensors)


def test_the_reference_of_onnx_is_named_layer_by_layer(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(reference_net())
    result = lanewise("model", path, "--against", "onnx-reference", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert {layer["outcome"] for layer in told["layers"]} == {"equal"}
    assert told["common"]["quantization"][0] == "round_even_then_offset"
    assert told["common"]["dequantization"] == ["dequantized"]


def test_what_the_reference_of_onnx_refuses_is_one_sentence(tmp_path: Path) -> None:
    made = OnnxWriter()
    operands = [*made.scale("x", 0.5, 3), *made.scale("b", 0.5, 3), *made.scale("y", 0.5, 3)[1:]]
    made.nodes.append(helper.make_node("QLinearAdd", operands, ["y"], domain="com.microsoft"))
    made.constant("b", np.ones((1, 4), np.uint8))
    path = tmp_path / "net.onnx"
    path.write_bytes(made.content((1, 4), "y"))
    result = lanewise("model", path, "--against", "onnx-reference")
    assert (result.exit_code, "refuses" in result.output) == (2, True)


def test_real_numbers_of_tflite_become_bytes_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(quantizing_net(1).content())
    network = read_tflite(path)
    given = drawn_inputs(network, 1)
    tensors = forward(network, given, "double_rounding")
    a, b = (network.tensors[number].scale for number in (1, 2))
    assert a is not None
    assert b is not None
    quotient = (given[0] / a.scales[0]).astype(float)
    away = np.sign(quotient) * np.floor(abs(quotient) + 0.5)
    np.testing.assert_array_equal(tensors[1], np.clip(away + a.zero_point, -128, 127))
    np.testing.assert_array_equal(tensors[3], ((tensors[2].astype(np.float32) - b.zero_point) * b.scales[0]))
    names = [report.conventions[0] for report in compared(network, tensors)]
    assert names == ["round_away_then_offset", "double_rounding of derive_tflite", "dequantized"]


def test_one_wrong_byte_and_one_wrong_real_number_are_told(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(quantizing_net(1).content())
    network = read_tflite(path)
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    tensors[1] = tensors[1].copy()
    tensors[1][0, 2, 3, 4] ^= 64
    tensors[3] = tensors[3].copy()
    tensors[3][0, 0, 0, 1] += np.float32(1e-3)
    first, _, last = compared(network, tensors)
    assert (first.outcome, first.first, first.differing) == ("differs", (0, 2, 3, 4), 1)
    assert (last.outcome, last.first, last.differing) == ("differs", (0, 0, 0, 1), 1)


def test_a_number_without_an_axis_is_not_computed(tmp_path: Path) -> None:
    """What a damaged file made of QUANTIZE."""
    made = ModelWriter()
    x, y = made.tensor("x", "int8", (), 0.5, 3), made.tensor("y", "int8", (), 0.25, 1)
    made.layer("QUANTIZE", (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    path = tmp_path / "net.tflite"
    path.write_bytes(made.content())
    network = read_tflite(path)
    assert list(forward(network, drawn_inputs(network, 1), "fp32")) == [x]


@pytest.mark.parametrize(("number", "byte"), [(np.inf, 127), (-np.inf, -128)])
def test_an_infinity_that_became_another_byte_is_traced(number: float, byte: int, tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = made.tensor("x", "float32", (1, 3)), made.tensor("y", "int8", (1, 3), 0.5, 3)
    made.layer("QUANTIZE", (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    path = tmp_path / "net.tflite"
    path.write_bytes(made.content())
    (report,) = compared(
        read_tflite(path), {x: np.array([[number, 1, 2]], np.float32), y: np.array([[5, 5, 7]], np.int8)}
    )
    assert report.trace is not None
    assert (report.first, report.differing, report.trace.result, report.trace.yours) == ((0, 0), 1, byte, 5)
    assert abs(report.trace.exact) > 2**120


def test_a_sum_of_pytorch_is_another_behind_the_last_vector_in_memory() -> None:
    """Of 2 images of 3 channels and 5 x 3 pixels, 90 bytes: 64 in a vector, channels last."""
    rng, shape = np.random.default_rng(1), (2, 3, 5, 3)
    a, b = (rng.integers(0, 256, shape).astype(np.uint8) for _ in "ab")
    by = AddParameters(Quantization(0.5, 3), Quantization(0.25, 9), Quantization(1.0, 101))
    body, tail = (np.moveaxis(add(a, b, by), 1, -1).ravel() for add in (add_pytorch, add_pytorch_tail))
    assert (body[64:] != tail[64:]).any()
    made = np.moveaxis(np.concatenate([body[:64], tail[64:]]).reshape(2, 5, 3, 3), -1, 1)
    (part,) = Sum(made, a, b, by).parts
    gives = {one.rule.name for one in part.candidates if (one.run(part.operands) == made.ravel()).all()}
    assert gives == {"add_pytorch_and_tail"}


def test_real_inputs_that_nothing_quantizes_are_asked_for(tmp_path: Path) -> None:
    made = OnnxWriter()
    made.nodes.append(helper.make_node("Relu", ["x"], ["y"]))
    network = read(made.content((1, 4), "y", TensorProto.FLOAT), tmp_path)
    with pytest.raises(ModelError, match="give numbers for it with --inputs"):
        drawn_inputs(network, 1)
