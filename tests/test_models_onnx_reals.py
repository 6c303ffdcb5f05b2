"""ConvTranspose and Resize of ONNX, one number after the other, and what is refused."""

from __future__ import annotations

import doctest
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from sim.golden.layers import resize_onnx, transposed_in_float32
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.onnx_file import read_onnx
from support.exact_rounding import float32_nearest
from support.onnx_models import OnnxWriter

SCALES = {"x": (0.031, 120), "y": (0.043, 100)}
HALF = Fraction(1, 2)


def transposed_net(
    folder: Path, weights: np.ndarray, image: tuple[int, ...], bias: np.ndarray | None = None, scales: Any = 0.002,
    relu: bool = False, to: float = SCALES["y"][0], **options: Any,
) -> Network:  # fmt: skip
    """ConvTranspose between pairs, with a bias of real numbers or of integers, and a Relu or not."""
    made = OnnxWriter()
    x, y = made.scale("x", *SCALES["x"]), made.scale("y", to, SCALES["y"][1])
    made.constant("w", weights)
    w = made.scale("w", scales, np.zeros(np.shape(scales)), "int8")
    made.nodes += [helper.make_node("DequantizeLinear", x, ["real_x"])]
    made.nodes += [helper.make_node("DequantizeLinear", w, ["real_w"], axis=1)]
    inputs = ["real_x", "real_w"]
    if bias is not None:
        made.constant("bias", bias)
        inputs.append("bias")
        if bias.dtype == np.int32:
            units = np.float32(SCALES["x"][0]) * np.asarray(scales, np.float32)
            of_bias = made.scale("bias", units, np.zeros(np.shape(scales)), "int32")
            made.nodes.append(helper.make_node("DequantizeLinear", of_bias, ["real_bias"], axis=0))
            inputs[2] = "real_bias"
    made.nodes.append(helper.make_node("ConvTranspose", inputs, ["made"], **options))
    made.nodes += [helper.make_node("Relu", ["made"], ["bounded"])] * relu
    made.nodes.append(helper.make_node("QuantizeLinear", ["bounded" if relu else "made", *y[1:]], ["y"]))
    path = folder / "net.onnx"
    path.write_bytes(made.content(image, "y"))
    return read_onnx(path)


def resized_net(
    folder: Path, image: tuple[int, ...], sizes: tuple[int, ...] | None = None, scales: tuple[float, ...] | None = None,
    pairs: str = "xy", relu: bool = False, dtype: str = "uint8", part: tuple[float, ...] | None = None, **options: Any,
) -> Network:  # fmt: skip
    """Resize between pairs of these tensors' scales; "" for bytes as they are; `part` is what is cut out."""
    made = OnnxWriter()
    roi = "" if part is None else made.constant("part", np.array(part, np.float32))
    more = [roi, made.constant("scales", np.array(scales, np.float32))] if scales else []
    more = more or [roi, "", made.constant("sizes", np.array(sizes, np.int64))]
    if pairs:
        x, y = (made.scale(name, *SCALES[of], dtype) for name, of in zip("xy", pairs, strict=True))
        made.nodes.append(helper.make_node("DequantizeLinear", x, ["real"]))
        made.nodes.append(helper.make_node("Resize", ["real", *more], ["made"], **options))
        made.nodes += [helper.make_node("Relu", ["made"], ["bounded"])] * relu
        made.nodes.append(helper.make_node("QuantizeLinear", ["bounded" if relu else "made", *y[1:]], ["y"]))
    else:
        made.nodes.append(helper.make_node("Resize", ["x", *more], ["y"], **options))
    path = folder / "net.onnx"
    path.write_bytes(made.content(image, "y", TensorProto.UINT8 if dtype == "uint8" else TensorProto.INT8))
    return read_onnx(path)


def number_of(network: Network, name: str) -> int:
    return next(tensor.number for tensor in network.tensors if tensor.name == name)


def report_of(network: Network, x: np.ndarray, y: np.ndarray) -> LayerReport:
    (report,) = compared(network, {number_of(network, "x"): x, number_of(network, "y"): y})
    return report


def real(q: int, name: str = "x") -> Fraction:
    scale, zero = SCALES[name]
    return float32_nearest((q - zero) * Fraction(float(np.float32(scale))))


def quantized(number: Fraction, to: float = SCALES["y"][0]) -> int:
    quotient = float32_nearest(number / Fraction(float(np.float32(to))))
    return max(0, min(255, round(quotient) + SCALES["y"][1]))


def drawn(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


def columns_of(x: np.ndarray, weights: np.ndarray, scale: float) -> dict[tuple[int, ...], Fraction]:
    """Of each output channel, place of the window and pixel: products fused, 128 channels at a time."""
    found: dict[tuple[int, ...], Fraction] = {}
    single = Fraction(float(np.float32(scale)))
    for out, i, j, row, column in np.ndindex(*weights.shape[1:], *x.shape[2:]):
        total = Fraction(0)
        for first in range(0, len(weights), 128):
            block = Fraction(0)
            for c in range(first, min(first + 128, len(weights))):
                weight = float32_nearest(int(weights[c, out, i, j]) * single)
                block = float32_nearest(weight * real(int(x[0, c, row, column])) + block)
            total = float32_nearest(total + block)
        found[out, i, j, row, column] = total
    return found


@pytest.mark.parametrize("relu", [False, True])
def test_windows_are_added_one_behind_the_other(relu: bool, tmp_path: Path) -> None:
    """Of 130 channels: two blocks; strides 2 and 1, pads, and a row more."""
    weights = np.random.default_rng(4).integers(-127, 128, (130, 2, 3, 2)).astype(np.int8)
    x = drawn((1, 130, 2, 3))
    options: dict[str, Any] = {"strides": [2, 1], "pads": [1, 0, 0, 1], "output_padding": [1, 0]}
    network = transposed_net(tmp_path, weights, x.shape, relu=relu, to=0.5, **options)
    columns, output = columns_of(x, weights, 0.002), np.zeros((1, 2, 5, 3), np.uint8)
    for out, row, column in np.ndindex(2, 5, 3):
        total = Fraction(0)
        for i, j in np.ndindex(3, 2):
            down, along = row + 1 - i, column - j
            if down % 2 == 0 and 0 <= down // 2 < 2 and 0 <= along < 3:
                total = float32_nearest(total + columns[out, i, j, down // 2, along])
        output[0, out, row, column] = quantized(max(total, Fraction(0)) if relu else total, 0.5)
    report = report_of(network, x, output)
    assert (report.outcome, report.kind) == ("equal", "transposed convolution")
    assert "round_even_then_offset" in report.conventions
    made = forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")]
    np.testing.assert_array_equal(made, output)


@pytest.mark.parametrize("channels", [1, 2, 3, 7, 12])
def test_products_of_one_pixel_are_added_by_fours(channels: int, tmp_path: Path) -> None:
    """Each rounded, four by themselves; what is left in twos and ones. Fused in their order they are other sums."""
    weights = np.random.default_rng(channels).integers(-127, 128, (channels, 9, 3, 5)).astype(np.int8)
    x, to = drawn((1, channels, 1, 1)), 0.0005  # the largest is about 0.5
    network = transposed_net(tmp_path, weights, x.shape, to=to)
    scale, columns, expected = Fraction(float(np.float32(0.002))), {}, np.zeros((1, 9, 3, 5), np.uint8)
    for place in np.ndindex(9, 3, 5):
        products = [
            float32_nearest(float32_nearest(int(weights[c][place]) * scale) * real(int(x[0, c, 0, 0])))
            for c in range(channels)
        ]
        columns[place] = Fraction(0)
        for size in (*[4] * (channels // 4), *[2] * (channels % 4 > 1), *[1] * (channels % 2)):
            part = products.pop(0)
            for _ in range(size - 1):
                part = float32_nearest(part + products.pop(0))
            columns[place] = float32_nearest(columns[place] + part)
        expected[0][place] = quantized(columns[place], to)
    reals = np.array([float(real(int(q))) for q in x.ravel()], np.float32).reshape(x.shape)
    by = np.array([float(float32_nearest(int(q) * scale)) for q in weights.ravel()], np.float32).reshape(weights.shape)
    made = transposed_in_float32.transposed_in_float32(reals, by, (1, 1), (1, 1))
    assert [Fraction(float(one)) for one in made.ravel()] == list(columns.values())
    assert "round_even_then_offset" in report_of(network, x, expected).conventions
    fused = {place[:3]: one for place, one in columns_of(x, weights, 0.002).items()}
    assert (fused != columns) is (channels > 1)


@pytest.mark.parametrize(
    ("options", "pads"),
    [
        ({"auto_pad": "VALID"}, [0, 0, 0, 0]),
        ({"auto_pad": "SAME_UPPER"}, [0, 0, 1, 1]),
        ({"auto_pad": "SAME_LOWER"}, [1, 1, 0, 0]),
        ({"output_shape": [5, 4]}, [1, 1, 1, 0]),
        ({"output_shape": [6, 3], "auto_pad": "SAME_UPPER"}, [0, 1, 1, 1]),
        ({"output_shape": [6, 4], "auto_pad": "VALID"}, [1, 1, 0, 0]),
    ],
)
def test_pads_that_are_a_word_or_the_outputs_shape_come_to_these(
    options: dict[str, Any], pads: list[int], tmp_path: Path
) -> None:
    """Windows of 3 x 2 in strides of 2 and 1 over 3 x 4 pixels make 7 x 5, of which SAME leaves 6 x 4."""
    weights = np.random.default_rng(8).integers(-127, 128, (3, 2, 3, 2)).astype(np.int8)
    given: dict[str, Any] = {"strides": [2, 1]}
    x = drawn((1, 3, 3, 4))
    made = []
    for how in (options, {"pads": pads}):
        network = transposed_net(tmp_path, weights, x.shape, **given, **how)
        made.append(forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")])
    np.testing.assert_array_equal(made[0], made[1])


def test_real_sums_are_rounded_as_upstream_does_it() -> None:
    """All bits, which the bytes of a layer do not show."""
    weights = np.random.default_rng(7).integers(-127, 128, (130, 1, 1, 2)).astype(np.int8)
    x = drawn((1, 130, 1, 4))
    reals = [np.float32(float(real(q))) for q in x.ravel().tolist()]
    made = transposed_in_float32.transposed_in_float32(
        np.array(reals).reshape(x.shape), weights.astype(np.float32) * np.float32(0.002), (1, 1), (1, 1)
    )
    columns = columns_of(x, weights, 0.002)
    expected = [columns[0, 0, 0, 0, 0]]
    expected += [float32_nearest(columns[0, 0, 0, 0, at] + columns[0, 0, 1, 0, at - 1]) for at in (1, 2, 3)]
    assert made[0, 0, 0].tolist() == [float(one) for one in (*expected, columns[0, 0, 1, 0, 3])]


@pytest.mark.parametrize("kind", ["integers", "real", "rounded"])
def test_a_bias_is_rounded_to_units_of_the_sums_or_not(kind: str, tmp_path: Path) -> None:
    weights = np.random.default_rng(5).integers(-127, 128, (3, 2, 1, 1)).astype(np.int8)
    x, scales = drawn((1, 3, 32, 32)), np.array([0.002, 0.003], np.float32)
    units = [Fraction(float(np.float32(SCALES["x"][0]) * scale)) for scale in scales]
    bias = np.array([700, -900], np.int32) if kind == "integers" else np.array([0.00133, -0.00218], np.float32)
    network = transposed_net(tmp_path, weights, x.shape, bias, scales, to=0.002)
    output = np.zeros((1, 2, 32, 32), np.uint8)
    for out in range(2):
        columns = columns_of(x, weights[:, out : out + 1], float(scales[out]))
        added = Fraction(float(bias[out]))
        if kind != "real":
            added = float32_nearest(round(added / (1 if kind == "integers" else units[out])) * units[out])
        for row, column in np.ndindex(32, 32):
            output[0, out, row, column] = quantized(float32_nearest(columns[0, 0, 0, row, column] + added), 0.002)
    names = report_of(network, x, output).conventions
    name = "round_even_then_offset of bias_in_reals" if kind == "real" else "round_even_then_offset"
    assert name in names
    assert {one.endswith("bias_in_reals") for one in names} == {kind == "real"}


def test_groups_have_channels_of_their_own(tmp_path: Path) -> None:
    weights = np.random.default_rng(6).integers(-127, 128, (4, 1, 1, 2)).astype(np.int8)
    x = drawn((1, 4, 1, 3))
    network = transposed_net(tmp_path, weights, x.shape, group=2)
    made = forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")]
    for group in range(2):
        own = slice(2 * group, 2 * group + 2)
        columns = columns_of(x[:, own], weights[own], 0.002)
        assert made[0, group, 0, 0] == quantized(columns[0, 0, 0, 0, 0])
        assert made[0, group, 0, 1] == quantized(float32_nearest(columns[0, 0, 0, 0, 1] + columns[0, 0, 1, 0, 0]))


def lies_at(place: int, before: int, behind: int, scale: Fraction, coordinates: str) -> Fraction:
    """Where a place lies, each operation rounded to float32."""
    if scale == 1:
        return Fraction(place)
    if coordinates == "align_corners":
        return float32_nearest(Fraction(place * (before - 1), behind - 1)) if behind > 1 else Fraction(0)
    if coordinates == "asymmetric":
        return float32_nearest(place / scale)
    if coordinates == "pytorch_half_pixel" and behind == 1:
        return Fraction(0)
    return float32_nearest(float32_nearest((place + HALF) / scale) - HALF)


def weights_at(at: Fraction, before: int) -> list[tuple[int, Fraction]]:
    at = min(max(at, Fraction(0)), Fraction(before - 1))
    lower = int(at)
    upper = min(lower + 1, before - 1)
    if lower == upper:
        return [(lower, HALF), (upper, HALF)]
    return [(lower, float32_nearest(upper - at)), (upper, float32_nearest(at - lower))]


COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
SIZES = [((3, 4), (5, 9)), ((7, 5), (3, 1)), ((4, 4), (8, 8))]


def between(x: np.ndarray, sizes: tuple[int, int], coordinates: str, value: Any) -> dict[tuple[int, ...], Fraction]:
    """Four numbers, each product and sum in float32; `value` is what a byte stands for."""
    scales = [float32_nearest(Fraction(behind, before)) for before, behind in zip(x.shape[2:], sizes, strict=True)]
    found: dict[tuple[int, ...], Fraction] = {}
    for n, channel, row, column in np.ndindex(*x.shape[:2], *sizes):
        down = weights_at(lies_at(row, x.shape[2], sizes[0], scales[0], coordinates), x.shape[2])
        along = weights_at(lies_at(column, x.shape[3], sizes[1], scales[1], coordinates), x.shape[3])
        total = Fraction(0)
        for i, of_row in down:
            for j, of_column in along:
                part = float32_nearest(float32_nearest(of_column * of_row) * value(int(x[n, channel, i, j])))
                total = float32_nearest(total + part)
        found[n, channel, row, column] = total
    return found


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("before", "behind"), SIZES)
def test_real_numbers_lie_between_four(
    coordinates: str, before: tuple[int, int], behind: tuple[int, int], tmp_path: Path
) -> None:
    x = drawn((1, 2, *before))
    options: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": coordinates}
    network = resized_net(tmp_path, x.shape, (1, 2, *behind), **options)
    output = np.zeros((1, 2, *behind), np.uint8)
    for place, number in between(x, behind, coordinates, real).items():
        output[place] = quantized(number)
    report = report_of(network, x, output)
    assert (report.outcome, report.kind) == ("equal", "interpolation")
    assert "round_even_then_offset" in report.conventions


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_real_numbers_between_four_are_rounded_as_upstream_does_it(coordinates: str) -> None:
    """All bits, which the bytes of a layer do not show."""
    x = drawn((1, 1, 3, 4))
    reals = np.array([float(real(q)) for q in x.ravel().tolist()], np.float32).reshape(x.shape)
    rows, columns = (
        resize_onnx.Stretch(of, to, np.float32(to) / np.float32(of)) for of, to in zip((3, 4), (7, 11), strict=True)
    )
    made = resize_onnx.between_four(reals, rows, columns, coordinates)
    for place, number in between(x, (7, 11), coordinates, real).items():
        assert float(made[place]) == float(number)


def weights_around(at: Fraction, before: int, a: Fraction, excludes: bool) -> list[tuple[int, Fraction, Fraction]]:
    """Four places, what each counts and the sum of that, each operation in float32."""
    r, first = float32_nearest, floor(at)
    s = r(at - first)

    def far(x: Fraction) -> Fraction:
        return r(r(r(r(r(r(a * x) - r(5 * a)) * x) + r(8 * a)) * x) - r(4 * a))

    def near(x: Fraction) -> Fraction:
        return r(r(r(r(r(r(a + 2) * x) - r(a + 3)) * x) * x) + 1)

    weights = [far(r(s + 1)), near(s), near(r(1 - s)), far(r(2 - s))]
    places, total = [first + by for by in range(-1, 3)], Fraction(1)
    if excludes:
        weights = [one if 0 <= at < before else Fraction(0) for at, one in zip(places, weights, strict=True)]
        total = Fraction(0)
        for one in weights:
            total = r(total + one)
    return [(min(max(at, 0), before - 1), one, total) for at, one in zip(places, weights, strict=True)]


@pytest.mark.parametrize("excludes", [0, 1])
@pytest.mark.parametrize("a", [-0.75, -0.5])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_real_numbers_lie_between_sixteen(coordinates: str, a: float, excludes: int, tmp_path: Path) -> None:
    """All bits, each product and sum in float32, and the bytes that a layer makes of them."""
    r, x, (rows, columns) = float32_nearest, drawn((1, 1, 3, 4)), (5, 3)
    lines = [resize_onnx.Stretch(of, to, np.float32(to) / np.float32(of)) for of, to in ((3, rows), (4, columns))]
    reals = np.array([float(real(q)) for q in x.ravel().tolist()], np.float32).reshape(x.shape)
    made = resize_onnx.between_sixteen(reals, lines[0], lines[1], coordinates, np.float32(a), bool(excludes))
    output, exact = np.zeros((1, 1, rows, columns), np.uint8), Fraction(a)
    down, along = ([weights_around(lies_at(at, by.before, by.behind, Fraction(float(by.scale)), coordinates), by.before,
                                   exact, bool(excludes)) for at in range(by.behind)] for by in lines)  # fmt: skip
    for row, column in np.ndindex(rows, columns):
        total = Fraction(0)
        for i, of_row, sum_of_rows in down[row]:
            in_row = Fraction(0)
            for j, of_column, sum_of_columns in along[column]:
                in_row = r(in_row + r(r(of_column / sum_of_columns) * real(int(x[0, 0, i, j]))))
            total = r(total + r(r(in_row * of_row) / sum_of_rows))
        assert float(made[0, 0, row, column]) == float(total)
        output[0, 0, row, column] = quantized(total)
    options: dict[str, Any] = {"mode": "cubic", "cubic_coeff_a": a, "exclude_outside": excludes}
    sizes = (1, 1, rows, columns)
    network = resized_net(tmp_path, x.shape, sizes, coordinate_transformation_mode=coordinates, **options)
    report = report_of(network, x, output)
    assert (report.outcome, report.kind) == ("equal", "interpolation")
    assert "round_even_then_offset" in report.conventions


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_part_is_cut_out_and_what_lies_outside_is_the_stated_number(mode: str, tmp_path: Path) -> None:
    """Rows from the middle on by halves, of which the last four lie outside; columns from the last to the first."""
    x = drawn((1, 2, 5, 4))
    options: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize"}
    part = (0, 0, 0.5, 1, 1, 1, 1.5, 0)
    network = resized_net(tmp_path, x.shape, (1, 2, 9, 7), part=part, extrapolation_value=-0.7, **options)
    y = forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")]
    np.testing.assert_array_equal(y[:, :, 5:], np.full((1, 2, 4, 7), quantized(Fraction(float(np.float32(-0.7))))))
    for row in range(3):  # every other row and column lies on one of the image
        assert y[0, 0, 2 * row, ::2].tolist() == [quantized(real(int(q))) for q in x[0, 0, 2 + row, ::-1]]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_what_stays_as_large_stays_as_it_is(mode: str, tmp_path: Path) -> None:
    """Whatever the scale, of which a tenth is no pixel."""
    x = drawn((1, 2, 5, 4))
    network = resized_net(tmp_path, x.shape, scales=(1, 1, 1.1, 1.2), mode=mode, pairs="xx")
    np.testing.assert_array_equal(forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")], x)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_bytes_that_are_resized_as_such_are_cut(dtype: str, tmp_path: Path) -> None:
    """Towards zero, whatever they stand for; the zero point of a pair is one of them then."""
    x = (drawn((1, 2, 3, 4)).astype(int) - (128 if dtype == "int8" else 0)).astype(dtype)
    network = resized_net(tmp_path, x.shape, (1, 2, 5, 9), pairs="", dtype=dtype, mode="linear")
    output = np.zeros((1, 2, 5, 9), dtype)
    for place, number in between(x, (5, 9), "half_pixel", Fraction).items():
        output[place] = int(number)
    report = report_of(network, x, output)
    assert (report.outcome, report.conventions) == ("equal", ("bilinear_in_float32_cut",))
    output[0, 1, 2, 3] += 1
    report = report_of(network, x, output)
    assert (report.outcome, report.first) == ("differs", (0, 1, 2, 3))


NEAREST = {
    "round_prefer_floor": lambda at: ceil(at - HALF),
    "round_prefer_ceil": lambda at: floor(at + HALF),
    "floor": floor,
    "ceil": ceil,
}


@pytest.mark.parametrize("nearest", NEAREST)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_nearest_are_taken(coordinates: str, nearest: str, tmp_path: Path) -> None:
    """Of one scale exactly, of two through real numbers."""
    for before, behind in SIZES:
        x = drawn((1, 2, *before))
        options: dict[str, Any] = {
            "mode": "nearest",
            "coordinate_transformation_mode": coordinates,
            "nearest_mode": nearest,
        }
        places = []
        for of, to in zip(before, behind, strict=True):
            scale = float32_nearest(Fraction(to, of))
            found = (NEAREST[nearest](lies_at(place, of, to, scale, coordinates)) for place in range(to))
            places.append([min(max(place, 0), of - 1) for place in found])
        taken = x[:, :, places[0]][:, :, :, places[1]]
        same = resized_net(tmp_path, x.shape, (1, 2, *behind), pairs="xx", **options)
        assert report_of(same, x, taken).conventions == ("exact",)
        other = resized_net(tmp_path, x.shape, (1, 2, *behind), **options)
        output = np.array([quantized(real(int(q))) for q in taken.ravel()], np.uint8).reshape(taken.shape)
        assert "round_even_then_offset" in report_of(other, x, output).conventions


def test_sizes_by_scales_are_cut(tmp_path: Path) -> None:
    x = drawn((1, 2, 3, 4))
    network = resized_net(tmp_path, x.shape, scales=(1, 1, 1.5, 0.7), mode="nearest", pairs="xx", relu=False)
    made = forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")]
    assert made.shape == (1, 2, 4, 2)


def test_a_relu_behind_bounds_real_numbers(tmp_path: Path) -> None:
    x = drawn((1, 2, 3, 4))
    for mode in ("nearest", "linear", "cubic"):
        network = resized_net(tmp_path, x.shape, (1, 2, 6, 8), relu=True, pairs="xx", mode=mode)
        made = forward(network, {number_of(network, "x"): x}, "fp32")[number_of(network, "y")]
        assert (made.min(), made.max() > 200) == (SCALES["x"][1], True)


CUT = {"coordinate_transformation_mode": "tf_crop_and_resize"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mode": "cubic", "pairs": ""}, "its output has no scale that it could be quantized by"),
        ({"mode": "cubic", "cubic_coeff_a": 3e38}, "its numbers leave float32"),
        ({"coordinate_transformation_mode": "half_pixel_symmetric"}, "a resize that is nearest, half_pixel_symmetric"),
        ({**CUT, "part": (0, 0, 0, 0, 1, 1, 1.5, 1), "pairs": "xx"}, "it reaches outside of the image, where bytes"),
        ({**CUT, "part": (0, 0, 1, 1)}, "what is cut out is not a beginning and an end of each of four axes"),
        ({**CUT, "part": (0, 0, 0, 0, 1, 1, float("inf"), 1)}, "what is cut out is not a beginning and an end"),
        ({"sizes": (1, 3, 3, 4)}, "other axes than rows and columns are resized"),
        ({"sizes": (3, 4)}, "it states no scale or size of each of four axes"),
        ({"sizes": (1, 2, 1 << 20, 1 << 20)}, "it takes"),
        ({"scales": (1.0, 1.0, 0.1, 0.1)}, "or to no size"),
        ({"scales": (1.0, 1.0, 3e38, 2.0)}, "it states no scale or size of each of four axes"),
        ({"scales": (1.0, 1.0, float("nan"), 2.0)}, "it states no scale or size of each of four axes"),
    ],
)
def test_what_is_not_resized_is_named(options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    sizes = options.pop("sizes", None if "scales" in options else (1, 2, 6, 8))
    network = resized_net(tmp_path, (1, 2, 3, 4), sizes, **options)
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], {**network.constants, number_of(network, "x"): drawn((1, 2, 3, 4))})


@pytest.mark.parametrize(
    ("image", "options", "reason"),
    [
        ((1, 3, 0, 2), {}, "it is not of images"),
        ((1, 3, 2, 2), {"auto_pad": "ROUND"}, "its padding is ROUND"),
        ((1, 3, 2, 2), {"output_shape": [3, 4]}, "its output is 3 x 4, and its windows make 3 x 3"),
        ((1, 3, 2, 2), {"output_shape": [3, 0]}, "its pads leave nothing of it"),
        ((1, 3, 2, 2), {"pads": [0, 0, 1]}, "its pads are no sizes"),
        ((1, 3, 2, 2), {"group": 2}, "its groups do not go with its channels"),
        ((1, 3, 2, 2), {"strides": [0, 1]}, "its strides, dilations or windows are no sizes"),
        ((1, 3, 2, 2), {"strides": [1]}, "its strides are not two numbers"),
        ((1, 3, 2, 2), {"strides": [float("inf"), 1.0]}, "its tensors do not fit: cannot convert float infinity"),
        ((1, 3, 2, 2), {"pads": [2, 0, 1, 0]}, "its pads leave nothing of it"),
        ((1, 3, 2, 2), {"dilations": [1 << 20, 1 << 20]}, "it takes"),
    ],
)  # fmt: skip
def test_what_is_not_transposed_is_named(
    image: tuple[int, ...], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    network = transposed_net(tmp_path, np.ones((3, 2, 2, 2), np.int8), image, **options)
    with pytest.raises(NotComputed, match=reason):
        computed(network, network.layers[0], {**network.constants, number_of(network, "x"): drawn(image)})


def test_examples() -> None:
    for module in (resize_onnx, transposed_in_float32):
        assert doctest.testmod(module).failed == 0
