"""The one form of expressions, by all rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from isa.lane import Lane, operands_first
from sim.symbolic.nodes import Simplifier
from sim.symbolic.rules import bits, choices, comparisons, floating, sums, windows  # noqa: F401  # they enter their rules

SIMPLIFIER = Simplifier()
"""That of this process: what it has made is the same object wherever it is made again."""


def simplified(lane: Lane) -> Lane:
    """The one form of an expression: equal inputs give equal numbers, and equal forms are the same object."""
    return SIMPLIFIER.simplified(lane)


def in_terms_of(lanes: Iterable[Lane], by: Mapping[Lane, Lane]) -> list[Lane]:
    """Lanes with nodes replaced by others, in their one form."""
    wanted, known = list(lanes), dict(by)
    for node in operands_first(wanted, known):
        known[node] = SIMPLIFIER.again(node, [known[arg] for arg in node.args])
    return [known[lane] for lane in wanted]
