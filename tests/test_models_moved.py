"""What is told of a layer that only moves numbers, where somebody's are others: element, both numbers, origin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sim.models.compare import LayerReport, compared
from sim.models.forward import drawn_inputs, forward
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.view.rounding.model import apart_sentences, told_of_layer
from support.tflite_models import ModelWriter, cutting_net, gathering_net, moving_net, splitting_net

Array = npt.NDArray[Any]
PAD, JOIN, TURN = range(3)


def told(
    made: ModelWriter, number: int, change: Callable[[dict[str, Array]], Array], folder: Path, which: int = 0
) -> LayerReport:
    """What is said of a layer whose output `change` makes of all tensors, by name."""
    path = folder / "net.tflite"
    path.write_bytes(made.content())
    network = read_tflite(path)
    tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
    named = {network.tensors[key].name: array.copy() for key, array in tensors.items()}
    output = network.layers[number].outputs[which]
    return compared(network, {**tensors, output: change(named)})[number]


def with_element(name: str, place: tuple[int, ...], number: int) -> Callable[[dict[str, Array]], Array]:
    def change(tensors: dict[str, Array]) -> Array:
        tensors[name][place] = number
        return tensors[name]

    return change


@pytest.mark.parametrize(
    ("made", "number", "output", "place", "source", "origin"),
    [
        (moving_net(), PAD, "padded", (1, 2, 3, 2), "x", (1, 1, 3, 2)),
        (moving_net(), JOIN, "joined", (1, 2, 3, 5), "padded", (1, 2, 3, 2)),
        (moving_net(), TURN, "turned", (1, 3, 2, 5), "joined", (1, 2, 3, 5)),
        (cutting_net(), 0, "part", (1, 2, 1, 2), "x", (1, 4, 2, 2)),
        (cutting_net(), 1, "stepped", (0, 1, 1, 2), "x", (1, 3, 3, 2)),
        (cutting_net(dtype="int16"), 1, "stepped", (0, 1, 1, 2), "x", (1, 3, 3, 2)),
        (cutting_net(), 4, "both", (1, 2, 1, 1, 0), "smaller", (1, 2, 1, 0)),
        (cutting_net(), 7, "row", (4, 2), "x", (0, 4, 3, 2)),
        (gathering_net(), 0, "rows", (1, 1, 1, 4), "table", (3, 1, 4)),
        (gathering_net(), 1, "columns", (1, 0, 2), "x", (1, 0, 2)),
        (gathering_net(dtype="int16"), 2, "each", (0, 1, 1), "x", (0, 1, 4)),
    ],
)  # fmt: skip
def test_it_is_told_from_where_an_element_is_moved(
    made: ModelWriter, number: int, output: str, place: tuple[int, ...], source: str, origin: tuple[int, ...],
    tmp_path: Path,
) -> None:  # fmt: skip
    numbers = dict[str, Array]()

    def change(tensors: dict[str, Array]) -> Array:
        numbers.update({name: array.copy() for name, array in tensors.items()})
        tensors[output][place] ^= 1
        return tensors[output]

    found = told(made, number, change, tmp_path)
    moved = found.moved
    assert moved is not None
    assert (found.kind, found.outcome, moved.element) == ("move", "differs", place)
    assert (moved.tensor, moved.place) == (source, origin)
    expected = numbers[source][origin]
    assert (moved.expected, moved.yours) == (expected, expected ^ 1)
    assert moved.is_copy == ((expected ^ 1) in numbers[source])


def test_what_is_nowhere_in_the_input_is_no_copy_of_it(tmp_path: Path) -> None:
    lacking = np.setdiff1d(np.arange(-128, 128), drawn(tmp_path)["padded"])[0]
    found = told(moving_net(), TURN, with_element("turned", (0, 1, 3, 2), lacking), tmp_path)
    there = drawn(tmp_path)["joined"][0, 3, 1, 2]
    (sentence,) = apart_sentences(found)
    assert sentence == (
        "layer 2, element [0][1][3][2]: moved from element [0][3][1][2] of joined "
        f"it is {there}; yours {lacking}, not a copy of its input"
    )


def drawn(folder: Path) -> dict[str, Array]:
    """The numbers of `moving_net`."""
    (folder / "net.tflite").write_bytes(moving_net().content())
    network = read_tflite(folder / "net.tflite")
    tensors = forward(network, drawn_inputs(network, 1), "double_rounding")
    return {network.tensors[key].name: array for key, array in tensors.items()}


@pytest.mark.parametrize(
    ("number", "change", "cause"),
    [
        (PAD, lambda of: np.where(around(of), of["padded"], 0), "padding with 0 instead of ZERO gives all elements"),
        (TURN, lambda of: of["joined"].transpose(0, 2, 1, 3)[::-1], ""),
        (TURN, lambda of: of["joined"].reshape(2, 6, 7, 6), "its input as it lies gives all elements"),
    ],
)  # fmt: skip
def test_another_move_of_the_same_input_is_named(
    number: int, change: Callable[[dict[str, Array]], Array], cause: str, tmp_path: Path
) -> None:
    found = told(moving_net(), number, lambda of: change(of).astype(np.int8), tmp_path)
    zero = drawn(tmp_path)["padded"][0, 0, 0, 0]
    assert [one.told for one in found.causes] == ([cause.replace("ZERO", str(zero))] if cause else [])


def around(of: dict[str, Array]) -> Array:
    """Where the padded image holds the image."""
    return np.pad(np.ones(of["x"].shape, bool), [(0, 0), (1, 2), (0, 1), (0, 0)])


def of_one(operator: str, shape: tuple[int, ...], second: Array | None, kind: str = "", **options: int) -> ModelWriter:
    """One layer of an input 2 x 2 x 2, or with a second input like it."""
    made = ModelWriter()
    x, z = (made.tensor(name, "int8", (2, 2, 2), 0.5, 7) for name in ("x", "z"))
    y = made.tensor("y", "int8", shape, 0.5, 7)
    more = z if second is None else made.tensor("how", "int32", second.shape, data=second)
    made.layer(operator, (x, more), (y,), kind, **options)
    made.inputs, made.outputs = [x, z] if second is None else [x], [y]
    return made


def test_another_order_of_axes_is_named(tmp_path: Path) -> None:
    made = of_one("TRANSPOSE", (2, 2, 2), np.array([1, 2, 0], np.int32), "TransposeOptions")
    found = told(made, 0, lambda of: of["x"].transpose(2, 0, 1), tmp_path)
    assert [one.told for one in found.causes] == ["the axes in the order 2, 0, 1 give all elements"]
    assert [one.kind for one in found.causes] == ["move"]


def test_another_order_of_inputs_is_named(tmp_path: Path) -> None:
    made = of_one("CONCATENATION", (2, 4, 2), None, "ConcatenationOptions", Axis=1)
    found = told(made, 0, lambda of: np.concatenate([of["z"], of["x"]], 1), tmp_path)
    assert [one.told for one in found.causes] == ["its inputs in the order z, x give all elements"]


def test_a_cut_that_is_one_place_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(cutting_net().content())
    found = told(cutting_net(), 0, lambda of: of["x"][:, 1:4, 1:3, :], tmp_path)
    assert [one.told for one in found.causes] == [
        "numbers from one place back along axis 1 of its input give all elements"
    ]


def test_of_several_outputs_the_one_that_differs_is_told(tmp_path: Path) -> None:
    made = splitting_net()
    names = [tensor["name"] for tensor in made.tensors]
    output = names[made.layers[0]["outputs"][1]]
    found = told(made, 0, lambda of: of[output] ^ 1, tmp_path, 1)
    assert found.moved is not None
    assert (found.output, found.moved.tensor, found.differing) == (1, "x_0", found.elements)


def test_what_chooses_or_counts_is_told_by_both_numbers(tmp_path: Path) -> None:
    found = told(cutting_net(), 5, lambda of: of["lengths"] + 1, tmp_path)
    (sentence,) = apart_sentences(found)
    assert sentence == "layer 5, element [0]: it is 2; yours 3"


def test_a_real_number_is_told_with_the_integer_that_it_is_made_of(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = made.tensor("x", "int8", (2, 3), 0.5, 7), made.tensor("y", "float32", (2, 3))
    made.layer("DEQUANTIZE", (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    numbers = dict[str, Array]()

    def change(tensors: dict[str, Array]) -> Array:
        numbers.update(tensors)
        wrong = tensors["y"].copy()
        wrong[1, 2] += 2
        return wrong

    found = told(made, 0, change, tmp_path)
    byte = int(numbers["x"][1, 2])
    there = (byte - 7) / 2
    assert list(apart_sentences(found)) == [
        f"layer 0, element [1][2]: made of element [1][2] of x, {byte}, it is {there}; yours {there + 2}"
    ]


def test_the_verdict_and_the_table_say_that_numbers_are_moved(tmp_path: Path) -> None:
    found = told(moving_net(), TURN, lambda of: of["turned"] ^ 1, tmp_path)
    network = read_tflite(tmp_path / "net.tflite")
    report = ModelReport(network=network, against="device.npz", seed=None, layers=[found])
    assert report.verdict == (
        "layer 2, TRANSPOSE to turned, is the first that no convention here gives: "
        "504 of 504 elements differ from what it moves"
    )
    assert told_of_layer(report, found) == "504 of 504 differ, the first is [0][0][0][0]: move"


def test_numbers_that_are_none_are_alike_where_they_are_moved(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = (made.tensor(name, "float32", (2, 3)) for name in ("x", "y"))
    made.layer("TRANSPOSE", (x, made.tensor("order", "int32", (2,), data=np.array([0, 1], np.int32))), (y,))
    made.inputs, made.outputs = [x], [y]
    (tmp_path / "net.tflite").write_bytes(made.content())
    network = read_tflite(tmp_path / "net.tflite")
    numbers = np.array([[1, np.nan, 2], [np.inf, 3, np.nan]], np.float32)
    (report,) = compared(network, {x: numbers, y: numbers})
    assert report.outcome == "equal"
    (report,) = compared(network, {x: numbers, y: np.nan_to_num(numbers)})
    assert report.moved is not None
    assert report.moved.as_json()["expected"] == "nan"
