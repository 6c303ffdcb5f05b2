"""SPLIT, SPLIT_V and UNPACK: layers of several outputs, which of these is told where one is wrong, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from sim.models.compare import compared
from sim.models.forward import drawn_inputs, forward
from sim.models.network import Network
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.view.rounding.model import show_model
from sim.view.rounding.model_page import model_page
from support.tflite_models import ModelWriter, splitting_net


def read(made: ModelWriter, folder: Path) -> Network:
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    return read_tflite(path)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_parts_are_those_of_the_input(dtype: str, tmp_path: Path) -> None:
    network = read(splitting_net(2, dtype), tmp_path)
    x = drawn_inputs(network, 2)[0]
    tensors = forward(network, {0: x}, "fp32")
    made = {network.tensors[number].name: array for number, array in tensors.items()}
    for n, row, place, channel in np.ndindex(x.shape):
        number = x[n, row, place, channel]
        assert made[f"third_{channel // 2}"][n, row, place, channel % 2] == number
        assert made[f"part_{min(place, 1)}"][n, row, max(place - 1, 0), channel] == number
        assert made[f"row_{row}"][n, place, channel] == number
    reports = compared(network, tensors)
    assert [(report.outcome, report.elements) for report in reports] == [("equal", x.size)] * 3


@pytest.mark.parametrize(("layer", "output"), [(0, 0), (0, 2), (1, 1), (2, 1)])
def test_the_output_that_is_another_is_told(layer: int, output: int, tmp_path: Path) -> None:
    network = read(splitting_net(), tmp_path)
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    number = network.layers[layer].outputs[output]
    tensors[number] = tensors[number].copy()
    tensors[number].ravel()[-2] ^= 1
    reports = compared(network, tensors)
    told = [(report.outcome, report.differing, report.output) for report in reports]
    assert told[layer] == ("differs", 1, output)
    assert [outcome for outcome, _, _ in told].count("equal") == 2
    report = ModelReport(network=network, against="device", seed=None, layers=reports)
    assert f"to {network.tensors[number].name}, is the first that no convention here gives: 1 of" in report.verdict
    assert report.as_json()["layers"][layer]["output"] == output


def test_outputs_that_were_not_recorded_are_passed_over(tmp_path: Path) -> None:
    network = read(splitting_net(), tmp_path)
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    del tensors[network.layers[0].outputs[1]]
    assert (compared(network, tensors)[0].outcome, compared(network, tensors)[0].elements) == ("equal", 120)
    del tensors[network.layers[0].outputs[0]]
    assert (compared(network, tensors)[0].outcome, compared(network, tensors)[0].elements) == ("equal", 60)
    del tensors[network.layers[0].outputs[2]]
    assert compared(network, tensors)[0].reason == "its output is not among the tensors"


def test_a_row_names_every_output_and_which_of_them_differs(tmp_path: Path) -> None:
    network = read(splitting_net(), tmp_path)
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    number = network.layers[0].outputs[1]
    tensors[number] = tensors[number].copy()
    tensors[number][0, 1, 2, 0] ^= 1
    report = ModelReport(network=network, against="device", seed=None, layers=compared(network, tensors))
    text = StringIO()
    show_model(report, Console(file=text, width=120))
    rows = [line.split() for line in text.getvalue().splitlines()]
    start = next(place for place, row in enumerate(rows) if row[:2] == ["0", "SPLIT"])
    assert rows[start][2:4] == ["third_0", "differs"]
    assert "1 of 60 of third_1 differs, the first is [0][1][2][0]" in text.getvalue()
    assert [rows[start + 1], rows[start + 2]] == [["third_1"], ["third_2"]]
    page = model_page(report)
    assert "<span>third_0, third_1, third_2</span>" in page
    assert "<span>row_0, row_1, row_2</span>" in page


def of_one(operator: str, constants: Sequence[np.ndarray], scales: Sequence[float], place: int = 0) -> ModelWriter:
    """One layer of two outputs; the constants lie around the input, which is at that place."""
    made = ModelWriter()
    x = made.tensor("x", "int8", (2, 6), 0.5, 7)
    others = [made.tensor(f"by_{k}", str(one.dtype), one.shape, data=one) for k, one in enumerate(constants)]
    outputs = [made.tensor(f"y_{k}", "int8", (2, 3), scale, 7) for k, scale in enumerate(scales)]
    made.layer(operator, [*others[:place], x, *others[place:]], outputs)
    made.inputs, made.outputs = [x], outputs
    return made


ONE, SAME = np.array([1], np.int32), (0.5, 0.5)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (of_one("SPLIT", [ONE], (0.5, 0.25), 1), "its output has another scale than its input"),
        (of_one("SPLIT", [ONE * 9], SAME, 1), "its tensors do not fit"),
        (of_one("SPLIT", [ONE], (0.5,) * 4, 1), "its tensors do not fit: array split does not result in an equal"),
        (of_one("SPLIT", [np.array([1, 1], np.int32)], SAME, 1), "its axis is not one whole number"),
        (of_one("SPLIT", [np.array([1.0], np.float32)], SAME, 1), "its axis is not one whole number"),
        (of_one("SPLIT_V", [np.array([3, 4], np.int32), ONE], SAME), "its parts are not together 6 long"),
        (of_one("SPLIT_V", [np.array([-1, -1], np.int32), ONE], SAME), "its parts are not together 6 long"),
        (of_one("SPLIT_V", [np.array([9, -1], np.int32), ONE], SAME), "its parts are not together 6 long"),
        (of_one("SPLIT_V", [np.array([6], np.int32), ONE], SAME), "it makes 1 parts, and has 2 outputs"),
        (of_one("SPLIT_V", [np.array([1, 5], np.int32), ONE], SAME), r"it makes [2, 1], and its output 0 is [2, 3]"),
        (of_one("UNPACK", [], (0.5,) * 3), "it makes 2 parts, and has 3 outputs"),
    ],
)
def test_what_is_not_split_is_named(made: ModelWriter, reason: str, tmp_path: Path) -> None:
    network = read(made, tmp_path)
    outputs = dict.fromkeys(network.layers[0].outputs, np.zeros((2, 3), np.int8))
    (report,) = compared(network, {**network.constants, 0: np.zeros((2, 6), np.int8), **outputs})
    assert (report.outcome, reason in report.reason) == ("skipped", True), report.reason
