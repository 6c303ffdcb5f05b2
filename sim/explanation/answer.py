"""`explain`: which convention makes these numbers of somebody's, and if none does, where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation import question as asked
from sim.explanation.apart import Apart
from sim.explanation.explanation import Alike, Explanation, Match, Near, place_of
from sim.explanation.hints import hints_of
from sim.explanation.places import places_of
from sim.explanation.question import (
    OutputStage,
    Product,
    Question,
    QuestionError,
    QuestionPart,
    Requantization,
    Sum,
)
from sim.explanation.rows import Rows, distinct_rows
from sim.explanation.rule import Candidate
from sim.explanation.survey import Tally, survey
from sim.explanation.trace import trace, trace_result
from sim.golden.addition import AddParameters, Quantization, relu_if
from sim.golden.fixed_point import wrap_int32

AnyArray = npt.NDArray[Any]
_EXACT_IN_FLOAT64: Final = 1 << 53
_NEAREST: Final = 4
_NEAREST_FAR: Final = 2
"""Of candidates that differ in most elements fewer are shown."""


def explain(
    output: AnyArray,
    *,
    accumulators: AnyArray | None = None,
    bias: AnyArray | None = None,
    a: AnyArray | None = None,
    b: AnyArray | None = None,
    offset_a: int = 0,
    offset_b: int = 0,
    multiplier: AnyArray | int | None = None,
    shift: AnyArray | int | None = None,
    scale: AnyArray | float | None = None,
    zero_point: int = 0,
    minimum: int | None = None,
    maximum: int | None = None,
    axis: int = -1,
    scale_a: float | None = None,
    scale_b: float | None = None,
    zero_point_a: int = 0,
    zero_point_b: int = 0,
    relu: bool = False,
) -> Explanation:
    """Say which conventions give somebody's quantized output on all elements, and where the nearest others part.

    `output` is int8, uint8, int16 or int32 of any shape, and was computed from one of these:

    * `accumulators`, integers in int32 of the same shape, with an optional `bias`, one for each channel;
    * `a` [M, K] and `b` [K, N], int8 or uint8: a matrix product, to which `offset_a` and `offset_b` were added or
      from which they were subtracted, with an optional bias;
    * `a` and `b` of the output's shape and dtype, with `scale_a` and `scale_b`: an addition.

    Accumulators are scaled by `multiplier` (Q0.31) and `shift` (bits to the right; negative to the left), or by the
    real `scale`, from which each system derives its own; each is one number, or one for each channel, `axis` being
    theirs.  Of an addition, `scale` is that of the output.  `zero_point` is added at the end; `minimum` and `maximum`
    are the activation's bounds, and what they mean depends on the convention.

    Raises QuestionError, a ValueError whose message is one sentence, also for a parameter that is given and has no part
    in what is asked, such as the bounds of an addition.

    >>> explain(np.array([0], np.int8), accumulators=np.array([-2]), multiplier=2**30, shift=1).names[0]
    'single_rounding'
    """
    checked = asked.checked_output(output)
    if (accumulators is None) == (a is None and b is None):
        raise QuestionError("give either accumulators, or a and b")
    zero = asked.checked_number("zero_point", zero_point)
    is_sum = accumulators is None and (scale_a is not None or scale_b is not None)
    asked.require_taken(
        "accumulators" if accumulators is not None else "an addition" if is_sum else "a matrix product",
        bias=bias, offset_a=offset_a or None, offset_b=offset_b or None, multiplier=multiplier, shift=shift,
        minimum=minimum, maximum=maximum, scale_a=scale_a, scale_b=scale_b, zero_point_a=zero_point_a or None,
        zero_point_b=zero_point_b or None, relu=relu or None,
    )  # fmt: skip
    if is_sum:
        return answer(_sum(checked, a, b, (scale_a, zero_point_a), (scale_b, zero_point_b), (scale, zero), relu))
    where = asked.checked_axis(axis, checked.ndim)
    channels = checked.shape[where]
    if (multiplier is None and shift is None) == (scale is None):
        raise QuestionError("give either multiplier and shift, or scale")
    factor = (
        asked.checked_multiplier(multiplier, shift, channels) if scale is None else asked.checked_scale(scale, channels)
    )
    stage = OutputStage(factor, zero, asked.checked_bounds(minimum, maximum), where)
    added = None if bias is None else asked.checked_bias(bias, channels)
    if accumulators is not None:
        found = asked.checked_accumulators(accumulators, checked.shape)
        return answer(Requantization(checked, found, added, stage))
    return answer(_product(checked, a, b, (offset_a, offset_b), added, stage))


def answer(question: Question) -> Explanation:
    """Survey every part of a question, then say what tells the matches apart."""
    yours = question.output.astype(np.int64).ravel()
    parts = [Surveyed(question, part, distinct_rows(part.operands, yours)) for part in question.parts]
    matches = tuple(match for part in parts for match in part.matches)
    groups = [(part, tallies) for part in parts for tallies in part.nearest]
    closest = sorted(groups, key=lambda item: (item[1][0].distance, item[1][0].differing))
    few = [item for item in closest if 2 * item[1][0].differing <= item[1][0].of]
    traces = 1 if matches else 3
    contradictions = [elements for part in parts if (elements := part.rows.contradiction)]
    contradiction = ""
    if contradictions and len(contradictions) == len(parts) and not matches:
        flat, at = question.output.ravel(), contradictions[0]
        one, other = (place_of(tuple(int(i) for i in np.unravel_index(i_, question.output.shape))) for i_ in at)
        contradiction = (
            f"elements {one} and {other} are computed from the same numbers, yet yours are {flat[at[0]]} and "
            f"{flat[at[1]]}: no convention gives both"
        )
    return Explanation(
        shape=question.output.shape,
        dtype=str(question.output.dtype),
        elements=yours.size,
        distinct=min(len(part.rows) for part in parts),
        candidates=sum(len(part.part.candidates) for part in parts),
        matches=matches,
        nearest=tuple(part.near(tallies, traces) for part, tallies in (few or closest[:_NEAREST_FAR])[:_NEAREST]),
        derived=tuple(dict.fromkeys(told for part in parts for told in part.derived)),
        refused=tuple(dict.fromkeys(refusal for part in parts for refusal in part.refused)),
        hints=()
        if matches
        else (
            *hints_of(question, min(part.distance for part in parts)),
            *(hint for part, tallies in few[:1] for hint in part.places(tallies[0])),
        ),
        contradiction=contradiction,
    )


class Surveyed:
    """A part of a question with the candidates sorted out."""

    def __init__(self, question: Question, part: QuestionPart, rows: Rows) -> None:
        self._output, self.part, self.rows = question.output, part, rows
        self._survey = survey(part.candidates, rows)
        self.refused = (*part.refused, *self._survey.refused)

    @property
    def distance(self) -> int:
        """How far the nearest candidate that differs is from these data."""
        return min((tally.distance for tally in self._survey.nearest), default=0)

    @property
    def derived(self) -> list[str]:
        """What the derivations made of a real scale, where all channels have the same."""
        told = [(names, given) for names, given in self.part.derived if given.multiplier.size == 1]
        return [
            f"{', '.join(names)}: multiplier {given.multiplier[0]}, right shift {-given.left_shift[0]}"
            for names, given in told
        ]

    @property
    def matches(self) -> list[Match]:
        """The first match and those alike, then the others by what tells them from the first."""
        candidates = [tally.candidate for tally in self._survey.matches]
        search = self.part.search() if len(candidates) > 1 else None
        groups: list[tuple[Candidate, Apart | None, list[Alike]]] = []
        for candidate in candidates:
            for head, _, alike in groups:
                apart = search(head, candidate) if search else None
                if apart is not None and not apart.directed:
                    alike.append(Alike(self.part.title(candidate), candidate.note, apart.searched, apart.is_all))
                    break
            else:
                groups.append((candidate, search(candidates[0], candidate) if search and groups else None, []))
        return [
            Match(self.part.title(head), head.note, apart.directed if apart else (), tuple(alike))
            for head, apart, alike in groups
        ]

    @property
    def nearest(self) -> list[list[Tally]]:
        """The candidates that differ, nearest first, together where they give the same elements otherwise."""
        groups: dict[tuple[object, ...], list[Tally]] = {}
        for tally in self._survey.nearest:
            results = tuple(trace_result(tally.candidate, self.part, at) for at in tally.examples)
            groups.setdefault((tally.differing, tally.distance, tally.examples, results), []).append(tally)
        return list(groups.values())

    def places(self, tally: Tally) -> list[str]:
        """Where the elements lie that a candidate gives otherwise."""
        given = tally.candidate.run(self.part.operands).reshape(self._output.shape)
        return places_of([given != self._output], f"elements in which {self.part.title(tally.candidate)} differs")

    def near(self, tallies: Sequence[Tally], traces: int) -> Near:
        first = tallies[0]
        others = [other.candidate for other in (*self._survey.matches, *self._survey.nearest)]
        flat = self._output.ravel()
        traced = tuple(
            trace(self.part, first.candidate, others, at, self._output.shape, int(flat[at]))
            for at in first.examples[:traces]
        )
        names = tuple(self.part.title(tally.candidate) for tally in tallies)
        return Near(names, first.candidate.note, first.differing, first.of, traced)


def _product(
    output: AnyArray, a: Any, b: Any, offsets: tuple[int, int], bias: AnyArray | None, stage: OutputStage
) -> Product:
    left, right = asked.checked_bytes("a", a), asked.checked_bytes("b", b)
    if left.ndim != 2 or right.ndim != 2 or output.shape != (left.shape[0], right.shape[1]):
        raise QuestionError(
            f"a {left.shape} times b {right.shape} does not give {output.shape}: see a [M, K], b [K, N]"
        )
    if left.shape[1] != right.shape[0]:
        raise QuestionError(f"a has {left.shape[1]} columns and b {right.shape[0]} rows: they must be as many")
    of_a, of_b = (
        asked.checked_number(name, value) for name, value in zip(("offset_a", "offset_b"), offsets, strict=True)
    )
    ways = []
    for name, sign in (("offsets_added", 1), ("zero_points_subtracted", -1)) if of_a or of_b else (("", 1),):
        first, second = left.astype(np.int64) + sign * of_a, right.astype(np.int64) + sign * of_b
        largest = int(abs(first).max()) * int(abs(second).max()) * left.shape[1]
        if largest < _EXACT_IN_FLOAT64:  # it is the faster one
            sums = (first.astype(np.float64) @ second.astype(np.float64)).astype(np.int64)
        else:
            sums = first @ second
        ways.append(Requantization(output, wrap_int32(sums), bias, stage, name))
    return Product(tuple(ways))


Given = tuple[Any, int]


def _sum(output: AnyArray, a: Any, b: Any, of_a: Given, of_b: Given, of_output: Given, relu: bool) -> Sum:
    left, right = asked.checked_bytes("a", a), asked.checked_bytes("b", b)
    asked.require_same(left, right, output)
    found = (_quantization("a", of_a), _quantization("b", of_b), _quantization("the output", of_output))
    return Sum(output, left, right, AddParameters(*found, relu_if(relu)))


def _quantization(name: str, given: Given) -> Quantization:
    scale, zero_point = given
    if scale is None or np.ndim(scale):
        raise QuestionError(
            f"the scale of {name} is {scale!r}: an addition takes one number for each of a, b and output"
        )
    checked = float(asked.checked_scale(scale, 1).scale[0])
    return Quantization(checked, asked.checked_number(f"zero_point of {name}", zero_point))
