"""What all operators of ACL share: tensor descriptions, the answer of validate(), checks of arrays and windows.

The operators model a build with asserts, in which configure() refuses what validate() refuses. In upstream's release
builds the macro that does so is empty: they configure nonsense silently, and only a call of `validate` tells.
Source: docs/spec/quantize_down.md, docs/spec/offset_contribution.md, docs/spec/transpose1xw.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from math import prod
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError

AnyArray = npt.NDArray[Any]
Shape = tuple[int, ...]
Window = tuple[slice, ...]
_Made = TypeVar("_Made")

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


class ConfigurationError(LanewiseError, ValueError):
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
    _: KW_ONLY
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


class BorderSize(NamedTuple):
    """Elements around a tensor that a kernel reads beside those of its window."""

    top: int = 0
    right: int = 0
    bottom: int = 0
    left: int = 0


class AclKernel(ABC):
    """What every kernel of ACL tells of itself besides configure(), validate() and run()."""

    @abstractmethod
    def name(self) -> str:
        """Upstream's name of the kernel."""

    @abstractmethod
    def window(self) -> Window:
        """The largest window that `run` takes, one slice for each axis in numpy order.

        Its steps are elements of one step of the kernel, and the last axis ends with a whole step, in the padding.
        `ConfigurationError`: not configured.
        """

    def is_parallelisable(self) -> bool:
        """Whether `window` may be cut in parts that run at once: all kernels here can."""
        return True

    def border_size(self) -> BorderSize:
        """None of the kernels here has a border: what they read beside the window is padding."""
        return BorderSize()


class AclFunction(AclKernel):
    """A function of ACL that has one kernel, for which it answers."""

    def prepare(self) -> None:
        """What upstream's run() does once before its first run: nothing for these functions."""


def maximum_window(shape: Shape, step: int = 1) -> Window:
    """The whole of a tensor of that shape in steps along the last axis, the last of them a whole one."""
    *outer, last = shape or (0,)
    return (*(slice(0, size, 1) for size in outer), slice(0, -(-last // step) * step, step))


class OperatorInterface(ABC):
    """An operator, with calls that show what it accepts and refuses.

    `models` names system, version and operator, `spec` the page of its arithmetic; `operator` is the class, whose
    `validate` is static.
    """

    models: ClassVar[str]
    spec: ClassVar[str]
    operator: ClassVar[Any]

    @property
    def validate(self) -> Callable[..., Status]:
        """The operator's."""
        validate: Callable[..., Status] = self.operator.validate
        return validate

    @abstractmethod
    def accepted(self, mode: str) -> Mapping[str, Any]:
        """Arguments of `validate` that the mode accepts."""

    @abstractmethod
    def faulty(self, mode: str) -> Sequence[Mapping[str, Any]]:
        """Changes of them, in the order in which validate() finds the faults.

        Those of what the mode does not judge are accepted.
        """

    @abstractmethod
    def configured(self, mode: str) -> Any:
        """An operator of the mode."""

    def faults(self, mode: str) -> list[tuple[Mapping[str, Any], Status]]:
        """Each change that the mode refuses, with the answer of validate()."""
        accepted = self.accepted(mode)
        found = [(change, self.validate(**{**accepted, **change})) for change in self.faulty(mode)]
        return [(change, status) for change, status in found if not status]


def status_of(faults: Iterator[str]) -> Status:
    """The status of the first fault, or the one that is all well."""
    fault = next(faults, None)
    return Status() if fault is None else Status(ErrorCode.RUNTIME_ERROR, fault)


def require_valid(status: Status) -> None:
    """Raise `ConfigurationError` with the status text, unless all is well."""
    if not status:
        raise ConfigurationError(status.description)


def require_configured(configured: _Made | None) -> _Made:
    """What configure() has left.  `ConfigurationError`: nothing."""
    if configured is None:
        raise ConfigurationError("the operator is not configured: call configure() before run()")
    return configured


def auto_init_if_empty(output: TensorInfo, input: TensorInfo, data_type: str) -> None:
    """Give an empty output the input's shape, channels and quantization, and this type: upstream's name."""
    if output.is_empty:
        output.shape, output.data_type = input.shape, data_type
        output.channels, output.quantization = input.channels, input.quantization


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


def require_bias(bias: AnyArray | None, shape: Shape | None) -> None:
    """As `require_array` for an int32 bias; `ValueError` too where only one of bias and configured shape is None."""
    if (bias is None) != (shape is None):
        raise ValueError("bias was given to one of configure() and run() only: give it to both or to neither")
    if bias is not None and shape is not None:
        require_array("bias", bias, shape, np.dtype(np.int32))


def region_of(window: Window | None, shape: Shape, step: int = 1) -> Window:
    """The window with every start and stop filled in; None is the whole tensor.

    A window holds one slice for each axis, in numpy order, within the axis, step 1. That of the last axis may have
    `step` instead, as `maximum_window` has, and then may end with the last whole step; the region ends with the axis.
    `ValueError` for any other, `TypeError` for one not made of slices.
    """
    if window is None:
        return tuple(slice(0, size) for size in shape)
    if len(window) != len(shape):
        raise ValueError(f"window has {len(window)} slices: the tensor has {len(shape)} axes")
    if window and isinstance(window[-1], slice) and step > 1 and window[-1].step == step:
        *outer, last = window
        within = last.stop is not None and last.stop == maximum_window(shape, step)[-1].stop
        window = (*outer, slice(last.start, shape[-1] if within else last.stop))
    region = []
    for axis, (part, size) in enumerate(zip(window, shape, strict=True)):
        if not isinstance(part, slice):
            raise TypeError(f"window has {part!r} for axis {axis}: give a slice")
        start = 0 if part.start is None else part.start
        stop = size if part.stop is None else part.stop
        if not 0 <= start <= stop <= size or part.step not in (None, 1):
            raise ValueError(f"window has {part} for axis {axis}: give 0 <= start <= stop <= {size} and step 1")
        region.append(slice(start, stop))
    return tuple(region)
