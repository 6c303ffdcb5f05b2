"""What all operators of ACL share: tensor descriptions, the answer of validate(), checks of arrays and windows.

The operators model a build with asserts, in which configure() refuses what validate() refuses. In upstream's release
builds the macro that does so is empty: they configure nonsense silently, and only a call of `validate` tells.
Source: spec/quantize_down.md, spec/offset_contribution.md, spec/transpose1xw.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]
Shape = tuple[int, ...]
Window = tuple[slice, ...]

HIGHEST_RANK: Final = 6  # an ACL tensor has at most six dimensions
ELEMENT_SIZES: Final = {
    **dict.fromkeys(("U8", "S8", "QSYMM8", "QASYMM8", "QASYMM8_SIGNED"), 1),
    **dict.fromkeys(("U16", "S16", "F16", "QSYMM16", "QASYMM16"), 2),
    **dict.fromkeys(("U32", "S32", "F32"), 4),
    **dict.fromkeys(("U64", "S64", "F64"), 8),
}
"""Bytes of one element of one channel, by ACL's name of the data type."""


class ErrorCode(Enum):
    """The two outcomes of validate()."""

    OK = "ok"
    RUNTIME_ERROR = "runtime error"


@dataclass(frozen=True)
class Status:
    """The answer of validate(): true when all is well, else a code and a sentence naming the first fault."""

    code: ErrorCode = ErrorCode.OK
    description: str = ""

    def __bool__(self) -> bool:
        return self.code is ErrorCode.OK


class ConfigurationError(ValueError):
    """configure() was given what validate() refuses; the message is the status text."""


@dataclass
class TensorInfo:
    """A tensor's description; the configure() of an operator may fill in an empty one and extend the padding.

    `shape` is in numpy order: the last axis is the fastest and is ACL's dimension 0. `data_type` is ACL's name ("S32",
    "QASYMM8"). `quantization` is (scale, offset) or None. `right_padding` counts elements behind each row,
    `bottom_padding` rows behind each plane; only a `resizable` tensor, one without memory yet, can get more of them.
    `ValueError`: rank above 6, or a negative size or padding.
    """

    shape: Shape | None = None
    data_type: str = "UNKNOWN"
    channels: int = 1
    quantization: tuple[float, int] | None = None
    right_padding: int = 0
    bottom_padding: int = 0
    resizable: bool = True

    def __post_init__(self) -> None:
        shape = self.shape or ()
        if len(shape) > HIGHEST_RANK or min(shape, default=0) < 0:
            raise ValueError(f"shape is {shape}: give at most {HIGHEST_RANK} axes, none of them negative")
        if min(self.right_padding, self.bottom_padding) < 0:
            raise ValueError(f"padding is {self.right_padding}, {self.bottom_padding}: it must not be negative")

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

    @property
    def element_size(self) -> int:
        """Bytes of one element.  `ValueError` for a data type that is not known."""
        if self.data_type not in ELEMENT_SIZES:
            raise ValueError(f"data type is {self.data_type!r}: give one of {', '.join(ELEMENT_SIZES)}")
        return ELEMENT_SIZES[self.data_type] * self.channels

    @property
    def padded_shape(self) -> Shape:
        """`shape` with the right padding on its last axis, as rows lie in memory; (right padding,) without a shape."""
        *outer, last = self.shape or (0,)
        return (*outer, last + self.right_padding)

    def dimension(self, number: int) -> int:
        """Size of ACL's dimension `number`; 1 beyond the rank."""
        return self.dimensions[number] if number < len(self.dimensions) else 1

    def extend_padding(self, right: int, bottom: int = 0) -> None:
        """Make the padding at least this, if the tensor is resizable."""
        if self.resizable:
            self.right_padding = max(self.right_padding, right)
            self.bottom_padding = max(self.bottom_padding, bottom)


def status_of(faults: Iterator[str]) -> Status:
    """The status of the first fault, or the one that is all well."""
    fault = next(faults, None)
    return Status() if fault is None else Status(ErrorCode.RUNTIME_ERROR, fault)


def require_valid(status: Status) -> None:
    """Raise `ConfigurationError` with the status text, unless all is well."""
    if not status:
        raise ConfigurationError(status.description)


def require_info(name: str, info: object) -> None:
    """Raise `TypeError` for what is no `TensorInfo`, where upstream asserts that a pointer is not null."""
    if not isinstance(info, TensorInfo):
        raise TypeError(f"{name} is {info!r}: give a TensorInfo")


def format_faults(name: str, info: TensorInfo, *data_types: str) -> Iterator[str]:
    """Sentences for a tensor of none of these data types, then for one of more than one channel."""
    if info.data_type not in data_types:
        yield f"{name} has data type {info.data_type}: it must be {' or '.join(data_types)}"
    if info.channels != 1:
        yield f"{name} has {info.channels} channels: it must have 1"


def bias_faults(input: TensorInfo, bias: TensorInfo) -> Iterator[str]:
    """What is wrong with a bias of one number for each column, as ACL's output stages ask for it."""
    if bias.data_type != input.data_type:
        yield f"bias has data type {bias.data_type}: it must be the input's, {input.data_type}"
    if len(bias.dimensions) > 1:
        yield f"bias has rank {len(bias.dimensions)}, shape {bias.shape}: it must have rank 1"
    if bias.dimensions[:1] != input.dimensions[:1]:
        yield f"bias has shape {bias.shape}: its length must be the last axis of the input's {input.shape}"


def output_shape_faults(input: TensorInfo, output: TensorInfo) -> Iterator[str]:
    """What is wrong with the shape of an output that has one element for each of the input."""
    if output.dimensions != input.dimensions:
        yield f"output has shape {output.shape}: it must be the input's, {input.shape}"


def padding_faults(name: str, info: TensorInfo, right: int, bottom: int = 0) -> Iterator[str]:
    """A sentence for a tensor that has less padding and cannot get more."""
    if not info.resizable and (info.right_padding < right or info.bottom_padding < bottom):
        has = f"{info.right_padding} right and {info.bottom_padding} bottom"
        yield f"insufficient padding: {name} has {has}, is not resizable, and needs {right} right and {bottom} bottom"


def require_array(name: str, array: AnyArray, shape: Shape, dtype: np.dtype[np.generic]) -> None:
    """Raise `TypeError` for another dtype than configured, `ValueError` for another shape."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise TypeError(f"{name} is not a numpy array of {dtype}: nothing is cast silently")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}: it was configured as {shape}")


def region_of(window: Window | None, shape: Shape) -> Window:
    """The window with every start and stop filled in; None is the whole tensor.

    A window holds one slice for each axis, in numpy order, within the axis, step 1.
    `ValueError` for any other, `TypeError` for one not made of slices.
    """
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
