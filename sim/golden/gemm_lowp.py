"""A quantized matrix product as ACL 19.08 cuts it up: interleave, block product, sums of rows and columns.

With the kernels transpose1xw (which cuts B), offset_contribution and quantize_down it is a whole layer. Matrices are in
numpy order, [..., rows, columns], of uint8 or int8; sums and products are int32, wrapped.
`TypeError`: another dtype. `ValueError`: shapes that do not fit.
Source: docs/spec/neighbours.md sections 1, 2 and 3.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int32Array, wrap_int32

Bytes = npt.NDArray[np.uint8] | npt.NDArray[np.int8]

BLOCK_ROWS: Final = 4
BLOCK_COLUMNS: Final = 16  # bytes of one register: what transpose1xw cuts B into


def interleave4x4(a: npt.NDArray[Any], padding: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
    """Groups of four rows, column by column: [..., m, k] to [..., ceil(m / 4), 4 * k], of any dtype.

    Formula: out[g, 4 * k + r] = a[4 * g + r, k]. `padding` is [..., -m mod 4, k] of the same dtype: the rows below;
    None stands for zeros, as upstream's test fills them. One row is refused, as by upstream, which takes another path.

    >>> interleave4x4(np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]], np.uint8)).tolist()
    [[1, 3, 5, 7, 2, 4, 6, 8], [9, 0, 0, 0, 10, 0, 0, 0]]
    """
    if a.ndim < 2 or a.shape[-2] == 1:
        raise ValueError(f"a has shape {a.shape}: give [..., m, k] with m other than 1")
    *planes, rows, columns = a.shape
    below = np.zeros((*planes, -rows % BLOCK_ROWS, columns), a.dtype) if padding is None else padding
    _require_below(a, below)
    count = -(-rows // BLOCK_ROWS)
    groups = np.concatenate([a, below], axis=-2).reshape(*planes, count, BLOCK_ROWS, columns)
    return np.swapaxes(groups, -2, -1).reshape(*planes, count, BLOCK_ROWS * columns)


def multiply_blocks(interleaved: Bytes, transposed: Bytes) -> Int32Array:
    """The product in whole blocks of 4 x 16, of a cut by `interleave4x4` and b cut by transpose1xw.

    [..., g, 4 * k] and [..., j, 16 * k] give [..., 4 * g, 16 * j]; leading axes, the batches, broadcast.
    Formula: out[4 * g + r, 16 * j + c] = wrap_int32(sum over k of a[g, 4 * k + r] * b[j, 16 * k + c]). Rows and columns
    behind those of the matrices hold what their padding makes. No offsets, no bias.
    """
    _require_bytes("interleaved", interleaved)
    _require_bytes("transposed", transposed)
    a, b = _split("interleaved", interleaved, BLOCK_ROWS), _split("transposed", transposed, BLOCK_COLUMNS)
    if a.shape[-2] != b.shape[-2] or interleaved.dtype != transposed.dtype:
        raise ValueError(f"{interleaved.shape} and {transposed.shape}: give the same k and the same dtype")
    blocks = np.einsum("...gkr,...jkc->...grjc", a.astype(np.int64), b.astype(np.int64))
    *planes, groups, _, parts, _ = blocks.shape
    return wrap_int32(blocks.reshape(*planes, BLOCK_ROWS * groups, BLOCK_COLUMNS * parts))


def sums_of_rows(a: Bytes) -> Int32Array:
    """sum over k of a[i, k]: [..., m, k] to [..., m]; the reduction of matrix A, which ACL 19.08 has for uint8 only.

    >>> sums_of_rows(np.array([[1, 2], [255, 255]], np.uint8))
    array([  3, 510], dtype=int32)
    """
    _require_bytes("a", a)
    return wrap_int32(a.sum(axis=-1, dtype=np.int64))


def sums_of_columns(b: Bytes) -> Int32Array:
    """sum over k of b[k, j]: [..., k, n] to [..., n]; the reduction of matrix B, which ACL 19.08 has for uint8 only.

    >>> sums_of_columns(np.array([[1, 2], [255, 255]], np.uint8))
    array([256, 257], dtype=int32)
    """
    _require_bytes("b", b)
    return wrap_int32(b.sum(axis=-2, dtype=np.int64))


def _split(name: str, matrix: Bytes, width: int) -> Bytes:
    """[..., blocks, k * width] as [..., blocks, k, width]."""
    if matrix.ndim < 2 or matrix.shape[-1] % width:
        raise ValueError(f"{name} has shape {matrix.shape}: its last axis must be a multiple of {width}")
    return matrix.reshape(*matrix.shape[:-1], matrix.shape[-1] // width, width)


def _require_bytes(name: str, matrix: Bytes) -> None:
    if matrix.dtype not in (np.dtype(np.uint8), np.dtype(np.int8)):
        raise TypeError(f"{name} has dtype {matrix.dtype}: give uint8 or int8")


def _require_below(a: npt.NDArray[Any], below: npt.NDArray[Any]) -> None:
    if below.dtype != a.dtype:
        raise TypeError(f"padding has dtype {below.dtype}: it must be that of a, {a.dtype}")
    wanted = (*a.shape[:-2], -a.shape[-2] % BLOCK_ROWS, a.shape[-1])
    if below.shape != wanted:
        raise ValueError(f"padding has shape {below.shape}: it must be {wanted}")
