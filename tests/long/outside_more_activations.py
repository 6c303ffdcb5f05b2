"""HARD_SWISH and LEAKY_RELU, in LiteRT and TensorFlow Lite Micro: which arithmetic makes each byte, or int16."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import LayerReport, compared
from sim.models.network import ModelError, TensorScale
from sim.models.questions import plain
from sim.models.rules.functions.hard_swishing import hard_swish_rules
from sim.models.rules.functions.leaking import NEGATED, OF_8_BITS, leaky_relu_rules
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

RUNTIMES = ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"]
RUNS = [(runtime, dtype) for runtime in RUNTIMES for dtype in ("int8", "uint8")][:-1]
"""TensorFlow Lite Micro takes int8 only."""
SCALES = [(1.0, 1.0), (0.5, 0.25), (1.0, 1 / 127.99), (1.0, 2.0), (1.0, 1 / 127), (2.0**-20, 2.0**-3), (40.0, 1.0)]
"""Of inputs and outputs: ties, and the ends of what is taken."""
Pair = tuple[TensorScale, TensorScale]


def scale_of(scale: float, zero: int) -> TensorScale:
    return TensorScale(np.array([scale], np.float32), np.array([zero], np.int64), 0)


def pairs(dtype: str, smallest: float) -> Iterator[Pair]:
    """Scales and zero points; the output's scale is at least so much of the input's."""
    rng, limits = np.random.default_rng(5), np.iinfo(dtype)
    drawn = 2.0 ** rng.uniform(-9, 0, 60)
    every = [*SCALES, *zip(drawn, drawn * 2.0 ** rng.uniform(np.log2(smallest), 3, 60), strict=True)]
    for number, (one, other) in enumerate(every):
        ends = (int(limits.min), int(limits.max))
        zeros = (ends[number % 2], ends[1]) if number < 4 else rng.integers(*ends, 2, endpoint=True)
        yield scale_of(one, int(zeros[0])), scale_of(other, int(zeros[1]))


def report_of(operator: str, dtype: str, by: Pair, runtime: str, path: Path, alpha: float | None) -> LayerReport:
    """What is said of all bytes; raises ModelError for what the runtime refuses."""
    made, limits = ModelWriter(), np.iinfo(dtype)
    every = np.arange(limits.min, limits.max + 1).astype(dtype).reshape(1, -1)
    x, y = (
        made.tensor(name, dtype, every.shape, one.scales[0], one.zero_point) for name, one in zip("xy", by, strict=True)
    )
    if alpha is None:
        made.layer(operator, (x,), (y,))
    else:
        made.layer(operator, (x,), (y,), "LeakyReluOptions", Alpha=alpha)
    made.inputs, made.outputs = [x], [y]
    path.write_bytes(made.content())
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    network = read_tflite(path)
    (report,) = compared(network, run(path, network, {x: every}))
    return report


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_byte_of_a_hard_swish_is_the_references(runtime: str, dtype: str, tmp_path: Path) -> None:
    told = 0
    for by in pairs(dtype, 1 / 100):
        report = report_of("HARD_SWISH", dtype, by, runtime, tmp_path / "net.tflite", None)
        assert "hard_swish" in report.conventions, (by, report.conventions)
        told += report.conventions == ("hard_swish",)
    assert told > 5


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_scales_that_are_refused_are_refused_here(runtime: str, dtype: str, tmp_path: Path) -> None:
    by = (scale_of(1, 0), scale_of(1 / 128, 0))
    with pytest.raises(ModelError):
        report_of("HARD_SWISH", dtype, by, runtime, tmp_path / "net.tflite", None)
    with pytest.raises(ValueError, match="TFLite takes less than 128"):
        hard_swish_rules(*by)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_hard_swish_of_int16_is_refused_by_all(runtime: str, tmp_path: Path) -> None:
    by = (scale_of(0.5, 0), scale_of(0.25, 0))
    with pytest.raises(ModelError):
        report_of("HARD_SWISH", "int16", by, runtime, tmp_path / "net.tflite", None)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_number_of_a_leaky_relu_of_int16_is_named(runtime: str, tmp_path: Path) -> None:
    """LiteRT takes no zero points; but for its reference it multiplies by a negative factor."""
    told = 0
    scales = [(0.5, 1.0), (1.0, 1 / 127), (1.0, 2.0), (0.031, 0.017), (0.0003, 0.00041)]
    for number, (one, other) in enumerate(scales):
        for alpha in (0.1, 0.25, -0.5, 0.01, 1.5, -0.3):
            zeros = (100 * number, -55) if runtime == "tflite-micro" else (0, 0)
            by = scale_of(one, zeros[0]), scale_of(other, zeros[1])
            report = report_of("LEAKY_RELU", "int16", by, runtime, tmp_path / "net.tflite", alpha)
            name = NEGATED if alpha < 0 and runtime in ("litert", "litert-no-delegate") else "double_rounding"
            of_scales = " of scales_in_float64" if runtime == "tflite-micro" else " of scales_in_float32"
            assert {name, name + of_scales} & set(report.conventions), (by, alpha, report.conventions)
            told += len({plain(one) for one in report.conventions}) == 1
    assert told > 5


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_byte_of_a_leaky_relu_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    """By 8 bits where XNNPACK takes it, else, and elsewhere, by two roundings."""
    alphas, told = [0.1, 0.25, -0.5, 0.01, 1.5, 0.5, -0.3, 0.0, 1e-4], 0
    for number, by in enumerate(pairs(dtype, 1 / 300)):
        alpha = np.float32(alphas[number % len(alphas)])
        report = report_of("LEAKY_RELU", dtype, by, runtime, tmp_path / "net.tflite", float(alpha))
        of_8_bits = OF_8_BITS in [rule.name for rule in leaky_relu_rules(np.dtype(dtype), *by, alpha)]
        names = {
            "litert": (OF_8_BITS,) if of_8_bits else ("double_rounding", "double_rounding of scales_in_float32"),
            "tflite-micro": ("double_rounding", "double_rounding of scales_in_float64"),
        }.get(runtime, ("double_rounding", "double_rounding of scales_in_float32"))
        assert set(names) & set(report.conventions), (by, alpha, report.conventions)
        told += len({plain(name) for name in report.conventions} - {NEGATED}) == 1
    assert told > 20
