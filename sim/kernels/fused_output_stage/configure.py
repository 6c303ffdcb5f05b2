"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/neighbours.md sections 4, 5 and 25.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int32Array
from sim.kernels.fused_output_stage.golden import MODES, Mode, fused_output_stage
from sim.kernels.offset_contribution.golden import Parameters as Offsets
from sim.kernels.offset_contribution.validation import bias_faults, column_sum_faults, row_sum_faults
from sim.kernels.operator import (
    AclKernel,
    ConfigurationError,
    Status,
    TensorInfo,
    Window,
    auto_init_if_empty,
    format_faults,
    maximum_window,
    output_shape_faults,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.quantize_down.golden import Parameters as Stage

DEFAULT_MODE = "acl_19_08"


def validate(
    mm: TensorInfo, column_sums: TensorInfo | None, row_sums: TensorInfo | None, bias: TensorInfo | None,
    output: TensorInfo, a_offset: int, b_offset: int, minimum: int = 0, maximum: int = 0,
    stage_type: str | None = None, mode: str = DEFAULT_MODE,
) -> Status:  # fmt: skip
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: mm; bounds; the stage's type, by default the mode's; bias: format, rank, length; with a_offset not 0 column
    sums: null, format, length; with b_offset not 0 row sums: null, format, length, then their batches and those of
    column sums, compared with the output, so that nothing compares them while it is empty; type, channels and shape of
    the output. Mode acl_19_08_assembly takes any bounds. K, multiplier, shift and offset are not looked at.
    `TypeError` when mm or output is None, as upstream asserts. `ValueError`: an unknown mode.
    """
    require_info("mm", mm)
    require_info("output", output)
    rule = MODES[mode]
    sums = column_sums, row_sums, a_offset, b_offset
    return status_of(_faults(mm, *sums, bias, output, (minimum, maximum), stage_type or rule.stage_type, rule))


def _faults(
    mm: TensorInfo, column_sums: TensorInfo | None, row_sums: TensorInfo | None, a_offset: int, b_offset: int,
    bias: TensorInfo | None, output: TensorInfo, bounds: tuple[int, int], stage_type: str, rule: Mode,
) -> Iterator[str]:  # fmt: skip
    yield from format_faults("mm", mm, "S32")
    bounds_fault = rule.bounds_fault(*bounds)
    if bounds_fault is not None:
        yield bounds_fault
    if stage_type != rule.stage_type:
        yield f"the output stage is of type {stage_type}: that of this mode is {rule.stage_type}"
    if bias is not None:
        yield from bias_faults(mm, bias)
    yield from column_sum_faults(mm, column_sums, a_offset)
    yield from row_sum_faults(mm, column_sums if a_offset else None, row_sums, b_offset, ("output", output))
    if not output.is_empty:
        yield from format_faults("output", output, "QASYMM8")
        yield from output_shape_faults(mm, output)


@dataclass(frozen=True, kw_only=True)
class _Configured:
    mm: TensorInfo
    column_sums: TensorInfo | None
    row_sums: TensorInfo | None
    bias: TensorInfo | None
    output: TensorInfo
    offsets: Offsets
    stage: Stage
    mode: str


class FusedOutputStage(AclKernel):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(
        self, mm: TensorInfo, column_sums: TensorInfo | None, row_sums: TensorInfo | None, bias: TensorInfo | None,
        output: TensorInfo, offsets: Offsets, stage: Stage, mode: str = DEFAULT_MODE,
    ) -> None:  # fmt: skip
        """Check as `validate` does, initialise an empty output, and remember the shapes.

        An empty output takes the shape, channels and quantization of mm, and QASYMM8; as upstream, only where the check
        passes. `ConfigurationError` carries the status text, or says that sums have a rank above 2: they have a Z
        stride then, which is not modelled; `TypeError` when mm or output is None. A shift outside of 0..31 is refused
        by `run`, since upstream's configure never looks at it.
        """
        numbers = offsets.a_offset, offsets.b_offset, stage.minimum, stage.maximum
        require_valid(validate(mm, column_sums, row_sums, bias, output, *numbers, mode=mode))
        for name, info in (("column_sums", column_sums), ("row_sums", row_sums)):
            if info is not None and len(info.dimensions) > 2:
                raise ConfigurationError(f"{name} has shape {info.shape}: sums are modelled up to rank 2")
        auto_init_if_empty(output, mm, "QASYMM8")
        columns, rows, biases = (None if info is None else replace(info) for info in (column_sums, row_sums, bias))
        self._configured = _Configured(
            mm=replace(mm), column_sums=columns, row_sums=rows, bias=biases, output=replace(output), offsets=offsets,
            stage=stage, mode=mode,
        )  # fmt: skip

    def name(self) -> str:
        """Upstream's name of the kernel.  `ConfigurationError`: not configured."""
        is_assembly = MODES[require_configured(self._configured).mode].offsets == "acl_19_08_cl"
        return "NEGEMMAssemblyWrapperKernel" if is_assembly else "NEGEMMLowpOffsetContributionOutputStageKernel"

    def window(self) -> Window:
        """The whole product in steps of one: a tail loop inside of the kernel covers what is no whole step of 16.

        `ConfigurationError`: not configured.
        """
        return maximum_window(require_configured(self._configured).mm.shape or ())

    def run(
        self, mm: Int32Array, column_sums: Int32Array | None, row_sums: Int32Array | None, bias: Int32Array | None,
        output: npt.NDArray[np.uint8], window: Window | None = None,
    ) -> None:  # fmt: skip
        """Compute `output` (uint8, written in place) inside `window`, leaving the rest of it untouched.

        Every array has its configured shape, int32 but for the output; None where none was configured. `window` holds
        one slice for each axis of mm in numpy order, within the axis, step 1; None is the whole tensor.
        `ConfigurationError`: not configured. `ValueError`: shape, window, one of a pair missing, or what the golden
        reference refuses. `TypeError`: dtype, or a window not made of slices.
        """
        made = require_configured(self._configured)
        require_array("mm", mm, made.mm.shape or (), np.dtype(np.int32))
        given = (("column_sums", made.column_sums, column_sums), ("row_sums", made.row_sums, row_sums))
        for name, info, array in (*given, ("bias", made.bias, bias)):
            if (info is None) != (array is None):
                raise ValueError(f"{name}: given to one of configure() and run() only: give to both or to neither")
            if info is not None and array is not None:
                require_array(name, array, info.shape or (), np.dtype(np.int32))
        require_array("output", output, made.output.shape or (), np.dtype(np.uint8))
        region = region_of(window, made.mm.shape or ())
        flat = None if bias is None else bias.reshape(-1)  # only axes of size 1 go
        made_bytes = fused_output_stage(mm, column_sums, row_sums, flat, made.offsets, made.stage, made.mode)
        output.reshape(made.mm.shape or ())[region] = made_bytes[region]
