"""Golden reference of matrix_product: the product of two matrices of bytes that are cut in panels, without offsets.

    A[i, k] = a[i // R, (k // D * R + i % R) * D + k % D]        B[k, j] likewise of b, with C for R
    output[i, j] = wrap32(sum over k of A[i, k] * B[k, j])

A *mode* is the instruction that multiplies, with its type of bytes; it says how panels are cut: R rows, C columns, and
D bytes of a row behind each other.  Source: docs/spec/neighbours.md sections 2 and 22.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int32Array, Int64Array, wrap_int32
from sim.golden.gemm_lowp import Bytes
from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]


class Mode(NamedTuple):
    """The bytes and how they lie: `rows` and `columns` of a panel, `depth` bytes of one of them behind each other.

    `name` is upstream's.
    """

    name: str
    source: str
    dtype: np.dtype[Any]
    rows: int
    columns: int
    depth: int

    @property
    def is_tiled(self) -> bool:
        """Whether blocks of the output lie behind each other; else it is a matrix."""
        return self.depth > 1


_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
_MULTIPLY: Final = "NEGEMMLowpMatrixMultiplyKernel"
MODES: Final = Modes(
    umlal_u8=Mode(_MULTIPLY, "ACL 19.08 on reshaped matrices: widened to 16 bits, UMLAL", _UINT8, 4, 16, 1),
    smlal_s8=Mode(_MULTIPLY, "ACL 19.08 on reshaped matrices: widened to 16 bits, SMLAL", _INT8, 4, 16, 1),
    udot_u8=Mode("a64_gemm_u8_8x12", "ACL's arm_gemm: UDOT by element", _UINT8, 8, 12, 4),
    sdot_s8=Mode("a64_gemm_s8_8x12", "ACL's arm_gemm: SDOT by element", _INT8, 8, 12, 4),
    ummla_u8=Mode("a64_interleaved_u8u32_mmla_8x12", "ACL's arm_gemm: UMMLA", _UINT8, 8, 12, 8),
    smmla_s8=Mode("a64_interleaved_s8s32_mmla_8x12", "ACL's arm_gemm: SMMLA", _INT8, 8, 12, 8),
)


def panels_of(matrix: AnyArray, width: int, depth: int) -> AnyArray:
    """Rows [m, k] in panels of `width` rows, [ceil(m / width), ...], with zeros for what rows and bytes lack.

    Columns of a matrix B are the rows of its transpose.

    >>> panels_of(np.arange(12, dtype=np.uint8).reshape(2, 6), 2, 4).tolist()
    [[0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 0, 0, 10, 11, 0, 0]]
    """
    filled = np.pad(matrix, [(0, -size % by) for size, by in zip(matrix.shape, (width, depth), strict=True)])
    blocks, steps = filled.shape[0] // width, filled.shape[1] // depth
    return filled.reshape(blocks, width, steps, depth).swapaxes(1, 2).reshape(blocks, width * filled.shape[1])


def rows_of(panels: AnyArray, width: int, depth: int) -> Int64Array:
    """What `panels_of` cut, [width * panels, k] in int64, with what they were filled with."""
    blocks, steps = panels.shape[0], panels.shape[1] // (width * depth)
    rows = panels.reshape(blocks, steps, width, depth).swapaxes(1, 2)
    return rows.reshape(blocks * width, steps * depth).astype(np.int64)


def matrix_product(a: Bytes, b: Bytes, mode: str = "umlal_u8") -> Int32Array:
    """The product of panels a, [m / R, R * k], and b, [n / C, C * k]: int32 [m, n], or tiles [m / R, n / C, R, C].

    `TypeError`: another dtype than the mode's. `ValueError`: no whole panels, another k, or an unknown mode.

    >>> a, b = panels_of(np.array([[1, 2]], np.uint8), 4, 1), panels_of(np.array([[3, 255]], np.uint8), 16, 1)
    >>> int(matrix_product(a, b)[0, 0])
    513
    """
    rule = MODES[mode]
    _require_panels(a, b, rule)
    return arranged(wrap_int32(rows_of(a, rule.rows, rule.depth) @ rows_of(b, rule.columns, rule.depth).T), rule)


def _require_panels(a: Bytes, b: Bytes, rule: Mode) -> None:
    for name, panels, width in (("a", a, rule.rows), ("b", b, rule.columns)):
        if not isinstance(panels, np.ndarray) or panels.dtype != rule.dtype:
            raise TypeError(f"{name} is not a numpy array of {rule.dtype}: nothing is cast silently")
        if panels.ndim != 2 or panels.shape[1] % (width * rule.depth):
            raise ValueError(
                f"{name} has shape {panels.shape}: give panels of a multiple of {width * rule.depth} bytes"
            )
    if a.shape[1] // rule.rows != b.shape[1] // rule.columns:
        raise ValueError(f"{a.shape} and {b.shape}: their rows and columns have not the same length")


def arranged(product: Int32Array, rule: Mode) -> Int32Array:
    """A matrix as the mode writes it: in tiles, or as it is."""
    if not rule.is_tiled:
        return product
    blocks = product.reshape(product.shape[0] // rule.rows, rule.rows, product.shape[1] // rule.columns, rule.columns)
    return np.ascontiguousarray(blocks.swapaxes(1, 2))


def matrix_of(written: Int32Array, rule: Mode) -> Int32Array:
    """What `arranged` made tiles of."""
    if not rule.is_tiled:
        return written
    return written.swapaxes(1, 2).reshape(written.shape[0] * rule.rows, written.shape[1] * rule.columns)


def in_16_bits(a: Bytes, b: Bytes, mode: str) -> Int32Array:
    """The products modulo 2^16, read with the sign of the bytes: what is right for one or two of the largest only."""
    narrow: AnyArray = matrix_product(a, b, mode).astype(f"{MODES[mode].dtype.kind}2")
    return narrow.astype(np.int32)


def of_other_bytes(a: Bytes, b: Bytes, mode: str) -> Int32Array:
    """The products with the sign of all bytes mistaken."""
    rule = MODES[mode]
    other = _INT8 if rule.dtype == _UINT8 else _UINT8
    rows, columns = rows_of(a.view(other), rule.rows, rule.depth), rows_of(b.view(other), rule.columns, rule.depth)
    return arranged(wrap_int32(rows @ columns.T), rule)


def byte_by_byte(a: Bytes, b: Bytes, mode: str) -> Int32Array:
    """The products of panels read as if the bytes of a row did not lie behind each other: interleaved one by one."""
    rule = MODES[mode]
    product: Int64Array = rows_of(a, rule.rows, 1) @ rows_of(b, rule.columns, 1).T
    return arranged(wrap_int32(product), rule)
