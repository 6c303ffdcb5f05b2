"""Add between pairs and QLinearAdd of bytes in ONNX Runtime: every sum is named, of either type and any shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_models_onnx_of_two import sum_of

from sim.models.compare import compared
from sim.models.runtimes.onnxruntime import onnxruntime_tensors

SHAPES = [((64, 63), (64, 63)), ((64, 63), (1, 63)), ((64, 63), (1,)), ((64, 63), (64, 1)), ((1, 63), (64, 63))]
NAMES = {"int8": "add_avx2_of_int8", "uint8": "add_avx2"}


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("dtype", NAMES)
def test_every_sum_is_named(dtype: str, paired: bool, tmp_path: Path) -> None:
    """The source is of x86-64 with FMA3; on other processors ONNX Runtime has another arithmetic."""
    rng, limits, told = np.random.default_rng(0), np.iinfo(dtype), set()
    for number in range(60):
        scale = float(rng.uniform(0.005, 0.1))
        to = scale * (1, 0.5, 2, float(rng.uniform(0.5, 3)))[number % 4]
        scales = (0.5, 0.25, 0.5) if number % 4 == 1 else (scale, scale * float(rng.uniform(0.3, 2)), to)
        zeros = rng.integers(limits.min, limits.max, 3, endpoint=True).tolist()
        of_a, of_b = SHAPES[number % 5]
        a, b = (rng.integers(limits.min, limits.max, of, dtype, endpoint=True) for of in (of_a, of_b))
        network = sum_of(tmp_path, paired, list(zip(scales, zeros, strict=True)), a, b)
        (report,) = compared(network, onnxruntime_tensors(tmp_path / "net.onnx", network, {network.inputs[0]: a}))
        assert NAMES[dtype] in report.conventions, (scales, zeros, report)
        told |= {report.conventions}
    assert (NAMES[dtype],) in told or dtype == "uint8", told
