"""Sub, Div, PRelu and Add of int16 between pairs, and MatMul of two stacks, in ONNX Runtime: every layer is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_models_onnx_of_two import SHAPES, divisors, network_of, sum_of_int16

from sim.models.compare import compared
from sim.models.questions import is_one_of
from sim.models.runtimes.onnxruntime import onnxruntime_tensors

NAMES = {
    "Sub": "round_even_then_offset",
    "Div": "round_even_then_offset",
    "PRelu": "round_even_then_offset",
    "MatMul": "round_even_then_offset of scales_in_float32",
}


@pytest.mark.parametrize("operator", NAMES)
def test_every_layer_is_named(operator: str, tmp_path: Path) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first, second = (rng.integers(0, 256, shape).astype(np.uint8) for shape in SHAPES[operator])
        network = network_of(tmp_path, operator, divisors(second) if operator == "Div" else second)
        tensors = onnxruntime_tensors(tmp_path / "net.onnx", network, {network.inputs[0]: first})
        (report,) = compared(network, tensors)
        assert is_one_of(report.conventions, NAMES[operator]), (seed, report)
        assert report.outcome == "equal"


@pytest.mark.parametrize("relu", [False, True])
def test_every_sum_of_int16_is_named(relu: bool, tmp_path: Path) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first, second = (rng.integers(-32768, 32768, shape).astype(np.int16) for shape in ((3, 5, 64), (5, 64)))
        network = sum_of_int16(tmp_path, second, relu)
        tensors = onnxruntime_tensors(tmp_path / "net.onnx", network, {network.inputs[0]: first})
        (report,) = compared(network, tensors)
        assert (report.outcome, is_one_of(report.conventions, "round_even_then_offset")) == ("equal", True), seed
