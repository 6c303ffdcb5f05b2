"""Nets of floating point that ONNX Runtime's own quantizer quantized, as operators and as pairs: every layer is named.

As pairs of DequantizeLinear and QuantizeLinear ONNX Runtime fuses them, and rounds as it does with operators.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from sim.models.compare import compared
from sim.models.forward import drawn_inputs
from sim.models.onnx_file import read_onnx
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors
from support.onnx_float_nets import FLOAT_NETS, SHAPE, mobile_net
from support.onnx_models import reference_net

SEEDS = range(3)


class Drawn(CalibrationDataReader):  # type: ignore[misc]  # it has no hints
    """Eight inputs of a seed, by which scales are chosen."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        rng = np.random.default_rng(0)
        self._left: Iterator[Any] = iter([{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(8)])

    def get_next(self) -> Any:
        return next(self._left, None)


def quantized(net: str, seed: int, as_pairs: bool, folder: Path) -> Path:
    logging.disable(logging.WARNING)  # that the net was not prepared
    source, target = folder / "float.onnx", folder / "net.onnx"
    source.write_bytes(FLOAT_NETS[net](seed))
    quantize_static(
        source, target, Drawn((8, 24) if net == "mlp" else SHAPE), per_channel=seed % 2 == 0,
        quant_format=QuantFormat.QDQ if as_pairs else QuantFormat.QOperator,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    logging.disable(logging.NOTSET)
    return target


@pytest.mark.parametrize("as_pairs", [True, False], ids=["pairs", "operators"])
@pytest.mark.parametrize("net", FLOAT_NETS)
def test_every_layer_in_onnx_runtime_is_named(net: str, as_pairs: bool, tmp_path: Path) -> None:
    for seed in SEEDS:
        path = quantized(net, seed, as_pairs, tmp_path)
        network = read_onnx(path)
        tensors = onnxruntime_tensors(path, network, drawn_inputs(network, seed))
        report = ModelReport(network=network, against="onnxruntime", seed=seed, layers=compared(network, tensors))
        told = [(one.layer.operator, one.outcome, one.reason) for one in report.layers]
        assert {outcome for _, outcome, _ in told} == {"equal"}, told
        assert is_one_of(report.common["scaling"], "round_even_then_offset of scales_in_float32"), told
        assert "round_even_then_offset" in report.common["quantization"]
        assert report.common["dequantization"] == ("dequantized",)


@pytest.mark.parametrize("is_symmetric", [True, False], ids=["int8", "uint8"])
def test_every_layer_of_a_mobile_net_is_named(is_symmetric: bool, tmp_path: Path) -> None:
    """With zero points of 0 a Relu and a Clip stay, as layers of their own; else they are the ends of the output."""
    logging.disable(logging.WARNING)
    for seed in SEEDS:
        source, path = tmp_path / "float.onnx", tmp_path / "net.onnx"
        source.write_bytes(mobile_net(seed))
        quantize_static(
            source, path, Drawn(SHAPE), per_channel=seed % 2 == 0, quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QInt8 if is_symmetric else QuantType.QUInt8, weight_type=QuantType.QInt8,
            extra_options={"ActivationSymmetric": is_symmetric},
        )  # fmt: skip
        network = read_onnx(path)
        x = np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32)
        reports = compared(network, onnxruntime_tensors(path, network, {network.inputs[0]: x}))
        told = [(one.layer.operator, one.outcome, one.reason) for one in reports]
        assert {outcome for _, outcome, _ in told} == {"equal"}, told
        held = {operator for operator, _, _ in told}
        assert {"Slice", "HardSwish", "ReduceMean", "HardSigmoid", "Split", "Pad", "Max", "Identity"} <= held
        assert ({"Relu", "Clip"} <= held) is is_symmetric
    logging.disable(logging.NOTSET)


def test_what_onnx_defines_is_the_same_in_its_reference(tmp_path: Path) -> None:
    """Convolutions and matrix products; sums, products and averages are operators of ONNX Runtime's own."""
    named = set()
    for seed in SEEDS:
        path = tmp_path / "net.onnx"
        path.write_bytes(reference_net(seed))
        network = read_onnx(path)
        tensors = onnx_reference_tensors(path, network, drawn_inputs(network, seed))
        report = ModelReport(network=network, against="onnx-reference", seed=seed, layers=compared(network, tensors))
        assert {one.outcome for one in report.layers} == {"equal"}, report.verdict
        named |= {one.layer.operator for one in report.layers}
    assert named == {"QuantizeLinear", "QLinearConv", "MaxPool", "Flatten", "QLinearMatMul", "DequantizeLinear"}
