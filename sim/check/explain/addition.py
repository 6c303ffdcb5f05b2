"""Quantized addition as rules: the conventions of sim.golden.addition with their parameters (rows 10 to 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.check.explain.candidates import used_by
from sim.check.explain.rule import Integers, Operands, Rule, Step, is_tie, only
from sim.golden import addition
from sim.golden.addition import AddParameters, Quantization

AddConvention = Callable[[Any, Any, AddParameters], npt.NDArray[np.uint8]]
_EVERYWHERE: Final[tuple[AddConvention, ...]] = (
    addition.add_tflite,
    addition.add_tflite_single_rounding,
    addition.add_page,
)
_FOLDED: Final[tuple[AddConvention, ...]] = (
    addition.add_base,
    addition.add_base_x86,
    addition.add_avx2,
    addition.add_neon_ties_away,
    addition.add_neon_ties_away_unfused,
    addition.add_neon_ties_even,
    addition.add_neon_ties_even_unfused,
)
_NEAR: Final = Fraction(1, 1 << 16)


@dataclass(frozen=True, eq=False)
class Addition:
    """One convention of adding bytes; int8 bytes and zero points are moved by 128 into uint8 and back."""

    convention: AddConvention
    parameters: AddParameters
    lowest: int
    rises: bool = False

    @property
    def name(self) -> str:
        return self.convention.__name__

    @property
    def note(self) -> str:
        return used_by(self.convention)

    def run(self, operands: Operands) -> Integers:
        a, b = (operands[name] - self.lowest for name in ("a", "b"))
        return self.convention(a, b, _moved(self.parameters, -self.lowest)).astype(np.int64) + self.lowest

    def steps(self, element: Mapping[str, int]) -> list[Step]:
        result = int(self.run(only(element, ("a", "b")))[0])
        exact = exact_sum(element["a"], element["b"], self.parameters)
        return [Step("sum", result, exact, _event(exact, result, self.lowest))]


def addition_rules(parameters: AddParameters, dtype: np.dtype[Any]) -> Iterator[Rule]:
    """Those that are defined for int8 too, and for uint8 the others, whose folded constant no move can keep."""
    lowest = int(np.iinfo(dtype).min)
    for convention in _EVERYWHERE + (() if lowest else _FOLDED):
        yield Addition(convention, parameters, lowest)


def exact_sum(a: int, b: int, parameters: AddParameters) -> Fraction:
    """The real sum in units of the output, its zero point and ReLU included; scales as their float32 numbers."""
    total = _real(a, parameters.a) + _real(b, parameters.b)
    active = max(total, Fraction(0)) if parameters.relu else total
    return active / Fraction(float(parameters.output.scale)) + parameters.output.zero_point


def _real(number: int, quantization: Quantization) -> Fraction:
    return (number - quantization.zero_point) * Fraction(float(quantization.scale))


def _moved(parameters: AddParameters, by: int) -> AddParameters:
    moved = {
        name: replace(getattr(parameters, name), zero_point=getattr(parameters, name).zero_point + by)
        for name in ("a", "b", "output")
    }
    return replace(parameters, **moved)


def _event(exact: Fraction, result: int, lowest: int) -> str:
    if not lowest <= exact <= lowest + 255:
        return f"saturates at {result}"
    if is_tie(exact):
        return "tie"
    return "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
