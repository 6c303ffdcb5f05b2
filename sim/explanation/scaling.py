"""Requantization as rules: the conventions of sim.golden.scaling and byte_rounding with their parameters.

The operands of an element are `value` (accumulator plus bias, in int32), `sum` (the same before it wraps), `channel`
and `in_tail` (1 in the last N mod 16 columns).  Parameters have one number, or one for each channel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.explanation.limits import add_wrapped
from sim.explanation.rule import Integers, Operands, RuleStep, fits_int32, is_tie, only
from sim.golden.bounds import UINT8_MAX
from sim.golden.fixed_point import doubling_high_multiply, shift_left_saturate, shift_left_wrap, wrap_int32
from sim.golden.one_rounding import single_rounding_of_long_narrowed
from sim.golden.scaling import (
    double_rounding_saturating_left,
    integer_scale_floor,
    shift_after_rounding_in_lanes,
    shift_after_rounding_in_tail,
    single_rounding_by_vector,
    single_rounding_narrowed,
)

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
FixedPointConvention = Callable[[Any, Any, Any], Int32Array]
IntegerConvention = Callable[[Any, Any, Any, Any], Int32Array]
FloatConvention = Callable[[Any, Any], Int32Array]
ByteConvention = Callable[[Any, Any, int], npt.NDArray[np.uint8] | npt.NDArray[np.int8]]
Element = Mapping[str, int]

_NAMES = ("value", "channel", "in_tail")
_NARROWED = (single_rounding_narrowed, single_rounding_by_vector, single_rounding_of_long_narrowed)
"""Those that lose bits also where nothing is shifted to the left: they compute twice the result, or from twice x."""
BLOCK_COLUMNS = 16


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedPoint:
    """A Q0.31 multiplier and a shift, by a convention that rounds twice or once; then the zero point is added."""

    name: str
    note: str
    convention: FixedPointConvention
    rounds_twice: bool
    multiplier: Int64Array
    left_shift: Int64Array
    zero_point: int

    @property
    def rises(self) -> bool:
        """No left shift that wraps, no negative factor, no zero point that wraps."""
        highest = int(self.left_shift.max())
        largest = int(self.multiplier.max()) >> max(-highest, 0)
        fits = fits_int32(largest + 1 + self.zero_point) and fits_int32(-largest - 1 + self.zero_point)
        narrows = highest == 0 and self.convention in _NARROWED
        only_right = bool(self.left_shift.min() >= -31) and highest <= 0
        return only_right and fits and not narrows and bool(self.multiplier.min() >= 0)

    def run(self, operands: Operands) -> Integers:
        return add_wrapped(self._scaled(operands), self.zero_point)

    def steps(self, element: Element) -> list[RuleStep]:
        multiplier, left_shift = of_element(self.multiplier, element), of_element(self.left_shift, element)
        scaled = int(self._scaled(only(element, _NAMES)).item())
        exact = Fraction(element["sum"] * multiplier, 2**31) * Fraction(2) ** left_shift
        if self.rounds_twice:
            steps = self._two_roundings(element, multiplier, left_shift, scaled, exact)
        else:
            steps = [RuleStep("multiply and shift", scaled, exact, _rounding_event(exact, scaled))]
        return [*_added(element), *steps, *placed_steps(steps[-1], self.zero_point)]

    def _scaled(self, operands: Operands) -> Int32Array:
        return self.convention(
            operands["value"], of_channels(self.multiplier, operands), of_channels(self.left_shift, operands)
        )

    def _two_roundings(
        self, element: Element, multiplier: int, left_shift: int, scaled: int, result: Fraction
    ) -> list[RuleStep]:
        """A left shift, the multiply, a right shift; `result` is the exact one."""
        steps, exact, left = [], Fraction(element["sum"]), element["value"]
        if left_shift > 0 and self.convention not in (shift_after_rounding_in_lanes, shift_after_rounding_in_tail):
            exact *= 2**left_shift
            saturates = self.convention is double_rounding_saturating_left
            shifted = left << left_shift
            left = int((shift_left_saturate if saturates else shift_left_wrap)(left, left_shift))
            event = "" if left == shifted else "saturates" if saturates else "wraps"
            steps.append(RuleStep("left shift", left, exact, event))
        exact *= Fraction(multiplier, 2**31)
        high, product = int(doubling_high_multiply(left, multiplier)), Fraction(left * multiplier, 2**31)
        event = "saturates" if not fits_int32(product) else "tie" if is_tie(product) else ""
        steps.append(RuleStep("multiply", high, exact, event))
        if scaled == high and exact == result and left_shift >= 0:
            return steps
        event = ""
        if left_shift > 0:
            event = "shifts left after the rounding"
        elif is_tie(Fraction(high, 2**-left_shift)):
            made = f"false tie: the multiply made {high} of {shown(result * 2**-left_shift)}"
            event = "tie" if is_tie(result) else made
        return [*steps, RuleStep("shift", scaled, result, event)]


@dataclass(frozen=True, eq=False)
class LanesAndTail(FixedPoint):
    """ACL 19.08's vector code in the columns of whole blocks of 16, its scalar code in the others.

    Source: docs/spec/known_differences.md row 8b.
    """

    def _scaled(self, operands: Operands) -> Int32Array:
        given = operands["value"], of_channels(self.multiplier, operands), of_channels(self.left_shift, operands)
        in_tail = operands["in_tail"] == 1
        return np.where(in_tail, shift_after_rounding_in_tail(*given), shift_after_rounding_in_lanes(*given))


@dataclass(frozen=True, eq=False, kw_only=True)
class IntegerScaling:
    """The zero point is added first, then an integer multiplies and a right shift divides.

    Source: docs/spec/known_differences.md row 4.
    """

    name: str
    note: str
    convention: IntegerConvention
    multiplier: Int64Array
    right_shift: Int64Array
    zero_point: int
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        multiplier, shift = of_channels(self.multiplier, operands), of_channels(self.right_shift, operands)
        return self.convention(operands["value"], self.zero_point, multiplier, shift)

    def steps(self, element: Element) -> list[RuleStep]:
        multiplier, shift = of_element(self.multiplier, element), of_element(self.right_shift, element)
        placed, exact = element["value"] + self.zero_point, Fraction(element["sum"] + self.zero_point)
        offset = RuleStep("offset", int(wrap_int32(placed)), exact, _wraps(placed))
        wide = offset.value * multiplier
        product = RuleStep("multiply", int(wrap_int32(wide)), exact * multiplier, _wraps(wide))
        scaled = int(self.run(only(element, _NAMES)).item())
        exact = product.exact / 2**shift
        name = "shift rounded down" if self.convention is integer_scale_floor else "shift"
        return [*_added(element), offset, product, RuleStep(name, scaled, exact, _rounding_event(exact, scaled))]


@dataclass(frozen=True, eq=False)
class FloatScaling:
    """A float32 scale, rounded to an integer; then the zero point is added."""

    name: str
    note: str
    convention: FloatConvention
    scale: Float32Array
    factor: tuple[Fraction, ...]
    zero_point: int

    @property
    def rises(self) -> bool:
        """float32 products rise with the accumulator; only a zero point that wraps could end that."""
        return bool(abs(self.zero_point) < 2**30 and self.scale.max() <= 0.5)

    def run(self, operands: Operands) -> Integers:
        scaled = by_channel(self.scale, operands, self.convention)
        return add_wrapped(scaled, self.zero_point)

    def steps(self, element: Element) -> list[RuleStep]:
        operands = only(element, _NAMES)
        product = float32_product(element, self.scale)
        scaled = int(by_channel(self.scale, operands, self.convention).item())
        exact = Fraction(element["sum"]) * of_factor(self.factor, element)
        step = RuleStep("multiply and round", scaled, exact, float_event(product, exact))
        return [*_added(element), step, *placed_steps(step, self.zero_point)]


@dataclass(frozen=True, eq=False, kw_only=True)
class ByteRounding:
    """float32 product, then the float-to-byte rules; `lowest` moves an int8 zero point into uint8 and back, 0 does not.

    Source: docs/spec/known_differences.md row 12.
    """

    name: str
    note: str
    convention: ByteConvention
    scale: Float32Array
    factor: tuple[Fraction, ...]
    zero_point: int
    lowest: int
    rises: bool = True

    def run(self, operands: Operands) -> Integers:
        if not np.isfinite(self.scale).all():
            raise ValueError("the scale does not fit float32")
        with np.errstate(over="ignore"):
            product = operands["value"].astype(np.float32) * of_channels(self.scale, operands)
        zero = self.zero_point - self.lowest
        if self.lowest and not 0 <= zero <= UINT8_MAX:  # told as it was given
            raise ValueError(
                f"zero_point is {self.zero_point}: it must lie in {self.lowest}..{self.lowest + UINT8_MAX}"
            )
        return self.convention(product, np.float32(1), zero).astype(np.int64) + self.lowest

    def steps(self, element: Element) -> list[RuleStep]:
        product = float32_product(element, self.scale)
        exact = Fraction(element["sum"]) * of_factor(self.factor, element)
        placed = int(self.run(only(element, _NAMES)).item())
        total = exact + self.zero_point
        return [*_added(element), RuleStep("multiply, round, offset", placed, total, float_event(product, exact))]


def of_channels(parameter: npt.NDArray[Any], operands: Operands) -> npt.NDArray[Any]:
    """The parameter of each element's channel, or the only one there is."""
    return np.asarray(parameter[0] if parameter.size == 1 else parameter[operands["channel"]])


def of_element(parameter: Int64Array, element: Element) -> int:
    """The parameter of one element."""
    return int(parameter[0 if parameter.size == 1 else element["channel"]])


def of_factor(factor: tuple[Fraction, ...], element: Element) -> Fraction:
    return factor[0] if len(factor) == 1 else factor[element["channel"]]


def by_channel(scale: Float32Array, operands: Operands, one: Callable[[Any, np.float32], Integers]) -> Integers:
    """`one` on the values of each channel with its scale."""
    values = operands["value"]
    if scale.size == 1:
        return one(values, scale[0])
    result = np.zeros(values.shape, np.int64)
    order = np.argsort(operands["channel"], kind="stable")
    channels, starts = np.unique(operands["channel"][order], return_index=True)
    for channel, members in zip(channels, np.split(order, starts[1:]), strict=True):
        result[members] = one(values[members], scale[channel])
    return result


def float32_product(element: Element, scale: Float32Array) -> Fraction:
    """The accumulator times its channel's scale, all in float32; 0 where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.float32(element["value"]) * scale[0 if scale.size == 1 else element["channel"]]
    return Fraction(float(product)) if np.isfinite(product) else Fraction(0)


def float_event(product: Fraction, exact: Fraction) -> str:
    """What float32 did to the exact product, where it bears on the rounding that follows."""
    if is_tie(exact) and product == exact:
        return "tie"
    made = f"float32 makes {shown(product)} of {shown(exact)}"
    if is_tie(product):
        return f"false tie: {made}"
    return "" if round(product) == round(exact) else made


def placed_steps(scaled: RuleStep, zero_point: int) -> list[RuleStep]:
    """The offset, where there is one."""
    if not zero_point:
        return []
    wide = scaled.value + zero_point
    return [RuleStep("offset", int(wrap_int32(wide)), scaled.exact + zero_point, _wraps(wide))]


def shown(number: Fraction) -> str:
    """A fraction while it is short, else with nine digits."""
    return str(number) if number.denominator <= 64 else f"{float(number):.9g}"


def _added(element: Element) -> list[RuleStep]:
    """The bias, where it was added."""
    if not element["has_bias"]:
        return []
    return [RuleStep("bias", element["value"], Fraction(element["sum"]), _wraps(element["sum"]))]


def _wraps(wide: int) -> str:
    return "" if fits_int32(wide) else "wraps"


def _rounding_event(exact: Fraction, scaled: int) -> str:
    if abs(exact - scaled) > 1:
        return "wraps" if not fits_int32(exact) else "parts from the exact value"
    return "tie" if is_tie(exact) else ""
