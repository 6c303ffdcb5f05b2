"""Leaky ReLU of bytes and int16 as rules: TFLite's multipliers under each rounding, and XNNPACK's of 8 bits.

Source: docs/spec/neighbours.md section 28.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from sim.explanation.rule import CandidateRule, Integers, Operands, RuleStep, is_tie, only
from sim.golden.layers.leaky_relu import (
    LeakyReluFactors,
    Rescale,
    factors_of,
    factors_of_8_bits,
    leaky_relu,
    leaky_relu_of_8_bits,
)
from sim.golden.scaling import double_rounding, single_rounding
from sim.models.network import TensorScale
from sim.models.rules.multiplied import SIDES, one_unit_off

Way = Callable[[Integers], Integers]
_MULTIPLIED: Final = {"above": "numbers from the zero point on", "below": "numbers below the zero point"}
_ROUNDINGS: Final[Mapping[Rescale, str]] = {
    double_rounding: "TFLite's default build and TensorFlow Lite Micro",
    single_rounding: "TFLite's single-rounding build",
}
OF_8_BITS: Final = "leaky_relu_of_8_bits"
NEGATED: Final = "double_rounding_of_negated"
_OF_NEGATED: Final = "TFLite's kernels of int16, and older ones of bytes"


@dataclass(frozen=True, eq=False, kw_only=True)
class Leaking:
    """One way on `operands["byte"]` of a scale to another: `scaled` makes the numbers before the zero point.

    `others` are ways with one multiplier one unit off, by what is off.
    """

    name: str
    note: str
    scaled: Way
    scale: TensorScale
    to: TensorScale
    alpha: np.float32
    others: Mapping[str, Way] = field(default_factory=dict)
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        return self.scaled(operands["byte"]) + self.to.zero_point

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        difference = element["byte"] - self.scale.zero_point
        slope = Fraction(float(self.alpha)) if difference < 0 else Fraction(1)
        exact = difference * Fraction(float(self.scale.scales[0])) * slope / Fraction(float(self.to.scales[0]))
        placed = int(self.run(only(element, ("byte",)))[0])
        name = "scale and alpha" if difference < 0 else "scale"
        return [
            RuleStep(name, placed - self.to.zero_point, exact, "tie" if is_tie(exact) else ""),
            RuleStep("offset", placed, exact + self.to.zero_point),
        ]

    def one_off(self) -> Iterator[tuple[str, Leaking]]:
        for told, scaled in self.others.items():
            yield told, replace(self, scaled=scaled, others={})


def leaky_relu_rules(
    dtype: np.dtype[Any], scale: TensorScale, to: TensorScale, alpha: np.float32
) -> list[CandidateRule]:
    """TFLite's default first; `ValueError` for factors that are no finite numbers."""
    zero = scale.zero_point

    def made(name: str, note: str, way: Callable[..., Integers], by: Any, others: Mapping[str, Any]) -> Leaking:
        ways = {told: partial(way, factors=other) for told, other in others.items()}
        scaled = partial(way, factors=by)
        return Leaking(name=name, note=note, scaled=scaled, scale=scale, to=to, alpha=alpha, others=ways)

    found: list[CandidateRule] = []
    for which, factors in _factors(scale.scales[0], to.scales[0], alpha):
        by, others = partial(leaky_relu, zero=zero), dict(one_unit_off(factors, _MULTIPLIED))
        for rescale, note in _ROUNDINGS.items():
            found.append(made(f"{rescale.__name__}{which}", note, partial(by, rescale=rescale), factors, others))
        if factors.is_turned:
            first, note = partial(by, rescale=double_rounding, negates_first=True), _OF_NEGATED
            found.append(made(f"{NEGATED}{which}", note, first, factors, others))
    if dtype == np.int16:
        return found
    try:
        of_8_bits = factors_of_8_bits(scale.scales[0], to.scales[0], alpha)
    except ValueError:  # LiteRT takes its own kernels then
        return found
    above, below = of_8_bits
    others_of_8 = {
        f"the multiplier of {multiplied} one {side}": (above + units * is_above, below + units * (not is_above))
        for units, side in SIDES
        for multiplied, is_above in (("numbers above the zero point", True), ("all other numbers", False))
    }
    scaled = partial(leaky_relu_of_8_bits, zero=zero)
    return [*found, made(OF_8_BITS, "XNNPACK, and LiteRT by it", scaled, of_8_bits, others_of_8)]


def _factors(scale: np.float32, to: np.float32, alpha: np.float32) -> Iterator[tuple[str, LeakyReluFactors]]:
    """In float32, LiteRT's, and in float64, TensorFlow Lite Micro's; without names where they are the same."""
    with np.errstate(all="ignore"):  # a file may have any numbers; what is not finite is refused
        single = factors_of(float(scale / to), float(scale * alpha / to))
    wide, wide_to, wide_alpha = (float(one) for one in (scale, to, alpha))
    double = factors_of(wide / wide_to, wide * wide_alpha / wide_to)
    if single == double:
        yield "", single
    else:
        yield " of scales_in_float32", single
        yield " of scales_in_float64", double
