"""Sub, Div, PRelu and sums of int8 between pairs, and MatMul of two stacks of matrices, one number after the other."""

from __future__ import annotations

import doctest
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from sim.golden.layers import addition_of_int8
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.layers import Requantized
from sim.models.network import Network, NotComputed
from sim.models.onnx_file import read_onnx
from support.exact_rounding import float32_nearest
from support.onnx_models import OnnxWriter

SCALES = {"x": (0.031, 120), "b": (0.017, 90), "y": (0.043, 100)}
SHAPES = {
    "Sub": ((2, 5, 7), (7,)), "Div": ((2, 5, 7), (5, 1)), "PRelu": ((2, 5, 7), (5, 1)),
    "MatMul": ((3, 2, 4, 6), (2, 6, 5)),
}  # fmt: skip


def network_of(folder: Path, operator: str, second: np.ndarray, relu: bool = False) -> Network:
    """The second operand is a constant of the file; a Relu lies between or not."""
    made = OnnxWriter()
    x, b, y = (made.scale(name, *of) for name, of in SCALES.items())
    made.constant("b", second)
    made.nodes += [helper.make_node("DequantizeLinear", one, [f"real_{one[0]}"]) for one in (x, b)]
    made.nodes.append(helper.make_node(operator, ["real_x", "real_b"], ["made"]))
    if relu:
        made.nodes.append(helper.make_node("Relu", ["made"], ["bounded"]))
    made.nodes.append(helper.make_node("QuantizeLinear", ["bounded" if relu else "made", *y[1:]], ["y"]))
    path = folder / "net.onnx"
    path.write_bytes(made.content(SHAPES[operator][0], "y", versions=(16, 8)))
    return read_onnx(path)


def drawn(operator: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    first, second = (rng.integers(0, 256, shape).astype(np.uint8) for shape in SHAPES[operator])
    return first, divisors(second) if operator == "Div" else second


def divisors(numbers: np.ndarray) -> np.ndarray:
    """Without the zero point of b."""
    return np.where(numbers == SCALES["b"][1], 6, numbers).astype(np.uint8)


def real(q: int, name: str) -> Fraction:
    scale, zero = SCALES[name]
    return float32_nearest((q - zero) * Fraction(float(np.float32(scale))))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("operator", ["Sub", "Div", "PRelu"])
def test_real_numbers_of_two_become_bytes(operator: str, relu: bool, tmp_path: Path) -> None:
    x, second = drawn(operator)
    network = network_of(tmp_path, operator, second, relu)
    numbers = {tensor.name: tensor.number for tensor in network.tensors}
    scale, zero = Fraction(float(np.float32(SCALES["y"][0]))), SCALES["y"][1]
    output = []
    for q, other in np.broadcast(x, second):
        a, b = real(int(q), "x"), real(int(other), "b")
        made = a - b if operator == "Sub" else a / b if operator == "Div" else a if a >= 0 else a * b
        made = max(made, Fraction(0)) if relu else made
        quotient = float32_nearest(float32_nearest(made) / scale)
        output.append(max(0, min(255, round(quotient) + zero)))
    expected = np.array(output, np.uint8).reshape(x.shape)
    np.testing.assert_array_equal(forward(network, {numbers["x"]: x}, "fp32")[numbers["y"]], expected)
    (report,) = compared(network, {numbers["x"]: x, numbers["y"]: expected})
    assert (report.outcome, "round_even_then_offset" in report.conventions) == ("equal", True)


def test_what_is_divided_by_zero_is_not_computed(tmp_path: Path) -> None:
    x, second = drawn("Div")
    second[3] = SCALES["b"][1]
    network = network_of(tmp_path, "Div", second)
    with pytest.raises(NotComputed, match="its numbers leave float32"):
        computed(network, network.layers[0], {**network.constants, network.inputs[0]: x})


WIDE = ((0.00017, -2020), (0.00009, 31000), (0.00023, -24310))
"""Scales and zero points of int16: of two operands and their sum."""


def sum_of_int16(folder: Path, second: np.ndarray, relu: bool) -> Network:
    """One Add between pairs of int16; the second operand is a constant of the file."""
    made, shape = OnnxWriter(), (3, *second.shape)
    x, b, y = (made.scale(name, *of, "int16") for name, of in zip("xby", WIDE, strict=True))
    made.constant("b", second)
    made.nodes += [helper.make_node("DequantizeLinear", one, [f"real_{one[0]}"]) for one in (x, b)]
    made.nodes.append(helper.make_node("Add", ["real_x", "real_b"], ["made"]))
    if relu:
        made.nodes.append(helper.make_node("Relu", ["made"], ["bounded"]))
    made.nodes.append(helper.make_node("QuantizeLinear", ["bounded" if relu else "made", *y[1:]], ["y"]))
    path = folder / "net.onnx"
    path.write_bytes(made.content(shape, "y", TensorProto.INT16, (21, 10)))
    return read_onnx(path)


@pytest.mark.parametrize("relu", [False, True])
def test_a_sum_of_int16_is_one_of_real_numbers(relu: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x, second = (rng.integers(-32768, 32768, shape).astype(np.int16) for shape in ((3, 5, 16), (5, 16)))
    network = sum_of_int16(tmp_path, second, relu)
    numbers = {tensor.name: tensor.number for tensor in network.tensors}
    (of_x, zero_x), (of_b, zero_b), (of_y, zero_y) = ((Fraction(float(np.float32(one))), zero) for one, zero in WIDE)
    output = []
    for q, other in np.broadcast(x, second):
        made = float32_nearest(
            float32_nearest((int(q) - zero_x) * of_x) + float32_nearest((int(other) - zero_b) * of_b)
        )
        quotient = float32_nearest((max(made, Fraction(0)) if relu else made) / of_y)
        output.append(max(-32768, min(32767, round(quotient) + zero_y)))
    expected = np.array(output, np.int16).reshape(x.shape)
    np.testing.assert_array_equal(forward(network, {numbers["x"]: x}, "fp32")[numbers["y"]], expected)
    (report,) = compared(network, {numbers["x"]: x, numbers["y"]: expected})
    assert (report.outcome, "round_even_then_offset" in report.conventions) == ("equal", True)


def test_stacks_of_matrices_have_the_sums_of_each(tmp_path: Path) -> None:
    x, second = drawn("MatMul")
    network = network_of(tmp_path, "MatMul", second)
    number = next(tensor.number for tensor in network.tensors if tensor.name == "x")
    made = computed(network, network.layers[0], {**network.constants, number: x})
    assert isinstance(made, Requantized)
    assert made.accumulators.shape == (3, 2, 4, 5)
    for n, stack, row, column in np.ndindex(3, 2, 4, 5):
        pairs = zip(x[n, stack, row].tolist(), second[stack, :, column].tolist(), strict=True)
        assert made.accumulators[n, stack, row, column] == sum((a - 120) * (b - 90) for a, b in pairs)


def test_what_is_not_computed_is_named(tmp_path: Path) -> None:
    x, second = drawn("Sub")
    network = network_of(tmp_path, "Sub", second[:3])
    number = next(tensor.number for tensor in network.tensors if tensor.name == "x")
    with pytest.raises(NotComputed, match="its tensors do not fit"):
        computed(network, network.layers[0], {**network.constants, number: x})


def sum_of(
    folder: Path, paired: bool, scales: list[tuple[float, int]], first: np.ndarray, second: np.ndarray
) -> Network:
    """One Add between pairs, or QLinearAdd, of bytes; the second operand is a constant of the file."""
    made, dtype = OnnxWriter(), str(first.dtype)
    x, b, y = (made.scale(name, *of, dtype) for name, of in zip("xby", scales, strict=True))
    made.constant("b", second)
    if paired:
        made.nodes += [helper.make_node("DequantizeLinear", one, [f"real_{one[0]}"]) for one in (x, b)]
        made.nodes.append(helper.make_node("Add", ["real_x", "real_b"], ["made"]))
        made.nodes.append(helper.make_node("QuantizeLinear", ["made", *y[1:]], ["y"]))
    else:
        made.nodes.append(helper.make_node("QLinearAdd", [*x, *b, *y[1:]], ["y"], domain="com.microsoft"))
    path = folder / "net.onnx"
    kind = TensorProto.INT8 if dtype == "int8" else TensorProto.UINT8
    path.write_bytes(made.content(first.shape, "y", kind))
    return read_onnx(path)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_bytes_with_a_sign_are_added_as_they_are(paired: bool, tmp_path: Path) -> None:
    """One number after the other: moved by 128, or with its first product rounded, the constant would be another."""
    scales = [(0.09, -116), (0.19, -20), (0.1, 114)]
    numbers = np.arange(-128, 128).astype(np.int8)
    network = sum_of(tmp_path, paired, scales, numbers.reshape(-1, 1), numbers)
    single = [Fraction(float(np.float32(scale))) for scale, _ in scales]
    of_a, of_b = (float32_nearest(one / single[2]) for one in single[:2])
    (_, za), (_, zb), (_, zo) = scales
    constant = float32_nearest(zo - float32_nearest(of_a * za + float32_nearest(of_b * zb)))
    output = []
    for a, b in np.broadcast(numbers.reshape(-1, 1), numbers):
        first = float32_nearest(int(b) * of_b + constant)
        output.append(max(-128, min(127, round(float32_nearest(int(a) * of_a + first)))))
    expected = np.array(output, np.int8).reshape(256, 256)
    (report,) = compared(network, {network.inputs[0]: numbers.reshape(-1, 1), network.outputs[0]: expected})
    assert (report.outcome, report.conventions) == ("equal", ("add_avx2_of_int8",))


def test_examples() -> None:
    assert doctest.testmod(addition_of_int8).failed == 0
