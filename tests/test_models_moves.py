"""PAD, CONCATENATION, TRANSPOSE, GATHER and their like: numbers in other places, and what is told of a wrong one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.computed import computed
from sim.models.forward import drawn_inputs, forward
from sim.models.network import ModelError, Network
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter, cutting_net, gathering_net, moving_net

PAD, JOIN, TURN = range(3)


def read(made: ModelWriter, folder: Path) -> Network:
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


def moved(x: np.ndarray, zero: int) -> list[np.ndarray]:
    """The first three layers of `moving_net`, element by element."""
    padded = np.full((2, 7, 6, 3), zero, np.int8)
    joined, turned = np.zeros((2, 7, 6, 6), np.int8), np.zeros((2, 6, 7, 6), np.int8)
    for n, row, place, channel in np.ndindex(x.shape):
        padded[n, row + 1, place, channel] = x[n, row, place, channel]
    for n, row, place, channel in np.ndindex(padded.shape):
        joined[n, row, place, channel] = joined[n, row, place, channel + 3] = padded[n, row, place, channel]
    for n, row, place, channel in np.ndindex(joined.shape):
        turned[n, place, row, channel] = joined[n, row, place, channel]
    return [padded, joined, turned]


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_moved_and_compared(seed: int, tmp_path: Path) -> None:
    network = read(moving_net(seed), tmp_path)
    given = drawn_inputs(network, seed)
    tensors = forward(network, given, "double_rounding")
    scale = network.tensors[network.inputs[0]].scale
    assert scale is not None
    expected = moved(given[network.inputs[0]], scale.zero_point)
    for layer, array in zip(network.layers, expected, strict=False):
        np.testing.assert_array_equal(tensors[layer.outputs[0]], array)
    assert [report.outcome for report in compared(network, tensors)] == ["equal"] * 4


def nearest(place: int, before: int, behind: int, seed: int) -> int:
    """With corners on corners, with centres on centres, or from the first on."""
    if seed == 1:
        return round(Fraction(place * (before - 1), behind - 1) + Fraction(1, 10**6))
    return int(Fraction(2 * place + (seed == 2), 2) * before / behind)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_cut_chosen_and_stacked(seed: int, dtype: str, tmp_path: Path) -> None:
    network = read(cutting_net(seed, dtype), tmp_path)
    x = drawn_inputs(network, seed)[network.inputs[0]]
    tensors = forward(network, {network.inputs[0]: x}, "fp32")
    made = {network.tensors[number].name: array for number, array in tensors.items()}
    part, stepped = (np.zeros((2, 3, 2, 3), dtype) for _ in range(2))
    for n, row, place, channel in np.ndindex(part.shape):
        part[n, row, place, channel] = x[n, row + 2, place + 1, channel]
        stepped[n, row, place, channel] = x[1 - n, 6 - 3 * row, 1 + 2 * place, channel]
    np.testing.assert_array_equal(made["part"], part)
    np.testing.assert_array_equal(made["stepped"], stepped)
    for n, row, which, place, channel in np.ndindex(2, 3, 2, 2, 3):
        pair = int(part[n, row, place, channel]), int(stepped[n, row, place, channel])
        assert made["both"][n, row, which, place, channel] == (min(pair) if which else max(pair))
    assert made["lengths"].tolist() == [2, 3, 2, 2, 3]
    for n, row, place, channel in np.ndindex(2, 5, 11, 3):
        taken = x[n, nearest(row, 7, 5, seed), nearest(place, 5, 11, seed), channel]
        assert made["resized"][n, row, place, channel] == taken
    np.testing.assert_array_equal(made["row"], x[0, :, 3, :])
    assert [report.outcome for report in compared(network, tensors)] == ["equal"] * 8


@pytest.mark.parametrize(("dtype", "places"), [("int8", "int32"), ("uint8", "int64"), ("int16", "int32")])
def test_numbers_are_gathered_from_the_places_that_are_named(dtype: str, places: str, tmp_path: Path) -> None:
    network = read(gathering_net(2, dtype, places), tmp_path)
    x = drawn_inputs(network, 1)[network.inputs[0]]
    tensors = forward(network, {network.inputs[0]: x}, "fp32")
    made = {network.tensors[number].name: array for number, array in tensors.items()}
    for place in np.ndindex(2, 3, 2, 5):
        assert made["rows"][place] == made["table"][[[6, 0, 3], [3, 3, 1]][place[0]][place[1]]][place[2:]]
    for n, row, place in np.ndindex(2, 2, 4):
        assert made["columns"][n, row, place] == x[n, row, [4, 0, 2, 2][place]]
    for n, row, place in np.ndindex(2, 2, 3):
        assert made["each"][n, row, place] == x[n, row, [[0, 4, 1], [3, 3, 2]][n][place]]
    np.testing.assert_array_equal(made["one"], x[:, :, 3])
    assert [report.outcome for report in compared(network, tensors)] == ["equal"] * 4


def test_places_that_a_layer_before_has_made_are_taken_from_the_recording(tmp_path: Path) -> None:
    made = ModelWriter()
    x, table, y = (made.tensor(name, "int8", (size,), 0.5, 7) for name, size in (("x", 3), ("table", 3), ("y", 2)))
    best = made.tensor("best", "int32", (2,))
    made.layer("TOPK_V2", (x,), (best,))
    made.layer("GATHER", (table, best), (y,), "GatherOptions")
    made.inputs, made.outputs = [x, table], [y]
    network = read(made, tmp_path)
    given: dict[int, np.ndarray] = {table: np.array([10, 20, 30], np.int8), best: np.array([2, 0], np.int32)}
    assert [one.outcome for one in compared(network, given | {y: np.array([30, 10], np.int8)})] == ["skipped", "equal"]
    assert compared(network, given | {y: np.array([30, 20], np.int8)})[1].first == (1,)
    assert y not in forward(network, {table: given[table]}, "fp32")


@pytest.mark.parametrize("number", [PAD, JOIN, TURN])
def test_an_element_that_is_another_is_told(number: int, tmp_path: Path) -> None:
    network = read(moving_net(), tmp_path)
    tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
    output = network.layers[number].outputs[0]
    tensors[output] = tensors[output].copy()
    tensors[output][1, 0, 3, 2] ^= 1
    report = compared(network, tensors)[number]
    assert (report.outcome, report.first, report.differing) == ("differs", (1, 0, 3, 2), 1)


def of_one(operator: str, other: tuple[float, int], numbers: np.ndarray, **options: int) -> ModelWriter:
    """One layer of two inputs, the second constant; `other` are scale and zero point of the output."""
    made = ModelWriter()
    x, y = made.tensor("x", "int8", (1, 2, 3), 0.5, 7), made.tensor("y", "int8", (1, 2, 3), *other)
    second = made.tensor(
        "second", str(numbers.dtype), numbers.shape, 0.5 if numbers.dtype == "int8" else (), 6, numbers
    )
    kind = "GatherOptions" if operator == "GATHER" else "ConcatenationOptions"
    made.layer(operator, (x, second), (y,), kind if options else "", **options)
    made.inputs, made.outputs = [x], [y]
    return made


PADS, SAME = np.zeros((3, 2), np.int32), (0.5, 7)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (of_one("PAD", (0.25, 7), PADS), "its output has another scale than its input"),
        (of_one("PAD", SAME, PADS - 1), "its paddings are not a pair of counts for each axis"),
        (of_one("PAD", SAME, PADS[:2]), "its paddings are not a pair of counts for each axis"),
        (of_one("PAD", SAME, PADS + 2**30), "numbers at a time, and 268,435,456 are allowed"),
        (of_one("CONCATENATION", SAME, np.zeros((1, 2, 3), np.int8), Axis=1), "its output has another scale"),
        (of_one("CONCATENATION", SAME, PADS, Axis=0), "its inputs have several types"),
        (of_one("CONCATENATION", SAME, PADS, FusedActivationFunction=1), "it is joined with RELU"),
        (of_one("MAXIMUM", (0.25, 7), np.zeros((1, 2, 3), np.int8)), "its output has another scale than its input"),
        (of_one("MINIMUM", SAME, np.zeros((1, 2, 3), np.int32)), "MINIMUM of int8 and int32 is not computed"),
        (of_one("RESIZE_NEAREST_NEIGHBOR", SAME, np.ones(2, np.int32)), "it is not of images"),
        (of_one("GATHER", (0.25, 7), np.zeros(1, np.int32)), "its output has another scale than its input"),
        (of_one("GATHER", SAME, np.array([0, -1], np.int32)), "it names places from -1 to 0, and its axis has 1"),
        (of_one("GATHER", SAME, np.array([3], np.int32), Axis=2), "it names places from 3 to 3, and its axis has 3"),
        (of_one("GATHER", SAME, np.zeros(2, np.int32), Axis=3), "its axis is none of its input's"),
        (of_one("GATHER", SAME, np.zeros(2, np.int32), Axis=-4), "its axis is none of its input's"),
        (of_one("GATHER", SAME, np.zeros(1, np.int32), BatchDims=1), "or lies in its batches"),
        (of_one("GATHER", SAME, np.zeros((2, 2), np.int32), Axis=1, BatchDims=1), "or not of as many batches"),
        (of_one("GATHER", SAME, np.zeros(2, np.float32)), "it has not whole numbers for places"),
        (of_one("GATHER", SAME, np.zeros(1 << 26, np.int32)), "numbers at a time, and 268,435,456 are allowed"),
        (of_one("TRANSPOSE", SAME, np.array([0, 0, 1], np.int32)), "its tensors do not fit: repeated axis"),
    ],
)
def test_what_is_not_only_moved_is_named(made: ModelWriter, reason: str, tmp_path: Path) -> None:
    network = read(made, tmp_path)
    (report,) = compared(network, {0: np.zeros((1, 2, 3), np.int8), 1: np.zeros((1, 2, 3), np.int8)})
    assert (report.outcome, reason in report.reason) == ("skipped", True), report.reason


def test_a_name_of_several_lines_stays_on_one(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = (
        made.tensor(f"{name}\n\nof lines", dtype, (1, 4), 0.5) for name, dtype in (("x", "int64"), ("y", "float64"))
    )
    made.layer("ADD", (x, y), (y,), "AddOptions")
    made.inputs, made.outputs = [x], [y]
    network = read(made, tmp_path)
    with pytest.raises(ModelError, match=r"^the input x  of lines is int64\[1,4\] 0\.5 from 0: give numbers for it"):
        drawn_inputs(network, 1)
    with pytest.raises(ModelError, match=r"^y  of lines is float64, not quantized$"):
        computed(network, network.layers[0], {})


def test_layers_without_an_output_or_without_numbers_are_passed_over(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y, none = (made.tensor(name, "int8", (1, size), 0.5, 7) for name, size in (("x", 4), ("y", 4), ("none", 0)))
    made.layer("DEQUANTIZE", (x,), ())
    made.layer("QUANTIZE", (none,), (y,))
    made.inputs, made.outputs = [x], [y]
    network = read(made, tmp_path)
    given = {x: np.zeros((1, 4), np.int8), none: np.zeros((1, 0), np.int8)}
    assert forward(network, given, "double_rounding")[y].shape == (1, 0)


def test_uint8_of_other_scales_is_joined_in_the_scale_of_the_output(tmp_path: Path) -> None:
    """(13 - 10) / 2 is 1.5: away from zero 2, from 20 on 22."""
    made = ModelWriter()
    half, same = made.tensor("half", "uint8", (1, 4), 0.5, 10), made.tensor("same", "uint8", (1, 3), 1.0, 20)
    doubled, y = made.tensor("doubled", "uint8", (1, 3), 2.0, 0), made.tensor("y", "uint8", (1, 10), 1.0, 20)
    made.layer("CONCATENATION", (half, same, doubled), (y,), "ConcatenationOptions", Axis=1)
    made.inputs, made.outputs = [half, same, doubled], [y]
    (tmp_path / "net.tflite").write_bytes(made.content())
    network = read_tflite(tmp_path / "net.tflite")
    given = {
        half: np.array([[13, 7, 255, 10]], np.uint8),
        same: np.array([[0, 20, 255]], np.uint8),
        doubled: np.array([[0, 117, 118]], np.uint8),
    }
    expected = np.array([[22, 18, 143, 20, 0, 20, 255, 20, 254, 255]], np.uint8)
    assert forward(network, given, "double_rounding")[y].tolist() == expected.tolist()
    (report,) = compared(network, {**given, y: expected})
    assert (report.outcome, report.conventions, report.kind) == ("equal", ("join_in_float32",), "joining")
    expected[0, 0] -= 1
    (report,) = compared(network, {**given, y: expected})
    assert (report.outcome, report.first, report.differing) == ("differs", (0, 0), 1)
    assert report.trace is not None
    step = report.trace.steps[0]
    assert (step.value, step.exact, step.event) == (22, Fraction(43, 2), "tie")
