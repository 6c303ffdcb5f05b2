"""Relu, Clip, hard functions, Max, Min and ReduceMean of ONNX between pairs, and bounds behind a layer."""

from __future__ import annotations

import doctest
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from sim.golden.layers import sums_in_float32
from sim.golden.layers.sums_in_float32 import by_fours, in_vectors, means_in_float32
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.onnx_file import read_onnx
from support.exact_rounding import float32_nearest
from support.onnx_models import OnnxWriter, PairedWriter

SCALES = {"x": (0.0317, 120), "a": (0.021, 90), "b": (0.047, 131), "y": (0.0523, 100)}
SHAPE = (2, 3, 5, 4)


def element_net(
    folder: Path, operator: str, dtype: str = "uint8", scales: Mapping[str, tuple[float, int]] = SCALES,
    further: Sequence[np.ndarray] = (), constants: Sequence[float | np.ndarray | None] = (),
    shape: tuple[int, ...] = SHAPE, versions: int = 18, bounds: Sequence[float | None] | None = None, **options: Any,
) -> Network:  # fmt: skip
    """One operator of x and of `further` quantized constants, between pairs; `constants` are inputs behind these.

    With `bounds` there is a Clip behind.
    """
    made = PairedWriter(scales, dtype)
    sources = ["x", *"ab"[: len(further)]]
    for name, data in zip(sources[1:], further, strict=True):
        made.constant(name, data)
    stated = [
        "" if of is None else made.constant(f"stated{place}", np.asarray(of, np.float32 if np.isscalar(of) else None))
        for place, of in enumerate(constants)
    ]
    made.layer(operator, sources, "y", *stated, **options)
    if bounds is not None:
        names = [
            "" if of is None else made.constant(f"end{place}", np.array(of, np.float32))
            for place, of in enumerate(bounds)
        ]
        made.nodes.insert(-1, helper.make_node("Clip", ["y_made", *names], ["y_bounded"]))
        made.nodes[-1].input[0] = "y_bounded"
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    path = folder / "net.onnx"
    path.write_bytes(made.content(shape, "y", kind, (versions, 10 if versions > 20 else 8)))
    return read_onnx(path)


def drawn(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


def real(q: int, name: str = "x") -> Fraction:
    scale, zero = SCALES[name]
    return float32_nearest((q - zero) * Fraction(float(np.float32(scale))))


def quantized(number: Fraction) -> int:
    scale, zero = SCALES["y"]
    return max(0, min(255, round(float32_nearest(number / Fraction(float(np.float32(scale))))) + zero))


def made_by(network: Network, x: np.ndarray) -> np.ndarray:
    return forward(network, {network.inputs[0]: x}, "fp32")[network.outputs[0]]


def report_of(network: Network, x: np.ndarray, y: np.ndarray) -> LayerReport:
    (report,) = compared(network, {network.inputs[0]: x, network.outputs[0]: y})
    return report


def single(number: float) -> Fraction:
    return Fraction(float(np.float32(number)))


def hard(x: Fraction, alpha: float, beta: float) -> Fraction:
    line = float32_nearest(float32_nearest(x * single(alpha)) + single(beta))
    return max(min(line, Fraction(1)), Fraction(0))


OF_ONE: list[tuple[str, dict[str, Any], Any]] = [
    ("Relu", {}, lambda x: max(x, Fraction(0))),
    ("Clip", {"constants": (-0.7, 1.9)}, lambda x: max(min(x, single(1.9)), single(-0.7))),
    ("Clip", {"constants": (None, 1.9)}, lambda x: min(x, single(1.9))),
    ("Clip", {"constants": (2.0, 1.0)}, lambda x: Fraction(1)),
    ("Clip", {}, lambda x: x),
    ("Clip", {"versions": 6, "min": -0.5, "max": 1.5}, lambda x: max(min(x, single(1.5)), single(-0.5))),
    ("HardSigmoid", {}, lambda x: hard(x, 0.2, 0.5)),
    ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.4}, lambda x: hard(x, 1 / 6, 0.4)),
    ("HardSwish", {}, lambda x: float32_nearest(x * hard(x, 1 / 6, 0.5))),
]


@pytest.mark.parametrize(("operator", "options", "function"), OF_ONE)
def test_real_numbers_of_one_become_bytes(
    operator: str, options: dict[str, Any], function: Any, tmp_path: Path
) -> None:
    network, x = element_net(tmp_path, operator, **options), drawn()
    (layer,) = network.layers
    expected = np.array([quantized(function(real(int(q)))) for q in x.ravel()], np.uint8).reshape(x.shape)
    assert layer.operator == operator
    np.testing.assert_array_equal(made_by(network, x), expected)
    report = report_of(network, x, expected)
    assert (report.outcome, "round_even_then_offset" in report.conventions) == ("equal", True)


def test_an_element_that_is_off_is_told_with_the_real_number_that_it_should_be(tmp_path: Path) -> None:
    """HardSwish of 1.3631 is 0.99122, which is 18.953 units above 100."""
    network, x = element_net(tmp_path, "HardSwish"), np.full(SHAPE, 163, np.uint8)
    y = made_by(network, x)
    y[1, 0, 2, 3] += 1
    report = report_of(network, x, y)
    told = "element [1][0][2][3]: exact 118.952651: round_even_then_offset gives 119; yours 120"
    assert (report.outcome, str(report.trace)) == ("differs", told)


@pytest.mark.parametrize("operator", ["Max", "Min"])
def test_the_largest_and_the_smallest_of_three_become_bytes(operator: str, tmp_path: Path) -> None:
    rng, x = np.random.default_rng(4), drawn()
    a, b = (rng.integers(0, 256, shape).astype(np.uint8) for shape in ((3, 1, 4), (5, 1)))
    network = element_net(tmp_path, operator, further=(a, b))
    choose = max if operator == "Max" else min
    expected = [
        quantized(choose(real(int(q)), real(int(r), "a"), real(int(s), "b"))) for q, r, s in np.broadcast(x, a, b)
    ]
    y = made_by(network, x)
    assert y.ravel().tolist() == expected
    assert report_of(network, x, y).outcome == "equal"


def bytes_net(folder: Path, operator: str, dtype: str = "int8", constants: Sequence[int] = ()) -> Network:
    """One operator of 64 bytes as they are and of such constants; both have a scale by what takes them."""
    made = OnnxWriter()
    named = [made.constant(f"stated{place}", np.array(of, dtype)) for place, of in enumerate(constants)]
    made.nodes.append(helper.make_node(operator, ["x", *named], ["y"]))
    for name in "xy":
        made.nodes.append(helper.make_node("DequantizeLinear", made.scale(name, 0.1, 20, dtype), [f"real_{name}"]))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    path = folder / "net.onnx"
    path.write_bytes(made.content((64,), "real_y", kind, (14, 8), TensorProto.FLOAT))
    return read_onnx(path)


BYTES: dict[str, tuple[list[int], tuple[int, int]]] = {
    "Relu": ([], (0, 127)), "Clip": ([-7, 90], (-7, 90)), "Max": ([5], (5, 127)), "Min": ([-3], (-128, -3)),
}  # fmt: skip
"""Constants, and the ends that they are."""


@pytest.mark.parametrize("operator", BYTES)
def test_bytes_as_they_are_are_bounded_as_such(operator: str, tmp_path: Path) -> None:
    """Zero is no zero point there."""
    constants, (low, high) = BYTES[operator]
    network, x = bytes_net(tmp_path, operator, "int8", constants), np.arange(-128, 128, 4, dtype=np.int8)
    y = forward(network, {network.inputs[0]: x}, "fp32")[network.layers[0].outputs[0]]
    assert y.tolist() == [max(low, min(high, q)) for q in range(-128, 128, 4)]
    other = y.copy()
    other[9] += 1
    report = compared(network, {network.inputs[0]: x, network.layers[0].outputs[0]: other})[0]
    assert (report.outcome, report.first, report.moved and report.moved.tensor) == ("differs", (9,), "")


ORDERS = [
    ((2, 3, 5, 4), (2, 3)), ((2, 3, 5, 4), (0, 1, 2, 3)), ((3, 2, 7), (2,)), ((9, 4), (0,)), ((3, 11, 4), (1,)),
    ((1, 11, 4), (1,)), ((3, 2, 9), (0, 2)), ((3, 1, 9), (0, 2)), ((2, 5, 3, 4), (1, 3)), ((1, 1, 21), (2,)),
]  # fmt: skip


def total(numbers: Sequence[Fraction]) -> Fraction:
    return reduce(lambda one, other: float32_nearest(one + other), numbers)


def total_by_fours(numbers: Sequence[Fraction]) -> Fraction:
    parts, left = [], list(numbers)
    for size in (4, 2, 1):
        while len(left) >= size:
            parts.append(total(left[:size]))
            left = left[size:]
    return total(parts)


def total_in_vectors(numbers: Sequence[Fraction], begins: int) -> Fraction:
    """Of numbers whose first is the one of that place in memory: vectors of four that begin at a multiple of four."""
    before = min(-begins % 4, len(numbers))
    vectors = [numbers[at : at + 4] for at in range(before, len(numbers) - 3, 4)]
    if not vectors:
        return total(numbers)
    even, odd = vectors[: len(vectors) // 2 * 2 : 2] or vectors, vectors[1 : len(vectors) // 2 * 2 : 2]
    lanes = [total([vector[lane] for vector in even]) for lane in range(4)]
    if odd:
        lanes = [total([lanes[lane], total([vector[lane] for vector in odd])]) for lane in range(4)]
        if len(vectors) % 2:
            lanes = [total([lanes[lane], vectors[-1][lane]]) for lane in range(4)]
    both = total([total([lanes[0], lanes[2]]), total([lanes[1], lanes[3]])])
    return total([both, *numbers[:before], *numbers[before + 4 * len(vectors) :]])


def exact_means(x: np.ndarray, axes: Sequence[int]) -> list[list[Fraction]]:
    """In both orders, one number after the other."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    strides = np.array([prod(x.shape[axis + 1 :]) for axis in range(x.ndim)])
    found: list[list[Fraction]] = [[], []]
    for place in product(*(range(x.shape[axis]) for axis in kept)):
        ats = []
        for added in product(*(range(x.shape[axis]) for axis in axes)):
            at = np.zeros(x.ndim, int)
            at[kept], at[list(axes)] = place, added
            ats.append(int(at @ strides))
        numbers = [Fraction(float(x.ravel()[at])) for at in ats]
        last = x.ndim - 1
        if list(axes) == list(range(x.ndim - len(axes), x.ndim)):
            sums = total_in_vectors(numbers, ats[0])
        elif list(axes) == [1] and x.ndim == 3 and x.shape[0] > 1:
            sums = total_by_fours(numbers)
        elif list(axes) == [0, last] and x.ndim == 3 and x.shape[1] > 1:
            rows = range(0, len(numbers), x.shape[last])
            sums = total([total_in_vectors(numbers[at : at + x.shape[last]], ats[at]) for at in rows])
        else:
            sums = total(numbers)
        for of, one in zip(found, (sums, total(numbers)), strict=True):
            of.append(float32_nearest(one / len(numbers)))
    return found


@pytest.mark.parametrize(("shape", "axes"), ORDERS)
def test_means_are_added_in_their_order(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """And the order shows in some number, of the second mean too where there is one."""
    told = set()
    for seed in range(8):
        x = (np.random.default_rng(seed).integers(-120, 136, shape) * np.float32(0.0317)).astype(np.float32)
        made, expected = means_in_float32(x, axes), exact_means(x, axes)
        for place, (one, numbers) in enumerate(zip(made, expected, strict=False)):
            assert [Fraction(float(number)) for number in one.ravel()] == numbers, (place, seed)
        told |= {len(made) == 1 or not np.array_equal(made[0], made[1])}
    assert True in told


def test_orders_of_sums_differ() -> None:
    rows = (np.random.default_rng(1).integers(-120, 136, (4, 300)) * np.float32(0.0317)).astype(np.float32)
    one_by_one = np.add.accumulate(rows, axis=1, dtype=np.float32)[:, -1]
    assert (in_vectors(rows) != one_by_one).any()
    assert (by_fours(rows.T) != one_by_one).any()
    assert (by_fours(rows.T) != in_vectors(rows)).any()


@pytest.mark.parametrize(
    ("options", "axes", "keeps"),
    [({"axes": [-1, 2], "versions": 13}, (2, 3), True), ({"constants": [np.array([1])], "keepdims": 0}, (1,), False),
     ({}, (0, 1, 2, 3), True), ({"noop_with_empty_axes": 1}, (), True)],
)  # fmt: skip
def test_means_become_bytes(options: dict[str, Any], axes: tuple[int, ...], keeps: bool, tmp_path: Path) -> None:
    network, x = element_net(tmp_path, "ReduceMean", **options), drawn()
    y = made_by(network, x)
    reals = np.array([float(real(int(q))) for q in x.ravel()], np.float32).reshape(x.shape)
    means = exact_means(reals, axes)[0] if axes else [Fraction(float(one)) for one in reals.ravel()]
    assert y.ravel().tolist() == [quantized(one) for one in means]
    kept = [1 if axis in axes else length for axis, length in enumerate(SHAPE) if keeps or axis not in axes]
    assert list(y.shape) == kept
    report = report_of(network, x, y)
    assert (report.outcome, report.kind) == ("equal", "mean")


def test_a_mean_that_depends_on_threads_is_named_by_its_order(tmp_path: Path) -> None:
    """Between 128 images along their rows: both orders are tried, and each is told of what it makes."""
    shape = (128, 27, 5)
    scales = {"x": (0.0317, 0), "y": (float(np.float32(0.0317)) / 27 * 2, 0)}  # every other sum is a tie
    network = element_net(tmp_path, "ReduceMean", scales=scales, shape=shape, constants=[np.array([1])])
    x = np.random.default_rng(5).integers(0, 19, shape).astype(np.uint8)
    made = computed(network, network.layers[0], {**network.constants, network.inputs[0]: x})
    reals = (x * np.float32(0.0317)).astype(np.float32)
    names, outputs = ("round_even_then_offset", "round_even_then_offset of sums_one_by_one"), []
    for name, mean in zip(names, means_in_float32(reals, (1,)), strict=True):
        quotient = mean / np.float32(scales["y"][0])
        outputs.append(np.clip(np.rint(quotient), 0, 255).astype(np.uint8)[:, None])
        report = report_of(network, x, outputs[-1])
        assert report.outcome == "equal"
        assert report.conventions == (name,)
    assert (outputs[0] != outputs[1]).any()
    assert made.dtype == "uint8"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("operator", "options", "less"),
    [("Clip", {"constants": (-0.7, 1.9)}, {"constants": (-0.7,)}),
     ("Max", {"further": [np.full(4, of, np.uint8) for of in (140, 200)]}, {"further": [np.full(4, 140, np.uint8)]})],
)  # fmt: skip
def test_what_leaves_out_a_third_input_is_not_told_to_leave_out_a_bias(
    operator: str, options: dict[str, Any], less: dict[str, Any], tmp_path: Path
) -> None:
    network, x = element_net(tmp_path, operator, **options), drawn()
    report = report_of(network, x, made_by(element_net(tmp_path, operator, **less), x))
    assert report.outcome == "differs"
    assert "bias" not in {cause.kind for cause in report.causes}


@pytest.mark.parametrize(
    ("bounds", "activation", "low", "high"),
    [((0.0, 6.0), "RELU6", 0, 6), ((0.0, None), "RELU", 0, None), ((-1.0, 1.0), "RELU_N1_TO_1", -1, 1)],
)
@pytest.mark.parametrize("operator", ["Add", "Sub", "HardSigmoid", "Identity"])
def test_a_clip_behind_a_layer_is_its_activation(
    operator: str, bounds: tuple[float, float | None], activation: str, low: int, high: int | None, tmp_path: Path
) -> None:
    further = [np.array([7, 90, 200, 255], np.uint8)] if operator in ("Add", "Sub") else []
    scales = {"x": (0.09, 120), "a": (0.05, 90), "y": (0.09, 120)}
    network = element_net(tmp_path, operator, scales=scales, further=further, bounds=bounds)
    (layer,) = network.layers
    assert (layer.operator, layer.options["FusedActivationFunction"]) == (operator, activation)
    x = drawn()
    x[0, 0, :, 0] = [0, 255, 0, 255, 0]
    y, least = made_by(network, x), round(low / 0.09) + 120
    most = 255 if high is None else round(high / 0.09) + 120
    assert (y.min(), y.max()) == (least, most) or operator == "HardSigmoid"
    assert report_of(network, x, y).outcome == "equal"


def test_a_clip_to_bounds_without_a_name_stands_for_no_layer(tmp_path: Path) -> None:
    scales = {"x": (0.09, 120), "y": (0.09, 120)}
    network = element_net(tmp_path, "Identity", scales=scales, bounds=(0.0, 4.0))
    assert [layer.operator for layer in network.layers] == ["DequantizeLinear", "Identity", "Clip", "QuantizeLinear"]


WIDE: dict[str, Any] = {"scales": {"x": (3e38, 0), "y": (0.05, 0)}}


@pytest.mark.parametrize(
    ("operator", "options", "message"),
    [
        ("Clip", {"constants": (np.array([1, 2], np.float32),)}, "its bounds are not one number each"),
        ("Clip", {"constants": (float("nan"),)}, "its bounds are not one number each"),
        ("ReduceMean", {"constants": [np.array([4])]}, "its axes 4 are not different ones of 4"),
        ("ReduceMean", {"constants": [np.array([1, -3])]}, "its axes 1, -3 are not different ones of 4"),
        ("ReduceMean", {"constants": [np.array([[1]])]}, "its input 1 is not a row of whole numbers"),
        ("ReduceMean", WIDE, "its numbers leave float32"),
        ("HardSwish", WIDE, "its numbers leave float32"),
        (
            "Max",
            {"further": [np.zeros((8193, 1), np.uint8)], "shape": (8192,)},
            "it takes 268,468,224 numbers at a time",
        ),
        ("Min", {"further": [np.zeros((7,), np.uint8)]}, "its tensors do not fit"),
    ],
)
def test_what_is_not_computed_is_one_sentence(
    operator: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    network = element_net(tmp_path, operator, **options)
    x = drawn(options.get("shape", SHAPE))
    with pytest.raises(NotComputed, match=message):
        computed(network, network.layers[0], {**network.constants, network.inputs[0]: x})


def test_examples() -> None:
    assert doctest.testmod(sums_in_float32).failed == 0
