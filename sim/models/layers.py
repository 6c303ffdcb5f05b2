"""What a layer is before its output stage: exact sums in int32, and what is left to do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import CandidateRule
from sim.models.network import (
    AnyArray,
    InputMissing,
    Network,
    NetworkLayer,
    NetworkTensor,
    NotComputed,
    TensorScale,
    require_size,
)
from sim.models.rules.dequantizing import dequantized
from sim.models.rules.real_bias import RealBias


@dataclass(frozen=True, eq=False, kw_only=True)
class Requantized:
    """Sums, bias included, in the shape of the output (int32), and the real factor of each channel of `axis` (float64).

    `scale` has one number, or one for each channel; `single` has the same factors by float32 arithmetic on the file's
    scales, as some runtimes get them; `double` by float64 arithmetic, where that of most is in float32; `reciprocal` by
    a product with the reciprocal of the output's scale, in float32.  `real` is the bias that `accumulators` have in
    them as the real number that it stands for, where some runtimes add it as such.  `minimum` and `maximum` are those
    of the activation, or None.
    """

    accumulators: npt.NDArray[np.int32]
    scale: npt.NDArray[np.float64]
    zero_point: int
    minimum: int | None
    maximum: int | None
    axis: int = -1
    single: npt.NDArray[np.float32] | None = None
    double: npt.NDArray[np.float64] | None = None
    reciprocal: npt.NDArray[np.float32] | None = None
    real: RealBias | None = None

    @property
    def numbers(self) -> AnyArray:
        """What is rounded, in the shape of the output."""
        return self.accumulators


@dataclass(frozen=True, eq=False, kw_only=True)
class Added:
    """The two operands of an addition, with the scales of both and of the output, and the bounds of an activation.

    `by_powers` says that the file has it done by shifts, of scales that are powers of two.
    """

    a: AnyArray
    b: AnyArray
    scales: tuple[TensorScale, TensorScale, TensorScale]
    minimum: int | None = None
    maximum: int | None = None
    by_powers: bool = False

    @property
    def numbers(self) -> AnyArray:
        """What is rounded, in the shape of the output."""
        return self.a


@dataclass(frozen=True, eq=False, kw_only=True)
class Pooled:
    """Sums of windows (int64, in the shape of the output) and how many numbers each has; without these the largest.

    `dtype` is that of the input and so of the output; `minimum` and `maximum` are those of the activation, or None.
    """

    sums: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64] | None
    dtype: str
    minimum: int | None = None
    maximum: int | None = None

    @property
    def numbers(self) -> AnyArray:
        """What is rounded, in the shape of the output."""
        return self.sums


@dataclass(frozen=True, eq=False, kw_only=True)
class FromReals:
    """Real numbers (float32, in the shape of the output) that become integers of one scale.

    `of_windows` says that they are averages, of which a runtime makes bytes otherwise than of other numbers.
    """

    numbers: npt.NDArray[np.float32]
    scale: TensorScale
    of_windows: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class ToReals:
    """Integers of one scale that become real numbers."""

    numbers: AnyArray
    scale: TensorScale

    @property
    def exact(self) -> npt.NDArray[np.float32]:
        """As real numbers, rounded once to float32."""
        return dequantized(self.numbers, self.scale.scales[0], self.scale.zero_point)


@dataclass(frozen=True, eq=False, kw_only=True)
class Activated:
    """Integers that a function makes such of the same dtype, with the scale that they have.

    `function` is logistic, tanh, hard_swish, or leaky_relu, which multiplies negative numbers by `alpha`.  `to` is the
    scale of the output, None where it is the one that TFLite prescribes.
    """

    numbers: AnyArray
    function: str
    scale: TensorScale
    to: TensorScale | None = None
    alpha: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Normalized:
    """Bytes or int16 whose softmax along an axis becomes such of a dtype, times `beta` before; with the scales of both.

    `beta` is None for ONNX's operator, which has none and takes any scale of the output.  `to_the_end` takes all axes
    from that one on as one.
    """

    numbers: AnyArray
    scale: TensorScale
    to: TensorScale
    dtype: str
    beta: float | None
    axis: int = -1
    to_the_end: bool = False

    def as_rows(self, array: AnyArray) -> AnyArray:
        """An array of the shape of `numbers` with what is one softmax along its last axis."""
        if self.to_the_end:
            return array.reshape((*array.shape[: self.axis], -1))
        return np.moveaxis(array, self.axis, -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Averaged:
    """Sums along axes (int64, zero points in them) of `count` numbers of a dtype, that become such of another scale.

    `is_of_images` says that rows and columns of images [N, H, W, C] are averaged, and these axes kept.
    """

    sums: npt.NDArray[np.int64]
    count: int
    dtype: str
    scale: TensorScale
    to: TensorScale
    is_of_images: bool

    @property
    def numbers(self) -> AnyArray:
        """What is rounded, in the shape of the output."""
        return self.sums


@dataclass(frozen=True, eq=False, kw_only=True)
class ByRules:
    """Operands (integers, each in the shape of the output) and the arithmetics that may make the output of them.

    A network is run by the first of `rules`.  `dtype` is that of the output, `minimum` and `maximum` are those of the
    activation, or None.
    """

    operands: Mapping[str, AnyArray]
    rules: Sequence[CandidateRule]
    dtype: str
    minimum: int | None = None
    maximum: int | None = None

    @property
    def numbers(self) -> AnyArray:
        """What is rounded, in the shape of the output."""
        return next(iter(self.operands.values()))


@dataclass(frozen=True, eq=False)
class Several:
    """Numbers that are only moved, an array for each output of a layer."""

    parts: Sequence[AnyArray]


_AT_ONCE: Final = 4
"""Arrays of 64 bits that a conversion takes, each of its size."""
Inputs = Mapping[int, AnyArray]
"""Numbers by tensor, those that the file holds among them."""
OneOutput = Requantized | Added | Pooled | FromReals | ToReals | Activated | Normalized | Averaged | ByRules | AnyArray
"""An array where numbers are only moved."""
Computed = OneOutput | Several


def operand(layer: NetworkLayer, place: int, given: Inputs) -> AnyArray:
    """An input of a layer; raises InputMissing, which is NotComputed, where it is not there."""
    number = layer.inputs[place] if place < len(layer.inputs) else -1
    if number not in given:
        raise InputMissing(place, number)
    return given[number]


def centred(network: Network, layer: NetworkLayer, place: int, given: Inputs) -> npt.NDArray[np.int64]:
    """An operand without its zero point."""
    tensor, numbers = network.tensors[layer.inputs[place]], operand(layer, place, given).astype(np.int64)
    scale = scale_of(tensor)
    if scale.zero_points.size == 1:
        return numbers - scale.zero_point
    along = [1] * numbers.ndim
    along[scale.axis] = -1
    return numbers - scale.zero_points.reshape(along)


def scale_of(tensor: NetworkTensor) -> TensorScale:
    """The scale of a tensor; raises NotComputed where it has none."""
    if tensor.scale is None:
        raise NotComputed(f"{tensor.name} has no scale")
    return tensor.scale


def broadcast(a: AnyArray, b: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Both in one shape; raises NotComputed where that is too large, ValueError where there is none."""
    require_size(np.broadcast_shapes(a.shape, b.shape))
    one, other = np.broadcast_arrays(a, b)
    return one, other


def added(network: Network, layer: NetworkLayer, given: Inputs) -> Added:
    """The addition of the first two inputs of a layer, broadcast, without bounds."""
    a, b = broadcast(operand(layer, 0, given), operand(layer, 1, given))
    of_a, of_b = (scale_of(network.tensors[number]) for number in layer.inputs[:2])
    return Added(a=a, b=b, scales=(of_a, of_b, scale_of(network.output_of(layer))))


def quantized(network: Network, layer: NetworkLayer, given: Inputs) -> FromReals:
    """The first input, real numbers, in the output's scale."""
    numbers, scale = operand(layer, 0, given), scale_of(network.output_of(layer))
    require_size((_AT_ONCE, *numbers.shape))
    if numbers.dtype != np.float32 or scale.scales.size > 1:
        raise NotComputed(f"it quantizes {numbers.dtype}, or by {scale.counted}: float32 by one is computed")
    if np.isnan(numbers).any():
        raise NotComputed("its numbers hold NaN")
    return FromReals(numbers=numbers, scale=scale)


def to_reals(network: Network, layer: NetworkLayer, given: Inputs) -> ToReals:
    """The first input, integers of one scale, that become real numbers."""
    scale = scale_of(network.tensors[layer.inputs[0]])
    if scale.scales.size > 1:
        raise NotComputed("its input has a scale for each channel")
    numbers = operand(layer, 0, given)
    require_size((_AT_ONCE, *numbers.shape))
    return ToReals(numbers=numbers, scale=scale)


def require_one_scale(network: Network, layer: NetworkLayer, place: int = 0, to: int = 0) -> None:
    """Raise NotComputed where numbers that are only moved or compared would have another scale in that output."""
    before, behind = network.tensors[layer.inputs[place]].scale, network.tensors[layer.outputs[to]].scale
    if before is None or behind is None:
        return
    if not (np.array_equal(before.scales, behind.scales) and np.array_equal(before.zero_points, behind.zero_points)):
        raise NotComputed("its output has another scale than its input")


def several(network: Network, layer: NetworkLayer, parts: Sequence[AnyArray], place: int) -> Several:
    """A part for each output, of the scale of that input; raises NotComputed for another scale, or more or fewer."""
    if len(parts) != len(layer.outputs):
        raise NotComputed(f"it makes {len(parts)} parts, and has {len(layer.outputs)} outputs")
    for number in range(len(parts)):
        require_one_scale(network, layer, place, number)
    return Several(parts)


def moved(network: Network, layer: NetworkLayer, given: Inputs) -> AnyArray:
    """The first input in the shape that the file states for the output."""
    require_one_scale(network, layer)
    shape = network.output_of(layer).shape
    if shape is None:
        raise NotComputed("the file does not state its shape")
    same: AnyArray = operand(layer, 0, given).reshape(shape)
    return same
