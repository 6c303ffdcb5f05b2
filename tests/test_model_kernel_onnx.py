"""Kernels in the place of layers of .onnx files, and cycles of these: the operators that take scales, and pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from onnx import helper

from sim.models.forward import drawn_inputs, forward
from sim.models.network import Network
from sim.models.onnx_file import read_onnx
from support.command import lanewise
from support.onnx_models import OnnxWriter, paired_net, small_onnx_net
from support.sampled import sampled
from support.tflite_models import ModelWriter

NETS = {
    "small": small_onnx_net(), "paired": paired_net(), "paired_u8": paired_net(weights_type="uint8"),
}  # fmt: skip
LAYERS = [(0, "conv2d"), (1, "depthwise_conv2d"), (5, "fully_connected")]
CORE = "cortex-a55"


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "net.onnx"
    path.write_bytes(content)
    return path


def report(path: Path, *arguments: Any, exit_code: int = 0) -> dict[str, Any]:
    outcome = lanewise("model", path, "--json", *arguments)
    assert outcome.exit_code == exit_code, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize(("layer", "kernel"), sampled(LAYERS, 3))
def test_a_kernel_of_the_layers_arithmetic_changes_nothing(net: str, layer: int, kernel: str, tmp_path: Path) -> None:
    """Of uint8 by int8 too, as int8 by int8 with bytes and zero points moved."""
    path, mode = saved(tmp_path, NETS[net]), "u8_fp32" if net == "paired_u8" else "s8_fp32"
    found = report(path, "--layer", layer, "--kernel", kernel, "--mode", mode, "--convention", "fp32")
    network = read_onnx(path)
    made = forward(network, drawn_inputs(network, 1), "fp32")[network.layers[layer].outputs[0]]
    assert (found["output"]["differing"], found["output"]["elements"]) == (0, made.size)
    assert (found["outputs"][0]["differing"], found["instructions"] > 100, found["failure"]) == (0, True, "")


def net_of_one(folder: Path, weights: np.ndarray, weights_zero: int = 0, **options: Any) -> Path:
    """One QLinearConv of 2 x 6 x 5 x 7 whose factor is 2^-7: there are ties."""
    rng, made = np.random.default_rng(3), OnnxWriter()
    x, y = made.scale("x", 0.5, 7), made.scale("y", 1.0, 130)
    made.constant("w", weights)
    operands = [*x, *made.scale("w", 2.0**-6, weights_zero, str(weights.dtype)), *y[1:]]
    bias = made.constant("b", rng.integers(-500, 500, len(weights)).astype(np.int32))
    made.nodes.append(helper.make_node("QLinearConv", [*operands, bias], ["y"], **options))
    return saved(folder, made.content((2, 6, 5, 7), "y"))


@pytest.mark.parametrize(
    ("shape", "kernel", "options"),
    [
        ((9, 6, 3, 2), "conv2d", {"pads": [1, 0, 2, 1], "strides": [2, 3]}),
        ((4, 6, 2, 2), "conv2d", {"auto_pad": "SAME_LOWER"}),
        ((6, 1, 3, 3), "depthwise_conv2d", {"group": 6, "pads": [0, 2, 1, 0]}),
        ((54, 1, 2, 3), "depthwise_conv2d", {"group": 6, "strides": [1, 2]}),
    ],
)
def test_what_another_rounding_changes_is_told_at_its_place_in_the_file(
    shape: tuple[int, ...], kernel: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Images of a file have their channels second, those of a kernel last."""
    path = net_of_one(tmp_path, np.random.default_rng(4).integers(-20, 21, shape).astype(np.int8), **options)
    network: Network = read_onnx(path)
    given = drawn_inputs(network, 1)
    ours, theirs = (
        forward(network, given, name)[network.outputs[0]] for name in ("single_rounding", "double_rounding")
    )
    found = report(path, "--layer", 0, "--kernel", kernel, "--mode", "s8_single_rounding", exit_code=1)
    wrong = np.argwhere(ours != theirs)
    assert found["output"]["differing"] == len(wrong) > 0
    assert found["output"]["first"] == wrong[0].tolist()
    assert found["output"]["numbers"] == [int(ours[tuple(wrong[0])]), int(theirs[tuple(wrong[0])])]


SOURCE = """
#include <stddef.h>
#include <stdint.h>

void mine(const uint8_t *input, const int8_t *weights, const int32_t *bias, const float *scales, uint8_t *output,
          size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t weights_zero, int32_t output_zero)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t j = 0; j < columns; ++j) {
            int32_t sum = bias[j];
            for (size_t k = 0; k < depth; ++k)
                sum += (input[r * depth + k] - input_zero) * (weights[j * depth + k] - weights_zero);
            const int32_t placed = (int32_t)__builtin_roundevenf((float)sum * scales[j]) + output_zero;
            output[r * columns + j] = (uint8_t)(placed < 0 ? 0 : placed > 255 ? 255 : placed);
        }
}
"""
RECORD = '''
from pathlib import Path
from sim.kernels import Kernel, parse_prototype

PROTOTYPE = parse_prototype("""
    void mine(const uint8_t input[rows][depth], const int8_t weights[columns][depth], const int32_t bias[columns],
              const float scales[columns], uint8_t output[rows][columns], size_t rows, size_t columns, size_t depth,
              int32_t input_zero, int32_t weights_zero, int32_t output_zero)""")
KERNEL = Kernel(name="mine", symbol="mine", sources=(Path("mine.c"),), signature=PROTOTYPE.signature, golden=dict)
'''


def net_of_a_gemm(folder: Path, weights_zero: int = 0) -> Path:
    """One QGemm with turned weights: 4 x 20 by 6 x 20."""
    rng, made = np.random.default_rng(5), OnnxWriter()
    x, y = made.scale("x", 0.5, 9), made.scale("y", 8.0, 100)
    made.constant("w", rng.integers(-127, 128, (6, 20)).astype(np.int8))
    weights = made.scale("w", 2.0**-6, weights_zero, "int8")
    bias = made.constant("b", rng.integers(-500, 500, 6).astype(np.int32))
    node = helper.make_node("QGemm", [*x, *weights, bias, *y[1:]], ["y"], domain="com.microsoft", transB=1)
    made.nodes.append(node)
    return saved(folder, made.content((4, 20), "y"))


@pytest.mark.parametrize("weights_zero", [0, 3])
def test_a_kernel_of_uint8_by_int8_takes_both_as_they_are(weights_zero: int, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    (tmp_path / "mine.py").write_text(RECORD)
    path = net_of_a_gemm(tmp_path, weights_zero)
    found = report(path, "--layer", 0, "--kernel", tmp_path / "mine.py", "--convention", "fp32")
    assert (found["output"]["differing"], found["output"]["elements"]) == (0, 24)


@pytest.mark.parametrize(
    ("channels", "zero", "options", "sentence"),
    [
        (3, 0, {"group": 2}, "layer 0 is a convolution in 2 groups"),
        (6, 0, {"dilations": [2, 1]}, "the window of layer 0 is dilated"),
        (6, 2, {}, "the weights of layer 0 have zero point 2: conv2d, mode s8_fp32 takes no weights_zero"),
    ],
)
def test_what_no_kernel_computes_is_refused(
    channels: int, zero: int, options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    weights = np.random.default_rng(6).integers(-9, 9, (4, channels, 2, 2)).astype(np.int8)
    path = net_of_one(tmp_path, weights, zero, **options)
    outcome = lanewise("model", path, "--layer", 0, "--kernel", "conv2d", "--mode", "s8_fp32")
    assert (outcome.exit_code, sentence in outcome.stderr, len(outcome.stderr.splitlines())) == (2, True, 1)


@pytest.mark.slow
def test_cycles_are_those_of_the_same_layer_in_the_other_format(tmp_path: Path) -> None:
    """The convolution of 9 columns by 3 x 2, and the product of 4 x 20 by 6 columns."""
    conv = net_of_one(tmp_path, np.ones((9, 6, 3, 2), np.int8), pads=[1, 0, 1, 1])
    of_onnx = report(conv, "--cycles", CORE)["layers"] + report(net_of_a_gemm(tmp_path), "--cycles", CORE)["layers"]
    made = ModelWriter()
    image, y = made.tensor("x", "int8", (2, 5, 7, 6), 0.5), made.tensor("y", "int8", (2, 5, 7, 9), 1.0)
    rows, z = made.tensor("rows", "int8", (4, 20), 0.5), made.tensor("z", "int8", (4, 6), 1.0)
    window, matrix = (
        made.tensor("w", "int8", shape, 1.0, 0, np.ones(shape, np.int8)) for shape in ((9, 3, 2, 6), (6, 20))
    )
    options = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
    made.layer("CONV_2D", (image, window), (y,), "Conv2DOptions", **options)
    made.layer("FULLY_CONNECTED", (rows, matrix), (z,), "FullyConnectedOptions")
    made.inputs, made.outputs = [image, rows], [y, z]
    (tmp_path / "net.tflite").write_bytes(made.content())
    of_tflite = report(tmp_path / "net.tflite", "--cycles", CORE)["layers"]
    for one, other in zip(of_onnx, of_tflite, strict=True):
        assert one["cycles"] == other["cycles"], (one, other)
        assert one["multiply_accumulates"] == other["multiply_accumulates"]
    assert [one["multiply_accumulates"] for one in of_onnx] == [2 * 5 * 7 * 9 * 3 * 2 * 6, 4 * 6 * 20]


@pytest.mark.slow
def test_a_layer_of_sizes_that_the_file_does_not_state_is_named(tmp_path: Path) -> None:
    layers = report(saved(tmp_path, NETS["small"]), "--cycles", CORE)["layers"]
    assert layers[5]["reason"] == "the file does not state the sizes of row"
    assert layers[2]["reason"] == "no kernel computes it"
    assert [bool(layer["cycles"]) for layer in layers] == [True, True, False, False, False, False]
