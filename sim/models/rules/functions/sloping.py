"""PReLU and L2 normalization as rules: TFLite's multipliers under each rounding.

Source: docs/spec/neighbours.md sections 38 and 39.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any, Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden.fixed_point import Int32Array
from sim.golden.layers.l2_normalization import reciprocal_root
from sim.golden.layers.prelu import PreluFactors, factors_of, prelu
from sim.golden.scaling import double_rounding, single_rounding
from sim.models.network import TensorScale
from sim.models.rules.multiplied import one_unit_off

Way = Callable[[Integers, Integers], Integers]
Rescale = Callable[[Any, Any, Any], Int32Array]
_ROUNDINGS: Final[Mapping[Rescale, str]] = {
    double_rounding: "TFLite's default build and TensorFlow Lite Micro",
    single_rounding: "TFLite's single-rounding build",
}
_MULTIPLIED: Final = {"above": "numbers from the zero point on", "below": "numbers below the zero point"}
_FINE: Final = 1 << 40


@dataclass(frozen=True, eq=False)
class Sloping:
    """One way on `operands["a"]` and their slopes `operands["b"]`; `scales` are those of both and of the output.

    `others` are ways with one multiplier one unit off, by what is off.
    """

    name: str
    note: str
    way: Way
    scales: tuple[TensorScale, TensorScale, TensorScale]
    others: Mapping[str, Way] = field(default_factory=dict)
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        a, b, output = self.scales
        differences, slopes = (operands[name].astype(np.int64) - one.zero_point for name, one in (("a", a), ("b", b)))
        return self.way(differences, slopes) + output.zero_point

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        a, b, output = self.scales
        difference = element["a"] - a.zero_point
        slope = (element["b"] - b.zero_point) * Fraction(float(b.scales[0])) if difference < 0 else Fraction(1)
        exact = difference * Fraction(float(a.scales[0])) * slope / Fraction(float(output.scales[0]))
        placed = int(self.run(only(element, ("a", "b")))[0])
        return [
            RuleStep("scale and slope" if difference < 0 else "scale", placed - output.zero_point, exact,
                     "tie" if is_tie(exact) else ""),
            RuleStep("offset", placed, exact + output.zero_point),
        ]  # fmt: skip

    def one_off(self) -> Iterator[tuple[str, Sloping]]:
        for told, way in self.others.items():
            yield told, replace(self, way=way, others={})


def sloping_rules(scales: tuple[TensorScale, TensorScale, TensorScale]) -> list[Sloping]:
    """TFLite's default first; `ValueError` for factors that are no finite numbers."""
    found = []
    for which, factors in _factors(scales):
        for rescale, note in _ROUNDINGS.items():
            by = partial(prelu, rescale=rescale)
            others = {told: partial(by, factors=other) for told, other in one_unit_off(factors, _MULTIPLIED)}
            found.append(Sloping(f"{rescale.__name__}{which}", note, partial(by, factors=factors), scales, others))
    return found


def _factors(scales: tuple[TensorScale, TensorScale, TensorScale]) -> Iterator[tuple[str, PreluFactors]]:
    """In float32, LiteRT's, and in float64, TensorFlow Lite Micro's; without names where they are the same."""
    a, b, output = (one.scales[0] for one in scales)
    with np.errstate(all="ignore"):  # a file may have any numbers; what is not finite is refused
        single = factors_of(float(a / output), float(a * b / output))
    double = factors_of(float(a) / float(output), float(a) * float(b) / float(output))
    if single == double:
        yield "", single
    else:
        yield " of scales_in_float32", single
        yield " of scales_in_float64", double


@dataclass(frozen=True, eq=False)
class OverRoot:
    """`operands["a"]`, without zero points, over the root of `operands["sum"]`, what their squares add up to."""

    rescale: Rescale
    zero_point: int
    rises: bool = False

    @property
    def name(self) -> str:
        return f"l2_by_{self.rescale.__name__}"

    @property
    def note(self) -> str:
        return _ROUNDINGS[self.rescale]

    def run(self, operands: Operands) -> Integers:
        sums, places = np.unique(operands["sum"].astype(np.int64), return_inverse=True)
        multipliers, left_shifts = (numbers[places.ravel()] for numbers in reciprocal_root(sums))
        if self.zero_point:  # of uint8 upstream multiplies by 128 first, and shifts to the right alone
            scaled = self.rescale(operands["a"] * 128, multipliers, left_shifts)
        else:
            scaled = self.rescale(operands["a"], multipliers, left_shifts + 7)
        return np.asarray(scaled.astype(np.int64) + self.zero_point)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        root = Fraction(isqrt(max(element["sum"], 1) * _FINE**2), _FINE)
        exact = element["a"] * 128 / root + self.zero_point
        return [RuleStep(f"over the root of {element['sum']}", int(self.run(only(element, ("a", "sum")))[0]), exact)]


def over_root_rules(zero_point: int) -> list[OverRoot]:
    """TFLite's default first; zero point 128 is that of uint8."""
    return [OverRoot(rescale, zero_point) for rescale in _ROUNDINGS]
