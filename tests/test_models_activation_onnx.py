"""Sigmoid and Tanh of .onnx files, as pairs and as an operator: which arithmetic made their bytes."""

from __future__ import annotations

from math import exp, tanh
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from sim.models.compare import LayerReport, compared
from sim.models.forward import forward
from sim.models.network import Network
from sim.models.onnx_file import read_onnx
from sim.models.rules.functions.real_functions import BY_QUOTIENT, IN_REALS, logistic_by_quotient, tanh_by_quotient
from support.onnx_models import OnnxWriter

FUNCTIONS = {"Sigmoid": lambda x: 1 / (1 + exp(-x)), "QLinearSigmoid": lambda x: 1 / (1 + exp(-x)), "Tanh": tanh}
BY_QUOTIENTS = {"Sigmoid": logistic_by_quotient, "QLinearSigmoid": logistic_by_quotient, "Tanh": tanh_by_quotient}
EVERY = {name: np.arange(256, dtype=np.uint8).view(name) for name in ("int8", "uint8")}


def network_of(
    folder: Path, operator: str, dtype: str, scale: float, to: float, zeros: tuple[int, int], relu: bool = False
) -> Network:
    """One layer of every byte, from a scale and zero point to others."""
    made = OnnxWriter()
    x, y = made.scale("x", scale, zeros[0], dtype), made.scale("y", to, zeros[1], dtype)
    if operator.startswith("QLinear"):
        made.nodes.append(helper.make_node(operator, [*x, *y[1:]], ["y"], domain="com.microsoft"))
    else:
        made.nodes.append(helper.make_node("DequantizeLinear", x, ["real"]))
        made.nodes.append(helper.make_node(operator, ["real"], ["made"]))
        made.nodes += [helper.make_node("Relu", ["made"], ["relu"])] * relu
        made.nodes.append(helper.make_node("QuantizeLinear", ["relu" if relu else "made", *y[1:]], ["y"]))
    path = folder / "net.onnx"
    kind = TensorProto.INT8 if dtype == "int8" else TensorProto.UINT8
    path.write_bytes(made.content((256,), "y", kind, versions=(21, 10)))
    return read_onnx(path)


def bytes_of(operator: str, dtype: str, scale: float, to: float, zeros: tuple[int, int]) -> np.ndarray:
    """By Python's own numbers; none of them is next to a tie."""
    limits, one, other = np.iinfo(dtype), float(np.float32(scale)), float(np.float32(to))
    reals = [FUNCTIONS[operator](one * (int(byte) - zeros[0])) / other for byte in EVERY[dtype]]
    assert min(abs(abs(real % 1) - 0.5) for real in reals) > 1e-4
    return np.clip([round(real) + zeros[1] for real in reals], limits.min, limits.max).astype(dtype)


def report_of(network: Network, x: np.ndarray, y: np.ndarray) -> LayerReport:
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    return report


@pytest.mark.parametrize(
    ("operator", "dtype", "scale", "to", "zeros"),
    [
        ("Sigmoid", "uint8", 0.05, 1 / 256, (120, 0)),
        ("Sigmoid", "int8", 0.031, 0.0042, (-3, -128)),
        ("QLinearSigmoid", "uint8", 0.021, 0.0051, (99, 7)),
        ("QLinearSigmoid", "int8", 0.05, 1 / 256, (-8, -100)),
        ("Tanh", "uint8", 0.017, 1 / 128, (128, 128)),
        ("Tanh", "int8", 0.4, 0.0083, (20, -5)),
    ],
)
def test_a_layer_is_named_and_made(
    operator: str, dtype: str, scale: float, to: float, zeros: tuple[int, int], tmp_path: Path
) -> None:
    network, expected = (
        network_of(tmp_path, operator, dtype, scale, to, zeros),
        bytes_of(operator, dtype, scale, to, zeros),
    )
    report = report_of(network, EVERY[dtype], expected)
    assert (report.outcome, report.kind, set(report.conventions)) == ("equal", "activation", {IN_REALS, BY_QUOTIENT})
    made = forward(network, {network.inputs[0]: EVERY[dtype]}, "fp32")[network.outputs[0]]
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("operator", FUNCTIONS)
def test_a_scale_that_makes_a_tie_tells_them_apart(operator: str, tmp_path: Path) -> None:
    """The output's scale puts one byte half-way; where both functions differ there, each output has one name."""
    zeros, found = (128, 100), set()
    reals = (EVERY["uint8"].astype(np.float32) - np.float32(128)) * np.float32(0.02)
    exact = np.array([FUNCTIONS[operator](float(real)) for real in reals]).astype(np.float32)
    quotient = BY_QUOTIENTS[operator](reals)
    for byte in np.flatnonzero((exact != quotient) & (exact > 0.1)):
        to = np.float32(exact[byte] / np.float32(70.5))
        network = network_of(tmp_path, operator, "uint8", 0.02, float(to), zeros)
        outputs = [np.clip(np.rint(one / to) + 100, 0, 255).astype(np.uint8) for one in (exact, quotient)]
        if (outputs[0] != outputs[1]).any():
            found |= {report_of(network, EVERY["uint8"], output).conventions for output in outputs}
    assert found == {(IN_REALS,), (BY_QUOTIENT,)}


def test_the_quotients_are_close_to_the_functions_and_end_where_they_end() -> None:
    x = np.linspace(-30, 30, 6001).astype(np.float32)
    for function, quotient in ((FUNCTIONS["Sigmoid"], logistic_by_quotient), (tanh, tanh_by_quotient)):
        exact = np.array([function(float(one)) for one in x])
        assert np.abs(quotient(x) - exact).max() < 3e-7
    assert (logistic_by_quotient(x[:1200]) == 0).all()
    assert (np.abs(tanh_by_quotient(x[np.abs(x) > 9])) == 1).all()


def test_a_byte_that_neither_makes_is_traced(tmp_path: Path) -> None:
    asked = ("Tanh", "int8", 0.4, 0.0083, (20, -5))
    output = bytes_of(*asked)
    output[20] -= 1
    report = report_of(network_of(tmp_path, *asked), EVERY["int8"], output)
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (20,))
    assert report.trace is not None
    assert (report.trace.inputs, report.trace.steps[0].name) == ({"byte": 20}, "tanh of 0")


def test_what_is_not_such_a_layer_is_named(tmp_path: Path) -> None:
    output = EVERY["uint8"]
    relu = network_of(tmp_path, "Tanh", "uint8", 0.05, 1 / 128, (128, 0), relu=True)
    report = report_of(relu, EVERY["uint8"], output)
    assert (report.outcome, report.reason) == ("skipped", "Tanh with RELU is not computed")


@pytest.mark.parametrize("scale", [1e30, 1e-38])
def test_scales_of_any_size_are_computed(scale: float, tmp_path: Path) -> None:
    network = network_of(tmp_path, "Sigmoid", "uint8", scale, 1 / 256, (128, 0))
    made = forward(network, {network.inputs[0]: EVERY["uint8"]}, "fp32")[network.outputs[0]]
    ends = (0, 128, 255) if scale > 1 else (128, 128, 128)
    assert (made[0], made[128], made[255]) == ends
    made[3] ^= 1
    assert report_of(network, EVERY["uint8"], made).outcome == "differs"
