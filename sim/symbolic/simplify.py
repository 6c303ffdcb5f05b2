"""The one form of expressions, by all rules."""

from __future__ import annotations

from isa.lane import Lane
from sim.symbolic.nodes import Simplifier
from sim.symbolic.rules import bits, choices, comparisons, floating, sums, windows  # noqa: F401  # they enter their rules

SIMPLIFIER = Simplifier()
"""That of this process: what it has made is the same object wherever it is made again."""


def simplified(lane: Lane) -> Lane:
    """The one form of an expression: equal inputs give equal numbers, and equal forms are the same object."""
    return SIMPLIFIER.simplified(lane)
