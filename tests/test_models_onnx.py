"""Networks from .onnx files: what is read, what is refused, and sums against loops written from the definition."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, load_model_from_string

from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import Added, Requantized
from sim.models.network import ModelError, Network, NotComputed
from sim.models.onnx_file import read_onnx
from sim.models.questions import comparable
from support.onnx_models import OnnxWriter, small_onnx_net


def read(content: bytes, folder: Path) -> Network:
    path = folder / "net.onnx"
    path.write_bytes(content)
    return read_onnx(path)


def test_scales_and_zero_points_are_those_of_their_tensors(tmp_path: Path) -> None:
    network = read(small_onnx_net(), tmp_path)
    tensors = {tensor.name: tensor for tensor in network.tensors}
    assert [layer.operator for layer in network.layers] == [
        "QLinearConv", "QLinearConv", "QLinearAdd", "MaxPool", "Flatten", "QLinearMatMul"
    ]  # fmt: skip
    assert str(tensors["x"]) == "uint8[1,3,12,12] 0.02 from 120"
    assert (tensors["conv_w"].scale is not None, tensors["sum"].dtype, tensors["pooled"].scale) == (True, "uint8", None)
    assert [network.tensors[number].name for number in network.layers[0].inputs] == ["x", "conv_w", "conv_b"]


CASES: list[tuple[dict[str, Any], int]] = [
    ({}, 1), ({"pads": [1, 0, 2, 1]}, 1), ({"strides": [2, 3], "auto_pad": "SAME_UPPER"}, 1),
    ({"strides": [2, 2], "auto_pad": "SAME_LOWER"}, 2), ({"dilations": [2, 1], "auto_pad": "VALID"}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "groups"), CASES)
def test_a_convolution_sums_what_its_definition_sums(attributes: dict[str, Any], groups: int, tmp_path: Path) -> None:
    rng, made = np.random.default_rng(9), OnnxWriter()
    numbers = rng.integers(0, 256, (1, 4, 8, 7)).astype(np.uint8)
    weights = rng.integers(-128, 128, (6, 4 // groups, 3, 2)).astype(np.int8)
    bias = rng.integers(-99, 99, 6).astype(np.int32)
    made.constant("w", weights)
    operands = [*made.scale("x", 0.5, 130), *made.scale("w", np.linspace(0.1, 0.6, 6), np.arange(6), "int8")]
    operands += [*made.scale("y", 0.25, 7)[1:], made.constant("b", bias)]
    made.nodes.append(helper.make_node("QLinearConv", operands, ["y"], group=groups, **attributes))
    network = read(made.content((1, 4, 8, 7), "y"), tmp_path)
    given = {t.number: t.data for t in network.tensors if t.data is not None} | {network.inputs[0]: numbers}
    found = computed(network, network.layers[0], given)
    assert isinstance(found, Requantized)
    strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
    for output, row, column in product(*map(range, found.accumulators.shape[1:])):
        total, first = int(bias[output]), output // (6 // groups) * (4 // groups)
        for channel, i, j in product(range(4 // groups), range(3), range(2)):
            place = (row * strides[0] + i * dilations[0], column * strides[1] + j * dilations[1])
            at = tuple(p - before for p, before in zip(place, paddings(attributes), strict=True))
            if 0 <= at[0] < 8 and 0 <= at[1] < 7:
                total += (int(numbers[0, first + channel, *at]) - 130) * (int(weights[output, channel, i, j]) - output)
        assert found.accumulators[0, output, row, column] == total
    factor = np.float32(0.5) * np.linspace(0.1, 0.6, 6).astype(np.float32) / np.float32(0.25)
    assert (found.axis, found.zero_point, found.scale.tolist()) == (1, 7, factor.astype(np.float64).tolist())


def paddings(attributes: dict[str, Any]) -> tuple[int, int]:
    """Before the rows and columns of 8 x 7 under a window of 3 x 2: by hand."""
    if "pads" in attributes:
        return attributes["pads"][0], attributes["pads"][1]
    if attributes.get("auto_pad") == "SAME_UPPER":  # rows: 4 windows, 1 of padding, behind; columns: 3 windows, 1
        return 0, 0
    if attributes.get("auto_pad") == "SAME_LOWER":  # rows: 4 windows, 1 of padding, before; columns: 4, 1
        return 1, 1
    return 0, 0


def test_a_product_and_an_addition_take_their_own_scales(tmp_path: Path) -> None:
    network = read(small_onnx_net(), tmp_path)
    rng = np.random.default_rng(2)
    given = {t.number: t.data for t in network.tensors if t.data is not None}
    names = {t.name: t.number for t in network.tensors}
    conv, other = (rng.integers(0, 256, (1, 8, 12, 12)).astype(np.uint8) for _ in range(2))
    total = computed(network, network.layers[2], {names["conv"]: conv, names["depthwise"]: other})
    assert isinstance(total, Added)
    assert [scale.zero_point for scale in total.scales] == [117, 132, 121]
    row = rng.integers(0, 256, (1, 288)).astype(np.uint8)
    made = computed(network, network.layers[5], given | {names["row"]: row})
    assert isinstance(made, Requantized)
    expected = [
        sum((int(a) - 121) * int(b) for a, b in zip(row[0], column, strict=True)) for column in given[names["matrix"]].T
    ]
    assert made.accumulators[0].tolist() == expected


def test_a_network_in_floating_point_is_skipped_with_the_reason(tmp_path: Path) -> None:
    made = OnnxWriter()
    made.nodes.append(helper.make_node("DequantizeLinear", made.scale("x", 0.5, 3), ["real"]))
    made.nodes.append(helper.make_node("Elu", ["real"], ["y"]))
    network = read(made.content((1, 4), "y"), tmp_path)
    names = {t.name: t.number for t in network.tensors}
    real = np.zeros((1, 4), np.float32)
    reports = compared(network, {names["x"]: np.full((1, 4), 3, np.uint8), names["real"]: real, names["y"]: real})
    assert [(report.outcome, report.reason) for report in reports] == [
        ("equal", ""), ("skipped", "the operator is not among those that are computed")
    ]  # fmt: skip
    with pytest.raises(NotComputed):
        computed(network, network.layers[1], {})


def test_numbers_in_another_file_are_refused(tmp_path: Path) -> None:
    model: Any = load_model_from_string(small_onnx_net())
    held = model.graph.initializer[0]
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value="../../etc/passwd")
    with pytest.raises(ModelError, match=f"keeps {held.name} in another file, which is not read"):
        read(model.SerializeToString(), tmp_path)


def test_a_scale_that_is_computed_is_refused(tmp_path: Path) -> None:
    made = OnnxWriter()
    x = made.scale("x", 0.5, 3)
    made.nodes.append(helper.make_node("Identity", [x[1]], ["scale"]))
    made.nodes.append(
        helper.make_node("QLinearAdd", [*x, "x", "scale", x[2], x[1], x[2]], ["y"], domain="com.microsoft")
    )
    with pytest.raises(ModelError, match="the scale or zero point 'scale' is computed by the network"):
        read(made.content((1, 4), "y"), tmp_path)


@pytest.mark.parametrize(
    ("scale", "zero", "told"),
    [
        (0, 3, "x has the scale 0: it must be finite and above 0"),
        (np.nan, [3, 3], "x has the scale nan: it must"),
        ([0.5, -0.25], [3, 3], "x has the scale -0.25: it must"),
        (0.5, [3, 3, 3], "x has not as many scales as zero points: 1 and 3"),
        ([], [], "x has not as many scales as zero points: 0 and 0"),
    ],
)
def test_a_tensor_whose_scale_is_none_is_named(scale: Any, zero: Any, told: str, tmp_path: Path) -> None:
    made = OnnxWriter()
    made.nodes.append(helper.make_node("DequantizeLinear", made.scale("x", scale, zero), ["y"]))
    with pytest.raises(ModelError, match=f"^{told}"):
        read(made.content((1, 4), "y"), tmp_path)


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    content, rng, count = small_onnx_net(), np.random.default_rng(13), 0
    for number in range(200):
        changed = bytearray(content[: len(content) * (number + 1) // 60] if number < 60 else content)
        for place in rng.integers(0, len(changed), int(rng.integers(1, 6))):
            changed[place] = int(rng.integers(0, 256))
        try:
            network = read(bytes(changed), tmp_path)
        except ModelError:
            continue
        count += 1
        for layer in network.layers:
            try:
                computed(network, layer, {t.number: t.data for t in network.tensors if t.data is not None})
            except ModelError:
                continue
    assert 20 < count < 200


@pytest.mark.parametrize(
    ("shape", "attributes", "made"),
    [([0, -1], {}, (2, 12)), ([4, 0, 2], {}, (4, 3, 2)), ([-1], {}, (24,)), ([0, 5], {"allowzero": 1}, (0, 5))],
)
def test_a_shape_that_is_a_constant_is_taken(
    shape: list[int], attributes: dict[str, int], made: tuple[int, ...], tmp_path: Path
) -> None:
    net = OnnxWriter()
    net.constant("shape", np.array(shape, np.int64))
    x, total = net.scale("x", 0.5, 3), net.scale("sum", 0.5, 3)  # of what this operator makes, no shape is inferred
    net.nodes.append(helper.make_node("QLinearAdd", [*x, *x, *total[1:]], ["sum"], domain="com.microsoft"))
    net.nodes.append(helper.make_node("Reshape", ["sum", "shape"], ["y"], **attributes))
    numbers = np.arange(np.prod(made), dtype=np.uint8).reshape((2, 3, 4) if np.prod(made) else (0, 3, 4))
    network = read(net.content(numbers.shape, "y", versions=(14, 8)), tmp_path)
    tensors = {tensor.name: tensor for tensor in network.tensors}
    given = {tensors["sum"].number: numbers, network.outputs[0]: numbers.reshape(made)}
    _, report = compared(network, given)
    assert (tensors["y"].shape, report.outcome, report.conventions) == (None, "equal", ("exact",)), report.reason
    _, other = compared(network, given | {network.outputs[0]: numbers.reshape(made) + 1})
    assert other.outcome == ("differs" if np.prod(made) else "equal")


def test_conventions_of_a_bias_are_tried_where_there_is_one(tmp_path: Path) -> None:
    """In this net the convolutions have one, the matrix product has not."""
    network = read(small_onnx_net(), tmp_path)
    layers = compared(network, forward(network, drawn_inputs(network, 1), "fp32"))
    tried = [[name for name in one.conventions if name.startswith("bias_")] for one in layers]
    assert [layers[at].layer.operator for at in (0, 1, 5)] == ["QLinearConv", "QLinearConv", "QLinearMatMul"]
    assert ("bias_divided" in tried[0], "bias_divided" in tried[1], tried[5]) == (True, True, [])


def test_the_conventions_of_the_runtime_that_made_the_numbers_come_first(tmp_path: Path) -> None:
    network = read(small_onnx_net(), tmp_path)
    tensors = forward(network, drawn_inputs(network, 1), "product_xnnpack")
    first = {
        runtime: [report.conventions[0] for report in compared(network, tensors, runtime)]
        for runtime in ("", "onnxruntime", "litert-no-delegate")
    }
    assert first["onnxruntime"][0].startswith("product_xnnpack of ")
    assert first["onnxruntime"][2] == "add_avx2"
    assert first["onnxruntime"][-1] == "product_xnnpack"
    assert first["litert-no-delegate"][-1] == "double_rounding_ties_up"
    assert {sorted(report.conventions)[0] for report in compared(network, tensors, "onnxruntime")} == {
        sorted(report.conventions)[0] for report in compared(network, tensors)
    }


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (("product_xnnpack", "round_even_then_offset", "round_away_then_offset"),
         ("round_even_then_offset", "round_away_then_offset")),
        (("product_xnnpack", "round_even_then_offset"), None),
        (("product_xnnpack of one", "product_xnnpack of another", "no such convention"), None),
        ((), None),
    ],
)  # fmt: skip
def test_conventions_that_are_told_apart_take_the_same_operands(
    names: tuple[str, ...], pair: tuple[str, str] | None
) -> None:
    assert comparable(names) == pair


def test_what_becomes_numbers_of_four_bits_is_not_made(tmp_path: Path) -> None:
    made = OnnxWriter()
    made.nodes.append(helper.make_node("QuantizeLinear", ["x", *made.scale("y", 0.5, 0, "int8")[1:2], "zero"], ["y"]))
    made.constants.append(helper.make_tensor("zero", TensorProto.INT4, [], [1]))
    network = read(made.content((4,), "y", TensorProto.FLOAT, (21, 10), TensorProto.INT4), tmp_path)
    assert network.output_of(network.layers[0]).dtype == "int4"
    given = {network.inputs[0]: np.zeros(4, np.float32)}
    assert forward(network, given, "fp32") == network.constants | given
