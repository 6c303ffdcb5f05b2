"""What an explanation asks of an arithmetic: its numbers for many elements, and its steps for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sim.explanation.limits import BOUNDED, SATURATED, Limits
from sim.golden.fixed_point import INT32_MAX, INT32_MIN

Integers = npt.NDArray[np.integer[Any]]
Operands = Mapping[str, Integers]
"""Flat arrays of one length by name, one number for each element."""


@dataclass(frozen=True)
class RuleStep:
    """One step of one element: its value, the exact one had nothing been rounded so far, and what happened.

    `event` is "" where the value is what one rounds to without doubt.
    """

    name: str
    value: int
    exact: Fraction
    event: str = ""


class CandidateRule(Protocol):
    """An arithmetic with its parameters, up to the narrowing to the output's dtype.

    `name` is that of the convention, with what else was chosen; `note` says who uses it.  `rises` promises that a
    larger accumulator never gives a smaller number, over all of int32, so that thresholds say all about it.
    """

    @property
    def name(self) -> str: ...

    @property
    def note(self) -> str: ...

    @property
    def rises(self) -> bool: ...

    def run(self, operands: Operands) -> Integers:
        """The numbers before they are limited; ValueError where the convention does not define an operand."""

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        """The steps of one element."""


@dataclass(frozen=True)
class Candidate:
    """A whole pipeline that somebody's output may come from."""

    rule: CandidateRule
    limits: Limits

    @property
    def name(self) -> str:
        """Such as "double_rounding" and "double_rounding then bounded_unless_equal or bounds_not_applied"."""
        return self.rule.name if self.is_plain else f"{self.rule.name} then {' or '.join(self.limits.names)}"

    @property
    def note(self) -> str:
        """Who uses it, where nothing else was chosen than the convention: bounds that were given, and that all systems
        apply alike, are no choice.
        """
        return self.rule.note if self.is_plain or self.limits.names == (BOUNDED,) else ""

    @property
    def is_plain(self) -> bool:
        """Whether it saturates to the output's dtype and knows no other bounds."""
        return SATURATED in self.limits.names

    def run(self, operands: Operands) -> npt.NDArray[np.int64]:
        return self.limits.apply(self.rule.run(operands))

    def steps(self, element: Mapping[str, int]) -> list[RuleStep]:
        """The rule's steps and the clamp."""
        steps = self.rule.steps(element)
        placed = steps[-1].value
        result = int(self.limits.apply(np.array([placed]))[0])
        return [*steps, RuleStep("clamp", result, steps[-1].exact, self.limits.event(placed, result))]


def is_tie(exact: Fraction) -> bool:
    """Whether a number lies half-way between two integers."""
    return exact.denominator == 2


def fits_int32(number: Fraction | int) -> bool:
    return INT32_MIN <= number <= INT32_MAX


def only(operands: Mapping[str, int], names: Sequence[str]) -> Operands:
    """One element as arrays of one number."""
    return {name: np.array([operands[name]], np.int64) for name in names}
