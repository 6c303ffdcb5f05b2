"""Layers whose bias is a real number as rules: the conventions of `sim.golden.pytorch.real_bias`, with parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.candidates import used_by
from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden.fixed_point import wrap_int32
from sim.golden.pytorch import real_bias
from sim.golden.pytorch.real_bias import LayerScales

Convention = Callable[[Any, Any, LayerScales, int], npt.NDArray[np.int32]]
_CONVENTIONS: Final[tuple[Convention, ...]] = (
    real_bias.bias_divided,
    real_bias.bias_by_reciprocal,
    real_bias.bias_rounded,
    real_bias.bias_in_reals,
    real_bias.bias_in_reals_of_products,
)


@dataclass(frozen=True, eq=False)
class RealBias:
    """The bias (float32, in real units) and the scales of a layer, each one number, or one for each channel.

    `whole` is the bias that accumulators have in them, as integers of int32.
    """

    bias: npt.NDArray[np.float32]
    whole: npt.NDArray[np.int64]
    scales: LayerScales

    def of(self, channel: npt.NDArray[np.int64]) -> RealBias:
        """Those of some channels, one for each element."""

        def at(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return array[channel] if array.size > 1 else array.reshape(-1)

        scales = LayerScales(self.scales.input, at(np.asarray(self.scales.weights)), self.scales.output)
        return RealBias(at(self.bias), at(self.whole), scales)


@dataclass(frozen=True, eq=False)
class RealBiasRule:
    """One convention; the operands are those of `sim.explanation.scaling`."""

    convention: Convention
    given: RealBias
    zero_point: int
    rises: bool = False

    @property
    def name(self) -> str:
        return self.convention.__name__

    @property
    def note(self) -> str:
        return used_by(self.convention)

    def run(self, operands: Operands) -> Integers:
        given = self.given.of(operands["channel"].astype(np.int64))
        products = wrap_int32(operands["value"].astype(np.int64) - given.whole)
        return self.convention(products, given.bias, given.scales, self.zero_point)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        result = int(self.run(only(element, ("value", "channel")))[0])
        given = self.given.of(np.array([element["channel"]]))
        of_input, of_weights, of_output, bias = (
            Fraction(float(np.asarray(number).ravel()[0]))
            for number in (given.scales.input, given.scales.weights, given.scales.output, given.bias)
        )
        products = element["sum"] - int(given.whole.ravel()[0])
        exact = (products * of_input * of_weights + bias) / of_output + self.zero_point
        event = "tie" if is_tie(exact) else "" if result == round(exact) else "float32 rounds on the way"
        return [RuleStep("scale, bias, offset", result, exact, event)]


def real_bias_rules(given: RealBias, zero_point: int) -> Iterator[RealBiasRule]:
    """Every convention with these parameters."""
    for convention in _CONVENTIONS:
        yield RealBiasRule(convention, given, zero_point)
