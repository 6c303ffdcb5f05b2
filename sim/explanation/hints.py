"""Changes of a question under which a convention gives every element: a wrong sign, a parameter that was left out.

A hint is proven by the data: the changed question was answered on all elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from sim.explanation.candidates import Multiplier
from sim.explanation.question import Product, Question, QuestionPart, Requantization, Sum
from sim.explanation.rows import distinct_rows
from sim.explanation.survey import Tally, closest
from sim.golden.addition import relu_if
from sim.golden.fixed_point import INT32_MAX, INT32_MIN

_MUCH: Final = 10
_SAMPLE: Final = 1 << 13
_SHIFTS: Final = (-2, -1, 1, 2)
_FRACTION: Final = 31
"""Fractional bits of a multiplier: right shifts of the whole product count them once more."""
_OTHER_SIGN: Final = {"int8": "uint8", "uint8": "int8"}
_INT32: Final = (INT32_MIN, INT32_MAX)
Changed = tuple[str, Question]


def hints_of(question: Question, distance: int) -> tuple[str, ...]:
    """Sentences such as "with zero_point 5 instead of 3, double_rounding gives all elements".

    Where no change gives all elements, the one that gives most and comes much nearer than `distance`, if there is one.
    """
    far = distance / question.output.size
    tried = [(change, part, tally) for change, changed in _changes(question) for part, tally in _answers(changed, far)]
    proven = [item for item in tried if not item[2].differing]
    near = [
        (change, part, tally)
        for change, part, tally in tried
        if tally.distance * _MUCH < distance and tally.differing * _MUCH < tally.of
    ]
    sentences = []
    for change, part, tally in proven or sorted(near, key=lambda item: item[2].distance)[:1]:
        rest = f"all but {tally.differing:,} of {tally.of:,} elements" if tally.differing else "all elements"
        sentences.append(f"with {change}, {part.title(tally.candidate)} gives {rest}")
    return tuple(dict.fromkeys(sentences))


def _answers(question: Question, far: float) -> Iterator[tuple[QuestionPart, Tally]]:
    """The candidate that comes closest, in each part where it comes much closer than `far` on a sample."""
    yours = question.output.astype(np.int64).ravel()
    some = np.linspace(0, yours.size - 1, min(yours.size, _SAMPLE)).astype(np.int64)
    for part in question.parts:
        operands = {name: array[some] for name, array in part.operands.items()}
        first = closest(part.candidates, distinct_rows(operands, yours[some]))
        if first is not None and first.distance * _MUCH <= far * some.size:
            tally = closest([first.candidate], distinct_rows(part.operands, yours))
            yield from [(part, tally)] if tally is not None else []


def _changes(question: Question) -> Iterator[Changed]:
    if isinstance(question, Product):
        for way in question.ways:
            yield from _of_requantization(way)
    elif isinstance(question, Requantization):
        yield from _of_requantization(question)
    elif isinstance(question, Sum):
        parameters = question.parameters
        for zero in _zero_points(question, parameters.output.zero_point):
            output = replace(parameters.output, zero_point=zero)
            told = f"zero_point {zero} instead of {parameters.output.zero_point}"
            yield told, replace(question, parameters=replace(parameters, output=output))
        swapped = replace(parameters, a=parameters.b, b=parameters.a)
        yield "the parameters of a and b swapped", replace(question, parameters=swapped)
        other = replace(parameters, activation=relu_if(not parameters.relu))
        yield f"ReLU {'off' if parameters.relu else 'on'}", replace(question, parameters=other)
        for name in ("a", "b", "output"):
            one = getattr(parameters, name)
            if one.zero_point:
                without = replace(parameters, **{name: replace(one, zero_point=0)})
                yield f"the zero point of {name} left out", replace(question, parameters=without)


def _of_requantization(question: Requantization) -> Iterator[Changed]:
    stage, factor, output = question.stage, question.stage.factor, question.output
    for zero in _zero_points(question, stage.zero_point):
        moved = replace(stage, zero_point=zero)
        yield f"zero_point {zero} instead of {stage.zero_point}", replace(question, stage=moved)
    if question.bias is not None:
        yield "the bias left out", replace(question, bias=None)
        yield "the bias subtracted", replace(question, bias=-question.bias.astype(np.int64))
    if isinstance(factor, Multiplier):
        least = int(-factor.left_shift.max())
        if least >= _FRACTION:
            own = replace(stage, factor=Multiplier(factor.multiplier, factor.left_shift + _FRACTION))
            less = (
                f"a shift of {least - _FRACTION}" if factor.left_shift.size == 1 else f"{_FRACTION} less of right shift"
            )
            yield f"{less}, as the multiplier has {_FRACTION} fractional bits already", replace(question, stage=own)
        for by in _SHIFTS if least <= _FRACTION else ():  # beyond it a count means other things
            shifted = replace(stage, factor=Multiplier(factor.multiplier, factor.left_shift - by))
            yield f"{abs(by)} {'more' if by > 0 else 'less'} of right shift", replace(question, stage=shifted)
        for by, side in ((1, "more"), (-1, "less")):
            nudged = replace(stage, factor=Multiplier(np.clip(factor.multiplier + by, *_INT32), factor.left_shift))
            yield f"a multiplier one {side}", replace(question, stage=nudged)
    if output.ndim == 2:
        yield "the output read as its transpose", replace(question, output=output.reshape(output.shape[::-1]).T)
    # parameters that went to the next channel, or came from it
    for by, side in ((1, "the channel before"), (-1, "the channel after")):
        if isinstance(factor, Multiplier) and factor.multiplier.size > 1:
            rolled = replace(stage, factor=Multiplier(np.roll(factor.multiplier, by), np.roll(factor.left_shift, by)))
            yield f"multiplier and shift of {side}", replace(question, stage=rolled)
        if question.bias is not None:
            yield f"the bias of {side}", replace(question, bias=np.roll(question.bias, by))
    # an activation that was not told: its bounds are the ends of the output
    low, high = int(output.min()), int(output.max())
    if low < high and (low, high) != stage.bounds:
        told = f"minimum {low} and maximum {high}, the ends of your output"
        yield told, replace(question, stage=replace(stage, bounds=(low, high)))
    # elements that were written one place too far, or too early
    for by, side in ((-1, "later"), (1, "earlier")):
        yield f"the output read one element {side}", replace(question, output=np.roll(output, by))
    if other := _OTHER_SIGN.get(str(output.dtype)):
        yield f"the output's bytes read as {other}", replace(question, output=output.view(other))


def _zero_points(question: Requantization | Sum, given: int) -> list[int]:
    """The zero points of the output that would make up for the commonest differences from the first candidate."""
    part = question.parts[0]
    try:
        expected = part.candidates[0].run(part.operands)
    except ValueError:
        return []
    differences, counts = np.unique(question.output.ravel() - expected, return_counts=True)
    commonest = differences[np.argsort(-counts, kind="stable")][:3]
    zeros = [given + int(by) for by in commonest if by]
    return list(dict.fromkeys([*zeros, -given] if given else zeros))
