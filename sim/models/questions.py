"""What is asked of a layer: the numbers that somebody's runtime gave, and what they were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from sim.explanation import question as asked
from sim.explanation.apart import Apart, differing_inputs
from sim.explanation.limits import Range, limits_of
from sim.explanation.question import OutputStage, Question, QuestionError, QuestionPart, Requantization, Sum, combined
from sim.explanation.rule import Candidate, CandidateRule, Operands
from sim.golden.addition import AddParameters, Quantization
from sim.golden.registry.conventions import CONVENTIONS, rank_of
from sim.kernels.pool.golden import Sums
from sim.models.layers import Activated, Added, Averaged, ByRules, FromReals, Normalized, Pooled, Requantized
from sim.models.network import AnyArray
from sim.models.rules.average import WAYS, Rounded
from sim.models.rules.averaging import BLOCK, averaging_rules
from sim.models.rules.functions.activated import activation_rules
from sim.models.rules.functions.hard_swishing import behind_vectors
from sim.models.rules.functions.normalizing import normalizing_rules
from sim.models.rules.quantizing import QuantizingByQuotient, quantizing_rules
from sim.models.rules.real_bias import RealBias, real_bias_rules

_TRIED: Final = 1 << 16
"""Sums, of the largest count, on which two roundings are compared."""


def plain(name: str) -> str:
    """A convention whatever its multiplier is derived by."""
    return name.split(" of ")[0]


def comparable(names: Sequence[str]) -> tuple[str, str] | None:
    """The first two of these conventions that take the same operands, so that inputs tell them apart, if there are."""
    rules = [name for name in dict.fromkeys(map(plain, names)) if name in CONVENTIONS]
    return next(
        (two for two in combinations(rules, 2) if len({CONVENTIONS[one].family.name for one in two}) == 1), None
    )


def is_one_of(names: Sequence[str], convention: str) -> bool:
    """Whether a layer whose conventions are these is that one, or that one whatever the multiplier is derived by.

    Where a layer does not tell its scales, or its derivations, from others, the name is without them.
    """
    parts = convention.split(" of ")
    return any(" of ".join(parts[:end]) in names for end in range(len(parts), 0, -1))


def question_of(
    made: Requantized | Added | Pooled | FromReals | Activated | Normalized | Averaged | ByRules, output: AnyArray
) -> Question:
    """Raises QuestionError for an output or parameters that nothing can be said of."""
    output = asked.checked_output(output)
    if isinstance(made, FromReals):
        if output.dtype not in (np.int8, np.uint8, np.int16):
            raise QuestionError(f"real numbers become {output.dtype}: int8, uint8 and int16 are computed")
        return OfRealNumbers(output, made)
    if isinstance(made, Activated):
        if made.numbers.dtype != output.dtype:
            raise QuestionError(f"{made.function} of {made.numbers.dtype} becomes {output.dtype}")
        return OfActivation(output, made)
    if isinstance(made, Normalized):
        if made.dtype != output.dtype:
            raise QuestionError(f"a softmax that becomes {made.dtype} becomes {output.dtype}")
        return OfSoftmax(output, made)
    if isinstance(made, Averaged):
        if output.dtype != made.dtype:
            raise QuestionError(f"a mean of {made.dtype} becomes {output.dtype}")
        return OfMean(output, made)
    bounds = asked.checked_bounds(made.minimum, made.maximum)
    if isinstance(made, ByRules):
        if output.dtype != made.dtype:
            raise QuestionError(f"what makes {made.dtype} makes {output.dtype}")
        return OfRules(output, made, bounds)
    if isinstance(made, Pooled):
        return Average(output, made.sums, made.counts, bounds)
    if isinstance(made, Added):
        if {made.a.dtype, made.b.dtype} != {output.dtype} or output.dtype.itemsize > 2:
            raise QuestionError(f"{made.a.dtype} and {made.b.dtype} are added to {output.dtype}")
        a, b, total = (Quantization(float(scale.scales[0]), scale.zero_point) for scale in made.scales)
        return Sum(output, made.a, made.b, AddParameters(a, b, total), bounds)
    axis = asked.checked_axis(made.axis, output.ndim)
    factor = replace(
        asked.checked_scale(made.scale, output.shape[axis]), single=made.single, double=made.double,
        reciprocal=made.reciprocal,
    )  # fmt: skip
    stage = OutputStage(factor, made.zero_point, bounds, axis)
    scaled = Requantization(output, made.accumulators, None, stage)
    return scaled if made.real is None else WithRealBias(scaled, made.real)


@dataclass(frozen=True, eq=False)
class OwnFirst:
    """A question whose candidates are in another order: under the same bounds those of a runtime come first."""

    question: Question
    runtime: str

    @property
    def output(self) -> AnyArray:
        return self.question.output

    @cached_property
    def parts(self) -> Sequence[QuestionPart]:
        return [self._ordered(part) for part in self.question.parts]

    def _ordered(self, part: QuestionPart) -> QuestionPart:
        bounds = list(dict.fromkeys(one.limits for one in part.candidates))

        def rank(one: Candidate) -> tuple[int, int]:
            return bounds.index(one.limits), rank_of(one.rule.note, self.runtime)

        return replace(part, candidates=sorted(part.candidates, key=rank))


@dataclass(frozen=True, eq=False)
class WithRealBias:
    """A requantization whose bias may also be a real number: its conventions, and those of a real bias."""

    scaled: Requantization
    real: RealBias

    @property
    def output(self) -> AnyArray:
        return self.scaled.output

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        (part,) = self.scaled.parts
        stage = self.scaled.stage
        limits, _ = limits_of(self.output.dtype, stage.bounds)
        by_channel = asked.channels_of(stage.factor) > 1 or self.real.bias.size == 1
        operands = dict(part.operands)
        if not by_channel:  # one scale for all, and a bias for each channel
            shape, axis = self.output.shape, stage.axis
            channels = asked.along(np.arange(shape[axis]), len(shape), axis)
            operands["channel"] = np.broadcast_to(channels, shape).ravel()
        more = combined(real_bias_rules(self.real, stage.zero_point), limits)

        def element(at: int) -> Mapping[str, int]:
            return {**part.element(at), "channel": int(operands["channel"][at])}

        return replace(part, operands=operands, candidates=[*part.candidates, *more], element=element)


@dataclass(frozen=True, eq=False)
class OfRealNumbers:
    """Somebody's bytes, and the float32 numbers that they were made of."""

    output: AnyArray
    made: FromReals

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, None)
        numbers, places = np.unique(self.made.numbers, return_inverse=True)
        scale = self.made.scale
        rules: list[CandidateRule] = list(
            quantizing_rules(numbers, scale.scales[0], scale.zero_point, self.output.dtype)
        )
        if self.made.of_windows:
            rules.append(QuantizingByQuotient(numbers, scale.scales[0], scale.zero_point))

        def element(at: int) -> Mapping[str, int]:
            return {"number": int(places.ravel()[at])}

        return QuestionPart(
            operands={"number": places.ravel().astype(np.int64)},
            candidates=combined(rules, limits[:1]),
            refused=refused,
            element=element,
            inputs=lambda at: {},
            search=lambda: lambda one, other: Apart((), "the numbers of this tensor"),
        )


@dataclass(frozen=True, eq=False)
class OfActivation:
    """Somebody's numbers, and those that a function made them of."""

    output: AnyArray
    made: Activated

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, None)
        given = self.made.numbers.astype(np.int64).ravel()
        behind = behind_vectors(given.size)

        def element(at: int) -> Mapping[str, int]:
            return {"byte": int(given[at]), "behind": int(behind[at])}

        def apart(one: Candidate, other: Candidate) -> Apart:
            every = np.iinfo(self.made.numbers.dtype)
            byte = np.arange(every.min, every.max + 1)
            tried = {"byte": byte, "behind": np.zeros_like(byte)}
            return Apart(differing_inputs(one.run(tried), other.run(tried), {"byte": byte}), f"all of {every.dtype}")

        return QuestionPart(
            operands={"byte": given, "behind": behind},
            candidates=combined(activation_rules(self.made), limits[:1]),
            refused=refused,
            element=element,
            inputs=lambda at: {"byte": int(given[at])},
            search=lambda: apart,
        )


@dataclass(frozen=True, eq=False)
class OfSoftmax:
    """Somebody's numbers, and those whose softmax they are."""

    output: AnyArray
    made: Normalized

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, None)
        numbers = self.made.numbers
        return QuestionPart(
            operands={"place": np.arange(numbers.size)},
            candidates=combined(normalizing_rules(self.made), limits[:1]),
            refused=refused,
            element=lambda at: {"place": at},
            inputs=lambda at: {"byte": int(numbers.ravel()[at]), "place": at},
            search=lambda: lambda one, other: Apart((), "the rows of this tensor"),
        )


@dataclass(frozen=True, eq=False)
class OfMean:
    """Somebody's numbers, and the sums whose mean they are."""

    output: AnyArray
    made: Averaged

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, None)
        sums = self.made.sums
        channels = sums.shape[-1] if sums.ndim else 1
        behind = np.broadcast_to(np.arange(channels) >= channels - channels % BLOCK, sums.shape).astype(np.int64)
        operands = {"sum": sums.ravel(), "behind": behind.ravel()}

        def element(at: int) -> Mapping[str, int]:
            return {name: int(array[at]) for name, array in operands.items()}

        def apart(one: Candidate, other: Candidate) -> Apart:
            zero = self.made.scale.zero_point * self.made.count
            tried = {"sum": np.arange(zero - _TRIED // 2, zero + _TRIED // 2), "behind": np.zeros(_TRIED, np.int64)}
            found = differing_inputs(one.run(tried), other.run(tried), {"sum": tried["sum"]})
            return Apart(found, f"{_TRIED:,} sums around that of zeros")

        return QuestionPart(
            operands=operands,
            candidates=combined(averaging_rules(self.made), limits[:1]),
            refused=refused,
            element=element,
            inputs=lambda at: {"sum": int(sums.ravel()[at]), "count": self.made.count},
            search=lambda: apart,
        )


@dataclass(frozen=True, eq=False)
class OfRules:
    """Somebody's numbers, and the operands of the arithmetics that may have made them."""

    output: AnyArray
    made: ByRules
    bounds: Range | None

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, self.bounds)
        operands = {name: array.astype(np.int64).ravel() for name, array in self.made.operands.items()}

        def element(at: int) -> Mapping[str, int]:
            return {name: int(array[at]) for name, array in operands.items()}

        def apart(one: Candidate, other: Candidate) -> Apart:
            return Apart(differing_inputs(one.run(operands), other.run(operands), operands), "those of this tensor")

        return QuestionPart(
            operands=operands, candidates=combined(self.made.rules, [one for one in limits if one.saturates]),
            refused=refused, element=element, inputs=element, search=lambda: apart,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Average:
    """Somebody's output, its sums (int64, of its shape) and their counts; None: nothing is divided."""

    output: AnyArray
    sums: Sums
    counts: Sums | None
    bounds: Range | None

    @property
    def parts(self) -> Sequence[QuestionPart]:
        return (self._part,)

    @cached_property
    def _part(self) -> QuestionPart:
        limits, refused = limits_of(self.output.dtype, self.bounds)
        ways = (None,) if self.counts is None else tuple(WAYS)
        return QuestionPart(
            operands=self._operands,
            candidates=combined([Rounded(way) for way in ways], limits),
            refused=refused,
            element=self._element,
            inputs=self._element,
            search=lambda: self._apart,
        )

    @cached_property
    def _operands(self) -> Operands:
        counts = np.int64(1) if self.counts is None else self.counts
        return {"sum": self.sums.ravel(), "count": np.broadcast_to(counts, self.sums.shape).ravel()}

    def _element(self, at: int) -> Mapping[str, int]:
        return {name: int(array[at]) for name, array in self._operands.items()}

    def _apart(self, one: Candidate, other: Candidate) -> Apart:
        """On small sums of each count that there is."""
        counts = np.unique(self._operands["count"])
        sums = np.arange(-_TRIED // 2, _TRIED // 2) // len(counts)
        tried = {"sum": np.repeat(sums, len(counts)), "count": np.tile(counts, len(sums))}
        found = differing_inputs(one.run(tried), other.run(tried), tried)
        return Apart(found, f"sums of {sums[0]:,} to {sums[-1]:,}")
