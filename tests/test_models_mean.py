"""MEAN layers: the arithmetics in fractions, which one made an output, axes of all kinds, and what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest

from sim.golden.derivation import Derived, derive_tflite
from sim.golden.layers import mean
from sim.golden.scaling import double_rounding
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.network import Network, NotComputed
from sim.models.rules.averaging import IN_BLOCKS
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

SHAPE = (2, 4, 3, 20)
IMAGES = (1, 2)
X, AXES, Y = range(3)
ZEROS = (3, -5)


def drawn(shape: Sequence[int] = SHAPE, dtype: str = "int8") -> np.ndarray:
    """Small numbers, whose means have ties."""
    zero = ZEROS[0] + 10 * (dtype == "uint8")
    return (zero + np.random.default_rng(4).integers(-12, 13, shape)).astype(dtype)


def network_of(
    folder: Path, axes: Sequence[int] = IMAGES, keeps: bool = True, scales: tuple[float, float] = (0.5, 1.0),
    zeros: tuple[int, int] = ZEROS, shape: Sequence[int] = SHAPE, dtype: str = "int8",
) -> Network:  # fmt: skip
    made = ModelWriter()
    to = np.zeros(shape).sum(axis=tuple(axes), keepdims=keeps).shape
    x = made.tensor("x", dtype, shape, scales[0], zeros[0])
    named = made.tensor("axes", "int32", (len(axes),), data=np.array(axes, np.int32))
    y = made.tensor("y", dtype, to, scales[1], zeros[1])
    made.layer("MEAN", (x, named), (y,), "ReducerOptions", KeepDims=keeps)
    made.inputs, made.outputs = [x], [y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def report_of(network: Network, x: np.ndarray, output: np.ndarray) -> LayerReport:
    tensor = network.tensors[Y]
    (report,) = compared(network, {X: x, Y: output.astype(tensor.dtype).reshape(tensor.shape)})
    return report


def half_up(number: Fraction) -> int:
    return floor(number + Fraction(1, 2))


def half_away(number: Fraction) -> int:
    return half_up(number) if number >= 0 else -half_up(-number)


def rounded_twice(x: int, by: Derived) -> int:
    high = half_up(Fraction(x * 2 ** max(by.left_shift, 0) * by.multiplier, 2**31))
    return half_away(Fraction(high, 2 ** max(-by.left_shift, 0)))


def in_fixed_point(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    """The multiplier times 2^floor(log2 count) / count."""
    one, other = (float(np.float32(scale)) for scale in scales)
    by = derive_tflite(one / other)
    bits = count.bit_length() - 1
    derived = Derived(by.multiplier * 2**bits // count, by.left_shift - bits)
    return rounded_twice(total - zeros[0] * count, derived) + zeros[1]


def by_reciprocal(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    """Each operation to float32, and the last to even."""
    one, other = map(np.float32, scales)
    scale = one / other * (np.float32(1) / np.float32(count))
    offset = np.float32(zeros[1]) - np.float32(zeros[0] * count) * scale
    return round(Fraction(float(np.float32(total) * scale + offset)))


def of_raw_sums(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    one, other = map(np.float32, scales)
    bias = zeros[1] - half_away(Fraction(float(np.float32(zeros[0]) * one / other)))
    return rounded_twice(total, derive_tflite(float(one / (np.float32(count) * other)))) + bias


def in_float32(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    scale = np.float32(scales[0]) / np.float32(scales[1])
    placed = np.float32(total) / np.float32(count) * scale + np.float32(-zeros[0]) * scale
    return half_away(Fraction(float(placed))) + zeros[1]


def of_scaled_sums(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    one, other = (float(np.float32(scale)) for scale in scales)
    scaled = rounded_twice(total - zeros[0] * count, derive_tflite(one / other))
    return half_away(Fraction(scaled, count)) + zeros[1]


def in_float32_raised(total: int, count: int, scales: tuple[float, float], zeros: tuple[int, int]) -> int:
    scale = np.float32(scales[0]) / np.float32(scales[1])
    bias = np.float32(-zeros[0]) * scale + np.float32(0.5)
    return half_away(Fraction(float(np.float32(total) / np.float32(count) * scale + bias))) + zeros[1]


def by(
    way: object, x: np.ndarray, axes: Sequence[int] = IMAGES, scales: tuple[float, float] = (0.5, 1.0)
) -> np.ndarray:
    """A way on all sums, in order."""
    sums = x.sum(axis=tuple(axes), dtype=np.int64).ravel().tolist()
    count = x.size // len(sums)
    made = [way(total, count, scales, ZEROS) for total in sums]  # type: ignore[operator]  # one of the six above
    return np.asarray(np.clip(made, -128, 127))


@pytest.mark.parametrize("scales", [(0.5, 1.0), (0.125, 1.0), (0.05, 0.05), (0.021, 0.013)])
@pytest.mark.parametrize(
    ("way", "name"),
    [
        (in_fixed_point, "mean_in_fixed_point"),
        (by_reciprocal, "mean_by_reciprocal"),
        (of_raw_sums, "mean_of_raw_sums"),
        (in_float32, "mean_in_float32"),
        (in_float32_raised, "mean_in_float32_raised"),
        (of_scaled_sums, "mean_of_scaled_sums"),
    ],
)
def test_each_way_is_named(way: object, name: str, scales: tuple[float, float], tmp_path: Path) -> None:
    x = drawn()
    report = report_of(network_of(tmp_path, scales=scales), x, by(way, x, scales=scales))
    assert (report.outcome, report.kind, name in report.conventions) == ("equal", "mean", True)
    telling = 0.125 if name in ("mean_in_fixed_point", "mean_of_scaled_sums") else 0.5
    assert set(report.conventions) - {IN_BLOCKS} == {name} or scales != (telling, 1.0)


def test_a_network_is_run_by_the_reference(tmp_path: Path) -> None:
    x = drawn()
    made = forward(network_of(tmp_path), {X: x}, "fp32")[Y]
    np.testing.assert_array_equal(made.ravel(), by(in_fixed_point, x))
    assert made.shape == (2, 1, 1, 20)


def test_blocks_of_channels_round_ties_up_and_what_lies_behind_them_away(tmp_path: Path) -> None:
    """A quarter of each sum, by the multiply a half of it, and then half of that."""
    x = drawn((1, 1, 2, 28)) - np.int8(3)
    scales, zeros = (0.5, 1.0), (0, 0)
    network = network_of(tmp_path, scales=scales, zeros=zeros, shape=x.shape)
    sums = x.sum(axis=IMAGES, dtype=np.int64).ravel()
    expected = [half_up(Fraction(half_up(Fraction(int(one), 2)), 2)) for one in sums[:16]] + [
        rounded_twice(int(one), Derived(1 << 30, -1)) for one in sums[16:]
    ]
    report = report_of(network, x, np.array(expected))
    assert IN_BLOCKS in report.conventions
    away = [rounded_twice(int(one), Derived(1 << 30, -1)) for one in sums]
    assert away[:16] != expected[:16]
    assert IN_BLOCKS not in report_of(network, x, np.array(away)).conventions


@pytest.mark.parametrize(("total", "count", "scales"), [(-705, 40, (0.875, 0.125)), (-255, 3, (0.193, 0.17))])
def test_the_multiplier_is_made_in_float64_and_divided_down(
    total: int, count: int, scales: tuple[float, float]
) -> None:
    """A quotient to nearest, and scales divided in float32, would each make another number of one of these."""
    by = mean.MeanScales(np.float32(scales[0]), 0, np.float32(scales[1]), 0)
    made = mean.mean_in_fixed_point(np.array([total]), count, by, double_rounding)
    assert made.tolist() == [in_fixed_point(total, count, scales, (0, 0))]


def test_the_offset_of_raw_sums_rounds_ties_away() -> None:
    """Zeros of zero point 5 are 2.5 before the offset: 3, less 3."""
    by = mean.MeanScales(np.float32(0.5), 5, np.float32(1), 0)
    assert mean.mean_of_raw_sums(np.array([10]), 2, by, double_rounding).tolist() == [0]


def test_both_zero_points_are_one_offset() -> None:
    """The mean of -56 and -53 is -12.5 but for 9e-8: without the offset's own rounding it would be -12."""
    by = mean.MeanScales(np.float32(0.02517908716869507), -56, np.float32(0.010791037358012174), -16)
    assert mean.mean_by_reciprocal(np.array([-109]), 2, by).tolist() == [-13]


@pytest.mark.parametrize(("axes", "keeps"), [((0,), False), ((-1,), True), ((1, 2, 3), False), ((0, 1, 2, 3), True)])
def test_any_axes(axes: tuple[int, ...], keeps: bool, tmp_path: Path) -> None:
    x = drawn()
    network = network_of(tmp_path, axes, keeps)
    report = report_of(network, x, by(in_fixed_point, x, axes))
    assert (report.outcome, report.conventions[0]) == ("equal", "mean_in_fixed_point")


def test_uint8(tmp_path: Path) -> None:
    x = drawn(dtype="uint8")
    made = forward(network_of(tmp_path, zeros=(13, 100), dtype="uint8"), {X: x}, "fp32")[Y]
    exact = (x.astype(float) - 13).mean(axis=IMAGES, keepdims=True) / 2 + 100
    assert np.abs(made - exact).max() < 0.6, "rounded twice"


@pytest.mark.parametrize(("axes", "keeps"), [(IMAGES, True), ((3,), False)])
@pytest.mark.parametrize("way", [in_fixed_point, in_float32])
def test_int16_is_named(way: object, axes: tuple[int, ...], keeps: bool, tmp_path: Path) -> None:
    """With a zero point, which TensorFlow Lite Micro takes; never as XNNPACK, nor as the kernel of images of bytes."""
    x = drawn(dtype="int16")
    x[1, 0, 0, 7] = 30_000
    scales = (0.5, 1.0)
    network = network_of(tmp_path, axes, keeps, scales, dtype="int16")
    sums = x.sum(axis=axes, dtype=np.int64).ravel()
    expected = [way(int(one), x.size // sums.size, scales, ZEROS) for one in sums]  # type: ignore[operator]
    report = report_of(network, x, np.array(expected))
    name = f"mean_{way.__name__}"  # type: ignore[attr-defined]
    assert set(report.conventions) - {"mean_of_scaled_sums"} == {name}
    if way is in_fixed_point:
        np.testing.assert_array_equal(forward(network, {X: x}, "fp32")[Y].ravel(), expected)


def test_older_versions_cut_where_nothing_is_scaled(tmp_path: Path) -> None:
    x = drawn()
    network = network_of(tmp_path, scales=(0.5, 0.5), zeros=(3, 3))
    cut = [int(Fraction(int(total), 12)) for total in x.sum(axis=IMAGES, dtype=np.int64).ravel()]
    assert report_of(network, x, np.array(cut)).conventions == ("mean_cut",)


def test_a_mean_that_is_off_is_traced(tmp_path: Path) -> None:
    x = drawn()
    output = by(in_fixed_point, x)
    output[7] += 5
    report = report_of(network_of(tmp_path), x, output)
    total = int(x[0, :, :, 7].astype(int).sum())
    assert (report.outcome, report.usual, report.first) == ("differs", "mean_in_fixed_point", (0, 0, 0, 7))
    assert report.trace is not None
    assert report.trace.inputs == {"sum": total, "count": 12}
    assert report.trace.steps[0].exact == Fraction(total - 36, 24)


def test_what_is_refused_is_one_sentence(tmp_path: Path) -> None:
    network = network_of(tmp_path)
    for x, axes, message in (
        (drawn(), np.array([4], np.int32), "its axes are not those of its input, or it has no numbers"),
        (drawn(), np.array([1.0], np.float32), "its axes are not those of its input"),
        (drawn((0, 4, 3, 20)), np.array([1], np.int32), "its axes are not those of its input, or it has no numbers"),
        (drawn().astype(np.int32), np.array([1], np.int32), "MEAN of int32, or with a scale for each channel"),
        (np.zeros((1 << 14, 1), np.int16), np.array([0], np.int32), "a mean of 16,384 numbers is not computed"),
        (np.zeros((1 << 22, 1), np.int8), np.array([0], np.int32), "a mean of 4,194,304 numbers is not computed"),
    ):
        with pytest.raises(NotComputed, match=message):
            computed(network, network.layers[0], {X: x, AXES: axes})
    network = network_of(tmp_path, scales=(1.0, 1e-30))
    with pytest.raises(NotComputed, match=r"its input's scale is 1e\+30 of its output's"):
        computed(network, network.layers[0], {X: drawn(), AXES: np.array(IMAGES, np.int32)})


def test_every_docstring_example_runs() -> None:
    result = doctest.testmod(mean)
    assert (result.failed, result.attempted) == (0, 9)
