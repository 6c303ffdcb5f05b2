"""TRANSPOSE_CONV and BATCH_MATMUL, in LiteRT and TensorFlow Lite Micro: which convention scales their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import LayerReport, compared
from sim.models.questions import is_one_of
from sim.models.runtimes.litert import litert_tensors
from sim.models.runtimes.tflite_micro import tflite_micro_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter
from support.tflite_products import stacked_net, transposed_net

RUNTIMES = ["litert", "litert-no-delegate", "litert-reference", "tflite-micro"]
RUNS = [(runtime, dtype) for runtime in RUNTIMES for dtype in ("int8", "int16")]
NETS = 24


TRANSPOSED = {
    "litert": "product_xnnpack of scales_in_float32",
    "litert-no-delegate": "double_rounding of derive_tflite",
    "litert-reference": "double_rounding of derive_tflite",
    "tflite-micro": "double_rounding of derive_tflite",
}
"""By runtime, the convention of bytes; of int16 it is the one of 64 bits everywhere."""
OF_16_BITS = "single_rounding_of_long of derive_tflite"


def reports_of(
    net: Callable[[int, str], ModelWriter], runtime: str, dtype: str, path: Path
) -> Iterator[tuple[int, LayerReport]]:
    """Of the one layer of each net, by seed, with numbers of the whole range."""
    run = tflite_micro_tensors if runtime == "tflite-micro" else partial(litert_tensors, runtime=runtime)
    for seed in range(NETS):
        path.write_bytes(net(seed, dtype).content())
        network = read_tflite(path)
        rng, limits = np.random.default_rng(seed), np.iinfo(dtype)
        shapes = {number: network.tensors[number].shape or () for number in network.inputs}
        given = {number: rng.integers(limits.min, limits.max, shape, dtype) for number, shape in shapes.items()}
        (report,) = compared(network, run(path, network, given))
        yield seed, report


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_transposed_convolution_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    """XNNPACK takes none whose strides are larger than its window, where it is padded."""
    for seed, report in reports_of(transposed_net, runtime, dtype, tmp_path / "net.tflite"):
        is_refused = report.layer.options["Padding"] == "SAME" and seed // 2 % 6 == 5
        name = TRANSPOSED["litert-no-delegate" if is_refused else runtime] if dtype == "int8" else OF_16_BITS
        assert is_one_of(report.conventions, name), (seed, report)
        assert report.outcome == "equal"


@pytest.mark.parametrize(("runtime", "dtype"), RUNS)
def test_every_product_of_stacks_is_named(runtime: str, dtype: str, tmp_path: Path) -> None:
    """XNNPACK takes those whose second operand counts from zero."""
    for seed, report in reports_of(stacked_net, runtime, dtype, tmp_path / "net.tflite"):
        by_xnnpack = runtime == "litert" and seed % 2 == 0
        of_bytes = "product_xnnpack of scales_in_float32" if by_xnnpack else "double_rounding of derive_tflite"
        assert is_one_of(report.conventions, OF_16_BITS if dtype == "int16" else of_bytes), (seed, report)
        assert report.outcome == "equal"
