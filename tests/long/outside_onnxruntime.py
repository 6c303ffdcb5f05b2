"""Networks made here, in ONNX Runtime: every layer is one of our conventions, scaling in float32 rounded to even."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from sim.golden.addition import AddParameters, Quantization, add_avx2
from sim.models.compare import compared
from sim.models.onnx_file import read_onnx
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_models import OnnxWriter, gated_onnx_net, small_onnx_net

SIZE = 24


@pytest.mark.parametrize("seed", range(12))
def test_every_layer_of_a_net_is_reproduced(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(small_onnx_net(seed, SIZE))
    network = read_onnx(path)
    drawn = np.random.default_rng(seed).integers(0, 256, (1, 3, SIZE, SIZE)).astype(np.uint8)
    tensors = onnxruntime_tensors(path, network, {network.inputs[0]: drawn})
    report = ModelReport(network=network, against="onnxruntime", seed=seed, layers=compared(network, tensors))
    assert [layer.outcome for layer in report.layers] == ["equal"] * 6, report.verdict
    assert is_one_of(report.common["scaling"], "round_even_then_offset of scales_in_float32")
    assert not any(name.startswith("double_rounding") for name in report.common["scaling"])


@pytest.mark.parametrize("seed", range(12))
def test_products_and_averages_are_reproduced(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(gated_onnx_net(seed, SIZE))
    network = read_onnx(path)
    drawn = np.random.default_rng(seed).integers(0, 256, (1, 3, SIZE, SIZE)).astype(np.uint8)
    tensors = onnxruntime_tensors(path, network, {network.inputs[0]: drawn})
    report = ModelReport(network=network, against="onnxruntime", seed=seed, layers=compared(network, tensors))
    assert [layer.outcome for layer in report.layers] == ["equal"] * 4, report.verdict


@pytest.mark.parametrize("seed", range(8))
def test_its_add_of_uint8_is_that_of_avx2_on_all_pairs_of_bytes(seed: int, tmp_path: Path) -> None:
    """On x86-64, where this run is made: for AArch64 MLAS has an add of integers."""
    rng, made = np.random.default_rng(seed), OnnxWriter()
    scales, zeros = rng.uniform(0.001, 0.3, 3).astype(np.float32), rng.integers(0, 256, 3).tolist()
    a, b, y = (made.scale(name, scale, zero) for name, scale, zero in zip(("x", "b", "y"), scales, zeros, strict=True))
    made.constant("b", np.tile(np.arange(256, dtype=np.uint8), 256).reshape(1, -1))
    made.nodes.append(helper.make_node("QLinearAdd", [*a, *b, *y[1:]], ["y"], domain="com.microsoft"))
    path = tmp_path / "net.onnx"
    path.write_bytes(made.content((1, 65536), "y"))
    network = read_onnx(path)
    every = np.repeat(np.arange(256, dtype=np.uint8), 256).reshape(1, -1)
    given = onnxruntime_tensors(path, network, {network.inputs[0]: every})[network.outputs[0]]
    first, second, sums = (Quantization(float(s), z) for s, z in zip(scales, zeros, strict=True))
    of = AddParameters(first, second, sums)
    np.testing.assert_array_equal(given, add_avx2(every, network.constants[network.layers[0].inputs[1]], of))
