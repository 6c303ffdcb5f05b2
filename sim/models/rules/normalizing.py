"""Softmax of bytes as rules: TFLite's tables of float32 and of 16 bits, gemmlowp's fixed point, ONNX Runtime's table.

Operands are places in the whole tensor, as a row decides of each of its numbers.
Source: docs/spec/neighbours.md sections 29 and 31.
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
from sim.golden.layers.softmax import WAYS, WAYS_OF_ONNX, SoftmaxScales
from sim.models.layers import Normalized

_USERS: Final = {
    "softmax_by_table": "TFLite's kernels but its reference",
    "softmax_in_fixed_point": "TFLite's reference and TensorFlow Lite Micro",
    "softmax_by_table_of_16_bits": "TFLite's AArch64 code",
    "softmax_in_reals": "",
    "softmax_by_shifted_table": "ONNX Runtime",
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
        return np.asarray(self._output.ravel()[operands["place"]])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        numbers, zero = self.made.numbers, self.made.to.zero_point
        place = np.unravel_index(element["place"], numbers.shape)
        axis = self.made.axis % numbers.ndim
        row = np.moveaxis(numbers, axis, -1)[place[:axis] + place[axis + 1 :]].astype(int).tolist()
        by = float(self.made.scale.scales[0]) * (1 if self.made.beta is None else self.made.beta)
        powers = [exp(by * (q - max(row))) for q in row]
        at = int(place[axis])
        exact = Fraction(powers[at] / fsum(powers)) / Fraction(float(self.made.to.scales[0])) + zero
        event = "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
        placed = int(self._output[place])
        return [RuleStep(f"exp of {by * (row[at] - max(row)):.6g} of {fsum(powers):.6g}", placed, exact, event)]

    @cached_property
    def _output(self) -> Integers:
        """Of the whole tensor, before the bounds."""
        made = self.made
        beta = np.float32(1 if made.beta is None else made.beta)
        scales = SoftmaxScales(made.scale.scales[0], made.to.scales[0], beta)
        way = WAYS_OF_ONNX[self.name] if made.beta is None else WAYS[self.name]
        rows = np.moveaxis(made.numbers, made.axis, -1)
        return np.moveaxis(way(rows, scales, made.to.zero_point)["output"], -1, made.axis)


def normalizing_rules(made: Normalized) -> list[Normalizing]:
    """Every way, for TFLite the table of float32 first, for ONNX real numbers."""
    return [Normalizing(name, made) for name in (WAYS_OF_ONNX if made.beta is None else WAYS)]
