"""The conventions that whole layers are named by: in the listing, by whose they are, and told apart on small layers."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sim.golden.registry.conventions import CONVENTIONS
from sim.models.compare import compared
from sim.models.forward import drawn_inputs, forward
from sim.models.onnx_file import read_onnx
from sim.models.questions import plain
from sim.models.rules.conventions import examples, layer_conventions, layers_apart
from sim.models.tflite_file import read_tflite
from support.command import lanewise
from support.onnx_models import small_onnx_net
from support.planted_elements import fifty_other_layers
from support.planted_functions import fifty_functions
from support.planted_layers import fifty_layers
from support.tflite_models import small_net

NETS = {
    "small": small_net(1, 6).content(), "windows": fifty_layers(0),
    **{f"functions of {name}": fifty_functions(seed) for seed, name in enumerate(("int8", "uint8", "int16"))},
    **{f"others {seed}": fifty_other_layers(seed) for seed in range(3)},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("net", [*NETS, "of ONNX"])
def test_every_convention_that_a_layer_is_told_as_is_listed(net: str, tmp_path: Path) -> None:
    if net == "of ONNX":
        path = tmp_path / "net.onnx"
        path.write_bytes(small_onnx_net())
        network = read_onnx(path)
    else:
        path = tmp_path / "net.tflite"
        path.write_bytes(NETS[net])
        network = read_tflite(path)
    layers = compared(network, forward(network, drawn_inputs(network, 1), "double_rounding"))
    names = {plain(name.split(" then ")[0]) for one in layers for name in one.conventions}
    assert len(names) > 3
    assert names - {*CONVENTIONS} - {*layer_conventions()} - OF_NOTHING == set()


OF_NOTHING = {"exact", "add_pytorch_and_tail", "shift_after_rounding_in_lanes_and_tail"}
"""Where nothing is rounded; and two conventions, each of which is listed, in the parts of one tensor."""


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        # half-way between two bytes: away from zero, or up
        ("hard_swish", "hard_swish_by_vector", ["byte -12  (HARD_SWISH of int8, ", "hard_swish            -5",
                                                "hard_swish_by_vector  -4", "exact value           -4.5"]),
        ("average_ties_away", "average_truncated", ["sum -1, count 2  (AVERAGE_POOL_2D of int8)",
                                                    "average_ties_away  -1", "average_truncated  0"]),
        ("average_ties_away", "average_ties_up", ["sum -1, count 2  ", "ties_away  -1", "ties_up    0"]),
        # 1/0.0055 is 181.8, of which the table takes 181: half of it is a tie
        ("softmax_in_reals", "softmax_by_shifted_table", ["second 0, place 0  (Softmax of ONNX of int8 to int8",
                                                          "softmax_in_reals          -37",
                                                          "softmax_by_shifted_table  -38"]),
        ("hard_swish", "hard_swish", ["not told apart by ", " layers: HARD_SWISH of int8"]),
    ],
)  # fmt: skip
def test_the_command_tells_two_of_a_kind_of_layer_apart(one: str, other: str, said: list[str]) -> None:
    outcome = lanewise("conventions", "--between", one, other)
    assert outcome.exit_code == 0, outcome.output
    assert [words for words in said if words not in outcome.stdout] == [], outcome.stdout


PAIRS = [
    pair
    for example in examples()
    for pair in combinations(dict.fromkeys(map(plain, example.ways)), 2)
]  # fmt: skip


@pytest.mark.slow
def test_any_two_that_a_layer_may_be_are_told_apart() -> None:
    """By results that both are by themselves: an example is no claim of the search alone."""
    found = [layers_apart(one, other) for one, other in dict.fromkeys(PAIRS)]
    assert len(found) > 90
    assert [one.names for one in found if one is not None and one.verdict != "apart"] == []
    assert all(one is not None and one.results[0] != one.results[1] for one in found)


def test_two_ways_to_real_numbers_are_told_apart_by_what_float32_makes_of_both() -> None:
    found = layers_apart("dequantized", "dequantized_by_sum")
    assert found is not None
    byte, scale = found.operands["byte"], np.float32(0.1)
    assert found.parameters == "scale 0.1 from 3"
    by_sum = np.float32(byte) * scale + np.float32(-3) * scale
    assert found.results == (float(np.float32(byte - 3) * scale), float(by_sum))
    assert found.results[0] != found.results[1]


def test_conventions_of_one_requantization_are_compared_on_a_layer_where_their_families_differ() -> None:
    found = layers_apart("double_rounding", "leaky_relu_of_8_bits")
    assert found is not None
    assert (found.verdict, found.of) == ("apart", "LEAKY_RELU of int8")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("hard_swish", "softmax_by_table"), "no kind of layer may be hard_swish and softmax_by_table: give two"),
        (("hard_swis", "hard_swish"), "there is no convention 'hard_swis': the nearest are hard_swish"),
        (("xyz", "hard_swish"), "there is no convention 'xyz': `lanewise conventions` lists them"),
    ],
)
def test_conventions_that_are_of_no_one_layer_are_refused(names: tuple[str, str], sentence: str) -> None:
    outcome = lanewise("conventions", "--between", *names)
    assert (outcome.exit_code, sentence in outcome.stderr) == (2, True), outcome.stderr


def test_those_of_layers_are_listed_by_whose_they_are() -> None:
    printed = lanewise("conventions", "tflite-micro").stdout
    assert "softmax_in_fixed_point" in printed
    assert "softmax_by_shifted_table" not in printed
    records = json.loads(lanewise("conventions", "TensorFlow Lite Micro", "--json").stdout)
    assert "activation_in_fixed_point" in {record["name"] for record in records}
    assert {record["family"] for record in records if record["name"] == "activation_in_fixed_point"} == {
        "LOGISTIC, TANH"
    }


def test_the_document_of_two_layers_is_that_of_two_conventions() -> None:
    found = json.loads(lanewise("conventions", "--between", "hard_swish", "hard_swish_by_vector", "--json").stdout)
    assert (found["family"], found["operands"], found["results"], found["exact"]) == (
        "HARD_SWISH of int8", {"byte": -12}, [-5, -4], "-9/2",
    )  # fmt: skip


def test_examples_of_a_layer_have_one_result_for_each_element() -> None:
    for example in examples():
        assert len({way.run().shape for way in example.ways.values()}) == 1, example.layer
