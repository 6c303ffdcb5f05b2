"""Networks made here, in LiteRT: every layer of its kernels is one of our conventions, and which one is what is known.

Default kernels (XNNPACK) scale in float32, by factors of float32 arithmetic too, round to even, and add with one
rounding; without delegates they double and round ties up; the reference doubles and rounds as gemmlowp
(docs/spec/known_differences.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.forward import drawn_inputs
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.planted_elements import fifty_other_layers
from support.planted_layers import fifty_layers
from support.tflite_elements import bounded_net, elements_net
from support.tflite_models import (
    ModelWriter,
    cutting_net,
    gathering_net,
    mlp_of_16_bits,
    moving_net,
    small_net,
    splitting_net,
)

NAMED = {
    "litert": "product_xnnpack of scales_in_float32",
    "litert-no-delegate": "double_rounding_ties_up of derive_tflite",
    "litert-reference": "double_rounding of derive_tflite",
}
"""A convention that every layer of the runtime shares that requantizes."""
PRODUCTS = {"litert": "product_xnnpack", "litert-no-delegate": "double_rounding", "litert-reference": "double_rounding"}
"""Of MUL, whose kernel without delegates is another than that of the sums."""
ADDITIONS = {"litert": "add_xnnpack", "litert-no-delegate": "add_tflite", "litert-reference": "add_tflite"}
SEEDS, SIZE = range(12), 24


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_of_nets_is_reproduced_by_one_convention(runtime: str, tmp_path: Path) -> None:
    others = {name for other, name in NAMED.items() if other != runtime}
    for seed in SEEDS:
        path = tmp_path / f"net_{seed}.tflite"
        path.write_bytes(small_net(seed, SIZE).content())
        network = read_tflite(path)
        drawn = np.random.default_rng(seed).integers(-128, 128, (1, SIZE, SIZE, 4)).astype(np.int8)
        tensors = litert_tensors(path, network, {0: drawn}, runtime)
        report = ModelReport(network=network, against=runtime, seed=seed, layers=compared(network, tensors))
        assert [layer.outcome for layer in report.layers] == ["equal"] * 6, report.verdict
        names = report.common["scaling"]
        assert is_one_of(names, NAMED[runtime]), names
        others = {name for name in others if is_one_of(names, name)}
    assert others == set()


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_of_nets_of_fifty_is_reproduced(runtime: str, tmp_path: Path) -> None:
    """Whose factors make ties: convolutions, depthwise ones, additions, products and averages."""
    for seed in range(6):
        path = tmp_path / f"net_{seed}.tflite"
        path.write_bytes(fifty_layers(seed))
        network = read_tflite(path)
        x = network.tensors[network.inputs[0]]
        drawn = np.random.default_rng(seed).integers(-128, 128, x.shape).astype(np.int8)
        tensors = litert_tensors(path, network, {x.number: drawn}, runtime)
        report = ModelReport(network=network, against=runtime, seed=seed, layers=compared(network, tensors))
        assert [layer.outcome for layer in report.layers] == ["equal"] * 50, report.verdict
        assert is_one_of(report.common["scaling"], NAMED[runtime])
        assert PRODUCTS[runtime] in {name.split(" of ")[0] for name in report.common["product"]}
        assert ADDITIONS[runtime] in report.common["addition"]
        assert report.common["pooling"] == ("average_ties_away",)


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_that_only_moves_numbers_is_reproduced(runtime: str, tmp_path: Path) -> None:
    for seed in range(3):
        path = tmp_path / f"moves_{seed}.tflite"
        path.write_bytes(moving_net(seed).content())
        network = read_tflite(path)
        tensors = litert_tensors(path, network, drawn_inputs(network, seed), runtime)
        assert [(one.layer.operator, one.outcome) for one in compared(network, tensors)] == [
            ("PAD", "equal"), ("CONCATENATION", "equal"), ("TRANSPOSE", "equal"), ("CONV_2D", "equal"),
        ]  # fmt: skip


@pytest.mark.parametrize("runtime", NAMED)
def test_bytes_of_several_scales_that_are_joined_are_reproduced(runtime: str, tmp_path: Path) -> None:
    for seed in range(20):
        rng, made = np.random.default_rng(seed), ModelWriter()

        def scale(rng: np.random.Generator = rng) -> float:
            return float(rng.choice([2.0**-4, 2.0**-3, 0.1, rng.uniform(0.001, 0.5)]))

        inputs = [made.tensor(f"x{k}", "uint8", (2, 256), scale(), int(rng.integers(256))) for k in range(3)]
        output = made.tensor("y", "uint8", (2, 768), scale(), int(rng.integers(256)))
        made.layer("CONCATENATION", inputs, (output,), "ConcatenationOptions", Axis=1)
        made.inputs, made.outputs = inputs, [output]
        (tmp_path / "net.tflite").write_bytes(made.content())
        network = read_tflite(tmp_path / "net.tflite")
        tensors = litert_tensors(tmp_path / "net.tflite", network, drawn_inputs(network, seed), runtime)
        (report,) = compared(network, tensors)
        assert (report.outcome, report.conventions) == ("equal", ("join_in_float32",)), seed


@pytest.mark.parametrize("net", [cutting_net, splitting_net])
@pytest.mark.parametrize("runtime", [*NAMED, "tflite-micro"])
def test_every_layer_that_cuts_chooses_and_stacks_is_reproduced(
    runtime: str, net: Callable[[int, str], ModelWriter], tmp_path: Path
) -> None:
    for seed in range(6):
        for dtype in ("int8", "int16"):
            path = tmp_path / "net.tflite"
            path.write_bytes(net(seed, dtype).content())
            network = read_tflite(path)
            given = drawn_inputs(network, seed)
            run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
            reports = compared(network, run(path, network, given))
            assert {one.outcome for one in reports} == {"equal"}, (seed, dtype, [one.reason for one in reports])


@pytest.mark.parametrize("runtime", [*NAMED, "tflite-micro"])
def test_every_layer_that_gathers_is_reproduced(runtime: str, tmp_path: Path) -> None:
    """TensorFlow Lite Micro gathers int8 by int32 alone."""
    is_micro = runtime == "tflite-micro"
    for dtype in ("int8",) if is_micro else ("int8", "uint8", "int16"):
        for places in ("int32",) if is_micro else ("int32", "int64"):
            path = tmp_path / "net.tflite"
            path.write_bytes(gathering_net(3, dtype, places).content())
            network = read_tflite(path)
            run = tflite_micro_tensors if is_micro else partial(litert_tensors, runtime=runtime)
            reports = compared(network, run(path, network, drawn_inputs(network, 3)))
            assert {one.outcome for one in reports} == {"equal"}, (dtype, [one.reason for one in reports])


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_of_nets_of_other_operators_is_reproduced(runtime: str, tmp_path: Path) -> None:
    """Differences, slopes, sizes, roots, functions, bounds; and fifty layers whose factors make ties.

    Matrices with a zero point XNNPACK does not take: of a net that has such ones some products are another convention.
    """
    named = {"equal"} if runtime != "litert" else {"equal", "departs"}
    for seed in range(6):
        nets = elements_net(seed, "int8"), elements_net(seed, "int16"), bounded_net(seed)
        for content in (*(net.content() for net in nets), fifty_other_layers(seed)):
            path = tmp_path / "net.tflite"
            path.write_bytes(content)
            network = read_tflite(path)
            reports = compared(network, litert_tensors(path, network, drawn_inputs(network, seed), runtime), runtime)
            others = [one for one in reports if one.outcome != "equal"]
            assert {one.outcome for one in reports} <= named, [(one.layer.operator, one.reason) for one in others]
            assert {one.layer.operator for one in others} <= {"BATCH_MATMUL"}


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_of_an_mlp_of_16_bits_is_reproduced(runtime: str, tmp_path: Path) -> None:
    """Biases of 64 bits, as its reference reads them; of 32 bits it reads what lies behind them too."""
    for seed in range(6):
        path = tmp_path / f"mlp_{seed}.tflite"
        path.write_bytes(mlp_of_16_bits(seed))
        network = read_tflite(path)
        x = network.tensors[network.inputs[0]]
        drawn = np.random.default_rng(seed).integers(-32768, 32768, x.shape).astype(np.int16)
        tensors = litert_tensors(path, network, {x.number: drawn}, runtime)
        report = ModelReport(network=network, against=runtime, seed=seed, layers=compared(network, tensors))
        assert [layer.outcome for layer in report.layers] == ["equal"] * 4, report.verdict
        assert "add_tflite" in report.common["addition"]
