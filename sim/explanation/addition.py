"""Quantized addition as rules: the conventions of sim.golden.addition with their parameters.

Sources: docs/spec/known_differences.md rows 10, 10b, 10c, 10d, 10e, 10f, 11 and 27; docs/spec/neighbours.md sections
24 and 41.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.candidates import used_by
from sim.explanation.limits import add_wrapped
from sim.explanation.rule import CandidateRule, Integers, Operands, RuleStep, is_tie, only
from sim.golden import addition
from sim.golden.addition import AddParameters, Quantization
from sim.golden.derivation import Derived, derive_tflite, derive_tflite_single_rounding
from sim.golden.integer_addition import LEFT_SHIFTS, AddRescaling, Rescale, add_rescaled, rescaling_of
from sim.golden.layers.addition_of_int8 import add_avx2_of_int8
from sim.golden.pytorch.addition import add_pytorch, add_pytorch_tail, add_qnnpack
from sim.golden.scaling import double_rounding, single_rounding
from sim.kernels.quantized_add.golden_tflite_pot import ParametersOfPowers, derived_of_powers, steps

AddConvention = Callable[[Any, Any, AddParameters], npt.NDArray[np.uint8]]
_EVERYWHERE: Final[tuple[AddConvention, ...]] = (
    addition.add_tflite,
    addition.add_tflite_single_rounding,
    addition.add_xnnpack,
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
    add_qnnpack,
    add_pytorch,
    add_pytorch_tail,
)
_INTEGER: Final[Mapping[AddConvention, tuple[Rescale, Callable[[float], Derived]]]] = {
    addition.add_tflite: (double_rounding, derive_tflite),
    addition.add_tflite_single_rounding: (single_rounding, derive_tflite_single_rounding),
}
ADDITION_AND_TAIL: Final = "add_pytorch_and_tail"
FOLDED_OF_INT8: Final = "add_avx2_of_int8"
ADDITION_OF_POWERS: Final = "add_tflite_pot"
_IN_BOTH: Final = "PyTorch's quantized::add on x86-64: whole vectors of 64 bytes, and what lies behind them"
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
        given = {name: getattr(self.parameters, name) for name in ("a", "b", "output")}
        moved = {name: replace(one, zero_point=one.zero_point - self.lowest) for name, one in given.items()}
        return self.convention(a, b, replace(self.parameters, **moved)).astype(np.int64) + self.lowest

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        result = int(self.run(only(element, ("a", "b")))[0])
        exact = exact_sum(element["a"], element["b"], self.parameters)
        event = _event(exact) if self.lowest <= exact <= self.lowest + 255 else f"saturates at {result}"
        return [RuleStep("sum", result, exact, event)]


class AdditionAndTail(Addition):
    """PyTorch's: in whole vectors of the tensor by one convention, behind the last of them by another.

    Source: docs/spec/requantization.md section 6.
    """

    @property
    def name(self) -> str:
        return ADDITION_AND_TAIL

    @property
    def note(self) -> str:
        return _IN_BOTH

    def run(self, operands: Operands) -> Integers:
        behind = replace(self, convention=add_pytorch_tail)
        in_tail = operands.get("in_tail", np.zeros(1, np.int64))
        return np.where(in_tail == 1, Addition.run(behind, operands), super().run(operands))


class FoldedAdditionOfInt8(Addition):
    """ONNX Runtime's, of bytes with a sign as they are."""

    @property
    def name(self) -> str:
        return FOLDED_OF_INT8

    @property
    def note(self) -> str:
        return "ONNX Runtime's MLAS on x86-64, of int8"

    def run(self, operands: Operands) -> Integers:
        return add_avx2_of_int8(operands["a"], operands["b"], self.parameters).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class IntegerAddition:
    """TFLite's integer add with its rescalings as numbers: of 16 bits, or where one of them is in question."""

    convention: AddConvention
    parameters: AddParameters
    rescaling: AddRescaling
    rescale: Rescale
    left_shift: int
    rises: bool = False

    @classmethod
    def of(cls, convention: AddConvention, parameters: AddParameters, bits: int) -> IntegerAddition:
        """That of parameters, for operands of so many bits; raises ValueError for scales that are not above 0."""
        rescale, derive = _INTEGER[convention]
        scales = [float(one.scale) for one in (parameters.a, parameters.b, parameters.output)]
        if not (np.isfinite(scales).all() and min(scales) > 0):
            raise ValueError("the integer add takes scales that are finite and above 0")
        rescaling = rescaling_of((scales[0], scales[1], scales[2]), LEFT_SHIFTS[bits], derive)
        return cls(convention=convention, parameters=parameters, rescaling=rescaling, rescale=rescale,
                   left_shift=LEFT_SHIFTS[bits])  # fmt: skip

    @property
    def name(self) -> str:
        return self.convention.__name__

    @property
    def note(self) -> str:
        return used_by(self.convention)

    def run(self, operands: Operands) -> Integers:
        by = self.parameters
        a, b = operands["a"] - by.a.zero_point, operands["b"] - by.b.zero_point
        placed = add_wrapped(add_rescaled(a, b, self.rescaling, self.left_shift, self.rescale), by.output.zero_point)
        return np.maximum(placed, by.output.zero_point) if by.relu else placed

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        result = int(self.run(only(element, ("a", "b")))[0])
        exact = exact_sum(element["a"], element["b"], self.parameters)
        return [RuleStep("sum", result, exact, _event(exact))]


@dataclass(frozen=True, kw_only=True)
class AdditionOfPowers:
    """TFLite's add of 16 bits whose scales are powers of two: one operand is shifted."""

    parameters: AddParameters
    shifts: ParametersOfPowers
    rises: bool = False

    @property
    def name(self) -> str:
        return ADDITION_OF_POWERS

    @property
    def note(self) -> str:
        return "LiteRT, of scales that are powers of two, where the layer is marked pot_scale_int16"

    def run(self, operands: Operands) -> Integers:
        a, b = (operands[name].astype(np.int16) for name in ("a", "b"))
        total = steps({"a": a, "b": b, "parameters": self.shifts})["sum"].astype(np.int64)
        return np.maximum(total, 0) if self.parameters.relu else total

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        given = {name: np.array([element[name]], np.int16) for name in ("a", "b")}
        made = steps({**given, "parameters": self.shifts})
        moved, by = ("a", self.shifts.a_shift) if self.shifts.a_shift else ("b", self.shifts.b_shift)
        shifted = Fraction(element[moved], 2**-by)
        exact, total = exact_sum(element["a"], element["b"], self.parameters), int(made["sum"][0])
        return [
            RuleStep(f"{moved} by 2^{by}", int(made["shift"][0]), shifted, "tie" if is_tie(shifted) else ""),
            RuleStep("sum", total, exact, "" if -(1 << 15) <= exact < 1 << 15 else f"saturates at {total}"),
        ]


def addition_rules(parameters: AddParameters, dtype: np.dtype[Any]) -> Iterator[CandidateRule]:
    """Those that are defined for int8 too, and for uint8 the others: no move can keep a folded constant, and PyTorch's
    activations are uint8.  Of int8 a runtime folds the constant of bytes with their signs.

    Of 16 bits there is only the integer add, and that by shifts where zero points are 0 and scales powers of two.
    """
    if dtype.itemsize == 2:
        yield from (IntegerAddition.of(convention, parameters, 16) for convention in _INTEGER)
        given = (parameters.a, parameters.b, parameters.output)
        if not any(one.zero_point for one in given):
            a, b, output = (float(one.scale) for one in given)
            with suppress(ValueError):  # scales that are no such powers, or that TFLite refuses
                yield AdditionOfPowers(parameters=parameters, shifts=derived_of_powers(a, b, output))
        return
    lowest = int(np.iinfo(dtype).min)
    for convention in _EVERYWHERE + (() if lowest else _FOLDED):
        yield Addition(convention, parameters, lowest)
    if lowest:
        yield FoldedAdditionOfInt8(addition.add_avx2, parameters, lowest)
    else:
        yield AdditionAndTail(add_pytorch, parameters, lowest)


def _event(exact: Fraction) -> str:
    if is_tie(exact):
        return "tie"
    return "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""


def exact_sum(a: int, b: int, parameters: AddParameters) -> Fraction:
    """The real sum in units of the output, its zero point and ReLU included; scales as their float32 numbers."""
    total = _real(a, parameters.a) + _real(b, parameters.b)
    active = max(total, Fraction(0)) if parameters.relu else total
    return active / Fraction(float(parameters.output.scale)) + parameters.output.zero_point


def _real(number: int, quantization: Quantization) -> Fraction:
    return (number - quantization.zero_point) * Fraction(float(quantization.scale))
