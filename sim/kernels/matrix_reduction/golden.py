"""Golden reference of matrix_reduction: sums of rows or columns of bytes, as a quantized matrix product needs them.

    rows[i] = wrap(sum over k of matrix[i, k])        columns[j] = wrap(sum over k of matrix[k, j])

A *mode* names the axis and the bytes.  Source: docs/spec/neighbours.md sections 3 and 17.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int32Array
from sim.golden.gemm_lowp import Bytes, sums_of_columns, sums_of_rows
from sim.kernels.names import Modes

Steps = dict[str, Int32Array]


class Mode(NamedTuple):
    """What is summed up, and where from."""

    source: str
    dtype: np.dtype[Any]
    sums: Callable[[Bytes], Int32Array]

    @property
    def of_rows(self) -> bool:
        """Whether it is of rows; of columns otherwise."""
        return self.sums is sums_of_rows


_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
MODES: Final = Modes(
    rows_u8=Mode("ACL 19.08, NEGEMMLowpMatrixAReductionKernel on a matrix that is not reshaped", _UINT8, sums_of_rows),
    columns_u8=Mode(
        "ACL 19.08, NEGEMMLowpMatrixBReductionKernel on a matrix that is not reshaped", _UINT8, sums_of_columns
    ),
    rows_s8=Mode("lanewise: the same of int8, as layers with signed bytes need it", _INT8, sums_of_rows),
    columns_s8=Mode("lanewise: the same of int8, as layers with signed bytes need it", _INT8, sums_of_columns),
)


def matrix_reduction(matrix: Bytes, mode: str = "rows_u8") -> Int32Array:
    """The sums: [..., m, k] to int32 [..., m], or of columns [..., k, n] to [..., n].

    `TypeError`: another dtype than the mode's. `ValueError`: less than two axes, or an unknown mode.

    >>> matrix_reduction(np.array([[1, 2], [255, 255]], np.uint8)).tolist()
    [3, 510]
    """
    rule = MODES[mode]
    if not isinstance(matrix, np.ndarray) or matrix.dtype != rule.dtype:
        raise TypeError(f"matrix is not a numpy array of {rule.dtype}: nothing is cast silently")
    if matrix.ndim < 2:
        raise ValueError(f"matrix has shape {matrix.shape}: give rows and columns")
    return rule.sums(matrix)


def in_16_bits(matrix: Bytes, mode: str) -> Int32Array:
    """The sums modulo 2^16, read with the sign of the bytes: what accumulators stay right in for 257 bytes only."""
    narrow: npt.NDArray[Any] = matrix_reduction(matrix, mode).astype(f"{MODES[mode].dtype.kind}2")
    return narrow.astype(np.int32)
