"""Softmax as rules: TFLite's tables of float32 and of 16 bits, its fixed point and way of int16, ONNX Runtime's table.

Operands are places in the whole tensor, as a row decides of each of its numbers.
Source: docs/spec/neighbours.md sections 29, 31 and 32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import exp, fsum
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep
from sim.golden.layers.softmax import WAYS, WAYS_OF_INT16, WAYS_OF_ONNX, WAYS_TO_INT16, SoftmaxScales, Way
from sim.models.layers import Normalized
from sim.models.rules.multiplied import SIDES

_USERS: Final = {
    "softmax_by_table": "TFLite's kernels but its reference",
    "softmax_in_fixed_point": "TFLite's reference and TensorFlow Lite Micro",
    "softmax_by_table_of_16_bits": "TFLite's AArch64 code",
    "softmax_by_interpolation": "LiteRT",
    "softmax_by_interpolation_of_float32": "TensorFlow Lite Micro",
    "softmax_in_reals": "",
    "softmax_by_shifted_table": "ONNX Runtime",
}
_BY_MULTIPLIER: Final = ("softmax_in_fixed_point", "softmax_by_interpolation", "softmax_by_interpolation_of_float32")
_NEAR: Final = Fraction(1, 1 << 12)


@dataclass(frozen=True, eq=False)
class Normalizing:
    """One way on a whole tensor; `operands["place"]` counts its numbers.

    `units` is by how many in the last place what multiplies the differences is off.
    """

    name: str
    made: Normalized
    units: int = 0
    rises: bool = False

    @property
    def note(self) -> str:
        return _USERS[self.name]

    def run(self, operands: Operands) -> Integers:
        return np.asarray(self._output.ravel()[operands["place"]])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        numbers, zero = self.made.numbers, self.made.to.zero_point
        places = self.made.as_rows(np.arange(numbers.size).reshape(numbers.shape))
        *of_row, at = (int(one[0]) for one in np.nonzero(places == element["place"]))
        row = self.made.as_rows(numbers)[tuple(of_row)].astype(int).tolist()
        by = float(self.made.scale.scales[0]) * (1 if self.made.beta is None else self.made.beta)
        powers = [exp(by * (q - max(row))) for q in row]
        exact = Fraction(powers[at] / fsum(powers)) / Fraction(float(self.made.to.scales[0])) + zero
        event = "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
        placed = int(self._output.ravel()[element["place"]])
        return [RuleStep(f"exp of {by * (row[at] - max(row)):.6g} of {fsum(powers):.6g}", placed, exact, event)]

    def one_off(self) -> Iterator[tuple[str, Normalizing]]:
        what = "multiplier one" if self.name in _BY_MULTIPLIER else "float32 scale one unit in the last place"
        for units, side in SIDES:
            yield f"the {what} {side}", replace(self, units=units)

    @cached_property
    def _output(self) -> Integers:
        """Of the whole tensor, before the bounds."""
        made = self.made
        beta = np.float32(1 if made.beta is None else made.beta)
        scales = SoftmaxScales(made.scale.scales[0], made.to.scales[0], beta)
        way = _ways(made)[self.name]
        made_of_rows = way(made.as_rows(made.numbers), scales, made.to.zero_point, units=self.units)["output"]
        output = np.empty(made.numbers.size, np.int64)
        output[made.as_rows(np.arange(output.size).reshape(made.numbers.shape))] = made_of_rows
        return output.reshape(made.numbers.shape)


def normalizing_rules(made: Normalized) -> list[Normalizing]:
    """Every way that is defined of both dtypes, LiteRT's first, for ONNX real numbers."""
    return [Normalizing(name, made) for name in _ways(made)]


def _ways(made: Normalized) -> Mapping[str, Way]:
    if made.beta is None:
        return WAYS_OF_ONNX
    if made.numbers.dtype == np.int16:
        return WAYS_OF_INT16
    return WAYS_TO_INT16 if made.dtype == "int16" else WAYS
