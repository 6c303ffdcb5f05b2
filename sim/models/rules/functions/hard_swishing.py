"""Hard swish of bytes as rules: TFLite's 16-bit fixed point, one by one and in vectors.

Source: docs/spec/neighbours.md section 27.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie
from sim.golden.layers.hard_swish import BLOCK, HardSwishFactors, factors_of, steps
from sim.models.network import TensorScale
from sim.models.rules.multiplied import one_unit_off

_PARTS: Final = 1 << 15
_MULTIPLIED: Final = {"output": "the input", "share": "min(max(x + 3, 0), 6) / 6"}


@dataclass(frozen=True, eq=False)
class HardSwishing:
    """`operands["byte"]` of a scale to another; `operands["behind"]` is 1 behind the last whole vector, else 0."""

    scale: TensorScale
    to: TensorScale
    factors: HardSwishFactors
    in_vectors: bool
    rises: bool = False

    @property
    def name(self) -> str:
        return "hard_swish_by_vector" if self.in_vectors else "hard_swish"

    @property
    def note(self) -> str:
        return "TFLite's NEON code" if self.in_vectors else "TFLite's reference and TensorFlow Lite Micro"

    def run(self, operands: Operands) -> Integers:
        placed = self._steps(operands["byte"], False)["output"]
        if self.in_vectors:
            placed = np.where(operands["behind"], placed, self._steps(operands["byte"], True)["output"])
        return placed

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        in_vector = self.in_vectors and not element["behind"]
        made = {name: int(value[0]) for name, value in self._steps(np.array([element["byte"]]), in_vector).items()}
        left = self.factors.output.left_shift
        x = Fraction(float(self.scale.scales[0])) * (element["byte"] - self.scale.zero_point)
        units = x / Fraction(float(self.to.scales[0]))
        share = min(max(x + 3, Fraction(0)), Fraction(6)) / 6
        fine = units * Fraction(2) ** -left
        event = "tie" if is_tie(Fraction(made["product"]) * Fraction(2) ** left) else ""
        return [
            RuleStep("scale", made["scaled"], fine),
            RuleStep("min(max(x + 3, 0), 6) / 6", made["share"], share * _PARTS),
            RuleStep("product", made["product"], fine * share),
            RuleStep("shift", made["shifted"], units * share, event),
            RuleStep("offset", made["output"], units * share + self.to.zero_point),
        ]

    def one_off(self) -> Iterator[tuple[str, HardSwishing]]:
        for told, factors in one_unit_off(self.factors, _MULTIPLIED):
            yield told, replace(self, factors=factors)

    def _steps(self, values: Integers, in_vectors: bool) -> Mapping[str, Integers]:
        return steps(values, self.scale.zero_point, self.factors, self.to.zero_point, in_vectors)


def behind_vectors(count: int) -> Integers:
    """1 for those of so many numbers that lie behind the last whole vector, 0 for all before."""
    return (np.arange(count) >= count - count % BLOCK).astype(np.int64)


def hard_swish_rules(scale: TensorScale, to: TensorScale) -> list[HardSwishing]:
    """Both, the reference first; `ValueError` for scales that TFLite refuses."""
    factors = factors_of(scale.scales[0], to.scales[0])
    return [HardSwishing(scale, to, factors, in_vectors) for in_vectors in (False, True)]
