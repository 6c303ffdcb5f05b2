"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/neighbours.md sections 1 and 18.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim.golden.gemm_lowp import BLOCK_ROWS
from sim.kernels.interleave4x4.golden import BY_SIZE, MODES, interleaved
from sim.kernels.operator import (
    AclFunction,
    AnyArray,
    Status,
    TensorInfo,
    Window,
    format_faults,
    maximum_window,
    padding_faults,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.transpose1xw.configure import TYPES_19_08


def validate(input: TensorInfo, output: TensorInfo, mode: str | None = None) -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: input type, input channels; output type, even of an empty output; of an output that is not empty its shape,
    then its quantization where the type is quantized; padding of the input, right and bottom; last what lanewise adds:
    one row, and with a `mode` the size of elements. `TypeError` when input or output is None.
    """
    require_info("input", input)
    require_info("output", output)
    return status_of(_faults(input, output, mode))


def _faults(input: TensorInfo, output: TensorInfo, mode: str | None) -> Iterator[str]:
    yield from format_faults("input", input, *TYPES_19_08)
    if output.data_type != input.data_type:
        yield f"output has data type {output.data_type}: it must be the input's, {input.data_type}"
    if not output.is_empty:
        reshaped = _reshaped(input)
        if output.dimensions != reshaped.dimensions:
            yield f"output has shape {output.shape}: it must be {reshaped.shape}"
        if input.data_type.startswith("Q") and output.quantization != input.quantization:
            yield f"output has quantization {output.quantization}: it must be the input's, {input.quantization}"
    yield from padding_faults("input", input, *_missing(input))
    if input.dimension(1) == 1:
        yield f"input has shape {input.shape}: one row is not reshaped, a step of the window would be none"
    if mode is not None and MODES[mode].dtype.itemsize != input.element_size:
        yield f"input has elements of {input.element_size} bytes: mode {mode} has {MODES[mode].dtype.itemsize}"


def _reshaped(input: TensorInfo) -> TensorInfo:
    """What an empty output is initialised to."""
    *planes, rows, columns = (1,) * (2 - len(input.shape or ())) + (input.shape or ())
    return replace(input, shape=(*planes, -(-rows // BLOCK_ROWS), BLOCK_ROWS * columns))


def _missing(input: TensorInfo) -> tuple[int, int]:
    """Columns and rows that the last step and the last group lack."""
    return -input.dimension(0) % MODES[BY_SIZE[input.element_size]].step, -input.dimension(1) % BLOCK_ROWS


class _Configured(NamedTuple):
    input: TensorInfo
    output: TensorInfo


class Interleave4x4(AclFunction):
    """The operator: `configure` once, then `run` on arrays of the configured shapes with their padding."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, input: TensorInfo, output: TensorInfo) -> None:
        """Initialise an empty output, then check as `validate` does, extend the paddings, remember the shapes.

        `ConfigurationError` carries the status text; `TypeError` as `validate`.
        """
        require_info("input", input)
        require_info("output", output)
        require_valid(status_of(format_faults("input", input, *TYPES_19_08)))
        if output.is_empty:
            reshaped = _reshaped(input)
            output.shape, output.data_type = reshaped.shape, reshaped.data_type
            output.channels, output.quantization = input.channels, input.quantization
        require_valid(validate(input, output))
        right, bottom = _missing(input)
        input.extend_padding(right, bottom)
        output.extend_padding(BLOCK_ROWS * right)
        self._configured = _Configured(replace(input), replace(output))

    def name(self) -> str:
        """Upstream's name of the kernel that the function runs, configured or not."""
        return "NEGEMMInterleave4x4Kernel"

    def window(self) -> Window:
        """The whole input in steps of 8 or 4 columns.  `ConfigurationError`: not configured."""
        info = require_configured(self._configured).input
        return maximum_window(info.shape or (0,), MODES[BY_SIZE[info.element_size]].step)

    def run(self, input: AnyArray, output: AnyArray) -> None:
        """Reshape `input` into `output`, in place, with whatever is in the padding.

        Both arrays have the configured shapes with their padding, right and bottom, as in memory, and one dtype of the
        size of the type's elements. `ConfigurationError`: not configured. `ValueError`: shape. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        if not isinstance(input, np.ndarray) or input.itemsize != made.input.element_size:
            raise TypeError(f"input is not a numpy array of elements of {made.input.element_size} bytes")
        *planes, rows, columns = made.input.padded_shape
        require_array("input", input, (*planes, rows + made.input.bottom_padding, columns), input.dtype)
        require_array("output", output, made.output.padded_shape, input.dtype)
        right, bottom = _missing(made.input)
        *_, height, width = made.input.shape or (0, 0)
        whole = interleaved(input[..., : height + bottom, : width + right], BY_SIZE[input.itemsize])
        output[..., : whole.shape[-1]] = whole
