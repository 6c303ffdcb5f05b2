"""AveragePool, Concat, Transpose, Gather, Softmax and LeakyRelu of ONNX, as pairs and as operators: what they make."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from sim.golden.layers import softmax
from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import FromReals
from sim.models.network import Network, NotComputed
from sim.models.onnx_file import read_onnx
from sim.models.report import ModelReport
from sim.view.rounding.model import shared_sentences
from support.onnx_models import OnnxWriter, PairedWriter, functional_net

OPERATORS = {
    "AveragePool": "QLinearAveragePool",
    "LeakyRelu": "QLinearLeakyRelu",
    "Softmax": "QLinearSoftmax",
    "Concat": "QLinearConcat",
}
SHAPE = (2, 3, 5, 4)
SCALES = [(0.0317, 120), (0.0523, 100)]
"""Of the input and the output."""


def read(content: bytes, folder: Path) -> Network:
    path = folder / "net.onnx"
    path.write_bytes(content)
    return read_onnx(path)


def network_of(
    folder: Path, operator: str, paired: bool = True, scales: list[tuple[float, int]] = SCALES, versions: int = 13,
    shape: tuple[int, ...] = SHAPE, **options: Any,
) -> Network:  # fmt: skip
    """One operator, between pairs or with scales of its own; Concat joins its input with itself."""
    made = OnnxWriter()
    x, y = (made.scale(name, *of) for name, of in zip("xy", scales, strict=True))
    count = 2 if operator == "Concat" else 1
    if paired:
        reals = [f"real{place}" for place in range(count)]
        made.nodes += [helper.make_node("DequantizeLinear", x, [real]) for real in reals]
        made.nodes.append(helper.make_node(operator, reals, ["made"], **options))
        made.nodes.append(helper.make_node("QuantizeLinear", ["made", *y[1:]], ["y"]))
    else:
        inputs = [*y[1:], *x, *x] if operator == "Concat" else [*x, *y[1:]]
        node = helper.make_node(OPERATORS[operator], inputs, ["y"], domain="com.microsoft", **options)
        made.nodes.append(node)
    return read(made.content(shape, "y", versions=(versions, 8)), folder)


def drawn(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(3).integers(60, 180, shape).astype(np.uint8)


def quantized(real: Fraction | float) -> int:
    """Of the output's scale, by the exact quotient to even; the numbers here are no ties."""
    scale, zero = Fraction(float(np.float32(SCALES[1][0]))), SCALES[1][1]
    return max(0, min(255, round(Fraction(real) / scale) + zero))


def real(q: int) -> Fraction:
    return (q - SCALES[0][1]) * Fraction(float(np.float32(SCALES[0][0])))


def made_by(network: Network, x: np.ndarray) -> np.ndarray:
    return forward(network, {network.inputs[0]: x}, "fp32")[network.outputs[0]]


@pytest.mark.parametrize("paired", [True, False])
def test_averages_of_windows_are_those_of_what_lies_in_the_image(paired: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    x = drawn()
    for counts_padding in (0, 1):
        network = network_of(tmp_path, "AveragePool", paired, count_include_pad=counts_padding, **options)
        y = made_by(network, x)
        assert y.shape == (2, 3, 3, 4)
        for n, c, row, column in np.ndindex(y.shape):
            places = [
                (i, j)
                for i, j in product(range(row * 2 - 1, row * 2 + 2), range(column, column + 2))
                if 0 <= i < 5 and 0 <= j < 4
            ]
            total = sum((real(int(x[n, c, i, j])) for i, j in places), Fraction(0))
            assert y[n, c, row, column] == quantized(total / (6 if counts_padding else len(places)))


@pytest.mark.parametrize("paired", [True, False])
def test_a_leaky_relu_multiplies_what_is_negative(paired: bool, tmp_path: Path) -> None:
    x = drawn()
    y = made_by(network_of(tmp_path, "LeakyRelu", paired, alpha=0.1), x)
    alpha = Fraction(float(np.float32(0.1)))
    expected = [quantized(one if (one := real(int(q))) >= 0 else one * alpha) for q in x.ravel()]
    assert y.ravel().tolist() == expected


@pytest.mark.parametrize("paired", [True, False])
def test_what_is_joined_gets_the_outputs_scale(paired: bool, tmp_path: Path) -> None:
    x = drawn()
    y = made_by(network_of(tmp_path, "Concat", paired, axis=1), x)
    expected = np.array([quantized(real(int(q))) for q in x.ravel()]).reshape(x.shape)
    np.testing.assert_array_equal(y, np.concatenate([expected, expected], axis=1))


@pytest.mark.parametrize("paired", [True, False])
def test_what_is_joined_in_one_scale_is_moved(paired: bool, tmp_path: Path) -> None:
    x, network = drawn(), network_of(tmp_path, "Concat", paired, scales=[SCALES[0]] * 2, axis=-1)
    np.testing.assert_array_equal(made_by(network, x), np.concatenate([x, x], axis=-1))


def test_axes_are_turned(tmp_path: Path) -> None:
    x, same = drawn(), [SCALES[0]] * 2
    turned = made_by(network_of(tmp_path, "Transpose", scales=same, perm=[0, 2, 3, 1]), x)
    np.testing.assert_array_equal(turned, np.moveaxis(x, 1, -1))
    np.testing.assert_array_equal(made_by(network_of(tmp_path, "Transpose", scales=same), x), x.T)
    assert network_of(tmp_path, "Transpose").layers[0].operator == "Transpose"
    made = network_of(tmp_path, "Transpose")
    with pytest.raises(NotComputed, match="its output has another scale than its input"):
        computed(made, made.layers[0], {made.inputs[0]: x})


def gathered_net(folder: Path, paired: bool, places: np.ndarray, scales: list[tuple[float, int]], axis: int) -> Network:
    """Places along an axis of x, by a constant, between pairs or of the bytes as they are."""
    made = PairedWriter({"x": scales[0], "y": scales[1]})
    named = made.constant("places", places)
    if paired:
        made.layer("Gather", ["x"], "y", named, axis=axis)
    else:
        made.nodes.append(helper.make_node("Gather", ["x", named], ["y"], axis=axis))
    return read(made.content(SHAPE, "y"), folder)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("places", [np.array([[3, 0], [-1, -4]], np.int64), np.array(2, np.int32)], ids=["some", "one"])
def test_places_that_are_named_are_gathered(paired: bool, places: np.ndarray, tmp_path: Path) -> None:
    """Those below zero count from the end."""
    network, x = gathered_net(tmp_path, paired, places, [SCALES[0]] * 2, -1), drawn()
    y = made_by(network, x)
    assert (network.layers[0].operator, y.shape) == ("Gather", (2, 3, 5, *places.shape))
    for at in np.ndindex(y.shape):
        assert y[at] == x[at[:3]][places[at[3:]]]
    other = y.copy()
    other[(1, 2, 4, *places.shape)[: y.ndim - places.ndim] + (0,) * places.ndim] ^= 1
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: other})
    assert report.moved is not None
    assert (report.moved.tensor, report.moved.place) == ("x", (1, 2, 4, 3 if places.ndim else 2))


@pytest.mark.parametrize(
    ("places", "axis", "message"),
    [(np.array([5]), 2, "its tensors do not fit"), (np.array([0.5], np.float32), 2, "not whole numbers for places"),
     (np.zeros(1 << 24, np.int32), 0, "numbers at a time")],
)  # fmt: skip
def test_places_that_there_are_not_are_one_sentence(
    places: np.ndarray, axis: int, message: str, tmp_path: Path
) -> None:
    network = gathered_net(tmp_path, True, places, [SCALES[0]] * 2, axis)
    with pytest.raises(NotComputed, match=message):
        computed(network, network.layers[0], {**network.constants, network.inputs[0]: drawn()})
    network = gathered_net(tmp_path, True, np.array([1]), SCALES, axis)
    with pytest.raises(NotComputed, match="its output has another scale than its input"):
        computed(network, network.layers[0], {**network.constants, network.inputs[0]: drawn()})


MOVED: dict[str, tuple[list[np.ndarray], dict[str, Any]]] = {
    "Transpose": ([], {"perm": [0, 2, 1, 3]}),
    "Reshape": ([np.array([2, -1])], {}),
    "Flatten": ([], {}),
    "Squeeze": ([np.array([0])], {}),
    "Unsqueeze": ([np.array([0])], {}),
    "Gather": ([np.array([1, 0])], {"axis": 1}),
    "MaxPool": ([], {"kernel_shape": [1, 1]}),
    "Resize": ([np.array([], np.float32), np.array([], np.float32), np.array([2, 3, 5, 4])], {"mode": "nearest"}),
}


def rectified_net(folder: Path, operator: str, dtype: str) -> Network:
    """That operator, which moves the numbers of x, and a Relu, between pairs."""
    constants, options = MOVED[operator]
    made, shape = PairedWriter(dict.fromkeys("xy", SCALES[0]), dtype), (1 if operator == "Squeeze" else 2, *SHAPE[1:])
    named = [made.constant(f"how{place}", of) for place, of in enumerate(constants)]
    made.nodes += [
        helper.make_node("DequantizeLinear", ["x", *made.pairs["x"]], ["real"]),
        helper.make_node(operator, ["real", *named], ["moved"], **options),
        helper.make_node("Relu", ["moved"], ["bounded"]),
        helper.make_node("QuantizeLinear", ["bounded", *made.pairs["y"]], ["y"]),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return read(made.content(shape, "y", kind, versions=(16, 8)), folder)


@pytest.mark.parametrize("operator", MOVED)
def test_numbers_that_are_moved_and_bounded_by_a_relu_are_at_least_zero(operator: str, tmp_path: Path) -> None:
    network = rectified_net(tmp_path, operator, "uint8")
    (layer,) = network.layers
    assert (layer.operator, layer.options["FusedActivationFunction"]) == (operator, "RELU")
    x = drawn(network.tensors[network.inputs[0]].shape or ())
    y, zero = made_by(network, x), SCALES[0][1]
    plain = x[:, [1, 0]] if operator == "Gather" else x.swapaxes(1, 2) if operator == "Transpose" else x
    np.testing.assert_array_equal(y.ravel(), [max(zero, int(q)) for q in plain.ravel()])
    assert (y == zero).any()
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    assert report.outcome == "equal"


WINDOWS: list[dict[str, Any]] = [
    {"kernel_shape": [2, 3], "strides": [2, 2], "ceil_mode": 1},
    {"kernel_shape": [3, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1},
    {"kernel_shape": [2, 2], "strides": [1, 1], "dilations": [2, 3]},
    {"kernel_shape": [2, 2], "strides": [3, 1], "pads": [1, 0, 0, 1], "dilations": [3, 1], "ceil_mode": 1},
]


def places_of(window: dict[str, Any], axis: int, length: int) -> list[list[int]]:
    """Of each window along one axis of an image the places, those outside of it too."""
    size, stride = window["kernel_shape"][axis], window["strides"][axis]
    before, behind = (window.get("pads", [0] * 4)[axis + side] for side in (0, 2))
    step, found = window.get("dilations", [1, 1])[axis], []
    for begin in range(-before, length, stride):  # the last begins in the image
        taken = [begin + step * k for k in range(size)]
        if window.get("ceil_mode") or taken[-1] < length + behind:
            found.append(taken)
        if taken[-1] >= length + behind - 1:
            break
    return found


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("counts_padding", [0, 1])
def test_windows_that_are_dilated_or_reach_beyond_the_image(
    window: dict[str, Any], counts_padding: int, tmp_path: Path
) -> None:
    x, (kernel_rows, kernel_columns) = drawn(), window["kernel_shape"]
    average = network_of(tmp_path, "AveragePool", count_include_pad=counts_padding, versions=22, **window)
    means = made_by(average, x)
    largest = made_by(network_of(tmp_path, "MaxPool", scales=[SCALES[0]] * 2, versions=22, **window), x)
    rows, columns = places_of(window, 0, 5), places_of(window, 1, 4)
    assert means.shape == largest.shape == (2, 3, len(rows), len(columns))
    for n, c, row, column in np.ndindex(means.shape):
        inside = [int(x[n, c, i, j]) for i in rows[row] for j in columns[column] if 0 <= i < 5 and 0 <= j < 4]
        count = kernel_rows * kernel_columns if counts_padding else len(inside)
        assert means[n, c, row, column] == quantized(sum(map(real, inside), Fraction(0)) / count)
        assert largest[n, c, row, column] == max(inside)


TO_BYTES = [SCALES[0], (1 / 256, 0)]


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("axis", [1, 3])
def test_a_softmax_is_the_function_along_its_axis(paired: bool, axis: int, tmp_path: Path) -> None:
    x = drawn()
    options: dict[str, Any] = {} if paired else {"opset": 13}
    network = network_of(tmp_path, "Softmax", paired, scales=TO_BYTES, axis=axis, **options)
    rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]).tolist()
    powers = [[exp(float(real(q))) for q in row] for row in rows]
    expected = [[min(255, round(256 * one / sum(row))) for one in row] for row in powers]
    shape = np.moveaxis(x, axis, -1).shape
    y = made_by(network, x)
    np.testing.assert_array_equal(y, np.moveaxis(np.array(expected).reshape(shape), -1, axis))
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    assert (report.outcome, report.kind, report.conventions[0]) == ("equal", "softmax", "softmax_in_reals")


def test_onnx_runtimes_softmax_cuts_the_inverse_of_the_outputs_scale(tmp_path: Path) -> None:
    """1 / 0.0035 is 285.7, so that two halves are 142.5 and 142.86 steps: 142, to even, and 143."""
    network = network_of(tmp_path, "Softmax", scales=[SCALES[0], (0.0035, 0)], shape=(1, 2), axis=1)
    x = np.array([[9, 9]], np.uint8)
    for output, name in ((142, "softmax_by_shifted_table"), (143, "softmax_in_reals")):
        made = np.full((1, 2), output, np.uint8)
        (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: made})
        assert report.conventions == (name,)


def test_where_onnx_runtimes_table_leaves_float32_it_is_no_candidate(tmp_path: Path) -> None:
    network = network_of(tmp_path, "Softmax", scales=[SCALES[0], (0.003, 0)], shape=(1, 2), axis=1)
    x, y = np.array([[9, 9]], np.uint8), np.full((1, 2), 167, np.uint8)
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    assert report.conventions == ("softmax_in_reals",)


def test_an_average_whose_zero_point_makes_a_tie_even_is_named(tmp_path: Path) -> None:
    """Of 1 and 2 the average is 1.5 steps above an odd zero point: 1.5 + 101 is 102, and rint(1.5) + 101 is 103."""
    scales = [(0.5, 0), (0.5, 101)]
    network = network_of(tmp_path, "AveragePool", scales=scales, shape=(1, 1, 1, 2), kernel_shape=[1, 2])
    x = np.array([1, 2], np.uint8).reshape(1, 1, 1, 2)
    for output, is_so in ((102, True), (103, False)):
        y = np.full((1, 1, 1, 1), output, np.uint8)
        (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
        assert ("quotient_offset_then_round_even" in report.conventions) is is_so
        assert ("round_even_then_offset" in report.conventions) is not is_so


def test_a_softmax_that_is_off_is_traced_along_its_axis(tmp_path: Path) -> None:
    x, network = drawn(), network_of(tmp_path, "Softmax", scales=TO_BYTES, axis=1)
    y = made_by(network, x).copy()
    y[1, 2, 0, 3] += 3
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    assert (report.outcome, report.first) == ("differs", (1, 2, 0, 3))
    assert report.trace is not None
    row = [float(real(int(q))) for q in x[1, :, 0, 3]]
    exact = 256 * exp(row[2]) / sum(map(exp, row))
    assert abs(float(report.trace.steps[0].exact) - exact) < 1e-9


def test_the_table_of_onnx_runtime_is_as_large_as_sums_allow() -> None:
    """The largest power of a row of D is the largest float32 over D, less a factor of e^5."""
    by = softmax.SoftmaxScales(*map(np.float32, (0.03, 1 / 256, 1)))
    for depth in (2, 100):
        made = softmax.by_shifted_table(np.full((1, depth), 7, np.uint8), by, 0)
        largest = float(np.finfo(np.float32).max) / depth * exp(-5)
        assert abs(float(made["exp"][0, 0]) / largest - 1) < 1e-5


def test_whose_a_convention_is_is_told_by_the_one_that_it_is_of(tmp_path: Path) -> None:
    network = network_of(tmp_path, "Softmax", scales=[SCALES[0], (0.0035, 0)], shape=(1, 2), axis=1)
    given = {network.inputs[0]: np.array([[9, 9]], np.uint8), network.outputs[0]: np.full((1, 2), 142, np.uint8)}
    report = ModelReport(network=network, against="somebody", seed=None, layers=compared(network, given))
    assert list(shared_sentences(report)) == [
        "softmax: every layer is softmax_by_shifted_table, used by ONNX Runtime",
    ]


def test_every_layer_of_a_net_is_computed(tmp_path: Path) -> None:
    network = read(functional_net(), tmp_path)
    assert [layer.operator for layer in network.layers] == [
        "LeakyRelu",
        "AveragePool",
        "Transpose",
        "Concat",
        "Softmax",
    ]
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    assert {report.outcome for report in compared(network, tensors)} == {"equal"}


@pytest.mark.parametrize(
    ("operator", "options", "message"),
    [
        ("AveragePool", {"kernel_shape": [2]}, "it is not of images with their channels second"),
        ("AveragePool", {"kernel_shape": [1, 1], "pads": [1, 1, 1, 1]}, "one that lies outside of the image"),
        ("LeakyRelu", {"alpha": float("inf")}, "its alpha is inf"),
        ("Softmax", {"axis": 9}, "it has no numbers or no such axis"),
        ("Concat", {"axis": 9}, "its tensors do not fit"),
    ],
)
def test_what_is_not_computed_is_one_sentence(
    operator: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    network = network_of(tmp_path, operator, **options)
    with pytest.raises(NotComputed, match=message):
        computed(network, network.layers[0], {network.inputs[0]: drawn()})


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("axis", [None, 1, 2, -1])
def test_an_early_softmax_is_over_all_axes_from_one_on(axis: int | None, paired: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {} if axis is None else {"axis": axis}
    options |= {} if paired else {"opset": 12, "axis": 1 if axis is None else axis}
    network, x = network_of(tmp_path, "Softmax", paired, scales=TO_BYTES, versions=12, **options), drawn()
    rows = x.reshape(*SHAPE[: options.get("axis", 1)], -1)
    expected = np.empty(rows.shape, np.uint8)
    for place in np.ndindex(rows.shape[:-1]):
        powers = [exp(float(real(int(q)))) for q in rows[place]]
        expected[place] = [min(255, round(256 * one / sum(powers))) for one in powers]
    y = made_by(network, x)
    np.testing.assert_array_equal(y, expected.reshape(SHAPE))
    y = y.copy()
    y[1, 2, 0, 3] += 3
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    assert report.first == (1, 2, 0, 3)
    assert report.trace is not None
    row = [float(real(int(q))) for q in rows[(1, 2, 0)[: rows.ndim - 1]]]
    exact = 256 * exp(float(real(int(x[1, 2, 0, 3])))) / sum(map(exp, row))
    assert abs(float(report.trace.steps[0].exact) - exact) < 1e-9


@pytest.mark.parametrize("scale", [1e-40, 2.0])
def test_a_softmax_to_a_scale_of_no_shares_is_not_computed(scale: float, tmp_path: Path) -> None:
    network = network_of(tmp_path, "Softmax", scales=[SCALES[0], (scale, 0)])
    with pytest.raises(NotComputed, match=r"its output's scale is .*, not from 2\^-24 to 1"):
        computed(network, network.layers[0], {network.inputs[0]: drawn()})


def test_sums_beyond_float32_are_not_computed(tmp_path: Path) -> None:
    network = network_of(tmp_path, "AveragePool", scales=[(3e37, 0), SCALES[1]], kernel_shape=[3, 3])
    with pytest.raises(NotComputed, match="or sums beyond float32"):
        computed(network, network.layers[0], {network.inputs[0]: drawn()})


def test_a_scale_of_several_kinds_is_not_computed(tmp_path: Path) -> None:
    network = network_of(tmp_path, "LeakyRelu", scales=SCALES)
    with pytest.raises(NotComputed, match="LeakyRelu of int16 with 1 scale is not computed"):
        computed(network, network.layers[0], {network.inputs[0]: drawn().astype(np.int16)})
    assert isinstance(computed(network, network.layers[0], {network.inputs[0]: drawn()}), FromReals)
