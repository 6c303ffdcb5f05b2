"""The operator as ACL exposes it: validate(), configure(), run().

It models a build with asserts: see sim/kernels/operator.py.
Source: docs/spec/transpose1xw.md sections 3, 4 and 5.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from sim.kernels.operator import (
    AclFunction,
    AnyArray,
    Status,
    TensorInfo,
    Window,
    format_faults,
    maximum_window,
    padding_faults,
    region_of,
    require_array,
    require_configured,
    require_info,
    require_valid,
    status_of,
)
from sim.kernels.transpose1xw.golden import MODES, chunk_width, transpose1xw
from sim.kernels.transpose1xw.shapes import transpose1xw_with_element_size_shape

DEFAULT_MODE: Final = "acl_19_08"
TYPES_19_08: Final = ("U8", "S8", "QASYMM8", "U16", "S16", "F16", "U32", "S32", "F32")


def validate(input: TensorInfo, output: TensorInfo, mode: str = DEFAULT_MODE) -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: input type, input channels (19.08; later any type but UNKNOWN); output type, tested even of an empty output,
    which therefore fails; of an output that is not empty its shape, then its quantization where the type is
    quantized; right padding of the input (19.08).
    `TypeError` when input or output is None. `ValueError`: an unknown mode, or in acl_20_11 a data type of no name.
    """
    require_info("input", input)
    require_info("output", output)
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r}: give one of {', '.join(MODES)}")
    return status_of(_faults(input, output, mode))


def _faults(input: TensorInfo, output: TensorInfo, mode: str) -> Iterator[str]:
    yield from _input_faults(input, mode)
    if output.data_type != input.data_type:
        yield f"output has data type {output.data_type}: it must be the input's, {input.data_type}"
    if not output.is_empty:
        stacked = _stacked(input)
        if output.dimensions != stacked.dimensions:
            yield f"output has shape {output.shape}: it must be {stacked.shape}"
        if input.data_type.startswith("Q") and output.quantization != input.quantization:
            yield f"output has quantization {output.quantization}: it must be the input's, {input.quantization}"
    if mode == DEFAULT_MODE:
        yield from padding_faults("input", input, _missing(input))


def _input_faults(input: TensorInfo, mode: str) -> Iterator[str]:
    if mode == DEFAULT_MODE:
        yield from format_faults("input", input, *TYPES_19_08)
    elif input.data_type == "UNKNOWN":
        yield "input has data type UNKNOWN: it must be any other"


def _stacked(input: TensorInfo) -> TensorInfo:
    """What an empty output is initialised to: without quantization, whatever the input has."""
    shape = transpose1xw_with_element_size_shape(input.shape or (), input.element_size)
    return TensorInfo(shape, input.data_type)


def _missing(input: TensorInfo) -> int:
    """Elements that the last chunk of each row lacks."""
    return -input.dimension(0) % chunk_width(input.element_size)


class _Configured(NamedTuple):
    input: TensorInfo
    output: TensorInfo
    mode: str


class Transpose1xW(AclFunction):
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    validate = staticmethod(validate)

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(self, input: TensorInfo, output: TensorInfo, mode: str = DEFAULT_MODE) -> None:
        """Initialise an empty output, then check as `validate` does, extend the input's padding, remember the shapes.

        An empty output takes shape and type, one channel and no quantization: with a quantized input that has any,
        even (1.0, 0), the check that follows fails. Initialise such an output yourself.
        `ConfigurationError` carries the status text; `TypeError` when input or output is None; else as `validate`.
        """
        require_info("input", input)
        require_info("output", output)
        require_valid(status_of(_input_faults(input, mode)))  # without its size there is no shape to initialise
        if output.is_empty:
            stacked = _stacked(input)
            output.shape, output.data_type = stacked.shape, stacked.data_type
            output.channels, output.quantization = 1, None
        require_valid(validate(input, output, mode))
        if mode == DEFAULT_MODE:
            input.extend_padding(_missing(input))
        self._configured = _Configured(replace(input), replace(output), mode)

    def name(self) -> str:
        """Upstream's name of the kernel that the function runs, configured or not."""
        return "NEGEMMTranspose1xWKernel"

    def window(self) -> Window:
        """The whole input in steps of a chunk.  `ConfigurationError`: not configured."""
        info = require_configured(self._configured).input
        return maximum_window(info.shape or (0,), chunk_width(info.element_size))

    def run(self, input: AnyArray, output: AnyArray, window: Window | None = None) -> None:
        """Copy the chunks of `input` inside `window` to `output`, in place, leaving the rest of it untouched.

        Both arrays have the configured shapes, the last axis longer by its right padding, as in memory, and one dtype
        of the size of the type's elements. `window` holds one slice for each axis of the input in numpy order, without
        padding; its columns start and end at multiples of a chunk, or end with the row. None is the whole tensor.
        `ConfigurationError`: not configured. `ValueError`: shape or window. `TypeError`: dtype.
        """
        made = require_configured(self._configured)
        info = made.input
        if not isinstance(input, np.ndarray) or input.itemsize != info.element_size:
            what = f"elements of {info.element_size} bytes, as {info.data_type} has"
            raise TypeError(f"input is not a numpy array of {what}")
        require_array("input", input, made.input.padded_shape, input.dtype)
        require_array("output", output, made.output.padded_shape, input.dtype)
        shape, width = made.input.shape or (0,), chunk_width(input.itemsize)
        stacked = transpose1xw(input[..., : shape[-1]], input[..., shape[-1] :], made.mode)
        region = _written(region_of(window, shape, width), shape[-1], width)
        view = output.reshape(*stacked.shape[:-1], output.shape[-1])
        view[region] = stacked[region]


def _written(region: Window, columns: int, width: int) -> Window:
    """The blocks and columns of the output that a region of the input fills."""
    *planes, rows, part = (slice(0, 1),) * (2 - len(region)) + region
    if part.start % width or (part.stop % width and part.stop != columns):
        raise ValueError(f"window has columns {part.start}..{part.stop}: give multiples of {width}, a chunk")
    blocks = slice(part.start // width, -(-part.stop // width))
    return (*planes, blocks, slice(rows.start * width, rows.stop * width))
