"""One element through a candidate, beside what the other near ones make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from sim.check.explain.explanation import Trace
from sim.check.explain.question import Part
from sim.check.explain.rule import Candidate, Step

_OTHERS: Final = 2
_WEAK: Final = ("clamp",)


def trace(part: Part, candidate: Candidate, others: Sequence[Candidate], at: int, shape: tuple[int, ...], yours: int
          ) -> Trace:  # fmt: skip
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
    why = decided(steps) or _elsewhere(part, others, told, at)
    return Trace(place, inputs, part.title(candidate), tuple(steps), steps[-1].exact, why, result, yours, told)


def _elsewhere(part: Part, others: Sequence[Candidate], told: Mapping[str, int], at: int) -> str:
    """What happened in the first of the other conventions that are shown."""
    shown = [other for other in others if part.title(other) in told]
    why = decided(shown[0].steps(part.element(at))) if shown else ""
    return f"in {part.title(shown[0])} {why}" if why else ""


def decided(steps: Sequence[Step]) -> str:
    """The events in their order, such as "tie at the shift"; the clamp's only where it is the only one."""
    told = [(step.name, step.event) for step in steps if step.event]
    strong = [(name, event) for name, event in told if name not in _WEAK] or told
    return ", ".join(_at(name, event) for name, event in strong)


def _at(name: str, event: str) -> str:
    event, colon, why = event.partition(":")
    return f"{event} at the {name}{colon}{why}"


def trace_result(candidate: Candidate, part: Part, at: int) -> int:
    """What a candidate makes of the element of flat index `at`."""
    return int(candidate.run({name: array[at : at + 1] for name, array in part.operands.items()})[0])
