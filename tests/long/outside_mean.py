"""MEAN of bytes and int16, in LiteRT and TensorFlow Lite Micro: the arithmetic of each number, by axes and runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from test_models_mean import X, Y, network_of

from sim.models.compare import compared
from sim.models.forward import drawn_inputs
from sim.models.rules.averaging import IN_BLOCKS
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import activating_net

RUNS = [
    (runtime, dtype)
    for runtime in ("litert", "litert-no-delegate", "litert-reference", "tflite-micro")
    for dtype in ("int8", "int16", "uint8")
][:-1]
"""TensorFlow Lite Micro takes no uint8."""
AXES = [((1, 2), True), ((1, 2), False), ((3,), True), ((1,), False), ((2, 1), True), ((0, 1, 2, 3), True)]
IN_FIXED_POINT = "mean_in_fixed_point"
BY_RECIPROCAL = "mean_by_reciprocal"
NETS = 40


def expected(runtime: str, dtype: str, axes: Sequence[int], keeps: bool) -> str:
    if runtime == "litert" and dtype != "int16":
        return BY_RECIPROCAL
    if runtime == "litert-no-delegate" and dtype != "int16" and sorted(axes) == [1, 2] and keeps:
        return IN_BLOCKS if dtype == "int8" else "mean_of_raw_sums"
    return IN_FIXED_POINT


@pytest.mark.parametrize(("axes", "keeps"), AXES)
@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_mean_is_named(runtime: str, dtype: str, axes: tuple[int, ...], keeps: bool, tmp_path: Path) -> None:
    rng, limits, alone = np.random.default_rng(6), np.iinfo(dtype), 0
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    name = expected(runtime, dtype, axes, keeps)
    for number in range(NETS):
        shape = (2, *(int(length) for length in rng.integers(1, 8, 2)), int(rng.integers(1, 40)))
        scale = 2.0 ** rng.uniform(-8, -1)
        scales = [(scale, scale * 2.0 ** rng.uniform(-2, 2)), (scale, scale), (0.5, 1.0), (scale, scale * 3 / 7)][
            number % 4
        ]
        zeros = int(rng.integers(limits.min + 25, limits.max - 25)), int(rng.integers(limits.min, limits.max))
        x = (zeros[0] + rng.integers(-20, 21, shape)).astype(dtype)
        if dtype == "int16":  # LiteRT takes no zero points
            zeros = (0, 0) if runtime != "tflite-micro" else zeros
            x = rng.integers(*((-20, 21) if number % 2 else (-30_000, 30_000)), shape).astype(dtype)
        network = network_of(tmp_path, axes, keeps, scales, zeros, shape, dtype)
        theirs = run(tmp_path / "net.tflite", network, {X: x})[Y]
        (report,) = compared(network, {X: x, Y: theirs})
        assert name in report.conventions, (shape, scales, zeros, report.conventions)
        alone += {BY_RECIPROCAL, IN_FIXED_POINT} & set(report.conventions) <= {name}
    assert alone > 0 or len(axes) == 4


@pytest.mark.parametrize("runtime", ["litert-no-delegate", "litert-reference", "tflite-micro"])
def test_every_layer_of_a_net_of_functions_is_named(runtime: str, tmp_path: Path) -> None:
    """With XNNPACK a byte of LOGISTIC or TANH next to a tie may be another one."""
    path = tmp_path / "net.tflite"
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for seed in range(8):
        path.write_bytes(activating_net(seed).content())
        network = read_tflite(path)
        reports = compared(network, run(path, network, drawn_inputs(network, seed)))
        assert {report.outcome for report in reports} == {"equal"}, [report.reason for report in reports]
