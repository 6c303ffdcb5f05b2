"""LOGISTIC and TANH of bytes, in LiteRT and TensorFlow Lite Micro: which arithmetic makes each byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.kernels.activation_table.golden import MODES, Parameters, activation_table
from sim.kernels.activation_table.vectors import TELLING
from sim.models.compare import compared
from sim.models.rules.functions.activating import IN_FIXED_POINT, IN_FLOAT
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

RANDOM = [np.float32(scale) for scale in 2.0 ** np.random.default_rng(3).uniform(-9, -1, 24)]


def theirs(mode: str, parameters: Parameters, runtime: str, path: Path) -> np.ndarray:
    """What the runtime makes of every byte."""
    rule, made = MODES[mode], ModelWriter()
    every = np.arange(256, dtype=np.uint8).view(rule.dtype).reshape(1, 256)
    x = made.tensor("x", rule.dtype.name, every.shape, float(parameters.scale), parameters.zero)
    scale = 1 / 256 if rule.function == "logistic" else 1 / 128
    y = made.tensor("y", rule.dtype.name, every.shape, scale, rule.output_zero)
    made.layer(rule.function.upper(), (x,), (y,))
    made.inputs, made.outputs = [x], [y]
    path.write_bytes(made.content())
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    return np.asarray(run(path, read_tflite(path), {x: every})[y]).reshape(256)


def tables(
    mode: str, runtime: str, scales: Sequence[np.float32], folder: Path
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Theirs and ours for each scale, with zero points in turn."""
    limits = np.iinfo(MODES[mode].dtype)
    every = np.arange(256, dtype=np.uint8).view(MODES[mode].dtype)
    for number, scale in enumerate(scales):
        parameters = Parameters(scale, (0, 7, int(limits.min), int(limits.max))[number % 4])
        made = theirs(mode, parameters, runtime, folder / f"{number}.tflite")
        yield made, activation_table(every, parameters, mode)


RUNS = [
    *((f"{function}_{kind}", runtime) for function in ("logistic", "tanh") for kind in ("s8", "u8")
      for runtime in ("litert-no-delegate", "litert-reference")),
    *((f"{function}_s8_fixed_point", "tflite-micro") for function in ("logistic", "tanh")),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "runtime"), RUNS)
def test_every_byte_of_a_runtime_is_ours(mode: str, runtime: str, tmp_path: Path) -> None:
    for made, ours in tables(mode, runtime, [*map(np.float32, TELLING), *RANDOM], tmp_path):
        np.testing.assert_array_equal(made, ours)


@pytest.mark.parametrize("function", ["logistic", "tanh"])
def test_some_scales_tell_the_runtimes_apart(function: str, tmp_path: Path) -> None:
    scales = list(map(np.float32, TELLING))
    made = [
        np.stack([made for made, _ in tables(f"{function}_s8", runtime, scales, tmp_path)])
        for runtime in ("litert-no-delegate", "tflite-micro")
    ]
    assert 0 < (made[0] != made[1]).sum() < 10


@pytest.mark.parametrize("mode", ["logistic_s8", "tanh_s8", "logistic_u8", "tanh_u8"])
def test_the_default_kernels_of_litert_part_from_ours_next_to_ties_only(mode: str, tmp_path: Path) -> None:
    """XNNPACK makes its tables in another way, which is not modelled."""
    for made, ours in tables(mode, "litert", RANDOM, tmp_path):
        np.testing.assert_array_equal(made, ours)
    apart = [(made != ours).sum() for made, ours in tables(mode, "litert", list(map(np.float32, TELLING)), tmp_path)]
    assert sum(apart) <= 2


@pytest.mark.parametrize(
    ("runtime", "name"),
    [("litert-no-delegate", IN_FLOAT), ("litert-reference", IN_FLOAT), ("tflite-micro", IN_FIXED_POINT)],
)
@pytest.mark.parametrize("function", ["logistic", "tanh"])
def test_layers_of_a_network_are_named(function: str, runtime: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    for scale in map(np.float32, TELLING):
        made = theirs(f"{function}_s8", Parameters(scale), runtime, path)
        network = read_tflite(path)
        every = np.arange(256, dtype=np.uint8).view(np.int8).reshape(1, 256)
        (report,) = compared(network, {network.inputs[0]: every, network.outputs[0]: made.reshape(1, 256)})
        assert (report.outcome, name in report.conventions) == ("equal", True)
