"""ADD of int16 tensors of any scales, in LiteRT and TensorFlow Lite Micro: mode tflite_s16 of quantized_add."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.kernels import built_in_kernel
from sim.kernels.quantized_add.golden_tflite_s16 import derived_of_16
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

SIZE = 4096
SCALES = [
    (0.25, 0.25, 0.75), (0.5, 0.75, 1.25), (3.0, 1.0, 2.5), (0.01, 0.02, 0.015), (0.3, 0.001, 0.2),
    *((float(np.float32(a)), float(np.float32(b)), float(np.float32(c)))
      for a, b, c in np.random.default_rng(4).uniform(0.01, 0.1, (12, 3))),
]  # fmt: skip


@pytest.mark.parametrize("runtime", ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"])
def test_every_sum_of_a_runtime_is_ours(runtime: str, tmp_path: Path) -> None:
    kernel, rng = built_in_kernel("quantized_add", "tflite_s16"), np.random.default_rng(9)
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for number, scales in enumerate(SCALES):
        made = ModelWriter()
        a, b, y = (made.tensor(name, "int16", (1, SIZE), scale) for name, scale in zip("aby", scales, strict=True))
        made.layer("ADD", (a, b), (y,), "AddOptions", PotScaleInt16=0)
        made.inputs, made.outputs = [a, b], [y]
        path = tmp_path / f"{number}.tflite"
        path.write_bytes(made.content())
        size = (64, 1000, 32768)[number % 3]
        given = [rng.integers(-size, size, (1, SIZE)).astype(np.int16) for _ in range(2)]
        theirs = run(path, read_tflite(path), dict(zip((a, b), given, strict=True)))[y]
        single = (float(np.float32(scale)) for scale in scales)
        inputs = {"a": given[0][0], "b": given[1][0], "parameters": derived_of_16(*single)}
        np.testing.assert_array_equal(theirs[0], kernel.golden(inputs)["output"], f"scales {scales}")
