"""PRELU, ABS, NEG and L2_NORMALIZATION, in LiteRT and TensorFlow Lite Micro: which arithmetic makes each number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import LayerReport, compared
from sim.models.questions import plain
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

# TensorFlow Lite Micro takes no uint8, and negates real numbers only
LITERT, MICRO = ["litert", "litert-no-delegate", "litert-reference"], "tflite-micro"
NETS = 30


def report_of(
    runtime: str, path: Path, operator: str, arrays: Sequence[np.ndarray], scales: Sequence[float], zeros: Sequence[int]
) -> LayerReport:
    """Of one layer; scales and zero points are those of the inputs and of the output, which is like the first."""
    made = ModelWriter()
    places = [
        made.tensor(f"x_{k}", str(one.dtype), one.shape, scales[k], zeros[k], None if k == 0 else one)
        for k, one in enumerate(arrays)
    ]
    y = made.tensor("y", str(arrays[0].dtype), arrays[0].shape, scales[-1], zeros[-1])
    made.layer(operator, places, (y,), "L2NormOptions" if operator == "L2_NORMALIZATION" else "")
    made.inputs, made.outputs = places[:1], [y]
    path.write_bytes(made.content())
    run = tflite_micro_tensors if runtime == MICRO else partial(litert_tensors, runtime=runtime)
    network = read_tflite(path)
    (report,) = compared(network, run(path, network, {0: arrays[0]}))
    return report


def drawn(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize(
    ("runtime", "dtype"), [*product(LITERT, ("int8", "uint8", "int16")), (MICRO, "int8"), (MICRO, "int16")]
)
def test_every_number_of_a_prelu_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    rng, limits, told = np.random.default_rng(3), np.iinfo(dtype), 0
    of_slopes = "int8" if dtype == "int16" else dtype
    for number in range(NETS):
        x = drawn(rng, dtype, (2, 5, 6, 7))
        slopes = drawn(rng, of_slopes, [(1, 1, 7), (5, 6, 7), (1, 1, 1)][number % 3])
        scales = (2.0 ** rng.uniform(-8, -2, 3)).tolist() if number % 4 else [0.5, 0.25, 1.0]
        around = np.iinfo(of_slopes)
        zeros = [int(rng.integers(limits.min, limits.max)), int(rng.integers(around.min, around.max))] * 2
        zeros = [*zeros[:2], int(rng.integers(limits.min, limits.max))] if dtype != "int16" else [0, 0, 0]
        report = report_of(runtime, tmp_path / "net.tflite", "PRELU", (x, slopes), scales, zeros)
        which = " of scales_in_float64" if runtime == MICRO else " of scales_in_float32"
        names = {"double_rounding", "double_rounding" + which}
        assert names & set(report.conventions), (scales, zeros, report)
        told += {plain(one) for one in report.conventions} == {"double_rounding"}
    assert told > 3


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("runtime", [*LITERT, MICRO])
def test_every_number_of_an_absolute_value_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    rng, told = np.random.default_rng(4), set()
    for number in range(NETS):
        x = drawn(rng, dtype, (2, 9, 70))
        scale = 2.0 ** rng.uniform(-8, -2)
        scales = [(scale, scale * 2.0 ** rng.uniform(-1, 3)), (scale, scale), (0.5, 2.0)][number % 3]
        zeros = [0, 0] if dtype == "int16" else rng.integers(-128, 128, 2).tolist()
        report = report_of(runtime, tmp_path / "net.tflite", "ABS", (x,), scales, zeros)
        assert "double_rounding" in {plain(one) for one in report.conventions}, (scales, zeros, report)
        told |= {report.outcome}
    assert told == {"equal"}


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("runtime", LITERT)
def test_every_number_is_negated(runtime: str, dtype: str, tmp_path: Path) -> None:
    x = drawn(np.random.default_rng(5), dtype, (3, 100))
    x[0, 0] = np.iinfo(dtype).min
    assert report_of(runtime, tmp_path / "net.tflite", "NEG", (x,), (0.5, 0.5), (0, 0)).outcome == "equal"


@pytest.mark.parametrize(("runtime", "dtype"), [*product(LITERT, ("int8", "uint8")), (MICRO, "int8")])
def test_every_number_over_its_root_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    rng, limits, told = np.random.default_rng(6), np.iinfo(dtype), set()
    for number in range(NETS):
        depth, zero = [1, 2, 3, 17, 64, 1000][number % 6], int(rng.integers(limits.min, limits.max))
        x = drawn(rng, dtype, (40, depth))
        if number % 2:
            x = np.clip(zero + rng.integers(-2, 3, x.shape), limits.min, limits.max).astype(dtype)
        zeros = (zero, 128 if dtype == "uint8" else 0)
        report = report_of(runtime, tmp_path / "net.tflite", "L2_NORMALIZATION", (x,), (0.05, 2.0**-7), zeros)
        assert "l2_by_double_rounding" in report.conventions, (depth, zero, report)
        told |= {report.conventions}
    assert dtype == "int8" or ("l2_by_double_rounding",) in told  # of int8 nothing is shifted to the right
