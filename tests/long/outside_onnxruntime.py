"""Networks made here, in ONNX Runtime: every layer is one of our conventions, scaling in float32 rounded to even."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.onnx_file import read_onnx
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_models import gated_onnx_net, small_onnx_net

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
