"""The operator as ACL exposes it: tensor descriptions, validate(), configure(), run().

It models a build with asserts, in which configure() refuses what validate() refuses. In upstream's release builds the
macro that does so is empty: they configure nonsense silently, and only a call of `validate` tells.
Source: spec/quantize_down.md, "validate() — every error" and "Shapes, padding, edges".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import prod

import numpy as np

from sim.golden.fixed_point import Int32Array
from sim.kernels.quantize_down.golden import (
    HIGHEST_RANK,
    AnyArray,
    Parameters,
    Uint8Array,
    mode_named,
    quantize_down,
)

Shape = tuple[int, ...]
Window = tuple[slice, ...]


class ErrorCode(Enum):
    """The two outcomes of validate()."""

    OK = "ok"
    RUNTIME_ERROR = "runtime error"


@dataclass(frozen=True)
class Status:
    """The answer of `validate`: true when all is well, else a code and a sentence naming the first fault."""

    code: ErrorCode = ErrorCode.OK
    description: str = ""

    def __bool__(self) -> bool:
        return self.code is ErrorCode.OK


class ConfigurationError(ValueError):
    """configure() was given what validate() refuses; the message is the status text."""


@dataclass
class TensorInfo:
    """A tensor's description; `QuantizeDown.configure` fills in an empty one.

    `shape` is in numpy order: the last axis is the fastest and is ACL's dimension 0. `data_type` is ACL's name ("S32",
    "QASYMM8"). `quantization` is (scale, offset) or None. `ValueError`: rank above 6, or a negative size.
    """

    shape: Shape | None = None
    data_type: str = "UNKNOWN"
    channels: int = 1
    quantization: tuple[float, int] | None = None

    def __post_init__(self) -> None:
        shape = self.shape or ()
        if len(shape) > HIGHEST_RANK or min(shape, default=0) < 0:
            raise ValueError(f"shape is {shape}: give at most {HIGHEST_RANK} axes, none of them negative")

    @property
    def is_empty(self) -> bool:
        """True when there is no shape, or no element in it."""
        return not self.shape or prod(self.shape) == 0

    @property
    def dimensions(self) -> Shape:
        """Sizes in ACL's order, dimension 0 first, trailing ones dropped: (1, 21) is (21,). Dimension 0 is kept."""
        sizes = list(reversed(self.shape or ()))
        while len(sizes) > 1 and sizes[-1] == 1:
            sizes.pop()
        return tuple(sizes)


def validate(
    input: TensorInfo,
    bias: TensorInfo | None,
    output: TensorInfo,
    minimum: int = 0,
    maximum: int = 0,
    mode: str = "acl_19_08",
) -> Status:
    """Whether the operator can be configured; the first fault in upstream's order.

    Order: input type, input channels, bounds, bias type, bias rank, bias length, output type, output channels, output
    shape. An empty output passes. The bounds are judged by the mode: 20.05 refuses only minimum > maximum.
    Multiplier, shift and offset are not looked at. `TypeError` when input or output is None, as upstream asserts.
    """
    _require_info("input", input)
    _require_info("output", output)
    bounds_fault = mode_named(mode).bounds_fault(minimum, maximum)
    fault = next(_faults(input, bias, output, bounds_fault), None)
    return Status() if fault is None else Status(ErrorCode.RUNTIME_ERROR, fault)


def _faults(input: TensorInfo, bias: TensorInfo | None, output: TensorInfo, bounds_fault: str | None) -> Iterator[str]:
    yield from _format_faults("input", input, "S32")
    if bounds_fault is not None:
        yield bounds_fault
    if bias is not None:
        yield from _bias_faults(input, bias)
    if not output.is_empty:
        yield from _format_faults("output", output, "QASYMM8")
        yield from _output_shape_faults(input, output)


def _format_faults(name: str, info: TensorInfo, data_type: str) -> Iterator[str]:
    if info.data_type != data_type:
        yield f"{name} has data type {info.data_type}: it must be {data_type}"
    if info.channels != 1:
        yield f"{name} has {info.channels} channels: it must have 1"


def _bias_faults(input: TensorInfo, bias: TensorInfo) -> Iterator[str]:
    if bias.data_type != input.data_type:
        yield f"bias has data type {bias.data_type}: it must be the input's, {input.data_type}"
    if len(bias.dimensions) > 1:
        yield f"bias has rank {len(bias.dimensions)}, shape {bias.shape}: it must have rank 1"
    if bias.dimensions[:1] != input.dimensions[:1]:
        yield f"bias has shape {bias.shape}: its length must be the last axis of the input's {input.shape}"


def _output_shape_faults(input: TensorInfo, output: TensorInfo) -> Iterator[str]:
    if output.dimensions != input.dimensions:
        yield f"output has shape {output.shape}: it must be the input's, {input.shape}"


def _require_info(name: str, info: object) -> None:
    if not isinstance(info, TensorInfo):
        raise TypeError(f"{name} is {info!r}: give a TensorInfo")


@dataclass(frozen=True)
class _Configured:
    input_shape: Shape
    bias_shape: Shape | None
    output_shape: Shape
    parameters: Parameters
    mode: str


class QuantizeDown:
    """The operator: `configure` once, then `run` on arrays of the configured shapes, whole or window by window."""

    def __init__(self) -> None:
        self._configured: _Configured | None = None

    def configure(
        self,
        input: TensorInfo,
        bias: TensorInfo | None,
        output: TensorInfo,
        parameters: Parameters,
        mode: str = "acl_19_08",
    ) -> None:
        """Initialise an empty output, then check as `validate` does and remember the shapes.

        An empty output takes the input's shape, channels and quantization, and QASYMM8; as upstream, that happens even
        when the check then fails. `ConfigurationError` carries the status text; `TypeError` when input or output is
        None. A shift that the mode does not define is refused by `run`, since upstream's configure never looks at it.
        """
        _require_info("input", input)
        _require_info("output", output)
        _initialise_if_empty(output, input)
        status = validate(input, bias, output, parameters.minimum, parameters.maximum, mode)
        if not status:
            raise ConfigurationError(status.description)
        bias_shape = None if bias is None else bias.shape or ()
        self._configured = _Configured(input.shape or (), bias_shape, output.shape or (), parameters, mode)

    def run(
        self,
        accumulators: Int32Array,
        bias: Int32Array | None,
        output: Uint8Array,
        window: Window | None = None,
    ) -> None:
        """Compute `output` (uint8, written in place) inside `window`, leaving the rest of it untouched.

        `accumulators` is int32 of the input's shape, `bias` int32 of the bias's shape, or None as configured.
        `window` holds one slice for each axis, in numpy order, within the axis, step 1; None is the whole tensor.
        As in the kernel, 16-column blocks start at the window's first column, which only the lanes-and-tail mode shows.
        `ValueError`: shape, window, or not configured. `TypeError`: dtype, or a window not made of slices.
        """
        made = self._require_configured()
        _require_arrays(made, accumulators, bias, output)
        region = _region(window, made.input_shape)
        columns = None if bias is None else bias.reshape(-1)[region[-1:]]
        view = output.reshape(made.input_shape)  # only axes of size 1 come or go, so this never copies
        view[region] = quantize_down(accumulators[region], columns, made.parameters, made.mode)

    def _require_configured(self) -> _Configured:
        if self._configured is None:
            raise ConfigurationError("the operator is not configured: call configure() before run()")
        return self._configured


def _initialise_if_empty(output: TensorInfo, input: TensorInfo) -> None:
    if output.is_empty:
        output.shape, output.data_type = input.shape, "QASYMM8"
        output.channels, output.quantization = input.channels, input.quantization


def _require_arrays(made: _Configured, accumulators: Int32Array, bias: Int32Array | None, output: Uint8Array) -> None:
    _require_array("accumulators", accumulators, made.input_shape, np.dtype(np.int32))
    _require_array("output", output, made.output_shape, np.dtype(np.uint8))
    if (bias is None) != (made.bias_shape is None):
        raise ValueError("bias was given to one of configure() and run() only: give it to both or to neither")
    if bias is not None and made.bias_shape is not None:
        _require_array("bias", bias, made.bias_shape, np.dtype(np.int32))


def _require_array(name: str, array: AnyArray, shape: Shape, dtype: np.dtype[np.generic]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise TypeError(f"{name} is not a numpy array of {dtype}: nothing is cast silently")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}: it was configured as {shape}")


def _region(window: Window | None, shape: Shape) -> Window:
    if window is None:
        return tuple(slice(0, size) for size in shape)
    if len(window) != len(shape):
        raise ValueError(f"window has {len(window)} slices: the tensor has {len(shape)} axes")
    return tuple(_axis_range(axis, part, size) for axis, (part, size) in enumerate(zip(window, shape, strict=True)))


def _axis_range(axis: int, part: slice, size: int) -> slice:
    if not isinstance(part, slice):
        raise TypeError(f"window has {part!r} for axis {axis}: give a slice")
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    if not 0 <= start <= stop <= size or part.step not in (None, 1):
        raise ValueError(f"window has {part} for axis {axis}: give 0 <= start <= stop <= {size} and step 1")
    return slice(start, stop)
