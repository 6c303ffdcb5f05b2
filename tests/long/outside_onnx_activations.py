"""Sigmoid and Tanh in ONNX Runtime, on scales that put a byte next to a tie: its quotients of polynomials, always."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_models_activation_onnx import BY_QUOTIENTS, EVERY, FUNCTIONS, network_of, report_of

from sim.models.onnx_file import read_onnx
from sim.models.rules.functions.real_functions import BY_QUOTIENT
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_models import OnnxWriter

NETS = 100


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("operator", FUNCTIONS)
def test_every_byte_is_that_of_the_quotients(operator: str, dtype: str, tmp_path: Path) -> None:
    rng, alone, lowest = np.random.default_rng(2), 0, int(np.iinfo(dtype).min)
    for _ in range(NETS):
        zeros, scale = (lowest + int(rng.integers(60, 200)), lowest + 90), np.float32(rng.uniform(0.005, 0.1))
        reals = (EVERY[dtype].astype(np.float32) - np.float32(zeros[0])) * scale
        at = np.float32(BY_QUOTIENTS[operator](reals).max())
        to = float(at / np.float32(int(rng.integers(100, 160)) + 0.5))
        network = network_of(tmp_path, operator, dtype, float(scale), to, zeros)
        given = {network.inputs[0]: EVERY[dtype]}
        theirs = onnxruntime_tensors(tmp_path / "net.onnx", network, given)[network.outputs[0]]
        report = report_of(network, EVERY[dtype], theirs)
        assert BY_QUOTIENT in report.conventions, (scale, to, report.conventions)
        alone += report.conventions == (BY_QUOTIENT,)
    assert alone > 0


@pytest.mark.parametrize("operator", ["Sigmoid", "Tanh"])
def test_layers_of_onnxs_reference_are_named(operator: str, tmp_path: Path) -> None:
    """Whose functions are those of NumPy: on scales that are not aimed at ties."""
    for scale in np.random.default_rng(3).uniform(0.005, 0.1, 20).astype(np.float32):
        network = network_of(tmp_path, operator, "uint8", float(scale), 1 / 128, (128, 100))
        given = {network.inputs[0]: EVERY["uint8"]}
        theirs = onnx_reference_tensors(tmp_path / "net.onnx", network, given)[network.outputs[0]]
        assert report_of(network, EVERY["uint8"], theirs).outcome == "equal"


@pytest.mark.parametrize("operator", ["Sigmoid", "Tanh"])
def test_every_bit_of_real_numbers_is_that_of_the_quotients(operator: str, tmp_path: Path) -> None:
    made, rng = OnnxWriter(), np.random.default_rng(1)
    reals = np.concatenate([rng.normal(0, width, 20_000) for width in (0.1, 1, 5)]).astype(np.float32)
    made.nodes.append(helper.make_node(operator, ["x"], ["y"]))
    path = tmp_path / "net.onnx"
    path.write_bytes(made.content(reals.shape, "y", TensorProto.FLOAT))
    network = read_onnx(path)
    theirs = onnxruntime_tensors(path, network, {network.inputs[0]: reals})[network.outputs[0]]
    np.testing.assert_array_equal(theirs, BY_QUOTIENTS[operator](reals))
