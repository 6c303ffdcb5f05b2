"""What the functional coverage of a unit looks for: classes of its numbers, and what happens in its arithmetic.

What happens is a condition on the numbers of a lane, written as a lane expression and counted on every lane compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isa.lane import S32, U8, Int, Lane, Place, constant, maximum, minimum, read, select
from isa.semantics.multiply import rounding_doubling_multiply_high
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.expected import Column, Expressions

Met = Mapping[str, NDArray[np.bool_]]
"""By coverpoint, where a frame meets it: [beats, numbers in a beat]."""
Coverpoints = Callable[[UnitFrame, int], Met]
"""Of a frame and the lanes; every coverpoint has its key, met or not."""
Lanes = Mapping[str, Lane]
Classes = Mapping[str, tuple[int, int]]
"""By name the first and the last number of each class."""


def classes(low: int, high: int) -> Classes:
    """Every number of a range is in one of these."""
    if low < 0:
        named = {"least": (low, low), "negative": (low + 1, -2), "-1": (-1, -1), "0": (0, 0), "1": (1, 1)}
        named |= {"positive": (2, high - 1), "greatest": (high, high)}
    else:
        named = {"0": (0, 0), "1": (1, 1), "lower half": (2, high // 2), "upper half": (high // 2 + 1, high - 1)}
        named |= {"greatest": (max(high, 2), high)}
    return {name: (first, last) for name, (first, last) in named.items() if low <= first <= last}


@dataclass(frozen=True)
class CoveredNumber:
    """A number of a lane, from `low` to `high`: an operand or a setting."""

    name: str
    low: int
    high: int

    @property
    def classes(self) -> Classes:
        return classes(self.low, self.high)

    def lane(self, register: int) -> Lane:
        """The number as the low bits of a vector register."""
        source = read(Place("v", register))
        if self.low < 0:
            return S32.field(source, 0)
        return Int(self.high.bit_length(), signed=False).field(source, 0)


Columns = Mapping[str, Column]
"""By name the numbers of each lane of each beat, [beats * lanes]."""


class Arithmetic:
    """The coverpoints of a unit whose lanes compute alone.

    `events` makes the conditions out of the numbers; the classes of the numbers of a tuple in `crossed` are coverpoints
    in all combinations, those of the others alone.
    """

    def __init__(
        self,
        numbers: Sequence[CoveredNumber],
        events: Callable[[Lanes], Lanes],
        columns: Callable[[UnitFrame, int], Columns],
        crossed: Sequence[tuple[str, ...]] = (),
    ) -> None:
        self.numbers, self._columns = {number.name: number for number in numbers}, columns
        self.conditions = events({number.name: number.lane(k) for k, number in enumerate(numbers)})
        self._met = Expressions([(condition, U8) for condition in self.conditions.values()])
        alone = set(self.numbers) - {name for names in crossed for name in names}
        groups = [*crossed, *((name,) for name in sorted(alone))]
        self._classes = {number.name: number.classes for number in numbers}
        chosen = [
            list(zip(names, kinds, strict=True))
            for names in groups
            for kinds in product(*(self._classes[name] for name in names))
        ]
        self._crossed = {" x ".join(map(" ".join, parts)): parts for parts in chosen}

    def __call__(self, frame: UnitFrame, lanes: int) -> Met:
        columns = self._columns(frame, lanes)
        happened = self._met.on([columns[name] for name in self.numbers])
        found = {name: column != 0 for name, column in zip(self.conditions, happened, strict=True)}
        within = {
            (name, kind): (low <= columns[name]) & (columns[name] <= high)
            for name, spans in self._classes.items()
            for kind, (low, high) in spans.items()
        }
        for label, parts in self._crossed.items():
            found[label] = np.logical_and.reduce([within[part] for part in parts])
        return {name: met.reshape(-1, lanes) for name, met in found.items()}


def broadcast(frame: UnitFrame, lanes: int) -> Columns:
    """Operands without their "_i" and settings: what is one for a beat or a frame stands in every lane."""
    shape = (frame.beats, lanes)
    operands = {port.removesuffix("_i"): np.broadcast_to(rows, shape).ravel() for port, rows in frame.operands.items()}
    settings = {name: np.full(frame.beats * lanes, value, np.int64) for name, value in frame.settings.items()}
    return operands | settings


INT32: Final = (S32.low, S32.high)


def read_byte(byte: Lane, is_signed: Lane) -> Lane:
    """Of 0..255, or of -128..127."""
    return select(is_signed & (byte > 127), byte - 256, byte)


def lost(kind: Int, value: Lane) -> Lane:
    """1 where wrapping to the type loses bits."""
    return constant(1) - kind.wrap(value).equals(value)


def divided(high: Lane, shift: Lane) -> Lane:
    """The number divided by 2^shift, rounded to nearest, ties away from zero."""
    half = (constant(1) << shift) >> 1
    return select(high < 0, -((-high + half) >> shift), (high + half) >> shift)


def rescaled(value: Lane, multiplier: Lane, shift: Lane) -> Lane:
    """SQRDMULH, then the division."""
    return divided(rounding_doubling_multiply_high(S32, value, multiplier), shift)


def of_rescale(
    name: str, value: Lane, multiplier: Lane, shift: Lane, result: Callable[[Lane], Lane]
) -> dict[str, Lane]:
    """What can happen in `rescaled`, where the `result` made of it shows that it did.

    A tie shows where the other rounding has another result, a saturation where a wrap has.  Saturation is no coverpoint
    where the range of the value excludes it.
    """
    exact, high = value * multiplier, rounding_doubling_multiply_high(S32, value, multiplier)
    given, saturates = divided(high, shift), value.equals(S32.low) & multiplier.equals(S32.low)
    product_ties = ties(exact, constant(31)) & _differ(result, given, divided(high - 1, shift))
    toward_zero = given + select(high < 0, 1, -1)
    division_ties = ties(high, shift) & _differ(result, given, toward_zero)
    wrapped = {f"{name}: product saturates": saturates & _differ(result, given, divided(constant(S32.low), shift))}
    return {
        **(wrapped if value.low == S32.low else {}),
        f"{name}: tie of the product, negative": product_ties & (exact < 0),
        f"{name}: tie of the product, positive": product_ties & (exact > 0),
        f"{name}: tie of the division, negative": division_ties & (high < 0),
        f"{name}: tie of the division, positive": division_ties & (high > 0),
    }


def _differ(result: Callable[[Lane], Lane], value: Lane, other: Lane) -> Lane:
    return constant(1) - result(value).equals(result(other))


def ties(value: Lane, count: Lane) -> Lane:
    """1 where a division by 2^count leaves a half."""
    divisor = constant(1) << count
    return (value & divisor - 1).equals(divisor >> 1) & (count > 0)


def placed(scaled: Lane, offset: Lane, low: Lane, high: Lane) -> Lane:
    """With the offset added, between the bounds."""
    return minimum(maximum(S32.wrap(scaled + offset), low), high)


def of_output(scaled: Lane, offset: Lane, low: Lane, high: Lane) -> dict[str, Lane]:
    """What can happen where the offset is added and the sum clamped."""
    wraps = {"offset wraps": lost(S32, scaled + offset) & (low < high)}
    return wraps | of_bounds(S32.wrap(scaled + offset), low, high)


def of_bounds(number: Lane, low: Lane, high: Lane) -> dict[str, Lane]:
    """What can happen where a number is clamped."""
    below, above = number < low, number > high
    return {
        "clamped to the minimum": below,
        "clamped to the maximum": above,
        "between the bounds": (constant(1) - below) & (constant(1) - above),
    }
