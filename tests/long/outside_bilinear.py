"""RESIZE_BILINEAR, in LiteRT and TensorFlow Lite Micro: the arithmetic of each number, by type, sizes and options."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

RUNTIMES = ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"]
RUNS = [(runtime, dtype) for runtime in RUNTIMES for dtype in ("int8", "int16", "uint8")]
RUNS = [run for run in RUNS if run[0] != "tflite-micro" or run[1] == "int8"]
"""TensorFlow Lite Micro takes int8 only."""
SIZES = [
    ((4, 5), (8, 10)), ((7, 3), (3, 11)), ((1, 6), (5, 6)), ((3, 4), (24, 32)), ((9, 9), (1, 1)), ((5, 2), (13, 7)),
    ((16, 16), (5, 9)),
]  # fmt: skip


def net_of(dtype: str, before: tuple[int, int], behind: tuple[int, int], option: int, channels: int) -> ModelWriter:
    made = ModelWriter()
    x = made.tensor("x", dtype, (2, *before, channels), 0.05, 0)
    size = made.tensor("size", "int32", (2,), data=np.array(behind, np.int32))
    y = made.tensor("y", dtype, (2, *behind, channels), 0.05, 0)
    made.layer("RESIZE_BILINEAR", (x, size), (y,), "ResizeBilinearOptions", AlignCorners=option == 1,
               HalfPixelCenters=option == 2)  # fmt: skip
    made.inputs, made.outputs = [x], [y]
    return made


def expected(runtime: str, dtype: str) -> str:
    if runtime == "litert" and dtype != "int16":
        return "bilinear_in_11_bits"
    if dtype == "uint8":
        return "bilinear_in_float32" if runtime == "litert-reference" else "bilinear_by_weights_in_float32"
    return "bilinear_in_10_bits"


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_number_of_a_resized_image_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    """Small numbers, whose means have ties, and any."""
    limits, path, told = np.iinfo(dtype), tmp_path / "net.tflite", []
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for number, (before, behind) in enumerate(SIZES * 2):
        for option in range(3):
            channels = 8 if number % 2 else 3
            path.write_bytes(net_of(dtype, before, behind, option, channels).content())
            network, rng = read_tflite(path), np.random.default_rng(number)
            low, high = (limits.min, limits.max) if number < len(SIZES) else (max(limits.min, -9), 9)
            x = rng.integers(low, high, (2, *before, channels), dtype, endpoint=True)
            (report,) = compared(network, run(path, network, {0: x}))
            assert expected(runtime, dtype) in report.conventions, (before, behind, option, report)
            told.append(report.conventions)
    assert (expected(runtime, dtype),) in told
