"""The operator as ACL exposes it: configure() and run(), for the OpenCL and the NEON kernel.

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/offset_contribution.md sections 3 and 6.
"""

from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.offset_contribution.golden import MODES, Parameters, boxes, in_boxes, steps
from sim.kernels.offset_contribution.validation import DEFAULT_MODE, paddings, validate
from sim.kernels.operator import (
    AclKernel,
    ConfigurationError,
    TensorInfo,
    Window,
    maximum_window,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
)


class _Configured(NamedTuple):
    mm: TensorInfo
    column_sums: TensorInfo | None
    row_sums: TensorInfo | None
    bias: TensorInfo | None
    parameters: Parameters
    mode: str


class OffsetContribution(AclKernel):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(
        self, mm: TensorInfo, column_sums: TensorInfo | None, row_sums: TensorInfo | None, bias: TensorInfo | None,
        parameters: Parameters, mode: str = DEFAULT_MODE,
    ) -> None:  # fmt: skip
        """Check as `validate` does, extend the padding of what is resizable, and remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` when mm is None; else as `validate`.
        """
        require_info("mm", mm)
        offsets = (parameters.a_offset, parameters.b_offset)
        require_valid(validate(mm, column_sums, row_sums, bias, *offsets, mode))
        needed = column_sums if parameters.a_offset else None
        for _, info, right, bottom in paddings(mm, needed, bias, mode):
            info.extend_padding(right, bottom)
        copies = _copy(column_sums), _copy(row_sums), _copy(bias)
        self._configured = _Configured(replace(mm), *copies, parameters, mode)

    def name(self) -> str:
        """Upstream's name of the kernel; that of its class for OpenCL, whose kernels are not asked.

        `ConfigurationError`: not configured.
        """
        is_cl = MODES[require_configured(self._configured).mode].has_bias
        return f"{'CL' if is_cl else 'NE'}GEMMLowpOffsetContributionKernel"

    def window(self) -> Window:
        """The whole product in steps of 4 columns on OpenCL, 16 on NEON of 19.08, 1 where there is a tail loop.

        `ConfigurationError`: not configured.
        """
        made = require_configured(self._configured)
        return maximum_window(made.mm.shape or (0,), MODES[made.mode].columns_per_step)

    def run(
        self, mm: Int32Array, column_sums: Int32Array | None = None, row_sums: Int32Array | None = None,
        bias: Int32Array | None = None, window: Window | None = None,
    ) -> None:  # fmt: skip
        """Add to `mm` in place, inside `window` and in the padding that its last step reaches.

        Every array is int32 of its configured shape, the last axis longer by its right padding, as in memory; None
        where none was configured. `window` holds one slice for each axis of mm in numpy order, within the shape without
        padding; its columns start and end at multiples of a step, or end with the row. None is the whole tensor.
        In mode acl_19_08_cl_window a window is computed as upstream launches it, with the sums of row and batch 0 on,
        and with the planes that `golden.boxes` names, which may be others than the window's; the other modes compute
        the window of the whole result. `ConfigurationError`: not configured; or, on OpenCL, sums whose offset is 0:
        the kernel that was built has no argument for them. `ValueError`: shape, window, fewer batches of column sums
        than mm has, or sums of rank 3 and up where they have a Z stride that the kernel takes (column sums on NEON,
        either in acl_19_08_cl_window). `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        require_array("mm", mm, made.mm.padded_shape, np.dtype(np.int32))
        _require_same("column_sums", made.column_sums, column_sums)
        _require_same("row_sums", made.row_sums, row_sums)
        _require_same("bias", made.bias, bias)
        _require_modelled(made)
        step, shape = MODES[made.mode].columns_per_step, made.mm.shape or (0,)
        *outer, columns = region_of(window, shape, step)
        end = _rounded_up(shape[-1], step)
        rows = None if made.row_sums is None or row_sums is None else row_sums[..., : made.row_sums.dimension(0)]
        sums, biases = _rows_of(column_sums, end), _rows_of(bias, end)
        terms = steps(mm[..., :end], sums, rows, None if biases is None else biases[0], made.parameters, made.mode)
        added = in_boxes(terms, boxes((*outer, columns), shape, made.mode), made.mode)["result"]
        if columns.start % step or (columns.stop % step and columns.stop != shape[-1]):
            raise ValueError(f"window has columns {columns.start}..{columns.stop}: give multiples of {step}, the step")
        written = slice(columns.start, _rounded_up(columns.stop, step))
        mm[..., written] = added[..., written]


def _copy(info: TensorInfo | None) -> TensorInfo | None:
    return None if info is None else replace(info)


def _rounded_up(columns: int, step: int) -> int:
    return -(-columns // step) * step


def _rows_of(array: Int32Array | None, end: int) -> Int32Array | None:
    """Column sums or bias as [batches, columns up to `end`]."""
    return None if array is None else array.reshape(prod(array.shape[:-1]), array.shape[-1])[:, :end]


def _require_same(name: str, info: TensorInfo | None, array: Int32Array | None) -> None:
    if (info is None) != (array is None):
        raise ValueError(f"{name}: given to one of configure() and run() only: give to both or to neither")
    if info is not None and array is not None:
        require_array(name, array, info.padded_shape, np.dtype(np.int32))


def _require_modelled(made: _Configured) -> None:
    rule, parameters = MODES[made.mode], made.parameters
    if rule.has_bias:
        _require_needed("column_sums", made.column_sums, parameters.a_offset)
        _require_needed("row_sums", made.row_sums, parameters.b_offset)
    if parameters.a_offset and made.mode != DEFAULT_MODE:
        _require_rank_2("column_sums", made.column_sums, made.mode)
    if parameters.b_offset and rule.sums_from_window_start:
        _require_rank_2("row_sums", made.row_sums, made.mode)


def _require_rank_2(name: str, info: TensorInfo | None, mode: str) -> None:
    """Of rank 3 and up the Z stride of the sums comes in."""
    if info is not None and len(info.dimensions) > 2:
        raise ValueError(f"{name} has shape {info.shape}: mode {mode} is modelled up to rank 2")


def _require_needed(name: str, info: TensorInfo | None, offset: int) -> None:
    if info is not None and offset == 0:
        raise ConfigurationError(f"{name} was given although its offset is 0: the kernel has no such argument")
