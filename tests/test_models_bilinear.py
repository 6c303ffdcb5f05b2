"""RESIZE_BILINEAR layers: numbers by fractions, which way made an output, where it lies, and what is refused."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.explanation.answer import answer
from sim.golden.layers import bilinear
from sim.golden.layers.bilinear import Resizing, in_10_bits, in_float32
from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.layers import ByRules
from sim.models.network import Network, NotComputed
from sim.models.questions import question_of
from sim.models.tflite_file import read_tflite
from support.exact_rounding import float32_nearest, half_away, half_up
from support.tflite_models import ModelWriter

X, SIZE, Y = range(3)
BEFORE, BEHIND = (4, 3), (7, 8)
OPTIONS = [(False, False), (True, False), (False, True)]


def network_of(
    folder: Path, dtype: str = "int8", option: tuple[bool, bool] = (False, False), size: np.ndarray | None = None,
    zeros: tuple[int, int] = (3, 3), before: tuple[int, ...] = (2, *BEFORE, 3),
) -> Network:  # fmt: skip
    made = ModelWriter()
    made.tensor("x", dtype, before, 0.05, zeros[0])
    named = np.array(BEHIND, np.int32) if size is None else size
    made.tensor("size", str(named.dtype), named.shape, data=named)
    made.tensor("y", dtype, (2, *BEHIND, 3), 0.05, zeros[1])
    made.layer("RESIZE_BILINEAR", (X, SIZE), (Y,), "ResizeBilinearOptions", AlignCorners=option[0],
               HalfPixelCenters=option[1])  # fmt: skip
    made.inputs, made.outputs = [X], [Y]
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


Places = Callable[[int, int, int], tuple[int, int, Fraction]]


def drawn(dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.random.default_rng(5).integers(limits.min, limits.max, (2, *BEFORE, 3), dtype, endpoint=True)


def resized(x: np.ndarray, at: Places, to: Callable[[Fraction], int]) -> np.ndarray:
    """One number after the other: `at` says of a place and both lengths the two that it lies between, and how far."""
    output = np.zeros((2, *BEHIND, 3), x.dtype)
    for n, row, column, channel in np.ndindex(output.shape):
        (top, bottom, down), (left, right, along) = at(row, BEFORE[0], BEHIND[0]), at(column, BEFORE[1], BEHIND[1])
        upper, lower = (
            int(x[n, i, left, channel]) * (1 - along) + int(x[n, i, right, channel]) * along for i in (top, bottom)
        )
        output[n, row, column, channel] = to(upper * (1 - down) + lower * down)
    return output


def in_units(option: tuple[bool, bool]) -> Places:
    """TFLite's places: the step rounded to 2^-10."""

    def at(place: int, before: int, behind: int) -> tuple[int, int, Fraction]:
        less = int(option[0])
        step = floor(Fraction(1024 * (before - less), behind - less) + Fraction(1, 2))
        units = place * step + (step // 2 - 512 if option[1] else 0)
        lower = max(units // 1024, 0)
        return lower, min(max(-(-units // 1024), 0), before - 1), Fraction(units - 1024 * lower, 1024)

    return at


def in_parts(option: tuple[bool, bool]) -> Places:
    """XNNPACK's: the place in float32, what is behind the point rounded to 2^-11."""

    def at(place: int, before: int, behind: int) -> tuple[int, int, Fraction]:
        less = int(option[0])
        scale = float32_nearest(Fraction(before - less, behind - less))
        where = float32_nearest(place * scale)
        if option[1]:
            where = max(float32_nearest(where + float32_nearest(scale / 2 - Fraction(1, 2))), Fraction(0))
        where = min(where, Fraction(before - 1))
        return floor(where), min(floor(where) + 1, before - 1), Fraction(round((where - floor(where)) * 2048), 2048)

    return at


def report_of(network: Network, x: np.ndarray, output: np.ndarray) -> LayerReport:
    (report,) = compared(network, {**network.constants, X: x, Y: output})
    return report


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_places_in_units_of_10_bits(dtype: str, option: tuple[bool, bool], tmp_path: Path) -> None:
    network, x = network_of(tmp_path, dtype, option), drawn(dtype)
    away, up = (resized(x, in_units(option), to) for to in (half_away, half_up))
    report = report_of(network, x, away)
    assert (report.outcome, report.kind, report.conventions[0]) == ("equal", "interpolation", "bilinear_in_10_bits")
    assert "bilinear_in_10_bits_ties_up" in report_of(network, x, up).conventions
    np.testing.assert_array_equal(forward(network, {X: x}, "fp32")[Y], away)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_places_in_units_of_11_bits(dtype: str, option: tuple[bool, bool], tmp_path: Path) -> None:
    network, x = network_of(tmp_path, dtype, option), drawn(dtype)
    assert "bilinear_in_11_bits" in report_of(network, x, resized(x, in_parts(option), half_up)).conventions


def test_ties_are_told_apart(tmp_path: Path) -> None:
    """Half-way between -3 and 4, 3 and 4: away from zero, or up."""
    x = np.zeros((1, 1, 2, 1), np.int8)
    made = {}
    for pair in ((-3, 4), (-4, 3), (-1, -2)):
        x[0, 0, :, 0] = pair
        made[pair] = [int(in_10_bits(x, Resizing(1, 4), ties_up=up)[0, 0, 1, 0]) for up in (False, True)]
    assert made == {(-3, 4): [1, 1], (-4, 3): [-1, 0], (-1, -2): [-2, -1]}


@pytest.mark.parametrize("option", OPTIONS)
def test_bytes_in_float32(option: tuple[bool, bool], tmp_path: Path) -> None:
    """Every product and sum rounded to float32, in two orders; they part in the last bit only."""

    def at(place: int, before: int, behind: int) -> tuple[int, int, Fraction]:
        less, half = int(option[0]), Fraction(int(option[1]), 2)
        scale = float32_nearest(Fraction(before - less, behind - less))
        where = float32_nearest(float32_nearest((place + half) * scale) - half)
        lower = max(floor(where), 0)
        return lower, min(-floor(-where), before - 1), float32_nearest(where - lower)

    x, network = drawn("uint8"), network_of(tmp_path, "uint8", option)
    output, r = np.zeros((2, *BEHIND, 3), np.uint8), float32_nearest
    for n, row, column, channel in np.ndindex(output.shape):
        (top, bottom, down), (left, right, along) = at(row, BEFORE[0], BEHIND[0]), at(column, BEFORE[1], BEHIND[1])
        total = Fraction(0)
        for i, j, of_row, of_column in (
            (top, left, r(1 - down), r(1 - along)), (bottom, left, down, r(1 - along)),
            (top, right, r(1 - down), along), (bottom, right, down, along),
        ):  # fmt: skip
            total = r(total + r(r(int(x[n, i, j, channel]) * of_row) * of_column))
        output[n, row, column, channel] = int(r(total + Fraction(1, 2)))
    report = report_of(network, x, output)
    assert report.conventions[0] == "bilinear_in_float32"
    np.testing.assert_array_equal(forward(network, {X: x}, "fp32")[Y], output)
    weighed = in_float32(np.full((1, 1, 2, 1), 200, np.uint8), Resizing(1, 3), weighs_first=True)
    assert weighed.ravel().tolist() == [200] * 3


def test_an_image_of_one_number_tells_nothing_apart(tmp_path: Path) -> None:
    """All arithmetics give it: they are told as alike, on the numbers of this tensor."""
    network, x = network_of(tmp_path), np.full((2, *BEFORE, 3), 5, np.int8)
    output = np.full((2, *BEHIND, 3), 5, np.int8)
    made = computed(network, network.layers[0], {X: x, SIZE: network.constants[SIZE]})
    assert isinstance(made, ByRules)
    told = answer(question_of(made, output))
    assert [match.name for match in told.matches] == ["bilinear_in_10_bits"]
    assert [one.name for one in told.matches[0].alike] == ["bilinear_in_10_bits_ties_up", "bilinear_in_11_bits"]


def test_an_element_is_traced_to_its_place(tmp_path: Path) -> None:
    network, x = network_of(tmp_path, "int8", (True, False)), drawn("int8")
    output = resized(x, in_units((True, False)), half_away)
    output[1, 3, 2, 1] ^= 1
    report = report_of(network, x, output)
    assert (report.outcome, report.differing, report.first) == ("differs", 1, (1, 3, 2, 1))
    assert report.trace is not None
    (step, _) = report.trace.steps
    down, along = Fraction(3 * 3, 6), Fraction(2 * 2, 7)
    pixels = [int(x[1, i, j, 1]) for i in (1, 2) for j in (0, 1)]
    weights = [(1 - down % 1) * (1 - along), (1 - down % 1) * along, down % 1 * (1 - along), down % 1 * along]
    assert step.exact == sum(weight * pixel for weight, pixel in zip(weights, pixels, strict=True))
    assert f"between {', '.join(map(str, pixels))}" in step.name


def test_steps_that_lead_out_of_the_image_are_no_candidate(tmp_path: Path) -> None:
    """1024 * 3 / 680 is 4.52, and 5 * 679 lies behind the third row."""
    with pytest.raises(ValueError, match="lies at 3 of 3 rows or columns"):
        in_10_bits(np.zeros((1, 3, 1, 1), np.int8), Resizing(680, 1))
    network = network_of(tmp_path, size=np.array([680, 1], np.int32))
    given = {X: np.zeros((2, 3, 1, 3), np.int8)}
    assert Y not in forward(network, given, "fp32")
    (report,) = compared(network, {**network.constants, **given, Y: np.zeros((2, 680, 1, 3), np.int8)})
    assert report.conventions == ("bilinear_in_11_bits",)


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        ({"size": np.array([7], np.int32)}, "it is not of images, or to no rows and columns"),
        ({"size": np.array([0, 7], np.int32)}, "it is not of images, or to no rows and columns"),
        ({"size": np.array([7.0, 8.0], np.float32)}, "size is float32, not quantized"),
        ({"size": np.array([2**30, 2**30], np.int32)}, "numbers at a time, and 268,435,456 are allowed"),
        ({"size": np.array([1, 2**30], np.int32)}, "numbers at a time, and 268,435,456 are allowed"),
        ({"zeros": (3, 4)}, "its output has another scale than its input"),
        ({"option": (True, True)}, "its corners are aligned and its centres too, which TFLite refuses"),
        ({"dtype": "int32"}, "RESIZE_BILINEAR of int32 is not computed"),
        ({"before": (4, 3)}, "it is not of images"),
    ],
)
def test_what_is_not_resized_is_named(network: dict[str, Any], reason: str, tmp_path: Path) -> None:
    made = network_of(tmp_path, **network)
    x = made.tensors[X]
    with pytest.raises(NotComputed, match=reason):
        computed(made, made.layers[0], {**made.constants, X: np.zeros(x.shape or (), x.dtype)})


def test_examples() -> None:
    assert doctest.testmod(bilinear).failed == 0
