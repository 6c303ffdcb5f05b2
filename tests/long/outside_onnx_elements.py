"""Relu, Clip, hard functions, Max, Min and ReduceMean in ONNX Runtime between pairs: every layer is named."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from test_models_onnx_elements import BYTES, bytes_net, element_net

from sim.golden.layers.sums_in_float32 import means_in_float32
from sim.models.compare import LayerReport, compared
from sim.models.network import ModelError, Network
from sim.models.operators.onnx_elements import ONE_BY_ONE
from sim.models.runtimes.onnx_reference import onnx_reference_tensors
from sim.models.runtimes.onnxruntime import onnxruntime_tensors

NETS = 60
EVEN = "round_even_then_offset"
ZEROS = {"uint8": (0, 256), "int8": (-128, 128), "int16": (-32768, 32768)}


def report_of(network: Network, folder: Path, x: np.ndarray, tensors_of: Any = onnxruntime_tensors) -> LayerReport:
    (report,) = compared(network, tensors_of(folder / "net.onnx", network, {network.inputs[0]: x}))
    return report


def drawn_scales(
    rng: np.random.Generator, number: int, dtype: str, names: str = "xaby"
) -> dict[str, tuple[float, int]]:
    """The output's is that of x, twice or half of it, or another: ties of every second number, or few."""
    scale = float(2.0 ** rng.uniform(-10, 3)) / (256 if dtype == "int16" else 1)
    zeros = rng.integers(*ZEROS[dtype], len(names)).tolist()
    if number % 3 == 0:
        zeros[-1] = (ZEROS[dtype][0], ZEROS[dtype][1] - 1, zeros[-1])[number % 9 // 3]
    factors = [1, *rng.choice([1, 0.5, 2, 1.7], len(names) - 2), (1, 2, 0.5, float(rng.uniform(0.2, 4)))[number % 4]]
    return {name: (scale * float(of), zero) for name, of, zero in zip(names, factors, zeros, strict=True)}


def every(dtype: str, rng: np.random.Generator, count: int = 256) -> np.ndarray:
    """All bytes in any order, or as many numbers of 16 bits."""
    low, high = ZEROS[dtype]
    numbers = np.arange(low, high) if dtype != "int16" else rng.integers(low, high, count)
    return rng.permutation(numbers).astype(dtype)


def options_of(operator: str, rng: np.random.Generator, scales: dict[str, tuple[float, int]]) -> dict[str, Any]:
    """Bounds on ties of the output and elsewhere; slopes of any number."""
    to = np.float32(scales["y"][0])
    low, high = (float(to * np.float32(at + 0.5)) for at in rng.integers(-90, 91, 2))
    match operator:
        case "Clip":
            bounds = ((low, high), (None, high), (low,), (), (0.0, 6.0), (0.0,), (high, low))[int(rng.integers(7))]
            return {"constants": bounds}
        case "HardSigmoid":
            return {"alpha": float(rng.uniform(-1, 1)), "beta": float(rng.uniform(-1, 2))} if rng.random() < 0.7 else {}
    return {}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
@pytest.mark.parametrize("operator", ["Relu", "Clip", "HardSigmoid", "HardSwish"])
def test_every_layer_of_one_is_named(operator: str, dtype: str, tmp_path: Path) -> None:
    rng, ties = np.random.default_rng(31), 0
    for number in range(NETS):
        scales = drawn_scales(rng, number, dtype, "xy")
        options = options_of(operator, rng, scales)
        if operator == "HardSigmoid" and number % 5 == 0:  # every second number of its slope is a tie
            scales = {"x": (2.0**-5, scales["x"][1]), "y": (2.0**-6, scales["y"][1])}
            options = {"alpha": 0.25}
        versions = 21 if dtype == "int16" else 18
        network = element_net(tmp_path, operator, dtype, scales, shape=(256,), versions=versions, **options)
        report = report_of(network, tmp_path, every(dtype, rng))
        assert (report.outcome, EVEN in report.conventions) == ("equal", True), (scales, options, report)
        ties += "round_away_then_offset" not in report.conventions
    assert ties > 0


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("operator", ["Max", "Min"])
def test_every_layer_of_several_is_named(operator: str, count: int, dtype: str, tmp_path: Path) -> None:
    rng, alone = np.random.default_rng(32), 0
    for number in range(NETS):
        scales = drawn_scales(rng, number, dtype)
        shapes = ((16,), (16, 16))[: count - 1]
        further = [every(dtype, rng)[: prod(shape)].reshape(shape) for shape in shapes]
        versions = 21 if dtype == "int16" else 18
        network = element_net(tmp_path, operator, dtype, scales, further, shape=(3, 16, 16), versions=versions)
        x = np.stack([every(dtype, rng).reshape(16, 16) for _ in range(3)])
        report = report_of(network, tmp_path, x)
        assert (report.outcome, EVEN in report.conventions) == ("equal", True), (scales, report)
        alone += report.conventions == (EVEN,)
    assert alone > 0


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_every_mean_is_named(dtype: str, tmp_path: Path) -> None:
    """Along any axes of one to five, in scales that make ties; which order it is may depend on the threads."""
    rng, alone = np.random.default_rng(33), 0
    for number in range(3 * NETS):
        rank = int(rng.integers(1, 6))
        shape = tuple(int(length) for length in rng.choice([1, 2, 3, 5, 7, 12], rank))
        axes = rng.permutation(rank)[: rng.integers(1, rank + 1)].astype(np.int64)
        count = int(np.prod([shape[axis] for axis in axes]))
        scale = float(2.0 ** rng.uniform(-8, 0))
        to = scale / count * (2, 4, 1)[number % 3] if number % 2 else scale * float(rng.uniform(0.1, 1))
        zeros = rng.integers(*ZEROS[dtype], 2).tolist()
        scales = {"x": (scale, zeros[0]), "y": (to, zeros[1])}
        options: dict[str, Any] = {
            "constants": [axes - rank * (number % 2)],
            "keepdims": int(len(axes) == rank or rng.integers(2)),
        }
        if number % 5 == 0 and dtype != "int16":
            options = {"axes": axes.tolist(), "versions": 13}
        elif number % 7 == 0:
            options = {"noop_with_empty_axes": int(rng.integers(2))}
        options.setdefault("versions", 21 if dtype == "int16" else 18)
        network = element_net(tmp_path, "ReduceMean", dtype, scales, shape=shape, **options)
        near = rng.integers(-9, 10, shape) + zeros[0]  # the output holds what these come to
        x = np.clip(near, ZEROS[dtype][0], ZEROS[dtype][1] - 1).astype(dtype)
        report = report_of(network, tmp_path, x)
        names = {EVEN, f"{EVEN} {ONE_BY_ONE}"}
        assert report.outcome == "equal", (shape, axes, scales, options, report)
        assert names & set(report.conventions), (shape, axes, scales, options, report)
        alone += set(report.conventions) <= names
    assert alone > 0


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("operator", BYTES)
def test_bytes_as_they_are_are_the_same(operator: str, dtype: str, tmp_path: Path) -> None:
    """But of uint8 there is no Relu."""
    rng, count = np.random.default_rng(35), len(BYTES[operator][0])
    for _ in range(NETS // 4):
        constants = rng.integers(*ZEROS[dtype], count).tolist()
        network = bytes_net(tmp_path, operator, dtype, constants)
        given = {network.inputs[0]: every(dtype, rng)[:64]}
        if (operator, dtype) == ("Relu", "uint8"):
            with pytest.raises(ModelError, match="INVALID_GRAPH"):
                onnxruntime_tensors(tmp_path / "net.onnx", network, given)
            continue
        report, *_ = compared(network, onnxruntime_tensors(tmp_path / "net.onnx", network, given))
        assert (report.outcome, report.conventions) == ("equal", ("exact",)), constants


@pytest.mark.parametrize("threads", [1, 2, 6])
def test_means_of_real_numbers_are_of_either_order(threads: int) -> None:
    """Every bit of them, and of the second order only where there are fewer numbers before than threads."""
    rng, second = np.random.default_rng(threads), 0
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    for number in range(10 * NETS):
        rank = int(rng.integers(1, 6))
        shape = tuple(int(length) for length in rng.choice([1, 2, 5, 9, 14, 40][: 8 - rank], rank))
        axes = sorted(rng.permutation(rank)[: rng.integers(1, rank + 1)].tolist())
        x = (rng.integers(-120, 136, shape) * np.float32(rng.uniform(0.01, 0.1))).astype(np.float32)
        node = helper.make_node("ReduceMean", ["x"], ["y"], axes=axes, keepdims=0)
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, of) for name, of in (("x", shape), ("y", None))
        ]
        graph = helper.make_graph([node], "mean", values[:1], values[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        (y,) = session.run(None, {"x": x})
        same = [np.array_equal(one, y) for one in means_in_float32(x, axes)]
        assert any(same), (number, shape, axes)
        second += not same[0]
    assert (second > 0) is (threads == 6)


@pytest.mark.parametrize("operator", ["Relu", "Clip", "HardSigmoid", "HardSwish", "Max", "Min"])
def test_layers_of_onnxs_reference_are_named(operator: str, tmp_path: Path) -> None:
    """It has float32 too, but HardSwish by another order, which makes other bytes next to ties alone."""
    rng = np.random.default_rng(34)
    for number in range(NETS // 4):
        scales = drawn_scales(rng, number, "uint8")
        options = options_of(operator, rng, scales)
        network = element_net(tmp_path, operator, "uint8", scales, shape=(256,), versions=21, **options)
        report = report_of(network, tmp_path, every("uint8", rng), onnx_reference_tensors)
        assert report.outcome == "equal" or (operator == "HardSwish" and report.differing < 8), (
            scales,
            options,
            report,
        )
