"""One element through a candidate, beside what the other near ones make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sim.explanation.explanation import Trace
from sim.explanation.question import QuestionPart
from sim.explanation.rule import Candidate, RuleStep

_OTHERS: Final = 2
_WEAK: Final = ("clamp",)


def trace(
    part: QuestionPart, candidate: Candidate, others: Sequence[Candidate], at: int, shape: tuple[int, ...], yours: int
) -> Trace:
    """The element of flat index `at`; of the others, some that give what is yours, else some that differ."""
    steps = candidate.steps(part.element(at))
    place = tuple(int(i) for i in np.unravel_index(at, shape))
    result = steps[-1].value
    rivals: dict[str, Candidate] = {}
    for other in others:
        if other.rule is not candidate.rule:
            rivals.setdefault(other.rule.name, other)
    results = {part.title(other): trace_result(other, part, at) for other in rivals.values()}
    shown = [name for name, value in results.items() if value == yours]
    shown = (shown or [name for name, value in results.items() if value != result])[:_OTHERS]
    told = {name: results[name] for name in shown}
    inputs = part.inputs(at)
    why = decided(steps)
    first = next((other for other in others if part.title(other) in told), None)
    if not why and first is not None and (elsewhere := decided(first.steps(part.element(at)))):
        why = f"{part.title(first)}: {elsewhere}"
    return Trace(
        element=place,
        inputs=inputs,
        convention=part.title(candidate),
        steps=tuple(steps),
        exact=steps[-1].exact,
        decided=why,
        result=result,
        yours=yours,
        results=told,
    )


def decided(steps: Sequence[RuleStep]) -> str:
    """The events in their order, such as "tie at the shift"; the clamp's only where it is the only one."""
    told = [(step.name, step.event) for step in steps if step.event]
    strong = [(name, event) for name, event in told if name not in _WEAK] or told
    parted = [(name, event.partition(":")) for name, event in strong]
    return ", ".join(f"{event} at the {name}{colon}{why}" for name, (event, colon, why) in parted)


def trace_result(candidate: Candidate, part: QuestionPart, at: int) -> int:
    """What a candidate makes of the element of flat index `at`."""
    return int(candidate.run({name: array[[at]] for name, array in part.operands.items()}).item())
