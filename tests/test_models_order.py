"""Which of the conventions that give a layer is told: the compared runtime's own, then that of the most layers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sim.golden.layers.bilinear import Resizing
from sim.golden.registry.conventions import CONVENTIONS, rank_of
from sim.models.compare import LayerReport, compared
from sim.models.forward import drawn_inputs, forward
from sim.models.layers import Activated, Normalized
from sim.models.network import Network, NetworkLayer, TensorScale
from sim.models.report import ModelReport
from sim.models.rules.dequantizing import WAYS
from sim.models.rules.functions.activated import activation_rules
from sim.models.rules.functions.normalizing import normalizing_rules
from sim.models.rules.interpolating import interpolating_rules
from sim.models.tflite_file import read_tflite
from sim.view.rounding.model import shared_sentences, told_of_layer
from support.tflite_models import ModelWriter, small_net

SCALE = TensorScale(np.full(1, 2.0**-5, np.float32), np.zeros(1, np.int64), 0)
BYTES, IMAGE = np.zeros((1, 4), np.int8), np.zeros((1, 2, 2, 1), np.uint8)
USERS = {
    **{one.name: one.users for one in CONVENTIONS.values()},
    **{way.__name__: users for way, users in WAYS.items()},
    **{
        rule.name: rule.note
        for rules in (
            normalizing_rules(Normalized(numbers=BYTES, scale=SCALE, to=SCALE, dtype="int8", beta=1.0)),
            activation_rules(Activated(numbers=BYTES, function="logistic", scale=SCALE)),
            interpolating_rules(IMAGE, Resizing(2, 2, False, False)),
        )
        for rule in rules
    },
}


@pytest.mark.parametrize(
    ("runtime", "own", "other"),
    [
        ("litert", "product_xnnpack", "double_rounding"),
        ("litert", "add_xnnpack", "add_tflite"),
        ("litert", "softmax_by_table", "softmax_in_fixed_point"),
        ("litert-no-delegate", "softmax_by_table", "softmax_in_fixed_point"),
        ("litert-no-delegate", "double_rounding_ties_up", "double_rounding"),
        ("litert-no-delegate", "bilinear_by_weights_in_float32", "bilinear_in_float32"),
        ("litert-no-delegate", "activation_in_float32", "activation_in_fixed_point"),
        ("litert-no-delegate", "dequantized_by_sum", "dequantized"),
        ("litert-no-delegate", "reciprocal_round_even_then_offset", "round_away_then_offset"),
        ("litert-reference", "softmax_in_fixed_point", "softmax_by_table"),
        ("litert-reference", "double_rounding", "double_rounding_ties_up"),
        ("litert-reference", "bilinear_in_float32", "bilinear_by_weights_in_float32"),
        ("litert-reference", "dequantized", "dequantized_by_sum"),
        ("litert-reference", "round_away_then_offset", "reciprocal_round_even_then_offset"),
        ("tflite-micro", "softmax_in_fixed_point", "softmax_by_table"),
        ("tflite-micro", "activation_in_fixed_point", "activation_in_float32"),
        ("tflite-micro", "double_rounding", "double_rounding_ties_up"),
        ("onnxruntime", "add_avx2", "add_tflite"),
        ("onnxruntime", "product_xnnpack", "double_rounding"),
    ],
)
def test_a_runtime_s_own_convention_comes_before_that_of_another_runtime(runtime: str, own: str, other: str) -> None:
    """Whose they are is what `make test-outside` finds, as docs/models.md has it."""
    assert rank_of(USERS[own], runtime) < rank_of(USERS[other], runtime)


@pytest.mark.parametrize(
    ("runtime", "usual"),
    [("litert", "product_xnnpack of scales_in_float64"), ("litert-reference", "double_rounding of derive_tflite")],
)
def test_what_differs_is_told_from_the_runtime_s_own_convention(runtime: str, usual: str, tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(small_net(1, 6).content())
    network = read_tflite(tmp_path / "net.tflite")
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    output = network.layers[0].outputs[0]
    tensors[output] = tensors[output].copy()
    tensors[output].ravel()[5] ^= 1
    report = ModelReport(network=network, against=runtime, seed=1, layers=compared(network, tensors, runtime))
    assert report.verdict.endswith(f"elements differs from {usual}")


def test_real_numbers_are_told_by_the_runtime_s_own_way(tmp_path: Path) -> None:
    made = ModelWriter()
    x, y = made.tensor("x", "int8", (1, 4), 0.5, 0), made.tensor("y", "float32", (1, 4))
    made.layer("DEQUANTIZE", (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    (tmp_path / "net.tflite").write_bytes(made.content())
    network = read_tflite(tmp_path / "net.tflite")
    tensors = forward(network, drawn_inputs(network, 1), "fp32")
    first = {name: compared(network, tensors, name)[0].conventions[0] for name in ("litert-no-delegate", "litert")}
    assert first == {"litert-no-delegate": "dequantized_by_sum", "litert": "dequantized"}


def of_conventions(*layers: Sequence[str]) -> ModelReport:
    """A report of layers of one kind, each equal to some conventions."""
    network = Network(name="net", tensors=(), layers=(), inputs=(), outputs=())
    made = [
        LayerReport(
            layer=NetworkLayer(number=number, operator="CONV_2D", inputs=(), outputs=(), options={}),
            outcome="equal", kind="scaling", conventions=tuple(names),
        )
        for number, names in enumerate(layers)
    ]  # fmt: skip
    return ModelReport(network=network, against="device.npz", seed=None, layers=made)


def test_a_layer_is_told_as_what_the_most_of_its_kind_are() -> None:
    report = of_conventions(["a", "b", "c"], ["c", "b"], ["b"], ["d", "a"])
    assert [told_of_layer(report, layer) for layer in report.layers] == [
        "b and 2 more", "b and 1 more", "b", "a and 1 more",
    ]  # fmt: skip
    assert list(shared_sentences(report)) == [
        "scaling: no convention is shared by all layers; the most that are one, 3, are b"
    ]


def test_a_layer_that_does_not_tell_derivations_apart_counts_as_its_rounding() -> None:
    report = of_conventions(["b", "a"], ["a of this", "a of that"], ["a of that"])
    assert [report.convention_of(layer) for layer in report.layers] == ["a", "a of that", "a of that"]
    assert report.common == {"scaling": ("a of that",)}


def test_the_first_of_a_layer_stays_first_where_another_layer_tells_its_derivations_apart() -> None:
    """It is that of the compared runtime, as which all layers may be told."""
    report = of_conventions(["a", "b"], ["a of this", "a of that", "b"], ["a", "b"])
    assert [report.convention_of(layer) for layer in report.layers] == ["a", "a of this", "a"]
    assert report.common == {"scaling": ("a of this", "a of that", "b")}
