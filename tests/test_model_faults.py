"""A net of fifty layers with one thing wrong in one: `lanewise model` names the layer, the kind, the element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sim.golden.layers.softmax import SoftmaxScales, by_interpolation
from sim.models.compare import LayerReport, compared
from sim.models.forward import drawn_inputs, forward
from sim.models.network import Network
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.planted_elements import fifty_other_layers
from support.planted_functions import fifty_functions
from support.planted_layers import Fault, FaultKind, Tensors, clean, fifty_layers, recorded, zeros_of
from support.sampled import sampled
from support.tflite_models import ModelWriter


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    file = tmp_path_factory.mktemp("net") / "net.tflite"
    file.write_bytes(fifty_layers(0))
    return read_tflite(file)


@pytest.fixture(scope="module")
def right(network: Network) -> Tensors:
    return clean(network, 0, "double_rounding")


def told(network: Network, tensors: Tensors) -> ModelReport:
    return ModelReport(network=network, against="device.npz", seed=None, layers=compared(network, tensors))


@pytest.mark.slow
def test_a_net_that_is_right_has_no_layer_apart(network: Network, right: Tensors) -> None:
    report = told(network, right)
    assert (report.apart, len(report.compared), report.common["pooling"]) == ([], 50, ("average_ties_away",))


def first_difference(network: Network, right: Tensors, made: Tensors, layer: int) -> tuple[int, ...]:
    number = network.layers[layer].outputs[0]
    return tuple(np.argwhere(right[number] != made[number])[0].tolist())


FAULTS = [
    (Fault(2, "zero point", 1, 0), "of block0_1, double_rounding"),
    (Fault(16, "zero point", -1, 2), "of block3_1, double_rounding"),
    (Fault(23, "bound", 1, 0), "the lower bound"),
    (Fault(4, "rounding", 0, 0, "truncated"), "average_truncated gives all elements"),
    (Fault(41, "rounding", 0, 0, "single_rounding"), "single_rounding"),
    (Fault(33, "bound", -1, 1), "the upper bound 126 instead of 127, add_tflite"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "words"), FAULTS)
def test_layer_kind_and_element_of_a_fault_are_named(
    fault: Fault, words: str, network: Network, right: Tensors
) -> None:
    made = recorded(network, right, "double_rounding", fault)
    (apart,) = told(network, made).apart
    assert (apart.layer.number, {cause.kind for cause in apart.causes}) == (fault.layer, {fault.kind})
    assert apart.first == first_difference(network, right, made, fault.layer)
    assert any(words in cause.told for cause in apart.causes), apart.causes


def one_channel_off(network: Network, right: Tensors, convention: str) -> tuple[int, int, LayerReport]:
    """The first layer and channel whose multiplier, one less, changes anything; and what is said of it."""
    clean_tensors = right if convention == "double_rounding" else clean(network, 0, convention)
    for layer in network.layers:
        for channel in range(8 if layer.operator == "CONV_2D" else 0):
            made = recorded(network, clean_tensors, convention, Fault(layer.number, "multiplier", -1, channel))
            if (made[layer.outputs[0]] != clean_tensors[layer.outputs[0]]).any():
                (apart,) = told(network, made).apart
                return layer.number, channel, apart
    raise AssertionError("no multiplier changes anything")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("convention", "words"),
    [("double_rounding", "with the multiplier of channel {} one less, double_rounding"),
     ("fp32", "with the float32 scale of channel {} one unit in the last place less, ")],
)  # fmt: skip
def test_a_multiplier_one_unit_off_is_named_with_its_channel(
    convention: str, words: str, network: Network, right: Tensors
) -> None:
    layer, channel, apart = one_channel_off(network, right, convention)
    assert apart.layer.number == layer
    assert any(cause.told.startswith(words.format(channel)) for cause in apart.causes), apart.causes


@pytest.mark.slow
def test_layers_that_may_each_be_the_one_that_is_off_are_told_as_one_of_them(tmp_path: Path) -> None:
    """Of five products one ties in layer 29 and one in 49, and the multiplier of 29 is off: as many are either."""
    file = tmp_path / "net.tflite"
    file.write_bytes(fifty_layers(372))
    network = read_tflite(file)
    tensors = clean(network, 372, "double_rounding_ties_up")
    made = recorded(network, tensors, "double_rounding_ties_up", Fault(29, "multiplier", 1, 4))
    report = told(network, made)
    assert [(one.layer.number, one.instead) for one in report.apart] == [(29, (49,)), (49, (29,))]
    assert report.apart[0].first == first_difference(network, tensors, made, 29)
    assert {cause.kind: cause.of for cause in report.apart[0].causes} == {
        "multiplier": ("double_rounding_ties_up",), "rounding": (),
    }  # fmt: skip
    assert "layer 29, MUL to block5_product, or in its place layer 49" in report.verdict


@pytest.mark.slow
def test_a_bound_is_named_where_the_others_do_not_tell_what_scales_are_multiplied_in(tmp_path: Path) -> None:
    """Of the product in layer 39 the factor is another number in float32 and float64, of the other four it is not."""
    file = tmp_path / "net.tflite"
    file.write_bytes(fifty_layers(55))
    network = read_tflite(file)
    made = recorded(network, clean(network, 55, "double_rounding_ties_up"), "double_rounding_ties_up",
                    Fault(39, "bound", -1, 1))  # fmt: skip
    (apart,) = told(network, made).apart
    assert (apart.layer.number, apart.usual) == (39, "double_rounding of derive_tflite of scales_in_float32")
    assert apart.causes[0].told.startswith("with the upper bound 126 instead of 127, double_rounding of derive_tflite")


@pytest.mark.slow
def test_the_command_says_what_would_make_the_numbers(network: Network, right: Tensors, tmp_path: Path) -> None:
    made = recorded(network, right, "double_rounding", Fault(33, "bound", -1, 1))
    arrays = {one.name: made[one.number] for one in network.tensors if one.data is None}
    np.savez(tmp_path / "device.npz", allow_pickle=False, **arrays)
    (tmp_path / "net.tflite").write_bytes(fifty_layers(0))
    outcome = lanewise("model", tmp_path / "net.tflite", "--against", tmp_path / "device.npz")
    said = " ".join(outcome.stdout.split())
    assert outcome.exit_code == 1
    assert "layer 33, bound: with the upper bound 126 instead of 127, add_tflite gives all elements" in said
    assert "differ from add_tflite, the first is " in said


OTHERS = {
    0: ("TRANSPOSE_CONV", "SUB", "PRELU", "ABS", "BATCH_MATMUL"),
    1: ("RESIZE_BILINEAR", "L2_NORMALIZATION"),
    2: ("QUANTIZE", "LOGISTIC", "TANH"),
}
"""Operators of the net of fifty other layers, by its seed."""
MULTIPLIED = {  # of SUB no number of bytes here tells: tests/test_models_differences.py has those of int16
    "PRELU": (" of numbers from the zero point on", " of numbers below the zero point"),
    "TRANSPOSE_CONV": tuple(f" of channel {channel}" for channel in range(8)),
    **dict.fromkeys(("ABS", "BATCH_MATMUL", "QUANTIZE", "LOGISTIC", "TANH", "MEAN", "SOFTMAX"), ("",)),
    "LEAKY_RELU": (" of numbers from the zero point on", " of numbers below the zero point"),
    "HARD_SWISH": (" of the input", " of min(max(x + 3, 0), 6) / 6"),
}
ONCE = {
    "SUB": "subtract_tflite_single_rounding",
    "RESIZE_BILINEAR": "bilinear_in_10_bits_ties_up",
    **dict.fromkeys(("TRANSPOSE_CONV", "PRELU", "BATCH_MATMUL"), "single_rounding"),
}
"""Those of which a number here tells one rounding from two."""
OF_ALL = [(seed, operator) for seed, operators in OTHERS.items() for operator in operators]


def words_of(network: Network, fault: Fault) -> str:
    """What is told of it, besides the convention."""
    layer = network.layers[fault.layer]
    match fault.kind:
        case "multiplier":
            side = "more" if fault.by > 0 else "less"
            return f"with the multiplier{MULTIPLIED[layer.operator][fault.where]} one {side}, "
        case "zero point":
            return f" of {network.tensors[zeros_of(layer)[fault.where]].name}, "
        case "bound":
            return f"with the {('lower', 'upper')[fault.where]} bound "
        case "rounding":
            return fault.other or ONCE[layer.operator]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "operator", "kind"),
    sampled([
        *((seed, operator, "multiplier") for seed, operator in OF_ALL if operator in MULTIPLIED and seed),
        *((3, operator, "multiplier") for operator in OTHERS[0] if operator in MULTIPLIED),
        *((seed, operator, "rounding") for seed, operator in OF_ALL if operator in ONCE),
        *((0, operator, "zero point") for operator in OTHERS[0]),
        *((0, operator, "bound") for operator in OTHERS[0]),
        (1, "RESIZE_BILINEAR", "bound"), (1, "L2_NORMALIZATION", "zero point"), (2, "QUANTIZE", "zero point"),
    ], 4),
)  # fmt: skip
def test_a_fault_of_every_other_operator_is_named(seed: int, operator: str, kind: FaultKind, tmp_path: Path) -> None:
    """The first of its kind that changes anything."""
    assert_a_fault_is_named(fifty_other_layers, [seed], operator, kind, ONCE.get(operator, ""), tmp_path)


FUNCTIONS = {  # and another arithmetic of each
    "LEAKY_RELU": ("leaky_relu_of_8_bits",),
    "HARD_SWISH": ("hard_swish_by_vector",),
    "MEAN": ("mean_by_single_rounding", "mean_by_reciprocal", "mean_in_float32"),
    "SOFTMAX": ("softmax_in_fixed_point",),
}
OF_INT16 = 2
"""A seed whose net is of int16."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "operator", "kind", "other"),
    sampled([
        *((0, operator, "rounding", other) for operator, others in FUNCTIONS.items() for other in others),
        (OF_INT16, "LEAKY_RELU", "rounding", "single_rounding"),  # of these bytes no number tells it
        (OF_INT16, "SOFTMAX", "rounding", "softmax_by_interpolation_of_float32"),
        *((0, operator, "multiplier", "") for operator in ("LEAKY_RELU", "HARD_SWISH", "MEAN")),
        *((OF_INT16, operator, "multiplier", "") for operator in ("LEAKY_RELU", "MEAN")),
        *((1, operator, kind, "") for operator in FUNCTIONS for kind in ("zero point", "bound")),
    ], 4),
)  # fmt: skip
def test_a_fault_of_every_function_is_named(
    seed: int, operator: str, kind: FaultKind, other: str, tmp_path: Path
) -> None:
    """Of SOFTMAX the zero point is prescribed: what a device adds instead is found all the same."""
    assert_a_fault_is_named(fifty_functions, range(seed, 60, 3), operator, kind, other, tmp_path)


def test_a_multiplier_of_a_softmax_is_named(tmp_path: Path) -> None:
    """Of a scale whose multiplier is a quarter, so that differences tie; in the nets above it changes nothing."""
    scale, every = np.float32(10 / 65535) * np.float32(0.25), np.arange(-32768, 32768).astype(np.int16)
    made, rows = ModelWriter(), np.stack([np.full_like(every, 32767), every], -1)
    made.inputs = [made.tensor("x", "int16", rows.shape, scale)]
    made.outputs = [made.tensor("y", "int16", rows.shape, 2.0**-15)]
    made.layer("SOFTMAX", made.inputs, made.outputs, "SoftmaxOptions", Beta=1.0)
    (tmp_path / "net.tflite").write_bytes(made.content())
    by = SoftmaxScales(scale, np.float32(2.0**-15), np.float32(1))
    y = by_interpolation(rows, by, 0, np.float64, units=1)["output"].astype(np.int16)
    (report,) = compared(read_tflite(tmp_path / "net.tflite"), {0: rows, 1: y})
    assert report.outcome == "differs"
    assert any(one.told.startswith("with the multiplier one more, softmax_by_interpolation") for one in report.causes)


def product_or_mean(operator: str, zeros: tuple[int, int], path: Path) -> Network:
    """A net of one layer, with these zero points of the input and the output."""
    made, shape = ModelWriter(), (1, 8, 8, 16)
    x = made.tensor("x", "int8", shape, 0.00390625, zeros[0])
    made.inputs = [x]
    if operator == "MUL":
        made.inputs.append(made.tensor("y", "int8", shape, 0.0231, -7))
        made.outputs = [made.tensor("made", "int8", shape, 0.0197, zeros[1])]
        made.layer("MUL", made.inputs, made.outputs, "MulOptions")
    else:
        axes = made.tensor("axes", "int32", (2,), data=np.array([1, 2], np.int32))
        made.outputs = [made.tensor("made", "int8", (1, 16), 0.0021, zeros[1])]
        made.layer("MEAN", [x, axes], made.outputs, "ReducerOptions")
    path.write_bytes(made.content())
    return read_tflite(path)


@pytest.mark.parametrize(
    ("operator", "off", "told", "own"),
    [
        (
            "MUL",
            (1, 0),
            "zero point -127 instead of -128 of x",
            "double_rounding of derive_tflite of scales_in_float32",
        ),
        ("MEAN", (0, 1), "zero point -118 instead of -119 of made", "mean_in_fixed_point"),
    ],
)
def test_the_convention_is_named_where_others_are_nearer_to_what_is_off(
    operator: str, off: tuple[int, int], told: str, own: str, tmp_path: Path
) -> None:
    """Of a layer that stands alone nothing says what is usual: others than its own differ in fewer elements."""
    device = product_or_mean(operator, (-128 + off[0], -119 + off[1]), tmp_path / "device.tflite")
    made = forward(device, drawn_inputs(device, 3), "double_rounding")
    network = product_or_mean(operator, (-128, -119), tmp_path / "net.tflite")
    (report,) = compared(network, {number: made[number] for number in (*network.inputs, *network.outputs)})
    (cause,) = [one for one in report.causes if one.told.startswith(f"with {told}")]
    assert report.explanation is not None
    assert own not in report.explanation.nearest[0].names
    assert (report.outcome, report.usual, cause.kind, own in cause.of) == ("differs", own, "zero point", True)
    right = forward(network, {number: made[number] for number in network.inputs}, "double_rounding")
    wrong = np.argwhere(right[network.outputs[0]] != made[network.outputs[0]])
    assert (report.differing, report.first) == (len(wrong), tuple(wrong[0].tolist()))


def assert_a_fault_is_named(
    content: Callable[[int], bytes], seeds: Iterable[int], operator: str, kind: FaultKind, other: str, folder: Path
) -> None:
    """The first of a kind, in any layer of an operator in the nets of these seeds, that changes anything.

    A rounding that gives all other layers too nobody can tell from a device that has it everywhere.
    """
    for network, right in nets_of(content, seeds, folder):
        layers = [one for one in network.layers if one.operator == operator]
        places = {"multiplier": len(MULTIPLIED.get(operator, ())), "zero point": len(zeros_of(layers[0])), "bound": 2}
        for layer, where, by in product(layers, range(places.get(kind, 1)), (1, -1)):
            fault = Fault(layer.number, kind, by, where, other if kind == "rounding" else "")
            made = recorded(network, right, "double_rounding", fault)
            if (made[layer.outputs[0]] != right[layer.outputs[0]]).any():
                report = told(network, made)
                if kind == "rounding" and not report.apart:  # it gives all layers, the others do not tell it
                    continue
                apart = next(one for one in report.apart if one.layer.number == layer.number)
                assert {one.layer.number for one in report.apart} == {layer.number, *apart.instead}
                first = first_difference(network, right, made, layer.number)
                assert (apart.layer.number, apart.first) == (layer.number, first)
                words = words_of(network, fault)
                assert any(one.kind == kind and words in one.told for one in apart.causes), (fault, apart.causes)
                return
    raise AssertionError("nothing changes anything")


def nets_of(content: Callable[[int], bytes], seeds: Iterable[int], folder: Path) -> Iterator[tuple[Network, Tensors]]:
    """Nets, and what a device makes of each that is right."""
    for seed in seeds:
        (folder / "net.tflite").write_bytes(content(seed))
        network = read_tflite(folder / "net.tflite")
        yield network, clean(network, seed, "double_rounding")


FACTORS = (("a", 0.05, 3), ("b", 0.05, -4), ("y", 0.5, 5))


@pytest.mark.parametrize("activation", [0, 1])
def test_a_zero_point_of_an_output_is_told_once_where_no_bound_moves_with_it(activation: int, tmp_path: Path) -> None:
    """With RELU the lower bound is the zero point: then it is told whether that moves."""
    networks = []
    for fused in (0, activation):
        made, shape = ModelWriter(), (1, 8, 8, 4)
        a, b, y = (made.tensor(name, "int8", shape, unit, zero) for name, unit, zero in FACTORS)
        made.layer("MUL", (a, b), (y,), "MulOptions", FusedActivationFunction=fused)
        made.inputs, made.outputs = [a, b], [y]
        (tmp_path / "net.tflite").write_bytes(made.content())
        networks.append(read_tflite(tmp_path / "net.tflite"))
    tensors = forward(networks[0], drawn_inputs(networks[0], 1), "double_rounding")
    assert np.abs(tensors[y].astype(int)).max() < 127
    tensors[y] = np.maximum(tensors[y] + 1, 5 if activation else -128).astype(np.int8)
    (report,) = compared(networks[1], tensors)
    zeros = [cause.told.split(", double")[0] for cause in report.causes if cause.kind == "zero point"]
    alone = "with zero point 6 instead of 5 of the output, its bounds as they were"
    assert zeros == ([alone] if activation else ["with zero point 6 instead of 5 of y"])
