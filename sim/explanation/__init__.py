"""Which convention made somebody's output: candidates, the survey of them, and what tells two apart.

`explain`, which is `sim.explain` too, does all of it; the classes are its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isa.lazy import lazy_exports

if TYPE_CHECKING:
    from sim.explanation.answer import explain
    from sim.explanation.apart import Directed
    from sim.explanation.explanation import Alike, Explanation, Match, Near, Trace
    from sim.explanation.question import QuestionError
    from sim.explanation.rule import RuleStep

__all__ = [
    "Alike",
    "Directed",
    "Explanation",
    "Match",
    "Near",
    "QuestionError",
    "RuleStep",
    "Trace",
    "explain",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Alike": "sim.explanation.explanation",
            "Directed": "sim.explanation.apart",
            "Explanation": "sim.explanation.explanation",
            "Match": "sim.explanation.explanation",
            "Near": "sim.explanation.explanation",
            "QuestionError": "sim.explanation.question",
            "RuleStep": "sim.explanation.rule",
            "Trace": "sim.explanation.explanation",
            "explain": "sim.explanation.answer",
        },
    )
