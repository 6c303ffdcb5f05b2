"""Pools of TFLite, in LiteRT: its kernels without delegates and its reference make what the golden reference makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite

from sim.kernels.pool.golden import pool
from sim.models.runtimes.litert import litert_tensors
from sim.models.tflite_file import read_tflite
from support.tflite_models import ModelWriter

SIZE, CHANNELS = 16, 24
WINDOWS = [(1, 1), (2, 2), (2, 3), (3, 3), (4, 5), (7, 7), (16, 16)]


@pytest.mark.parametrize("runtime", ["litert-no-delegate", "litert-reference"])
@pytest.mark.parametrize("mode", ["average_s8", "average_u8", "max_s8", "max_u8"])
def test_a_pool_of_litert_is_ours(mode: str, runtime: str, tmp_path: Path) -> None:
    operator = "AVERAGE_POOL_2D" if mode.startswith("average") else "MAX_POOL_2D"
    name = "int8" if mode.endswith("s8") else "uint8"
    limits = np.iinfo(name)
    for number, (height, width) in enumerate(WINDOWS):
        rows, columns = SIZE - height + 1, SIZE - width + 1
        made = ModelWriter()
        x = made.tensor("x", name, (1, SIZE, SIZE, CHANNELS), 0.02, 3)
        y = made.tensor("y", name, (1, rows, columns, CHANNELS), 0.02, 3)
        made.layer(
            operator, (x,), (y,), "Pool2DOptions", Padding=tflite.Padding.VALID, StrideH=1, StrideW=1,
            FilterHeight=height, FilterWidth=width,
        )  # fmt: skip
        made.inputs, made.outputs = [x], [y]
        path = tmp_path / f"{number}.tflite"
        path.write_bytes(made.content())
        drawn = np.random.default_rng(number).integers(limits.min, limits.max + 1, (1, SIZE, SIZE, CHANNELS))
        image = drawn.astype(name)
        theirs = litert_tensors(path, read_tflite(path), {x: image}, runtime)[y]
        for row, column in np.ndindex(rows, columns):
            pixels = image[0, row : row + height, column : column + width].reshape(-1, CHANNELS)
            np.testing.assert_array_equal(theirs[0, row, column], pool(pixels, limits.min, limits.max, mode))
