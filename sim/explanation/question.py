"""What is asked: somebody's output, what it was computed from, and the parameters.  Wrong ones get a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from isa.errors import LanewiseError
from sim.explanation.addition import addition_rules
from sim.explanation.apart import AccumulatorSearch, Channel, PairSearch, Search
from sim.explanation.candidates import Derivation, Factor, Multiplier, RealFactor, derivations, requantization_rules
from sim.explanation.limits import Limits, Range, Refusal, limits_of
from sim.explanation.rule import Candidate, CandidateRule, Operands
from sim.explanation.scaling import BLOCK_COLUMNS, ByteRounding
from sim.golden.addition import AddParameters
from sim.golden.fixed_point import INT32_MAX, INT32_MIN, told_range, wrap_int32

AnyArray = npt.NDArray[Any]
Int64Array = npt.NDArray[np.int64]

_OUTPUTS: Final = ("int8", "uint8", "int16", "int32")
_BYTES: Final = ("int8", "uint8")
_MOST_SHIFT: Final = 255
_IMAGE: Final = 4
"""Axes: [images, channels, rows, columns]."""
VECTOR_BYTES: Final = 64
"""In which PyTorch adds with AVX-512."""


_NOT_TAKEN: Final = {
    "accumulators": ("offset_a", "offset_b", "scale_a", "scale_b", "zero_point_a", "zero_point_b", "relu"),
    "a matrix product": ("zero_point_a", "zero_point_b", "relu"),
    "an addition": ("bias", "offset_a", "offset_b", "multiplier", "shift", "minimum", "maximum"),
}
"""By what the output was computed from, the parameters that have no part in it."""


class QuestionError(LanewiseError, ValueError):
    """Arrays or parameters that nothing can be said of; the message is one sentence."""


@dataclass(frozen=True, kw_only=True)
class QuestionPart:
    """Elements as flat operands, the candidates for them, and what compares two of these.

    `element` gives what `CandidateRule.steps` takes, `inputs` what a reader is shown.
    """

    operands: Operands
    candidates: Sequence[Candidate]
    refused: Sequence[Refusal]
    element: Callable[[int], Mapping[str, int]]
    inputs: Callable[[int], Mapping[str, int]]
    search: Callable[[], Search]
    way: str = ""
    derived: Sequence[Derivation] = ()

    def title(self, candidate: Candidate) -> str:
        """The candidate's name, after how its accumulators came about, where that is in question."""
        return f"{self.way}, {candidate.name}" if self.way else candidate.name


class Question(Protocol):
    """Somebody's output with all that it may come from."""

    @property
    def output(self) -> AnyArray: ...

    @property
    def parts(self) -> Sequence[QuestionPart]: ...


@dataclass(frozen=True)
class OutputStage:
    """The parameters of requantization; `axis` is that of the channels."""

    factor: Factor
    zero_point: int
    bounds: Range | None
    axis: int


@dataclass(frozen=True)
class Requantization:
    """int32 accumulators and their bias, scaled to the output; `way` says how they were accumulated."""

    output: AnyArray
    accumulators: AnyArray
    bias: AnyArray | None
    stage: OutputStage
    way: str = ""

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @property
    def sums(self) -> Int64Array:
        """Accumulators with their bias, flat, before anything wraps."""
        wide = self.accumulators.astype(np.int64)
        return (wide if self.bias is None else wide + along(self.bias, wide.ndim, self.stage.axis)).ravel()

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, self.stage.bounds)
        stage, dtype = self.stage, self.output.dtype
        derived = derivations(stage.factor, refused) if isinstance(stage.factor, RealFactor) else []
        candidates = combined(requantization_rules(stage.factor, derived, stage.zero_point, dtype), limits)
        return QuestionPart(
            operands=self._operands,
            candidates=candidates,
            refused=refused,
            element=self._element,
            inputs=self._inputs,
            search=self._search,
            way=self.way,
            derived=derived,
        )

    @cached_property
    def _operands(self) -> Operands:
        """`channel` is 0 where all have the same parameters."""
        shape, axis = self.output.shape, self.stage.axis
        channel = np.zeros(self.output.size, np.int64)
        if channels_of(self.stage.factor) > 1:
            channel = np.broadcast_to(along(np.arange(shape[axis]), len(shape), axis), shape).ravel()
        in_tail = (np.arange(shape[-1]) >= shape[-1] // BLOCK_COLUMNS * BLOCK_COLUMNS).astype(np.int64)
        return {
            "value": wrap_int32(self.sums),
            "channel": channel,
            "in_tail": np.broadcast_to(in_tail, shape).ravel(),
        }

    def _element(self, at: int) -> Mapping[str, int]:
        found = {name: int(array[at]) for name, array in self._operands.items()}
        return {**found, "sum": int(self.sums[at]), "has_bias": int(self.bias is not None)}

    def _inputs(self, at: int) -> Mapping[str, int]:
        accumulator = int(self.accumulators.ravel()[at])
        bias = {} if self.bias is None else {"bias": int(self.sums[at]) - accumulator}
        return {"accumulator": accumulator, **bias}

    def _search(self) -> AccumulatorSearch:
        return AccumulatorSearch(distinct_channels(self.stage.factor), self.stage.zero_point, self.output.dtype)


@dataclass(frozen=True)
class Product:
    """A matrix product of bytes, whose offsets are added or subtracted, then scaled to the output.

    Source: docs/spec/known_differences.md row 14.
    """

    ways: tuple[Requantization, ...]

    @property
    def output(self) -> AnyArray:
        return self.ways[0].output

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return tuple(part for way in self.ways for part in way.parts)


@dataclass(frozen=True)
class Sum:
    """Two tensors of bytes or int16, added into the output's scale, within the bounds of an activation if there are."""

    output: AnyArray
    a: AnyArray
    b: AnyArray
    parameters: AddParameters
    bounds: Range | None = None

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, self.bounds)
        candidates = combined(addition_rules(self.parameters, self.output.dtype), limits[:1])
        return QuestionPart(
            operands=self._operands,
            candidates=candidates,
            refused=refused,
            element=self._element,
            inputs=self._element,
            search=self._search,
        )

    @cached_property
    def _operands(self) -> Operands:
        """`in_tail` is 1 behind the last whole vector in memory, where images have their channels last."""
        shape, size = self.output.shape, self.output.size
        in_memory: Int64Array = np.arange(size).reshape(shape)
        if len(shape) == _IMAGE:
            in_memory = np.moveaxis(in_memory.reshape(shape[0], *shape[2:], shape[1]), -1, 1)
        in_tail = (in_memory >= size // VECTOR_BYTES * VECTOR_BYTES).astype(np.int64)
        return {
            "a": self.a.ravel().astype(np.int64),
            "b": self.b.ravel().astype(np.int64),
            "in_tail": in_tail.ravel(),
        }

    def _element(self, at: int) -> Mapping[str, int]:
        return {name: int(self._operands[name][at]) for name in ("a", "b")}

    def _search(self) -> PairSearch:
        return PairSearch(self.output.dtype)


def combined(rules: Iterable[CandidateRule], limits: Sequence[Limits]) -> list[Candidate]:
    """Every rule with every rule of limits, the first of these first."""
    every = list(rules)
    return [
        Candidate(rule, limit)
        for limit in limits
        for rule in every
        if limit.saturates or not isinstance(rule, ByteRounding)  # which has saturated already
    ]


def channels_of(factor: Factor) -> int:
    return factor.scale.size if isinstance(factor, RealFactor) else factor.multiplier.size


def distinct_channels(factor: Factor) -> list[Channel]:
    """One channel for each factor and shift that there are."""
    shifts = [0] * len(factor.factors)
    if isinstance(factor, Multiplier):
        shifts = [int(shift) for shift in np.broadcast_to(-factor.left_shift, (channels_of(factor),))]
    found = {
        (one, shift): Channel(at, one, shift)
        for at, (one, shift) in enumerate(zip(factor.factors, shifts, strict=True))
    }
    return list(found.values())


def along(vector: AnyArray, rank: int, axis: int) -> AnyArray:
    """A vector, as an array of that rank that has it along `axis`."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def require_taken(of: str, **given: Any) -> None:
    """Raises QuestionError for parameters that are not None and have no part in what is asked."""
    if strange := [name for name in _NOT_TAKEN[of] if given[name] is not None]:
        raise QuestionError(f"a question about {of} takes no {' and no '.join(strange)}")


def checked_output(output: AnyArray) -> AnyArray:
    """The output, in this computer's byte order; refused where it is no array, empty, or of an unknown dtype."""
    if not isinstance(output, np.ndarray):
        raise QuestionError(f"the output is a {type(output).__name__}: give a numpy array")
    output = output.astype(output.dtype.newbyteorder("="), copy=False)
    if str(output.dtype) not in _OUTPUTS:
        raise QuestionError(f"the output has dtype {output.dtype}: it must be one of {', '.join(_OUTPUTS)}")
    if not output.ndim:
        raise QuestionError("the output is one number without an axis: give an array")
    _require_elements("the output", output)
    return output


def checked_accumulators(accumulators: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    _require_integers("the accumulators", accumulators)
    _require_shape("the accumulators", accumulators, shape)
    _require_int32("the accumulators", accumulators)
    return accumulators


def checked_bytes(name: str, array: AnyArray) -> AnyArray:
    if not isinstance(array, np.ndarray) or str(array.dtype) not in _BYTES:
        given = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise QuestionError(f"{name} is {given}: give an array of int8 or uint8")
    _require_elements(name, array)
    return array


def require_same(a: AnyArray, b: AnyArray, output: AnyArray) -> None:
    """An addition has one shape and one dtype."""
    for name, array in (("a", a), ("b", b)):
        _require_shape(name, array, output.shape)
        if array.dtype != output.dtype:
            raise QuestionError(f"{name} is {array.dtype} and the output {output.dtype}: an addition has one dtype")


def checked_bias(bias: AnyArray, channels: int) -> AnyArray:
    _require_integers("the bias", bias)
    if bias.shape != (channels,):
        raise QuestionError(f"the bias has shape {bias.shape}: it must be ({channels},), one for each channel")
    _require_int32("the bias", bias)
    return bias


def checked_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise QuestionError(f"axis is {axis}: an output of {rank} axes has {-rank}..{rank - 1}")
    return axis


def checked_multiplier(multiplier: Any, shift: Any, channels: int) -> Multiplier:
    """`shift` counts to the right."""
    if multiplier is None or shift is None:
        missing = "shift" if shift is None else "multiplier"
        raise QuestionError(f"the {missing} is missing: give multiplier and shift, or scale")
    numbers, shifts = (_per_channel(*given, channels, "iu") for given in (("multiplier", multiplier), ("shift", shift)))
    _require_int32("the multiplier", numbers)
    if shifts.min() < -_MOST_SHIFT or shifts.max() > _MOST_SHIFT:
        raise QuestionError(f"the shift: {told_range(shifts)}, it must lie in -{_MOST_SHIFT}..{_MOST_SHIFT}")
    return Multiplier(*np.broadcast_arrays(numbers.astype(np.int64), -shifts.astype(np.int64)))


def checked_scale(scale: Any, channels: int) -> RealFactor:
    numbers = _per_channel("scale", scale, channels, "iuf").astype(np.float64)
    wrong = numbers[~(np.isfinite(numbers) & (numbers > 0))]
    if wrong.size:
        raise QuestionError(f"the scale is {wrong[0]}: it must be finite and above 0")
    return RealFactor(numbers)


def checked_number(name: str, number: Any) -> int:
    """An integer in int32."""
    try:
        found = index(number)
    except TypeError:
        raise QuestionError(f"the {name} is {number!r}: give an integer") from None
    if isinstance(number, bool) or not INT32_MIN <= found <= INT32_MAX:
        raise QuestionError(f"the {name} is {number}: it must lie in int32, {INT32_MIN}..{INT32_MAX}")
    return found


def checked_bounds(minimum: Any, maximum: Any) -> Range | None:
    if minimum is None and maximum is None:
        return None
    if minimum is None or maximum is None:
        raise QuestionError("only one of minimum and maximum is given: give both or none")
    low, high = checked_number("minimum", minimum), checked_number("maximum", maximum)
    if low > high:
        raise QuestionError(f"minimum {low} is above maximum {high}: give minimum <= maximum")
    return low, high


def _per_channel(name: str, value: Any, channels: int, kinds: str) -> AnyArray:
    try:
        array = np.asarray(value)
    except ValueError:
        raise QuestionError(f"the {name} has rows of several lengths: give numbers, one for each channel") from None
    if array.dtype.kind not in kinds:
        wanted = "numbers" if "f" in kinds else "integers"
        raise QuestionError(f"the {name} is {str(array.dtype) if array.ndim else repr(value)}: give {wanted}")
    if array.size == 1:
        return array.reshape(1)
    if array.shape != (channels,):
        raise QuestionError(
            f"the {name} has shape {array.shape}: give one number, or one for each of {channels} channels"
        )
    return array


def _require_integers(name: str, array: AnyArray) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        given = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise QuestionError(f"{name}: {given} is given where an array of integers belongs")


def _require_elements(name: str, array: AnyArray) -> None:
    if not array.size:
        raise QuestionError(f"{name} has shape {array.shape} and so no element: there is nothing to explain")


def _require_shape(name: str, array: AnyArray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise QuestionError(f"{name}: the shape is {array.shape}, the output has {shape}")


def _require_int32(name: str, array: AnyArray) -> None:
    if array.size and (array.min() < INT32_MIN or array.max() > INT32_MAX):
        raise QuestionError(f"{name}: {told_range(array)}, every number must lie in int32")
