"""LOGISTIC and TANH of int16, in LiteRT and TensorFlow Lite Micro: every number of each scale."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.rules.functions.activating import IN_FIXED_POINT_OF_16_BITS, OF_16_BITS
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

RUNTIMES = ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"]
SCALES = [0.0003, 0.001, 0.01, 0.1, 2.0**-13, 2.0**-10, 0.00025, 2.5, 1e-6, 0.0017, 2.0**-12, 2.0**-11]


@pytest.mark.parametrize("function", ["LOGISTIC", "TANH"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_number_is_that_of_one_arithmetic(runtime: str, function: str, tmp_path: Path) -> None:
    """LiteRT's other kernels have gemmlowp's fixed point of scales that are 2^-12, and for TANH 2^-11."""
    path, every = tmp_path / "net.tflite", np.arange(-32768, 32768).astype(np.int16).reshape(1, -1)
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for scale in SCALES:
        made = ModelWriter()
        x, y = made.tensor("x", "int16", every.shape, scale), made.tensor("y", "int16", every.shape, 2.0**-15)
        made.layer(function, (x,), (y,))
        made.inputs, made.outputs = [x], [y]
        path.write_bytes(made.content())
        network = read_tflite(path)
        (report,) = compared(network, run(path, network, {x: every}))
        powers = (2.0**-12,) if function == "LOGISTIC" else (2.0**-12, 2.0**-11)
        is_other = scale in powers and runtime in ("litert", "litert-no-delegate")
        expected = IN_FIXED_POINT_OF_16_BITS if is_other else OF_16_BITS
        assert (report.outcome, report.conventions) == ("equal", (expected,)), (scale, report)
