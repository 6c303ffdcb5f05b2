"""Networks made here, in TensorFlow Lite Micro: every layer is one of our conventions, those of TFLite's reference.

But for the factor of a product, which it has in float64 (docs/spec/neighbours.md section 21).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.network import ModelError
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.planted_layers import fifty_layers
from support.tflite_models import mlp_of_16_bits, small_net

NETS: dict[str, Callable[[int], bytes]] = {
    "small": lambda seed: small_net(seed, 24).content(),
    "fifty layers": fifty_layers,
    "16 bits": mlp_of_16_bits,
}
SEEDS = range(12)
PRODUCT = "double_rounding of derive_tflite"
"""What products are, of scales in one arithmetic or the other."""


def report_of(path: Path, seed: int, runtime: str) -> ModelReport:
    network = read_tflite(path)
    x = network.tensors[network.inputs[0]]
    limits = np.iinfo(x.dtype)
    drawn = np.random.default_rng(seed).integers(limits.min, limits.max + 1, x.shape).astype(x.dtype)
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    layers = compared(network, run(path, network, {x.number: drawn}))
    return ModelReport(network=network, against=runtime, seed=seed, layers=layers)


@pytest.mark.parametrize("net", NETS)
def test_every_layer_is_reproduced_by_the_conventions_of_the_reference(net: str, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    for seed in SEEDS:
        path.write_bytes(NETS[net](seed))
        report = report_of(path, seed, "tflite-micro")
        assert {layer.outcome for layer in report.layers} == {"equal"}, report.verdict
        scaling = "single_rounding_of_long" if net == "16 bits" else "double_rounding"
        assert is_one_of(report.common["scaling"], f"{scaling} of derive_tflite")
        assert "add_tflite" in report.common["addition"]
        if net == "fifty layers":
            assert report.common["pooling"] == ("average_ties_away",)
            assert is_one_of(report.common["product"], f"{PRODUCT} of scales_in_float64")


def test_products_tell_it_from_the_reference_of_litert(tmp_path: Path) -> None:
    """Where the factor is another number in float64, and a tie shows it, each has its own, not the other's."""
    path = tmp_path / "net.tflite"
    for runtime, own, other in (("tflite-micro", "64", "32"), ("litert-reference", "32", "64")):
        shown = 0
        for seed in SEEDS:
            path.write_bytes(fifty_layers(seed))
            names = report_of(path, seed, runtime).common["product"]
            assert is_one_of(names, f"{PRODUCT} of scales_in_float{own}")
            shown += not is_one_of(names, f"{PRODUCT} of scales_in_float{other}")
        assert shown > 0


def test_what_it_refuses_is_one_sentence(tmp_path: Path) -> None:
    """Here an input of another shape."""
    path = tmp_path / "net.tflite"
    path.write_bytes(small_net(1, 8).content())
    network = read_tflite(path)
    with pytest.raises(ModelError, match=r"^TensorFlow Lite Micro refuses .*net\.tflite: .+$"):
        tflite_micro_tensors(path, network, {0: np.zeros((1, 2, 2, 4), np.int8)})
