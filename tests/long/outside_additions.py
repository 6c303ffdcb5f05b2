"""ADD of int16 tensors in LiteRT and TensorFlow Lite Micro: modes tflite_s16 and tflite_s16_pot of quantized_add."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.kernels import built_in_kernel
from sim.kernels.quantized_add.golden_tflite_pot import derived_of_powers, log2_of
from sim.kernels.quantized_add.golden_tflite_s16 import derived_of_16
from sim.models.compare import compared
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


SHIFTS = [(0, 0), (0, 1), (1, 0), (0, 2), (3, 0), (0, 7), (12, 0), (0, 15), (15, 0), (0, 16), (20, 0), (0, 31)]
"""By how many powers of two the scale of each operand lies below that of the output."""
LITERT = ("litert", "litert-no-delegate", "litert-reference")
Pair = list[np.ndarray]


def added_by(runtime: str, path: Path, scales: Sequence[float], given: Pair, is_pot: bool) -> np.ndarray:
    """What a runtime makes of one ADD of these scales, with or without the mark that they may be powers of two.

    `lanewise model` names it as what it is: by shifts where LiteRT does it so, else as the general sum.
    """
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    made = ModelWriter()
    a, b, y = (made.tensor(name, "int16", given[0].shape, scale) for name, scale in zip("aby", scales, strict=True))
    made.layer("ADD", (a, b), (y,), "AddOptions", PotScaleInt16=int(is_pot))
    made.inputs, made.outputs = [a, b], [y]
    path.write_bytes(made.content())
    network = read_tflite(path)
    tensors = run(path, network, dict(zip((a, b), given, strict=True)))
    by_shifts = is_pot and runtime != "tflite-micro" and all(log2_of(scale) is not None for scale in scales)
    (layer,) = compared(network, tensors)
    assert ("add_tflite_pot" if by_shifts else "add_tflite") in layer.conventions, (scales, layer.conventions)
    return tensors[y]


@pytest.mark.parametrize("runtime", [*LITERT, "tflite-micro"])
def test_every_sum_of_a_runtime_is_ours(runtime: str, tmp_path: Path) -> None:
    kernel, rng = built_in_kernel("quantized_add", "tflite_s16"), np.random.default_rng(9)
    for number, scales in enumerate(SCALES):
        size = (64, 1000, 32768)[number % 3]
        given = [rng.integers(-size, size, (1, SIZE)).astype(np.int16) for _ in range(2)]
        theirs = added_by(runtime, tmp_path / f"{number}.tflite", scales, given, is_pot=False)
        single = (float(np.float32(scale)) for scale in scales)
        inputs = {"a": given[0][0], "b": given[1][0], "parameters": derived_of_16(*single)}
        np.testing.assert_array_equal(theirs[0], kernel.golden(inputs)["output"], f"scales {scales}")


@pytest.mark.parametrize("runtime", LITERT)
def test_sums_of_powers_of_two_are_ours(runtime: str, tmp_path: Path) -> None:
    """From shifts by 16 on what is shifted is 1 or -1."""
    kernel, rng = built_in_kernel("quantized_add", "tflite_s16_pot"), np.random.default_rng(8)
    for number, (of_a, of_b) in enumerate(SHIFTS):
        scales = (2.0 ** (-9 - of_a), 2.0 ** (-9 - of_b), 2.0**-9)
        size = (64, 20_000, 32768)[number % 3]
        given = [rng.integers(-size, size, (1, SIZE)).astype(np.int16) for _ in range(2)]
        theirs = added_by(runtime, tmp_path / f"{number}.tflite", scales, given, is_pot=True)
        inputs = {"a": given[0][0], "b": given[1][0], "parameters": derived_of_powers(*scales)}
        np.testing.assert_array_equal(theirs[0], kernel.golden(inputs)["output"], f"shifts {of_a} and {of_b}")


@pytest.mark.parametrize(
    ("runtime", "scales"), [(runtime, SCALES[2]) for runtime in LITERT] + [("tflite-micro", (0.5, 0.25, 0.5))]
)
def test_what_is_not_added_by_shifts_although_it_is_marked(
    runtime: str, scales: tuple[float, float, float], tmp_path: Path
) -> None:
    """LiteRT where a scale is no power of two, TensorFlow Lite Micro always."""
    kernel, rng = built_in_kernel("quantized_add", "tflite_s16"), np.random.default_rng(7)
    given = [rng.integers(-5000, 5000, (1, SIZE)).astype(np.int16) for _ in range(2)]
    theirs = added_by(runtime, tmp_path / "net.tflite", scales, given, is_pot=True)
    inputs = {"a": given[0][0], "b": given[1][0], "parameters": derived_of_16(*scales)}
    np.testing.assert_array_equal(theirs[0], kernel.golden(inputs)["output"])
