"""SUB, in LiteRT and TensorFlow Lite Micro: the arithmetic of each number, by type, scales and shapes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.rules.subtracting import BY_XNNPACK, OF_POWERS
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

RUNTIMES = ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"]
RUNS = [(runtime, dtype) for runtime in RUNTIMES for dtype in ("int8", "int16", "uint8")][:-1]
"""TensorFlow Lite Micro takes no uint8."""
SHAPES = [((2, 5, 7, 9), (2, 5, 7, 9)), ((3, 4, 5, 6), (6,)), ((1, 1, 1, 8), (2, 3, 4, 8)), ((40,), (40,)),
          ((2, 1, 5, 1), (1, 3, 1, 7))]  # fmt: skip
IN_INTEGERS = "subtract_tflite"
NETS = 40


def net_of(dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], scales: np.ndarray, zeros: list[int],
           activation: int, marked: bool) -> ModelWriter:  # fmt: skip
    made = ModelWriter()
    output = np.broadcast_shapes(*shapes)
    a, b, y = (
        made.tensor(name, dtype, shape, scale, zero)
        for name, shape, scale, zero in zip("aby", (*shapes, output), scales, zeros, strict=True)
    )
    made.layer("SUB", (a, b), (y,), "SubOptions", FusedActivationFunction=activation, PotScaleInt16=marked)
    made.inputs, made.outputs = [a, b], [y]
    return made


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_difference_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    """Scales of half a step, far apart, that saturate; of int16 also by shifts; every fused activation."""
    rng, limits, path, told = np.random.default_rng(23), np.iinfo(dtype), tmp_path / "net.tflite", set()
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for number in range(NETS):
        shapes = SHAPES[number % len(SHAPES)]
        scale = 2.0 ** rng.uniform(-8, -1)
        scales = np.array([
            [scale, scale * 2.0 ** rng.uniform(-2, 2), scale * 2.0 ** rng.uniform(-2, 2)],
            [0.5, 0.5, 1.0],
            [scale, scale / 300, scale],
            [0.25, 0.0625, 0.25],
            [scale, scale, scale / 7],
        ][number % 5 if number % 11 else 1], np.float32)  # fmt: skip
        zeros = [0, 0, 0] if dtype == "int16" else [int(rng.integers(limits.min, limits.max)) for _ in "aby"]
        by_powers = number % 5 == 3 and number % 11 > 0 and dtype == "int16"
        marked = by_powers or (number % 5 != 1 and number % 11 > 0)  # powers that do not go together LiteRT refuses
        path.write_bytes(net_of(dtype, shapes, scales, zeros, number % 4, marked).content())
        network = read_tflite(path)
        given = {k: rng.integers(limits.min, limits.max, shapes[k], dtype, endpoint=True) for k in (0, 1)}
        (report,) = compared(network, run(path, network, given))
        of_both = scales[:2] / scales[2]
        is_xnnpack = runtime == "litert" and dtype != "int16" and 2.0**-10 <= min(of_both) <= max(of_both) < 256
        is_shifted = by_powers and runtime != "tflite-micro"
        name = OF_POWERS if is_shifted else BY_XNNPACK if is_xnnpack else IN_INTEGERS
        assert name in report.conventions, (shapes, scales, zeros, report)
        told |= {report.conventions}
    assert any(len(names) == 1 for names in told), told
