"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/neighbours.md sections 3 and 17.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.golden.gemm_lowp import Bytes
from sim.kernels.matrix_reduction.golden import MODES, Mode, matrix_reduction
from sim.kernels.operator import (
    AclKernel,
    ConfigurationError,
    Shape,
    Status,
    TensorInfo,
    Window,
    format_faults,
    maximum_window,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)

STEP = 16  # columns of a step of the sums of columns


def validate(matrix: TensorInfo, sums: TensorInfo, mode: str = "rows_u8") -> Status:
    """Whether the operator can be configured: types and channels of matrix and sums, in that order, and nothing else.

    `TypeError` when one is None. `ValueError`: an unknown mode.
    """
    require_info("matrix", matrix)
    require_info("sums", sums)
    return status_of(_faults(matrix, sums, MODES[mode]))


def _faults(matrix: TensorInfo, sums: TensorInfo, rule: Mode) -> Iterator[str]:
    yield from format_faults("matrix", matrix, "QASYMM8" if rule.dtype == np.uint8 else "QASYMM8_SIGNED")
    yield from format_faults("sums", sums, "S32")


class _Configured(NamedTuple):
    matrix_shape: Shape
    sums_shape: Shape
    length: int
    mode: str


class MatrixReduction(AclKernel):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, matrix: TensorInfo, sums: TensorInfo, length: int, mode: str = "rows_u8") -> None:
        """Check as `validate` does, and remember the shapes.

        `length` is how many bytes each sum has: upstream takes it as it is given; here it must not exceed the axis,
        beyond which upstream reads what lies there. Nor does upstream look at the shape of the sums.
        `ConfigurationError` carries the status text, or says which of these does not fit; `TypeError` as `validate`.
        """
        require_valid(validate(matrix, sums, mode))
        shape = matrix.shape or (0, 0)
        axis = -1 if MODES[mode].of_rows else -2
        if len(shape) < 2 or not 0 <= length <= shape[axis]:
            raise ConfigurationError(f"length is {length}: a matrix of shape {shape} has no so long sums")
        wanted = (*shape[:-2], shape[-2] if axis == -1 else shape[-1])
        if sums.shape != wanted:
            raise ConfigurationError(f"sums have shape {sums.shape}: they must have {wanted}")
        self._configured = _Configured(shape, wanted, length, mode)

    def name(self) -> str:
        """Upstream's name.  `ConfigurationError`: not configured."""
        rule = MODES[require_configured(self._configured).mode]
        return f"NEGEMMLowpMatrix{'A' if rule.of_rows else 'B'}ReductionKernel"

    def window(self) -> Window:
        """All sums; of columns in steps of 16.  `ConfigurationError`: not configured."""
        made = require_configured(self._configured)
        return maximum_window(made.sums_shape, 1 if MODES[made.mode].of_rows else STEP)

    def run(self, matrix: Bytes, sums: Int32Array, window: Window | None = None) -> None:
        """Compute the `sums` inside `window`, in place, leaving the rest untouched.

        Both have the configured shapes. `window` holds one slice for each axis of the sums; None is all.
        `ConfigurationError`: not configured. `ValueError`: shape or window. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        rule = MODES[made.mode]
        require_array("matrix", matrix, made.matrix_shape, rule.dtype)
        require_array("sums", sums, made.sums_shape, np.dtype(np.int32))
        region = region_of(window, made.sums_shape, 1 if rule.of_rows else STEP)
        part = matrix[..., : made.length] if rule.of_rows else matrix[..., : made.length, :]
        sums[region] = matrix_reduction(part, made.mode)[region]
