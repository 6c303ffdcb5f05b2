"""QUANTIZE and DEQUANTIZE in LiteRT and TensorFlow Lite Micro, each one convention (docs/spec/requantization.md)."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.forward import drawn_inputs
from sim.models.questions import is_one_of, plain
from sim.models.report import ModelReport
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter, quantizing_net

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


@pytest.mark.parametrize("runtime", NAMED)
def test_real_numbers_become_int16_as_they_become_bytes(runtime: str, tmp_path: Path) -> None:
    path, name, alone = tmp_path / "net.tflite", NAMED[runtime][0], 0
    for number, scale in enumerate((0.01, 0.0007, 2.0**-7, 3 * 2.0**-9, 0.0031)):
        made, shape = ModelWriter(), (200, 200)
        x, y = made.tensor("x", "float32", shape), made.tensor("y", "int16", shape, scale, 77 * (number % 2))
        made.layer("QUANTIZE", (x,), (y,))
        made.inputs, made.outputs = [x], [y]
        path.write_bytes(made.content())
        halves = np.random.default_rng(number).integers(-70_000, 70_000, shape)
        network = read_tflite(path)
        tensors = RUNTIMES[runtime](path, network, {x: (halves * np.float32(scale / 2)).astype(np.float32)})
        (report,) = compared(network, tensors)
        assert name in report.conventions, (scale, report.conventions)
        alone += report.conventions == (name,)
    assert alone > 2


@pytest.mark.parametrize("operator", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("runtime", NAMED)
def test_bounds_alone_are_doubly_rounded(runtime: str, dtype: str, operator: str, tmp_path: Path) -> None:
    """TensorFlow Lite Micro bounds RELU6 in the input's units and does not scale: of one scale that is the same."""
    is_micro, limits = runtime == "tflite-micro", np.iinfo(dtype)
    if (is_micro and (dtype == "uint8" or operator == "RELU_N1_TO_1")) or (operator, dtype) == (
        "RELU_N1_TO_1",
        "int16",
    ):
        pytest.skip("it has no such kernel")
    path, told = tmp_path / "net.tflite", 0
    every = np.arange(limits.min, limits.max + 1).astype(dtype).reshape(1, -1)
    rng = np.random.default_rng(4)
    scales = [(0.25, 1.0), (0.05, 0.05), (0.5, 1.0), *(tuple(2.0 ** rng.uniform(-7, -2, 2)) for _ in range(9))]
    for number, (one, other) in enumerate(scales):
        zeros = [0, 0] if dtype == "int16" else rng.integers(limits.min, limits.max, 2).tolist()
        to, zero = (one, zeros[0]) if is_micro and operator == "RELU6" else (other, zeros[1])
        made = ModelWriter()
        x, y = made.tensor("x", dtype, every.shape, one, zeros[0]), made.tensor("y", dtype, every.shape, to, zero)
        made.layer(operator, (x,), (y,))
        made.inputs, made.outputs = [x], [y]
        path.write_bytes(made.content())
        network = read_tflite(path)
        (report,) = compared(network, RUNTIMES[runtime](path, network, {x: every}))
        name = f"double_rounding of derive_tflite of scales_in_float{64 if is_micro else 32}"
        assert is_one_of(report.conventions, name), (number, report.conventions)
        told += "single_rounding" not in {plain(name) for name in report.conventions}
    assert told > 0 or operator == "RELU_N1_TO_1" or (is_micro and operator == "RELU6")
