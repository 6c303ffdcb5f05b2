"""QUANTIZE and DEQUANTIZE in LiteRT and TensorFlow Lite Micro, each one convention (docs/spec/requantization.md)."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sim.models.compare import compared
from sim.models.forward import drawn_inputs
from sim.models.questions import is_one_of
from sim.models.report import ModelReport
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import quantizing_net

RUNTIMES: dict[str, Any] = {
    **{name: partial(litert_tensors, runtime=name) for name in ("litert", "litert-no-delegate", "litert-reference")},
    "tflite-micro": tflite_micro_tensors,
}
BYTES = ("int8", "uint8")
SEEDS = range(8)
REFERENCE = ("round_away_then_offset", "double_rounding of derive_tflite", "dequantized")
NAMED = {
    "litert": ("reciprocal_round_even_then_offset", "product_of_eight_bits", "dequantized"),
    "litert-no-delegate": (
        "reciprocal_round_even_then_offset", "double_rounding_ties_up of derive_tflite", "dequantized_by_sum",
    ),
    "litert-reference": REFERENCE,
    "tflite-micro": REFERENCE,
}  # fmt: skip
"""Of float32 to bytes, of bytes to bytes, of these to float32."""


@pytest.mark.parametrize(("first", "second"), product(BYTES, BYTES))
@pytest.mark.parametrize("runtime", NAMED)
def test_real_numbers_and_bytes_become_each_other_by_one_convention(
    runtime: str, first: str, second: str, tmp_path: Path
) -> None:
    if runtime == "tflite-micro" and first == "uint8":
        pytest.skip("TensorFlow Lite Micro does not quantize float32 to uint8")
    path, named = tmp_path / "net.tflite", list(NAMED[runtime])
    if runtime == "litert" and first != second:  # no XNNPACK
        named[1] = NAMED["litert-no-delegate"][1]
    for seed in SEEDS:
        path.write_bytes(quantizing_net(seed, first, second).content())
        network = read_tflite(path)
        tensors = RUNTIMES[runtime](path, network, drawn_inputs(network, seed))
        report = ModelReport(network=network, against=runtime, seed=seed, layers=compared(network, tensors))
        for layer, own in zip(report.layers, named, strict=True):
            assert layer.outcome in ("equal", "departs")
            assert is_one_of(layer.conventions, own), (seed, layer.layer.operator, layer.conventions)
