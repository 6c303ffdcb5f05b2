"""Softmax of bytes as rules: TFLite's table of float32, its table of 16 bits, and gemmlowp's fixed point.

Operands are places in the whole tensor, as a row decides of each of its numbers.
Source: docs/spec/neighbours.md section 29.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, fsum
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep
from sim.golden.layers.softmax import WAYS, SoftmaxScales, Steps
from sim.models.layers import Normalized

_USERS: Final = {
    "softmax_by_table": "TFLite's kernels but its reference",
    "softmax_in_fixed_point": "TFLite's reference and TensorFlow Lite Micro",
    "softmax_by_table_of_16_bits": "TFLite's AArch64 code",
}
_NEAR: Final = Fraction(1, 1 << 12)


@dataclass(frozen=True, eq=False)
class Normalizing:
    """One way on a whole tensor of bytes; `operands["place"]` counts its numbers."""

    name: str
    made: Normalized
    rises: bool = False

    @property
    def note(self) -> str:
        return _USERS[self.name]

    def run(self, operands: Operands) -> Integers:
        return np.asarray(self._steps["output"].ravel()[operands["place"]])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        depth, zero = self.made.numbers.shape[-1], self.made.to.zero_point
        row = self.made.numbers.reshape(-1, depth)[element["place"] // depth].astype(int).tolist()
        by = float(self.made.scale.scales[0]) * self.made.beta
        powers = [exp(by * (q - max(row))) for q in row]
        at = element["place"] % depth
        exact = Fraction(powers[at] / fsum(powers)) / Fraction(float(self.made.to.scales[0])) + zero
        event = "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
        placed = int(self._steps["output"].ravel()[element["place"]])
        return [RuleStep(f"exp of {by * (row[at] - max(row)):.6g} of {fsum(powers):.6g}", placed, exact, event)]

    @cached_property
    def _steps(self) -> Steps:
        scales = SoftmaxScales(self.made.scale.scales[0], self.made.to.scales[0], np.float32(self.made.beta))
        return WAYS[self.name](self.made.numbers, scales, self.made.to.zero_point)


def normalizing_rules(made: Normalized) -> list[Normalizing]:
    """Every way, the table of float32 first."""
    return [Normalizing(name, made) for name in WAYS]
