"""What is asked of a layer: the numbers that somebody's runtime gave, and what they were made of.

Averages are rules as those of `sim.explanation` are: a sum over a count, to nearest by one rounding or another.
Source: docs/spec/neighbours.md section 20.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from sim.explanation import question as asked
from sim.explanation.apart import Apart, differing_inputs
from sim.explanation.limits import Range, limits_of
from sim.explanation.question import OutputStage, Question, QuestionError, QuestionPart, Requantization, Sum, combined
from sim.explanation.rule import Candidate, Integers, Operands, RuleStep, is_tie, only
from sim.golden.addition import AddParameters, Quantization
from sim.kernels.pool.golden import Sums, ties_away, ties_up, truncated
from sim.models.layers import Added, Pooled, Requantized
from sim.models.network import AnyArray

Divide = Callable[[Sums, Sums | int], Sums]
EXACT: Final = "exact"
"""The name where nothing is rounded."""
_TRIED: Final = 1 << 16
"""Sums, of the largest count, on which two roundings are compared."""
_WAYS: Final[Mapping[Divide, str]] = {ties_away: "TFLite's AVERAGE_POOL_2D", ties_up: "", truncated: ""}
"""The roundings, and who uses them."""


def plain(name: str) -> str:
    """A convention whatever its multiplier is derived by."""
    return name.split(" of ")[0]


def is_one_of(names: Sequence[str], convention: str) -> bool:
    """Whether a layer whose conventions are these is that one, or that one whatever the multiplier is derived by.

    Where a layer does not tell its scales, or its derivations, from others, the name is without them.
    """
    parts = convention.split(" of ")
    return any(" of ".join(parts[:end]) in names for end in range(len(parts), 0, -1))


def question_of(made: Requantized | Added | Pooled, output: AnyArray) -> Question:
    """Raises QuestionError for an output or parameters that nothing can be said of."""
    output = asked.checked_output(output)
    bounds = asked.checked_bounds(made.minimum, made.maximum)
    if isinstance(made, Pooled):
        return Average(output, made.sums, made.counts, bounds)
    if isinstance(made, Added):
        if {made.a.dtype, made.b.dtype} != {output.dtype} or output.dtype.itemsize > 2:
            raise QuestionError(f"{made.a.dtype} and {made.b.dtype} are added to {output.dtype}")
        a, b, total = (Quantization(float(scale.scales[0]), scale.zero_point) for scale in made.scales)
        return Sum(output, made.a, made.b, AddParameters(a, b, total), bounds)
    axis = asked.checked_axis(made.axis, output.ndim)
    factor = replace(asked.checked_scale(made.scale, output.shape[axis]), single=made.single, double=made.double)
    stage = OutputStage(factor, made.zero_point, bounds, axis)
    return Requantization(output, made.accumulators, None, stage)


@dataclass(frozen=True)
class Rounded:
    """The rule of one rounding; without one the sums as they are."""

    divide: Divide | None
    rises: bool = True

    @property
    def name(self) -> str:
        return EXACT if self.divide is None else f"average_{self.divide.__name__}"

    @property
    def note(self) -> str:
        return "" if self.divide is None else _WAYS[self.divide]

    def run(self, operands: Operands) -> Integers:
        sums, counts = operands["sum"].astype(np.int64), operands["count"].astype(np.int64)
        return sums if self.divide is None else self.divide(sums, counts)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        exact = Fraction(element["sum"], element["count"])
        result = int(self.run(only(element, ("sum", "count")))[0])
        return [RuleStep("average" if self.divide else "largest", result, exact, "tie" if is_tie(exact) else "")]


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
        ways = (None,) if self.counts is None else tuple(_WAYS)
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
