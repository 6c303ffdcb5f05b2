"""Split, Slice, Pad, Expand, Identity, Dropout and Shape of ONNX, between pairs and of bytes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from sim.models.compare import LayerReport, compared
from sim.models.computed import computed
from sim.models.forward import forward
from sim.models.layers import FromReals, Several
from sim.models.network import ModelError, Network, NotComputed
from sim.models.onnx_file import read_onnx
from support.onnx_models import PairedWriter

SCALE = (0.0317, 120)
SHAPE = (2, 3, 5, 4)


def moving_net(
    folder: Path, operator: str, paired: bool = True, inputs: Sequence[np.ndarray | None] = (), outputs: int = 1,
    scales: Sequence[tuple[float, int]] | None = None, shape: tuple[int, ...] = SHAPE, versions: int = 18,
    dtype: str = "uint8", **options: Any,
) -> Network:  # fmt: skip
    """One operator of x, between pairs of `scales`, the input's first, or of its bytes; `inputs` are constants."""
    names = [f"y{place}" for place in range(outputs)]
    made = PairedWriter(dict(zip(["x", *names], scales or [SCALE] * (outputs + 1), strict=True)), dtype)
    stated = ["" if of is None else made.constant(f"stated{place}", of) for place, of in enumerate(inputs)]
    if paired:
        made.layer(operator, ["x"], names, *stated, **options)
    else:
        made.nodes.append(helper.make_node(operator, ["x", *stated], names, **options))
    path, kind = folder / "net.onnx", helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    content = made.content(shape, names[0], kind, (versions, 8), TensorProto.INT64 if operator == "Shape" else kind)
    path.write_bytes(content)
    return read_onnx(path)


def drawn(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


def made_by(network: Network, x: np.ndarray) -> list[np.ndarray]:
    tensors = forward(network, {network.inputs[0]: x}, "fp32")
    return [tensors[number] for number in network.layers[0].outputs]


def report_of(network: Network, x: np.ndarray, *outputs: np.ndarray) -> LayerReport:
    given = dict(zip(network.layers[0].outputs, outputs, strict=True))
    return compared(network, {network.inputs[0]: x, **given})[0]


PARTS: list[tuple[dict[str, Any], int, list[int]]] = [
    ({"versions": 11, "split": [1, 3, 0], "axis": -1}, -1, [1, 3, 0]),
    ({"inputs": [np.array([1, 2])], "axis": 1}, 1, [1, 2]),
    ({"versions": 13, "axis": 3}, 3, [2, 2]),
    ({"num_outputs": 3, "axis": 2}, 2, [2, 2, 1]),
    ({"num_outputs": 4, "axis": 2}, 2, [2, 2, 1, 0]),
    ({"num_outputs": 2}, 0, [1, 1]),
]


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("options", "axis", "lengths"), PARTS)
def test_a_split_has_all_its_outputs(
    options: dict[str, Any], axis: int, lengths: list[int], paired: bool, tmp_path: Path
) -> None:
    """Each with its own QuantizeLinear, as one layer."""
    network, x = moving_net(tmp_path, "Split", paired, outputs=len(lengths), **options), drawn()
    (layer,) = network.layers
    assert [network.tensors[number].name for number in layer.outputs] == [f"y{place}" for place in range(len(lengths))]
    made, begin = made_by(network, x), 0
    for part, length in zip(made, lengths, strict=True):
        np.testing.assert_array_equal(part, x.take(range(begin, begin + length), axis))
        begin += length
    assert report_of(network, x, *made).conventions == ("exact",)
    other = made[1].copy()
    other.ravel()[-1] ^= 1
    report = report_of(network, x, made[0], other, *made[2:])
    assert (report.outcome, report.output, report.differing) == ("differs", 1, 1)
    assert report.moved is not None
    place = [length - 1 for length in x.shape]
    place[axis] = lengths[0] + lengths[1] - 1
    assert (report.moved.tensor, report.moved.place) == ("x", tuple(place))


def test_a_split_whose_outputs_are_not_all_quantized_is_no_layer_of_pairs(tmp_path: Path) -> None:
    made = PairedWriter(dict.fromkeys(("x", "left"), SCALE))
    made.nodes += [
        helper.make_node("DequantizeLinear", ["x", *made.pairs["x"]], ["real"]),
        helper.make_node("Split", ["real"], ["first", "second"], num_outputs=2, axis=3),
        helper.make_node("QuantizeLinear", ["first", *made.pairs["left"]], ["left"]),
        helper.make_node("Sqrt", ["second"], ["root"]),
    ]
    (tmp_path / "net.onnx").write_bytes(made.content(SHAPE, "left", versions=(18, 8)))
    network, x = read_onnx(tmp_path / "net.onnx"), drawn()
    assert [one.operator for one in network.layers] == ["DequantizeLinear", "Split", "QuantizeLinear", "Sqrt"]
    tensors = forward(network, {network.inputs[0]: x}, "fp32")
    np.testing.assert_array_equal(tensors[network.layers[2].outputs[0]], x[..., :2])


FAR = 2**62
CUTS: list[tuple[list[int], list[int], list[int] | None, list[int] | None, list[list[int]]]] = [
    ([1, 0], [2, 2], None, None, [[1], [0, 1], [0, 1, 2, 3, 4], [0, 1, 2, 3]]),
    ([-3, 1], [FAR, -1], [2, 3], None, [[0, 1], [0, 1, 2], [2, 3, 4], [1, 2]]),
    ([4], [-FAR], [2], [-2], [[0, 1], [0, 1, 2], [4, 2, 0], [0, 1, 2, 3]]),
    ([FAR, -1], [0, -FAR], [-2, -1], [-3, -1], [[0, 1], [0, 1, 2], [4, 1], [3, 2, 1, 0]]),
    ([-FAR], [FAR], [3], [3], [[0, 1], [0, 1, 2], [0, 1, 2, 3, 4], [0, 3]]),
    ([3], [1], [3], [1], [[0, 1], [0, 1, 2], [0, 1, 2, 3, 4], []]),
    ([-99], [-99], [2], [-1], [[0, 1], [0, 1, 2], [0], [0, 1, 2, 3]]),  # held within the axis, the end before it
    ([1], [FAR], [2], [FAR], [[0, 1], [0, 1, 2], [1], [0, 1, 2, 3]]),
]  # fmt: skip


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("starts", "ends", "axes", "steps", "kept"), CUTS)
def test_what_is_cut_out_is_what_its_places_say(
    starts: list[int], ends: list[int], axes: list[int] | None, steps: list[int] | None, kept: list[list[int]],
    paired: bool, tmp_path: Path,
) -> None:  # fmt: skip
    inputs = [None if of is None else np.array(of) for of in (starts, ends, axes, steps)]
    network, x = moving_net(tmp_path, "Slice", paired, inputs), drawn()
    (made,) = made_by(network, x)
    np.testing.assert_array_equal(made, x[np.ix_(*kept)])
    if made.size:
        other = made.copy()
        other.ravel()[0] ^= 1
        report = report_of(network, x, other)
        assert report.moved is not None
        assert (report.moved.tensor, report.moved.place) == ("x", tuple(places[0] for places in kept))


def test_an_early_cut_has_its_places_as_attributes(tmp_path: Path) -> None:
    options: dict[str, Any] = {"starts": [1, -2], "ends": [3, 9], "axes": [1, 3], "versions": 9}
    network, x = moving_net(tmp_path, "Slice", **options), drawn()
    np.testing.assert_array_equal(made_by(network, x)[0], x[:, 1:3, :, 2:])


def surrounded(x: np.ndarray, before: Sequence[int], behind: Sequence[int], number: int, mode: str) -> np.ndarray:
    """Place by place, as ONNX has it."""
    shape = [length + one + other for length, one, other in zip(x.shape, before, behind, strict=True)]
    made = np.full(shape, number, x.dtype)
    for place in np.ndindex(*shape):
        at = [here - begin for here, begin in zip(place, before, strict=True)]
        if mode == "reflect":
            at = [-here if here < 0 else 2 * length - 2 - here if here >= length else here
                  for here, length in zip(at, x.shape, strict=True)]  # fmt: skip
        elif mode == "edge":
            at = [min(max(here, 0), length - 1) for here, length in zip(at, x.shape, strict=True)]
        elif mode == "wrap":
            at = [here % length for here, length in zip(at, x.shape, strict=True)]
        if all(0 <= here < length for here, length in zip(at, x.shape, strict=True)):
            made[place] = x[tuple(at)]
    return made


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_what_is_padded_is_a_zero_or_numbers_of_the_image(mode: str, paired: bool, tmp_path: Path) -> None:
    """Zero is the zero point between pairs, and the byte 0 without."""
    pads = np.array([0, 1, 2, 0, 1, 0, 1, 3])
    network, x = moving_net(tmp_path, "Pad", paired, [pads], versions=19, mode=mode), drawn()
    (made,) = made_by(network, x)
    expected = surrounded(x, (0, 1, 2, 0), (1, 0, 1, 3), SCALE[1] if paired else 0, mode)
    np.testing.assert_array_equal(made, expected)
    assert report_of(network, x, made).conventions == ("exact",)


def test_padding_of_some_axes_and_below_zero_is_cut_off(tmp_path: Path) -> None:
    pads, x = np.array([-1, 2, 1, -2]), drawn()
    network = moving_net(tmp_path, "Pad", True, [pads, None, np.array([-2, 3])])
    np.testing.assert_array_equal(made_by(network, x)[0], surrounded(x, (0, 0, -1, 2), (0, 0, 1, -2), SCALE[1], ""))
    early = moving_net(tmp_path, "Pad", True, versions=2, pads=[0, 0, 1, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(made_by(early, x)[0], surrounded(x, (0, 0, 1, 0), (0, 0, 0, 1), SCALE[1], ""))


def test_bytes_as_they_are_are_padded_by_the_byte_that_is_stated(tmp_path: Path) -> None:
    pads, x = np.array([0, 0, 1, 0, 0, 0, 0, 1]), drawn()
    network = moving_net(tmp_path, "Pad", False, [pads, np.array(77, np.uint8)])
    np.testing.assert_array_equal(made_by(network, x)[0], surrounded(x, (0, 0, 1, 0), (0, 0, 0, 1), 77, ""))


def test_another_real_number_around_is_quantized(tmp_path: Path) -> None:
    """2.5 units of 0.5 are a tie: 2 + 120 to even, 3 + 120 away; what is inside has another scale."""
    pads, x, y = np.array([0, 1, 0, 1]), drawn((2, 3)), (0.5, 120)
    network = moving_net(
        tmp_path, "Pad", True, [pads, np.array(1.25, np.float32)], shape=(2, 3), scales=[(1.0, 100), y]
    )
    (made,) = made_by(network, x)
    inside = np.clip((x.astype(int) - 100) * 2 + 120, 0, 255)
    np.testing.assert_array_equal(made, np.pad(inside, [(0, 0), (1, 1)], constant_values=122))
    assert "round_even_then_offset" in report_of(network, x, made).conventions
    away = np.where(np.pad(np.zeros((2, 3)), [(0, 0), (1, 1)], constant_values=1) > 0, 123, made).astype(np.uint8)
    conventions = report_of(network, x, away).conventions
    assert "round_away_then_offset" in conventions
    assert "round_even_then_offset" not in conventions


def test_a_number_around_that_is_quantized_itself_is_the_real_one(tmp_path: Path) -> None:
    made = PairedWriter({"x": SCALE, "y": SCALE, "around": (0.01, 128)})
    pads = made.constant("pads", np.array([0, 0, 0, 1, 0, 0, 0, 0]))
    made.constant("around", np.array(128, np.uint8))
    made.nodes.append(helper.make_node("DequantizeLinear", ["around", *made.pairs["around"]], ["zero"]))
    made.layer("Pad", ("x",), "y", pads, "zero")
    (tmp_path / "net.onnx").write_bytes(made.content(SHAPE, "y", versions=(18, 8)))
    network, x = read_onnx(tmp_path / "net.onnx"), drawn()
    assert [layer.operator for layer in network.layers] == ["Pad"]
    np.testing.assert_array_equal(made_by(network, x)[0], surrounded(x, (0, 0, 0, 1), (0,) * 4, SCALE[1], ""))


@pytest.mark.parametrize("paired", [True, False])
def test_what_is_expanded_is_repeated(paired: bool, tmp_path: Path) -> None:
    network, x = moving_net(tmp_path, "Expand", paired, [np.array([2, 3, 1, 4])], shape=(3, 5, 1)), drawn((3, 5, 1))
    (made,) = made_by(network, x)
    assert made.shape == (2, 3, 5, 4)
    for place in np.ndindex(made.shape):
        assert made[place] == x[place[1], place[2], 0]


def test_what_stays_as_it_is_is_the_same(tmp_path: Path) -> None:
    x = drawn()
    for operator, inputs in (("Identity", []), ("Dropout", []), ("Dropout", [None, np.array(False)])):
        network = moving_net(tmp_path, operator, True, inputs)
        assert [layer.operator for layer in network.layers] == [operator]
        np.testing.assert_array_equal(made_by(network, x)[0], x)


def test_a_shape_is_how_long_axes_are(tmp_path: Path) -> None:
    x = drawn()
    stated: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [2, 3, 5, 4]),
        ({"start": 1, "end": -1}, [3, 5]),
        ({"start": -9, "end": 9}, [2, 3, 5, 4]),
    ]
    for options, expected in stated:
        network = moving_net(tmp_path, "Shape", False, **options)
        (made,) = made_by(network, x)
        assert (made.tolist(), str(made.dtype)) == (expected, "int64")
        other = made.copy()
        other[1] += 1
        report = report_of(network, x, other)
        assert (report.outcome, report.first, report.moved and report.moved.tensor) == ("differs", (1,), "")


def test_numbers_of_an_operator_constant_are_those_of_the_file(tmp_path: Path) -> None:
    """Scales, zero points and places too; it is no layer."""
    made = PairedWriter({})
    stated = {"scale": np.float32(0.1), "zero": np.uint8(3), "axes": np.array([3])}
    for name, of in stated.items():
        value = numpy_helper.from_array(np.asarray(of))
        made.nodes.append(helper.make_node("Constant", [], [name], value=value))
    made.pairs = {name: ["scale", "zero"] for name in "xy"}
    one, four = (made.constant(f"at{at}", np.array([at])) for at in (1, 4))
    made.layer("Slice", ("x",), "y", one, four, "axes")
    (tmp_path / "net.onnx").write_bytes(made.content(SHAPE, "y"))
    network, x = read_onnx(tmp_path / "net.onnx"), drawn()
    assert [layer.operator for layer in network.layers] == ["Slice"]
    assert str(network.tensors[network.layers[0].outputs[0]]).endswith("0.1 from 3")
    np.testing.assert_array_equal(made_by(network, x)[0], x[..., 1:4])


def test_an_operator_constant_in_another_file_is_refused(tmp_path: Path) -> None:
    made = PairedWriter(dict.fromkeys("xy", SCALE))
    value = TensorProto(name="far", data_type=TensorProto.INT64, dims=[1], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="../far")
    made.nodes.append(helper.make_node("Constant", [], ["far"], value=value))
    made.layer("Expand", ("x",), "y", "far")
    (tmp_path / "net.onnx").write_bytes(made.content(SHAPE, "y"))
    with pytest.raises(ModelError, match="keeps far in another file, which is not read"):
        read_onnx(tmp_path / "net.onnx")


OTHER = {"scales": [SCALE, (0.05, 120)]}
HUGE = np.array([0, 0, 0, 2**62, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("operator", "options", "message"),
    [
        ("Split", {"outputs": 2, "versions": 13, "axis": 2}, "its axis is 5 long, not 2 equal parts"),
        ("Split", {"outputs": 2, "inputs": [np.array([1, 3])], "axis": 2}, "its parts are not together 5 long"),
        ("Split", {"outputs": 2, "inputs": [np.array([6, -1])], "axis": 2}, "its parts are not together 5 long"),
        ("Split", {"outputs": 2, "inputs": [np.array([1, 1, 3])], "axis": 2}, "it makes 3 parts, and has 2 outputs"),
        ("Split", {"outputs": 2, "num_outputs": 3, "axis": 2}, "its axis is 5 long, not 2 equal parts"),
        ("Split", {"outputs": 2, "axis": 9}, "its axes 9 are not different ones of 4"),
        ("Split", {"outputs": 2, "axis": 3, "scales": [SCALE, SCALE, (0.05, 120)]}, "its output has another scale"),
        ("Slice", {}, "it states no starts or no ends"),
        ("Slice", {"inputs": [np.array([0]), np.array([1]), np.array([7])]}, "its axes 7 are not different ones of 4"),
        ("Slice", {"inputs": [np.array([0] * 2), np.array([1] * 2), np.array([1, -3])]}, "its axes 1, -3 are not"),
        ("Slice", {"inputs": [np.array([0]), np.array([1, 2])]}, "it has not a start, an end and a step for each"),
        ("Slice", {"inputs": [np.array([0]), np.array([1]), None, np.array([0])]}, "it has not a start, an end and a"),
        ("Slice", {"inputs": [np.array([0.5]), np.array([1.0])]}, "its input 1 is not a row of whole numbers"),
        ("Slice", {"inputs": [np.array([0]), np.array([1])], **OTHER}, "its output has another scale than its input"),
        ("Pad", {"inputs": [np.array([1, 2])]}, "it is not padded by two counts for each of its axes"),
        ("Pad", {"inputs": [HUGE]}, "numbers at a time"),
        ("Pad", {"inputs": [HUGE], "mode": "wrap"}, "numbers at a time"),
        ("Pad", {"inputs": [-HUGE]}, "it is cut by more than there is"),
        ("Pad", {"inputs": [np.arange(8)], "mode": "wave"}, "it is padded by wave"),
        ("Pad", {"inputs": [np.array([0] * 7 + [4])], "mode": "reflect"}, "in the mode reflect, or padded by"),
        ("Pad", {"inputs": [np.array([0] * 7 + [5])], "mode": "wrap"}, "in the mode wrap, or padded by more than"),
        ("Pad", {"inputs": [np.array([0] * 7 + [-1])], "mode": "edge"}, "it is cut in the mode edge"),
        ("Pad", {"inputs": [np.arange(8), np.array(np.inf, np.float32)]}, "what is around is not one finite number"),
        ("Pad", {"inputs": [np.arange(8), np.array([1, 2], np.float32)]}, "what is around is not one finite number"),
        ("Pad", {"inputs": [np.arange(8)], **OTHER}, "its output has another scale than its input"),
        ("Expand", {"inputs": [np.array([2, 3, 2, 4])]}, "its tensors do not fit"),
        ("Expand", {"inputs": [np.array([-1])]}, "it states no shape"),
        ("Expand", {"inputs": [np.array([2**62, 1, 1, 1, 1])]}, "numbers at a time"),
        ("Dropout", {"inputs": [None, np.array(True)]}, "it drops numbers, as in training"),
    ],
)  # fmt: skip
def test_what_is_not_moved_is_one_sentence(
    operator: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    network = moving_net(tmp_path, operator, **options)
    with pytest.raises(NotComputed, match=message):
        computed(network, network.layers[0], {**network.constants, network.inputs[0]: drawn()})


def test_what_is_made_is_of_its_kind(tmp_path: Path) -> None:
    given = {0: drawn()}
    split = moving_net(tmp_path, "Split", outputs=2, axis=3, num_outputs=2)
    assert isinstance(computed(split, split.layers[0], {split.inputs[0]: given[0]}), Several)
    padded = moving_net(tmp_path, "Pad", inputs=[np.arange(8), np.array(1, np.float32)])
    made = computed(padded, padded.layers[0], {**padded.constants, padded.inputs[0]: given[0]})
    assert isinstance(made, FromReals)
