"""Functions of bytes as rules: logistic and tanh by a table made in float32, and in gemmlowp's fixed point.

And those of the real numbers that bytes stand for, which become bytes of any other scale.

Source: docs/spec/neighbours.md sections 23 and 37.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, tanh
from typing import Any, Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, only
from sim.golden.byte_rounding import round_even_then_offset
from sim.golden.layers import gemmlowp
from sim.golden.layers.sigmoid_table import TableFactor, doublings_of, factor_of, looked_up
from sim.kernels.activation_table.golden import FUNCTIONS, MODES, Parameters, activation_table
from sim.models.network import TensorScale
from sim.models.rules.dequantizing import dequantized
from sim.models.rules.functions.real_functions import USERS, WAYS
from sim.models.rules.multiplied import SIDES

IN_FLOAT: Final = "activation_in_float32"
IN_FIXED_POINT: Final = "activation_in_fixed_point"
OF_16_BITS: Final = "activation_by_table_of_16_bits"
IN_FIXED_POINT_OF_16_BITS: Final = "activation_in_fixed_point_of_16_bits"
_IN_FIXED_POINT: Final = {"logistic": gemmlowp.logistic, "tanh": gemmlowp.tanh}
_FAR: Final = 700.0
"""Where the logistic is at its end, and exp is a number still."""
_REAL: Final = {"logistic": lambda x: 1 / (1 + exp(min(-x, _FAR))), "tanh": tanh}
_NEAR: Final = Fraction(1, 1 << 12)


def mode_of(function: str, dtype: np.dtype[Any]) -> str:
    """The mode of activation_table that has the function in float32."""
    return f"{function}_{'s8' if dtype == np.int8 else 'u8'}"


@dataclass(frozen=True)
class Activating:
    """One mode of activation_table on bytes of one scale."""

    mode: str
    parameters: Parameters
    rises: bool = False

    @property
    def name(self) -> str:
        return IN_FIXED_POINT if MODES[self.mode].is_fixed else IN_FLOAT

    @property
    def note(self) -> str:
        return MODES[self.mode].source.partition(". ")[2]

    def run(self, operands: Operands) -> Integers:
        bytes_given = operands["byte"].astype(MODES[self.mode].dtype)
        return activation_table(bytes_given, self.parameters, self.mode).astype(np.int64)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        rule = MODES[self.mode]
        x = float(self.parameters.scale) * (element["byte"] - self.parameters.zero)
        exact = Fraction(_REAL[rule.function](x)) * 2 ** FUNCTIONS[rule.function].units + rule.output_zero
        event = "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
        return [RuleStep(f"{rule.function} of {x:.9g}", int(self.run(only(element, ("byte",)))[0]), exact, event)]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Of16Bits(ABC):
    """A function of int16 of one scale, to units of 2^-15."""

    function: str
    scale: np.float32
    rises: bool = False

    @abstractmethod
    def run(self, operands: Operands) -> Integers:
        """The outputs."""

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        x = float(self.scale) * element["byte"]
        exact = Fraction(_REAL[self.function](x)) * 2**15
        return [RuleStep(f"{self.function} of {x:.9g}", int(self.run(only(element, ("byte",)))[0]), exact)]


@dataclass(frozen=True, eq=False, kw_only=True)
class ActivatingOf16Bits(_Of16Bits):
    """By the table of `sim.golden.layers.sigmoid_table`."""

    by: TableFactor

    @property
    def name(self) -> str:
        return OF_16_BITS

    @property
    def note(self) -> str:
        return "TFLite's reference and TensorFlow Lite Micro, and LiteRT but for scales of 2^-12 and its like"

    def run(self, operands: Operands) -> Integers:
        return looked_up(self.function, operands["byte"].astype(np.int64), self.by)

    def one_off(self) -> Iterator[tuple[str, ActivatingOf16Bits]]:
        for units, side in SIDES:
            by = self.by._replace(multiplier=self.by.multiplier + units)
            yield f"the multiplier one {side}", replace(self, by=by)


@dataclass(frozen=True, eq=False, kw_only=True)
class ActivatingInFixedPointOf16Bits(_Of16Bits):
    """Of a scale that is 2^-12, so often doubled, by gemmlowp's fixed point."""

    doublings: int

    @property
    def name(self) -> str:
        return IN_FIXED_POINT_OF_16_BITS

    @property
    def note(self) -> str:
        return "LiteRT but its reference, of scales of 2^-12, and of TANH of 2^-11"

    def run(self, operands: Operands) -> Integers:
        numbers = gemmlowp.OF_16_BITS.shifted(operands["byte"].astype(np.int64), self.doublings)
        return _IN_FIXED_POINT[self.function](numbers, gemmlowp.OF_16_BITS)


def rules_of_16_bits(function: str, scale: np.float32) -> Iterator[ActivatingOf16Bits | ActivatingInFixedPointOf16Bits]:
    """By the table, and where the scale is such a power of two in fixed point."""
    yield ActivatingOf16Bits(function=function, scale=scale, by=factor_of(function, scale))
    doublings = doublings_of(function, scale)
    if doublings is not None:
        yield ActivatingInFixedPointOf16Bits(function=function, scale=scale, doublings=doublings)


@dataclass(frozen=True, eq=False)
class ActivatingReals:
    """A function of the real numbers that bytes of a dtype stand for, rounded to even into bytes of another scale."""

    way: str
    function: str
    dtype: np.dtype[Any]
    scale: TensorScale
    to: TensorScale
    rises: bool = False

    @property
    def name(self) -> str:
        return self.way

    @property
    def note(self) -> str:
        return USERS[self.way]

    def run(self, operands: Operands) -> Integers:
        lowest, highest = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        reals = dequantized(np.arange(lowest, highest + 1), self.scale.scales[0], self.scale.zero_point)
        made = WAYS[self.way][self.function](reals)
        table = round_even_then_offset(made, self.to.scales[0], self.to.zero_point, self.dtype.type).astype(np.int64)
        return np.asarray(table[operands["byte"] - lowest])

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        x = float(self.scale.scales[0]) * (element["byte"] - self.scale.zero_point)
        exact = Fraction(_REAL[self.function](x)) / Fraction(float(self.to.scales[0])) + self.to.zero_point
        event = "nearly a tie" if abs(exact % 1 - Fraction(1, 2)) < _NEAR else ""
        return [RuleStep(f"{self.function} of {x:.9g}", int(self.run(only(element, ("byte",)))[0]), exact, event)]


def activating_rules(function: str, dtype: np.dtype[Any], parameters: Parameters) -> Iterator[Activating]:
    """In float32, and in fixed point where that is defined for the dtype."""
    mode = mode_of(function, dtype)
    yield from (Activating(name, parameters) for name in (mode, f"{mode}_fixed_point") if name in MODES)
