"""Bytes of several scales that are joined: each is brought to the scale of the output, in float32.

Operands are a byte, and which of the tensors it is of.  Source: docs/spec/neighbours.md section 47.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie
from sim.models.network import TensorScale


@dataclass(frozen=True, eq=False)
class Joining:
    """TFLite's way: a product and a sum, both rounded, and what they give rounded away from zero.

    `before` are the scales of the tensors, each of one number, and `to` that of the output.
    """

    before: Sequence[TensorScale]
    to: TensorScale
    rises: bool = False

    @property
    def name(self) -> str:
        return "join_in_float32"

    @property
    def note(self) -> str:
        return "TFLite, of uint8"

    def run(self, operands: Operands) -> Integers:
        inverse, same = np.float32(1) / self.to.scales[0], (self.to.scales[0], self.to.zero_point)
        factors = np.array([scale.scales[0] * inverse for scale in self.before])
        zeros = np.array([-scale.zero_point for scale in self.before], np.float32)
        is_as_it_is = np.array([(scale.scales[0], scale.zero_point) == same for scale in self.before])
        byte, tensor = operands["byte"], operands["tensor"]
        quotient = (byte.astype(np.float32) * factors[tensor] + (zeros * factors)[tensor]).astype(np.float64)
        away: npt.NDArray[np.float64] = np.sign(quotient) * np.floor(np.abs(quotient) + 0.5)
        return np.where(is_as_it_is[tensor], byte, away + self.to.zero_point).astype(np.int64)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        scale = self.before[element["tensor"]]
        units = Fraction(float(scale.scales[0])) / Fraction(float(self.to.scales[0]))
        exact = (element["byte"] - scale.zero_point) * units + self.to.zero_point
        made = int(self.run({name: np.array([number]) for name, number in element.items()})[0])
        return [RuleStep("in the scale of the output", made, exact, "tie" if is_tie(exact) else "")]
