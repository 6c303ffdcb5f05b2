"""SOFTMAX in LiteRT and TensorFlow Lite Micro: of rows next to ties, which arithmetic makes each byte, or int16."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from test_models_softmax import ROWS, SCALE, X, Y, network_of

from sim.golden.layers.softmax import SoftmaxScales, by_interpolation, by_table, in_fixed_point
from sim.models.compare import compared
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors

RUNS = [
    ("litert", "int8"), ("litert", "uint8"), ("litert-no-delegate", "int8"), ("litert-no-delegate", "uint8"),
    ("litert-reference", "int8"), ("litert-reference", "uint8"), ("tflite-micro", "int8"),
]  # fmt: skip
"""TensorFlow Lite Micro takes int8 only."""
NETS = 40


def drawn(dtype: str, number: int) -> tuple[np.ndarray, float, float]:
    """Rows with a scale and beta: those of many that the two arithmetics part on, and some others."""
    rng, lowest = np.random.default_rng(number), int(np.iinfo(dtype).min)
    scale, beta = 2.0 ** rng.uniform(-10, -1), (1.0, 0.5, 1.3)[number % 3]
    depth, widest = int(rng.choice([2, 3, 5, 17, 40, 300])), (30, 256)[number % 2]
    rows = (lowest + rng.integers(0, widest, (4000 if depth < 20 else 800, depth))).astype(dtype)
    by = SoftmaxScales(*map(np.float32, (scale, 1 / 256, beta)))
    apart = (by_table(rows, by, 0)["output"] != in_fixed_point(rows, by, 0)["output"]).any(axis=-1)
    return np.concatenate([rows[:50], rows[apart]]), float(scale), beta


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_row_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    own = ["softmax_by_table", "softmax_in_fixed_point"]
    if runtime in ("litert-reference", "tflite-micro"):
        own = own[::-1]
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    alone = 0
    telling = (ROWS.view(np.uint8) ^ 128).astype(np.uint8) if dtype == "uint8" else ROWS
    for rows, scale, beta in [(telling, SCALE, 1.0), *(drawn(dtype, number) for number in range(NETS))]:
        network = network_of(tmp_path, rows, scale, beta)
        (report,) = compared(network, {X: rows, Y: run(tmp_path / "net.tflite", network, {X: rows})[Y]})
        assert own[0] in report.conventions, (scale, beta, report.conventions)
        alone += own[1] not in report.conventions
    assert alone > 3


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_row_of_bytes_to_int16_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    own = ["softmax_by_table", "softmax_in_fixed_point"]
    own = own[::-1] if runtime in ("litert-reference", "tflite-micro") else own
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    alone = 0
    for number in range(NETS):
        rows, scale, beta = drawn(dtype, number)
        network = network_of(tmp_path, rows, scale, beta, to=2.0**-16, becomes="int16")
        (report,) = compared(network, {X: rows, Y: run(tmp_path / "net.tflite", network, {X: rows})[Y]})
        assert own[0] in report.conventions, (scale, beta, report.conventions)
        alone += report.conventions == (own[0],)
    assert alone > 3


@pytest.mark.parametrize("runtime", ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"])
def test_every_row_of_int16_is_named(runtime: str, tmp_path: Path) -> None:
    """Rows on which tables of float32 and of float64 part, and others."""
    name = "softmax_by_interpolation" + ("_of_float32" if runtime == "tflite-micro" else "")
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    alone = 0
    for number in range(NETS):
        rng = np.random.default_rng(number)
        scale, beta = float(2.0 ** rng.uniform(-15, 0)), (1.0, 0.5, 1.3)[number % 3]
        shape = (40_000, int(rng.choice([1, 2, 3, 5, 17])))
        rows = (rng.integers(-32768, 32768, shape) // (1 + number % 40)).astype(np.int16)
        by = SoftmaxScales(*map(np.float32, (scale, 2.0**-15, beta)))
        one, other = (by_interpolation(rows, by, 0, real)["output"] for real in (np.float64, np.float32))
        rows = np.concatenate([rows[:50], rows[(one != other).any(axis=-1)]])
        network = network_of(tmp_path, rows, scale, beta, to=2.0**-15)
        (report,) = compared(network, {X: rows, Y: run(tmp_path / "net.tflite", network, {X: rows})[Y]})
        assert name in report.conventions, (scale, beta, report.conventions)
        alone += report.conventions == (name,)
    assert alone > 3
