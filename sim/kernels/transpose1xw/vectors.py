"""Input sets of transpose1xw: corners first, then seeded random ones.

Only rows that end inside a chunk tell the modes apart, and only bytes that differ tell places apart: most rows do, and
the bytes of values, padding and output are random ones. A kernel that needs no padding also gets rows that end where
the memory does. An input set holds `values` [planes, h, w], `padding`
[planes, h, p] of the same dtype, and `output`, uint8 [planes, blocks, stride], as it is before the call.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.kernels.kernel import Inputs
from sim.kernels.transpose1xw.golden import CHUNK_BYTES, chunk_width

DTYPES: Final = ("uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32")


def corners(reads_padding: bool) -> Iterator[Inputs]:
    """Every width up to two chunks and one element, for each element size; no rows, no columns, extreme bytes."""
    rng = np.random.default_rng(0)
    for dtype in ("uint8", "int16", "float32"):
        width = chunk_width(np.dtype(dtype).itemsize)
        for columns in range(2 * width + 2):
            yield _input_set(rng, (1 + columns % 2, 1 + columns % 3, columns), dtype, reads_padding, extra=0)
        for shape in ((1, 0, 3), (0, 2, 3)):
            yield _input_set(rng, shape, dtype, reads_padding, extra=0)
    for byte in (0x00, 0x5A, 0xFF):  # padding bytes all alike, as the spec's own runs had them
        for dtype in ("uint8", "int16", "float32"):
            columns = chunk_width(np.dtype(dtype).itemsize) + 1
            inputs = _input_set(rng, (1, 2, columns), dtype, reads_padding, extra=0)
            padding = np.full(inputs["padding"].nbytes, byte, np.uint8).view(dtype)
            yield {**inputs, "padding": padding.reshape(inputs["padding"].shape)}


def sample(rng: np.random.Generator, reads_padding: bool, chunks: int = 4) -> Inputs:
    """Up to three planes of up to 13 rows of at most so many chunks, of any type; a quarter of the rows of whole."""
    dtype = DTYPES[int(rng.integers(len(DTYPES)))]
    width = chunk_width(np.dtype(dtype).itemsize)
    columns = int(rng.integers(1, chunks * width)) if rng.random() < 0.75 else width * int(rng.integers(1, chunks + 1))
    shape = (int(rng.integers(1, 4)), int(rng.integers(1, 14)), columns)
    return _input_set(rng, shape, dtype, reads_padding, extra=int(rng.choice((0, 0, 1, 5))))


def _input_set(
    rng: np.random.Generator, shape: tuple[int, int, int], dtype: str, reads_padding: bool, extra: int
) -> Inputs:
    planes, rows, columns = shape
    width = chunk_width(np.dtype(dtype).itemsize)
    missing = -columns % width if reads_padding or rng.random() < 0.75 else 0
    stride = rows * CHUNK_BYTES + extra
    return {
        "values": _bytes(rng, shape, dtype),
        "padding": _bytes(rng, (planes, rows, missing + extra), dtype),
        "output": _bytes(rng, (planes, -(-columns // width), stride), "uint8"),
    }


def _bytes(rng: np.random.Generator, shape: tuple[int, int, int], dtype: str) -> npt.NDArray[Any]:
    """Any bit patterns, NaN with payload among those of floating types."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(size), dtype).reshape(shape)
