"""Averages as rules: a sum over a count, to nearest by one rounding or another.

Source: docs/spec/neighbours.md section 20.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.kernels.pool.golden import Sums, ties_away, ties_up, truncated

Divide = Callable[[Sums, Sums | int], Sums]
EXACT: Final = "exact"
"""The name where nothing is rounded."""
WAYS: Final[Mapping[Divide, str]] = {ties_away: "TFLite's AVERAGE_POOL_2D", ties_up: "", truncated: ""}
"""The roundings, and who uses them."""


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
        return "" if self.divide is None else WAYS[self.divide]

    def run(self, operands: Operands) -> Integers:
        sums, counts = operands["sum"].astype(np.int64), operands["count"].astype(np.int64)
        return sums if self.divide is None else self.divide(sums, counts)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        exact = Fraction(element["sum"], element["count"])
        result = int(self.run(only(element, ("sum", "count")))[0])
        return [RuleStep("average" if self.divide else "largest", result, exact, "tie" if is_tie(exact) else "")]
