"""The pipelines that an output of requantization may come from: every convention with the parameters given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.check.explain.rule import Rule
from sim.check.explain.scaling import (
    ByteRounding,
    FixedPoint,
    FixedPointConvention,
    FloatScale,
    IntegerScale,
    LanesAndTail,
)
from sim.golden import byte_rounding, derivation, scaling
from sim.golden.conventions import CONVENTIONS
from sim.golden.derivation import Derived
from sim.golden.factor_product import product_in_float, product_xnnpack

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

_TWICE: Final[tuple[FixedPointConvention, ...]] = (
    scaling.double_rounding,
    scaling.double_rounding_ties_up,
    scaling.double_rounding_floor,
    scaling.double_rounding_saturating_left,
    scaling.double_rounding_unsaturated,
    scaling.shift_after_rounding_in_lanes,
    scaling.shift_after_rounding_in_tail,
)
_ONCE: Final[tuple[FixedPointConvention, ...]] = (
    scaling.single_rounding,
    scaling.single_rounding_narrowed,
    scaling.single_rounding_by_vector,
    scaling.single_rounding_of_long,
)
_INTEGER: Final = (scaling.integer_scale_floor, scaling.integer_scale_ties_away)
_ROUND_FIRST: Final = (byte_rounding.round_even_then_offset, byte_rounding.round_away_then_offset)
_OFFSET_FIRST: Final = (
    byte_rounding.offset_then_round_even,
    byte_rounding.offset_then_round_even_fused,
    byte_rounding.offset_then_truncate,
)
_DERIVATIONS: Final[tuple[Callable[[float], Derived], ...]] = (
    derivation.derive_tflite,
    derivation.derive_tflite_single_rounding,
    derivation.derive_acl_20_02,
    derivation.derive_acl_20_05_ignoring_epsilon,
    derivation.derive_acl_19_08,
    derivation.derive_armnn,
)
LANES_AND_TAIL: Final = "shift_after_rounding_in_lanes_and_tail"
_IN_BOTH: Final = "ACL 19.08: whole blocks of 16 columns, and the last columns"
SHIFT_READ_OTHERWISE: Final = "(shift negated)"


@dataclass(frozen=True)
class Multiplier:
    """Q0.31 multipliers and left shifts, as many of these: one, or one for each channel."""

    multiplier: Int64Array
    left_shift: Int64Array

    @property
    def factors(self) -> tuple[Fraction, ...]:
        pairs = zip(self.multiplier.tolist(), self.left_shift.tolist(), strict=True)
        return tuple(multiplier * Fraction(2) ** (left_shift - 31) for multiplier, left_shift in pairs)


@dataclass(frozen=True)
class Scale:
    """A real factor, one number or one for each channel."""

    scale: Float64Array

    @property
    def factors(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(float(number)) for number in self.scale)


Factor = Multiplier | Scale
Refusals = list[tuple[str, str]]
Derivation = tuple[tuple[str, ...], Multiplier]
"""The derivations that make the same of a real factor, and what they make of it."""


def requantization_rules(
    factor: Factor, derived: Sequence[Derivation], zero_point: int, dtype: np.dtype[Any]
) -> Iterator[Rule]:
    """Every rule with these parameters; `derived` is what the derivations made of a real factor."""
    for source, given in _multipliers(factor, derived):
        yield from _fixed_point(given, source, zero_point)
    if isinstance(factor, Multiplier):
        for convention in _INTEGER:
            yield IntegerScale(
                convention.__name__, used_by(convention), convention, factor.multiplier, -factor.left_shift, zero_point
            )
    yield from _floating(factor, zero_point, dtype)


def derivations(scale: Scale, refused: Refusals) -> list[Derivation]:
    """What each derivation makes of the factors; those that refuse them are appended to `refused`."""
    found: dict[tuple[Derived, ...], list[str]] = {}
    for derive in _DERIVATIONS:
        try:
            found.setdefault(tuple(derive(float(number)) for number in scale.scale), []).append(derive.__name__)
        except ValueError as error:
            refused.append((derive.__name__, str(error)))
    return [(tuple(names), Multiplier(*np.array(derived, np.int64).T)) for derived, names in found.items()]


def _multipliers(factor: Factor, derived: Sequence[Derivation]) -> Iterator[tuple[str, Multiplier]]:
    """The multipliers and shifts there are, with how they came about; then all with the other sign of the shift."""
    sources = [(f"of {names[0]}" if len(derived) > 1 else "", multiplier) for names, multiplier in derived]
    given = [("", factor)] if isinstance(factor, Multiplier) else sources
    yield from given
    for source, multiplier in given:
        if multiplier.left_shift.any():
            other = Multiplier(multiplier.multiplier, -multiplier.left_shift)
            yield f"{source} {SHIFT_READ_OTHERWISE}".strip(), other


def _fixed_point(given: Multiplier, source: str, zero_point: int) -> Iterator[Rule]:
    numbers = given.multiplier, given.left_shift, zero_point
    for conventions, twice in ((_TWICE[:1], True), (_ONCE[:1], False), (_TWICE[1:], True), (_ONCE[1:], False)):
        for convention in conventions:
            yield FixedPoint(_named(convention.__name__, source), used_by(convention), convention, twice, *numbers)
    name = _named(LANES_AND_TAIL, source)
    yield LanesAndTail(name, _IN_BOTH, scaling.shift_after_rounding_in_lanes, True, *numbers)


def _floating(factor: Factor, zero_point: int, dtype: np.dtype[Any]) -> Iterator[Rule]:
    factors = factor.factors
    with np.errstate(over="ignore", under="ignore"):
        scale = np.array([np.float32(float(number)) for number in factors], np.float32)
    # of bytes round_away_then_offset is the same as product_in_float
    for convention in (product_xnnpack, product_in_float)[: 1 if dtype.itemsize == 1 else 2]:
        yield FloatScale(convention.__name__, used_by(convention), convention, scale, factors, zero_point)
    if dtype.itemsize > 1:
        return
    lowest = int(np.iinfo(dtype).min)
    # the order of the first two lets an int8 zero point be moved by 128 into uint8; the others would round elsewhere
    for rounding in _ROUND_FIRST + (() if lowest else _OFFSET_FIRST):
        yield ByteRounding(rounding.__name__, used_by(rounding), rounding, scale, factors, zero_point, lowest)


def _named(convention: str, source: str) -> str:
    return f"{convention} {source}".rstrip()


def used_by(convention: Callable[..., Any]) -> str:
    """Who uses a convention, as the registry says."""
    return CONVENTIONS[convention.__name__].users
