"""Sums of more than 32 bits that are scaled to 16: TFLite's multiplier of 16 bits, and what it was before it was cut.

Source: docs/spec/neighbours.md section 35.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sim.explanation.candidates import used_by
from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden.derivation import Derived, derive_tflite
from sim.golden.one_rounding import single_rounding_of_long_narrowed
from sim.golden.scaling import single_rounding_of_long

Rescale = Callable[[Any, int, int], Integers]
LONGEST: Final = 48
"""Bits of a sum that upstream takes."""


@dataclass(frozen=True, eq=False)
class LongScaling:
    """One rounding of `operands["sum"]` (int64), of one factor for all."""

    rescale: Rescale
    factor: float
    zero_point: int
    rises: bool = False

    @property
    def name(self) -> str:
        return f"{self.rescale.__name__} of derive_tflite"

    @property
    def note(self) -> str:
        return used_by(self.rescale)

    def run(self, operands: Operands) -> Integers:
        return self.rescale(operands["sum"], *self._by).astype(np.int64) + self.zero_point

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        placed = int(self.run(only(element, ("sum",)))[0])
        exact = Fraction(element["sum"] * self._by.multiplier, 2**31) * Fraction(2) ** self._by.left_shift
        return [
            RuleStep("multiply and shift", placed - self.zero_point, exact, "tie" if is_tie(exact) else ""),
            RuleStep("offset", placed, exact + self.zero_point),
        ]

    @property
    def _by(self) -> Derived:
        return derive_tflite(self.factor)


def long_scaling_rules(factor: float, zero_point: int) -> list[LongScaling]:
    """Both that are defined of such sums, TFLite's first."""
    return [LongScaling(way, factor, zero_point) for way in (single_rounding_of_long, single_rounding_of_long_narrowed)]
