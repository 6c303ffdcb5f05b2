"""Differences of bytes or int16 as rules: TFLite's integer add with the second operand taken off, and XNNPACK's.

Source: docs/spec/neighbours.md section 34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from sim.explanation.rule import Integers, Operands, RuleStep, is_tie, only
from sim.golden.derivation import derive_tflite, derive_tflite_single_rounding
from sim.golden.fixed_point import divide_by_power_of_two_ties_away
from sim.golden.integer_addition import LEFT_SHIFTS, add_rescaled, multipliers_of_bits, rescaling_of
from sim.golden.scaling import double_rounding, single_rounding
from sim.kernels.quantized_add.golden_tflite_pot import derived_of_powers
from sim.models.network import TensorScale
from sim.models.rules.multiplied import SIDES, one_unit_off

Way = Callable[[Integers, Integers], Integers]
Scales = tuple[TensorScale, TensorScale, TensorScale]
"""Of both operands and of the output."""
_XNNPACK_BITS: Final = 21
_LEAST: Final = 2.0**-10
"""Of the output's scale, what XNNPACK takes for that of either operand."""
_IN_INTEGERS: Final = {
    "subtract_tflite": (double_rounding, derive_tflite, "TFLite's and TensorFlow Lite Micro's default builds"),
    "subtract_tflite_single_rounding": (
        single_rounding, derive_tflite_single_rounding, "TFLite's single-rounding build",
    ),
}  # fmt: skip
_MULTIPLIED: Final = {"first": "a", "second": "b", "total": "the difference"}
BY_XNNPACK: Final = "subtract_xnnpack"
OF_POWERS: Final = "subtract_tflite_pot"


@dataclass(frozen=True, eq=False)
class Subtracting:
    """One way on `operands["a"]` and `operands["b"]`: `way` takes both without their zero points.

    `others` are ways with one multiplier one unit off, by what is off.
    """

    name: str
    note: str
    way: Way
    scales: Scales
    others: Mapping[str, Way] = field(default_factory=dict)
    rises: bool = False

    def run(self, operands: Operands) -> Integers:
        a, b, output = self.scales
        left, right = operands["a"].astype(np.int64) - a.zero_point, operands["b"].astype(np.int64) - b.zero_point
        return np.asarray(self.way(left, right).astype(np.int64) + output.zero_point)

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        left, right = (
            (element[name] - one.zero_point) * Fraction(float(one.scales[0]))
            for name, one in zip("ab", self.scales, strict=False)
        )
        to = self.scales[2]
        exact = (left - right) / Fraction(float(to.scales[0])) + to.zero_point
        result = int(self.run(only(element, ("a", "b")))[0])
        return [RuleStep("difference", result, exact, "tie" if is_tie(exact) else "")]

    def one_off(self) -> Iterator[tuple[str, Subtracting]]:
        for told, way in self.others.items():
            yield told, replace(self, way=way, others={})


def subtracting_rules(scales: Scales, bits: int, by_powers: bool) -> list[Subtracting]:
    """Every way that takes such scales, what a network is run by first; `by_powers` where the file has it by shifts."""
    found = [*_of_powers(scales)] if bits == 16 else []
    if by_powers and found:
        return [*found, *_in_integers(scales, bits)]
    return [*_in_integers(scales, bits), *(found if bits == 16 else _xnnpack(scales))]


def _in_integers(scales: Scales, bits: int) -> Iterator[Subtracting]:
    a, b, output = (float(one.scales[0]) for one in scales)
    for name, (rescale, derive, users) in _IN_INTEGERS.items():
        by = rescaling_of((a, b, output), LEFT_SHIFTS[bits], derive)
        way = partial(add_rescaled, left_shift=LEFT_SHIFTS[bits], rescale=rescale, subtracts=True)
        others = {told: partial(way, rescaling=other) for told, other in one_unit_off(by, _MULTIPLIED)}
        yield Subtracting(name, users, partial(way, rescaling=by), scales, others)


def _xnnpack(scales: Scales) -> Iterator[Subtracting]:
    """Its add of bytes with a negative multiplier: one rounding, ties up."""
    a, b, output = (one.scales[0] for one in scales)
    with np.errstate(all="ignore"):  # a file may have any scales; what XNNPACK does not take is none
        first, second = a / output, b / output
    with suppress(ValueError):
        by_a, by_b, shift = multipliers_of_bits(_XNNPACK_BITS, first, second, "XNNPACK")
        if min(first, second) >= _LEAST:
            others = {
                f"the multiplier of {name} one {side}": partial(_in_one, by=(by_a + of_a, by_b + of_b), shift=shift)
                for units, side in SIDES
                for name, of_a, of_b in (("a", units, 0), ("b", 0, units))
            }
            way = partial(_in_one, by=(by_a, by_b), shift=shift)
            yield Subtracting(BY_XNNPACK, "XNNPACK, and LiteRT by it", way, scales, others)


def _in_one(left: Integers, right: Integers, by: tuple[int, int], shift: int) -> Integers:
    return np.asarray((left * by[0] - right * by[1] + (1 << (shift - 1))) >> shift)


def _of_powers(scales: Scales) -> Iterator[Subtracting]:
    """Of 16 bits whose scales are powers of two: one operand is shifted to the nearest, ties away from zero."""
    if any(one.zero_point for one in scales):
        return
    a, b, output = (float(one.scales[0]) for one in scales)
    with suppress(ValueError):  # scales that are no such powers, or that TFLite refuses
        by = derived_of_powers(a, b, output)

        def way(left: Integers, right: Integers) -> Integers:
            moved = divide_by_power_of_two_ties_away(left, -by.a_shift).astype(np.int64)
            return moved - divide_by_power_of_two_ties_away(right, -by.b_shift)

        yield Subtracting(
            OF_POWERS, "LiteRT, of scales that are powers of two, where marked pot_scale_int16", way, scales
        )
