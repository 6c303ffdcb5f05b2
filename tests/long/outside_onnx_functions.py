"""AveragePool, Concat, Transpose, Gather, Softmax and LeakyRelu in ONNX Runtime, as pairs and operators, each named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_models_onnx_functions import MOVED, OPERATORS, SCALES, gathered_net, network_of, read, rectified_net

from sim.golden.layers.softmax import SoftmaxScales, by_shifted_table, in_reals
from sim.models.compare import LayerReport, compared
from sim.models.forward import drawn_inputs, forward
from sim.models.network import ModelError, Network
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_models import functional_net

NETS = 60
NAMES = {
    "AveragePool": "quotient_offset_then_round_even",
    "LeakyRelu": "round_even_then_offset",
    "Concat": "round_even_then_offset",
}


def report_of(network: Network, x: np.ndarray, folder: Path) -> LayerReport:
    (report,) = compared(network, onnxruntime_tensors(folder / "net.onnx", network, {network.inputs[0]: x}))
    return report


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("operator", NAMES)
def test_every_layer_is_named(operator: str, paired: bool, tmp_path: Path) -> None:
    rng, alone = np.random.default_rng(8), 0
    for number in range(NETS):
        scale, zeros = float(rng.uniform(0.005, 0.1)), rng.integers(30, 226, 2)
        to = scale * [1, 0.5, 2, float(rng.uniform(0.5, 2))][number % 4]
        shape = (2, int(rng.integers(1, 20)), 7, 6)
        size, pads = rng.integers(1, 4, 2), rng.integers(0, 2, 4)
        options: dict[str, Any] = {
            "AveragePool": {
                "kernel_shape": size.tolist(), "strides": rng.integers(1, 3, 2).tolist(),
                "pads": np.minimum(pads, np.tile(size, 2) - 1).tolist(), "count_include_pad": number % 2,
            },
            "LeakyRelu": {"alpha": [0.1, 0.5, -0.25][number % 3]},
            "Concat": {"axis": number % 4},
        }[operator]  # fmt: skip
        scales = [(scale, int(zeros[0])), (to, int(zeros[1]))]
        network = network_of(tmp_path, operator, paired, scales, shape=shape, **options)
        x = np.clip(zeros[0] + rng.integers(-30, 31, shape), 0, 255).astype(np.uint8)
        report = report_of(network, x, tmp_path)
        assert report.outcome == "equal", (scales, shape, options, report.trace, report.usual, report.differing)
        assert NAMES[operator] in report.conventions or report.conventions == ("exact",), (scales, report.conventions)
        alone += report.conventions == (NAMES[operator],)
    assert alone > 0 or operator != "AveragePool"


@pytest.mark.parametrize("paired", [True, False])
def test_windows_beyond_the_image_are_named(paired: bool, tmp_path: Path) -> None:
    """ONNX Runtime divides by the whole window where what is padded counts; it refuses averages of dilated windows."""
    rng, alone = np.random.default_rng(8), 0
    for number in range(NETS):
        options: dict[str, Any] = window_of(rng) | {"ceil_mode": 1, "count_include_pad": number % 2}
        scale = float(rng.uniform(0.005, 0.1))
        scales = [(scale, 120), (scale * (1, 0.5, 2)[number % 3], 100 + number % 2)]
        network = network_of(tmp_path, "AveragePool", paired, scales, versions=22, shape=(2, 20, 7, 6), **options)
        report = report_of(network, rng.integers(90, 150, (2, 20, 7, 6)).astype(np.uint8), tmp_path)
        assert report.outcome == "equal", options
        assert NAMES["AveragePool"] in report.conventions or report.conventions == ("exact",), (options, report)
        alone += report.conventions == (NAMES["AveragePool"],)
    assert alone > 0
    network = network_of(tmp_path, "AveragePool", paired, versions=22, kernel_shape=[2, 2], dilations=[2, 1])
    with pytest.raises(ModelError, match="INVALID_GRAPH"):
        report_of(network, np.zeros((2, 3, 5, 4), np.uint8), tmp_path)


def test_the_largest_of_windows_dilated_and_beyond_the_image_are_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    for number in range(NETS):
        options: dict[str, Any] = window_of(rng) | {
            "ceil_mode": number % 2,
            "dilations": rng.integers(1, 3, 2).tolist(),
        }
        network = network_of(tmp_path, "MaxPool", True, [(0.03, 120)] * 2, 22, (2, 3, 7, 6), **options)
        assert report_of(network, rng.integers(0, 256, (2, 3, 7, 6)).astype(np.uint8), tmp_path).outcome == "equal"


@pytest.mark.parametrize("paired", [True, False])
def test_places_that_are_named_are_the_same(paired: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for number in range(NETS):
        axis = number % 8 - 4
        length = (2, 3, 5, 4)[axis]
        places = rng.integers(-length, length, rng.integers(1, 4, number % 3)).astype(("int32", "int64")[number % 2])
        network = gathered_net(tmp_path, paired, places, [(0.03, 120)] * 2, axis)
        x = rng.integers(0, 256, (2, 3, 5, 4)).astype(np.uint8)
        assert report_of(network, x, tmp_path).conventions == ("exact",), (axis, places)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("operator", MOVED)
def test_what_is_moved_and_bounded_by_a_relu_is_the_same(operator: str, dtype: str, tmp_path: Path) -> None:
    network = rectified_net(tmp_path, operator, dtype)
    x = drawn_inputs(network, 1)[network.inputs[0]]
    report = report_of(network, x, tmp_path)
    assert (report.outcome, report.reason) == ("equal", "")


def test_averages_of_dilated_windows_are_those_of_onnxs_reference(tmp_path: Path) -> None:
    """But next to ties: it takes NumPy's mean."""
    rng, differing, elements = np.random.default_rng(10), 0, 0
    for _ in range(NETS):
        options: dict[str, Any] = window_of(rng) | {"dilations": rng.integers(1, 3, 2).tolist()}
        network = network_of(tmp_path, "AveragePool", True, SCALES, 22, (2, 3, 7, 6), **options)
        x = rng.integers(90, 150, (2, 3, 7, 6)).astype(np.uint8)
        theirs = onnx_reference_tensors(tmp_path / "net.onnx", network, {network.inputs[0]: x})
        ours = forward(network, {network.inputs[0]: x}, "fp32")[network.outputs[0]]
        apart = np.abs(theirs[network.outputs[0]].astype(int) - ours)
        assert apart.max() <= 1
        differing, elements = differing + int(apart.sum()), elements + apart.size
    assert differing <= elements // 100


def window_of(rng: np.random.Generator) -> dict[str, Any]:
    size, pads = rng.integers(1, 4, 2), rng.integers(0, 2, 4)
    strides = rng.integers(1, 4, 2).tolist()
    return {"kernel_shape": size.tolist(), "strides": strides, "pads": np.minimum(pads, np.tile(size, 2) - 1).tolist()}


@pytest.mark.parametrize("paired", [True, False])
def test_every_row_of_a_softmax_is_that_of_the_shifted_table(paired: bool, tmp_path: Path) -> None:
    """Rows that it and the function rounded once part on among many, and others."""
    rng, alone = np.random.default_rng(9), 0
    for number in range(NETS):
        scale, depth = float(2.0 ** rng.uniform(-9, -1)), int(rng.choice([2, 3, 10, 100]))
        to = [1 / 256, 1 / 255, 0.005, 1 / 128][number % 4]
        zero = int(rng.integers(0, 60))
        rows = rng.integers(0, (256, 30)[number % 2], (3000, depth)).astype(np.uint8)
        by = SoftmaxScales(*map(np.float32, (scale, to, 1)))
        apart = (by_shifted_table(rows, by, 0)["output"] != in_reals(rows, by, 0)["output"]).any(axis=-1)
        x = np.concatenate([rows[:50], rows[apart]])
        options = {"axis": -1} | ({} if paired else {"opset": 13})
        network = network_of(tmp_path, "Softmax", paired, [(scale, 100), (to, zero)], shape=x.shape, **options)
        report = report_of(network, x, tmp_path)
        assert "softmax_by_shifted_table" in report.conventions, (scale, to, report.conventions)
        alone += report.conventions == ("softmax_by_shifted_table",)
    assert alone > 5


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_an_early_softmax_over_several_axes_is_named(axis: int, paired: bool, tmp_path: Path) -> None:
    rng, alone = np.random.default_rng(axis), 0
    for number in range(NETS):
        shape = tuple(int(length) for length in rng.integers(2, 5, 4))
        scales = [(float(2.0 ** rng.uniform(-9, -1)), 100), ([1 / 256, 1 / 255, 0.005][number % 3], 0)]
        options = {"axis": axis} | ({} if paired else {"opset": 12})
        network = network_of(tmp_path, "Softmax", paired, scales, versions=12, shape=shape, **options)
        report = report_of(network, rng.integers(0, 256, shape).astype(np.uint8), tmp_path)
        assert "softmax_by_shifted_table" in report.conventions, (shape, scales, report.conventions)
        alone += report.conventions == ("softmax_by_shifted_table",)
    assert alone > 0


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_every_layer_of_a_net_is_named(dtype: str, tmp_path: Path) -> None:
    for seed in range(10):
        network = read(functional_net(seed, dtype), tmp_path)
        given = drawn_inputs(network, seed)
        reports = compared(network, onnxruntime_tensors(tmp_path / "net.onnx", network, given))
        assert {report.outcome for report in reports} == {"equal"}, [report.reason for report in reports]


@pytest.mark.parametrize("operator", OPERATORS)
def test_layers_of_onnxs_reference_are_named(operator: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"kernel_shape": [2, 2]} if operator == "AveragePool" else {}
    options |= {"axis": 1} if operator in ("Concat", "Softmax") else {}
    network = network_of(tmp_path, operator, scales=[(0.03, 120), (0.011, 20)], versions=21, **options)
    x = np.random.default_rng(1).integers(0, 256, (2, 3, 5, 4)).astype(np.uint8)
    (report,) = compared(network, onnx_reference_tensors(tmp_path / "net.onnx", network, {network.inputs[0]: x}))
    assert report.outcome == "equal"
