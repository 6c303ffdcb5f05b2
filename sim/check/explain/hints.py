"""Changes of a question under which a convention gives every element: a wrong sign, a parameter that was left out.

A hint is proven by the data: the changed question was answered on all elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from sim.check.explain.candidates import Multiplier
from sim.check.explain.question import Part, Product, Question, Requantization, Sum
from sim.check.explain.rows import distinct_rows
from sim.check.explain.survey import Tally, closest

_MUCH: Final = 10
_SAMPLE: Final = 1 << 13
_SHIFTS: Final = (-2, -1, 1, 2)
_OTHER_SIGN: Final = {"int8": "uint8", "uint8": "int8"}
Changed = tuple[str, Question]


def hints_of(question: Question, distance: int) -> tuple[str, ...]:
    """Sentences such as "with zero_point 5 instead of 3, double_rounding gives all elements".

    Where no change gives all elements, the one that gives most and comes much nearer than `distance`, if there is one.
    """
    far = distance / question.output.size
    tried = [(change, part, tally) for change, changed in _changes(question) for part, tally in _answers(changed, far)]
    proven = [item for item in tried if not item[2].differing]
    near = sorted((item for item in tried if _is_near(item[2], distance)), key=lambda item: item[2].distance)
    return tuple(dict.fromkeys(_sentence(*item) for item in proven or near[:1]))


def _is_near(tally: Tally, distance: int) -> bool:
    """Whether the differences are much smaller, and few."""
    return tally.distance * _MUCH < distance and tally.differing * _MUCH < tally.of


def _sentence(change: str, part: Part, tally: Tally) -> str:
    rest = f"all but {tally.differing:,} of {tally.of:,} elements" if tally.differing else "all elements"
    return f"with {change}, {part.title(tally.candidate)} gives {rest}"


def _answers(question: Question, far: float) -> Iterator[tuple[Part, Tally]]:
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
        yield from _of_sum(question)


def _of_requantization(question: Requantization) -> Iterator[Changed]:
    stage = question.stage
    for zero in _zero_points(question, stage.zero_point):
        yield (
            f"zero_point {zero} instead of {stage.zero_point}",
            replace(question, stage=replace(stage, zero_point=zero)),
        )
    if question.bias is not None:
        yield "the bias left out", replace(question, bias=None)
        yield "the bias subtracted", replace(question, bias=-question.bias.astype(np.int64))
    if isinstance(stage.factor, Multiplier):
        yield from _of_shift(question, stage.factor)
    yield from _of_channels(question)
    yield from _of_bounds(question)
    yield from _of_place(question)
    yield from _of_sign(question)


def _of_bounds(question: Requantization) -> Iterator[Changed]:
    """An activation that was not told: its bounds are the ends of the output."""
    low, high = int(question.output.min()), int(question.output.max())
    if low < high and (low, high) != question.stage.bounds:
        told = f"minimum {low} and maximum {high}, the ends of your output"
        yield told, replace(question, stage=replace(question.stage, bounds=(low, high)))


def _of_place(question: Requantization) -> Iterator[Changed]:
    """Elements that were written one place too far, or too early."""
    for by, side in ((-1, "later"), (1, "earlier")):
        yield f"the output read one element {side}", replace(question, output=np.roll(question.output, by))


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


def _of_shift(question: Requantization, factor: Multiplier) -> Iterator[Changed]:
    for by in _SHIFTS:
        changed = Multiplier(factor.multiplier, factor.left_shift - by)
        text = f"{abs(by)} more of right shift" if by > 0 else f"{abs(by)} less of right shift"
        yield text, replace(question, stage=replace(question.stage, factor=changed))


def _of_channels(question: Requantization) -> Iterator[Changed]:
    """Parameters that went to the next channel, or came from it."""
    for by, side in ((1, "the channel before"), (-1, "the channel after")):
        factor = question.stage.factor
        if isinstance(factor, Multiplier) and factor.multiplier.size > 1:
            rolled = Multiplier(np.roll(factor.multiplier, by), np.roll(factor.left_shift, by))
            stage = replace(question.stage, factor=rolled)
            yield f"multiplier and shift of {side}", replace(question, stage=stage)
        if question.bias is not None:
            yield f"the bias of {side}", replace(question, bias=np.roll(question.bias, by))


def _of_sign(question: Requantization) -> Iterator[Changed]:
    other = _OTHER_SIGN.get(str(question.output.dtype))
    if other:
        yield f"the output's bytes read as {other}", replace(question, output=question.output.view(other))


def _of_sum(question: Sum) -> Iterator[Changed]:
    parameters = question.parameters
    for zero in _zero_points(question, parameters.output.zero_point):
        changed = replace(parameters.output, zero_point=zero)
        told = f"zero_point {zero} instead of {parameters.output.zero_point}"
        yield told, replace(question, parameters=replace(parameters, output=changed))
    swapped = replace(parameters, a=parameters.b, b=parameters.a)
    yield "the parameters of a and b swapped", replace(question, parameters=swapped)
    yield (
        f"ReLU {'off' if parameters.relu else 'on'}",
        replace(question, parameters=replace(parameters, relu=not parameters.relu)),
    )
    for name in ("a", "b", "output"):
        one = getattr(parameters, name)
        if one.zero_point:
            without = replace(parameters, **{name: replace(one, zero_point=0)})
            yield f"the zero point of {name} left out", replace(question, parameters=without)
