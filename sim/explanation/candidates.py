"""The pipelines that an output of requantization may come from: every convention with the parameters given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import CandidateRule
from sim.explanation.scaling import (
    ByteConvention,
    ByteRounding,
    FixedPoint,
    FixedPointConvention,
    FloatScaling,
    IntegerScaling,
    LanesAndTail,
)
from sim.golden import byte_rounding, derivation, one_rounding, scaling
from sim.golden.derivation import Derived
from sim.golden.factor_product import (
    product_by_magic_number,
    product_in_float,
    product_of_eight_bits,
    product_xnnpack,
)
from sim.golden.registry.conventions import CONVENTIONS

Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
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
    one_rounding.single_rounding_ties_away,
    one_rounding.single_rounding_floor,
    one_rounding.single_rounding_truncated,
    one_rounding.single_rounding_by_vector_saturating_left,
    one_rounding.single_rounding_of_long_narrowed,
)
_INTEGER: Final = (scaling.integer_scale_floor, scaling.integer_scale_ties_away)
_ROUND_FIRST: Final = (byte_rounding.round_even_then_offset, byte_rounding.round_away_then_offset)
_OFFSET_FIRST: Final = (
    byte_rounding.offset_then_round_even,
    byte_rounding.offset_then_round_even_fused,
    byte_rounding.offset_then_truncate,
)
_OFFSET_FIRST_TO_INT8: Final = (byte_rounding.int8_offset_then_round_even,)
_DERIVATIONS: Final[tuple[Callable[[float], Derived], ...]] = (
    derivation.derive_tflite,
    derivation.derive_tflite_single_rounding,
    derivation.derive_acl_20_02,
    derivation.derive_acl_20_05_ignoring_epsilon,
    derivation.derive_acl_19_08,
    derivation.derive_armnn,
)
_ARITHMETICS: Final = (" of scales_in_float32", " of scales_in_float64")
"""What is told of a factor that is not the same in both."""
_BY_RECIPROCAL: Final = " of scales_by_reciprocal"
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
class RealFactor:
    """A real factor, one number or one for each channel.

    `single` where it was also computed in float32 throughout, for scaling in float32; `double` where multipliers are
    also derived of float64 arithmetic, `scale` being of float32 arithmetic; `reciprocal` where float32 arithmetic may
    also have multiplied by the reciprocal of the output's scale.
    """

    scale: Float64Array
    single: Float32Array | None = None
    double: Float64Array | None = None
    reciprocal: Float32Array | None = None

    @property
    def factors(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(float(number)) for number in self.scale)


Factor = Multiplier | RealFactor
Refusals = list[tuple[str, str]]
Derivation = tuple[tuple[str, ...], Multiplier]
"""The derivations that make the same of a real factor, and what they make of it."""


def requantization_rules(
    factor: Factor, derived: Sequence[Derivation], zero_point: int, dtype: np.dtype[Any]
) -> Iterator[CandidateRule]:
    """Every rule with these parameters; `derived` is what the derivations made of a real factor.

    Shifts are tried with the other sign too.
    """
    sources = [(f"of {names[0]}" if len(derived) > 1 else "", multiplier) for names, multiplier in derived]
    given = [("", factor)] if isinstance(factor, Multiplier) else sources
    negated = [
        (f"{source} {SHIFT_READ_OTHERWISE}".strip(), Multiplier(one.multiplier, -one.left_shift))
        for source, one in given
        if one.left_shift.any()
    ]
    for source, one in (*given, *negated):
        for conventions, twice in ((_TWICE[:1], True), (_ONCE[:1], False), (_TWICE[1:], True), (_ONCE[1:], False)):
            for convention in conventions:
                yield FixedPoint(
                    name=f"{convention.__name__} {source}".rstrip(),
                    note=used_by(convention),
                    convention=convention,
                    rounds_twice=twice,
                    multiplier=one.multiplier,
                    left_shift=one.left_shift,
                    zero_point=zero_point,
                )
        yield LanesAndTail(
            name=f"{LANES_AND_TAIL} {source}".rstrip(),
            note=_IN_BOTH,
            convention=scaling.shift_after_rounding_in_lanes,
            rounds_twice=True,
            multiplier=one.multiplier,
            left_shift=one.left_shift,
            zero_point=zero_point,
        )
    if isinstance(factor, Multiplier):
        for integer in _INTEGER:
            yield IntegerScaling(
                name=integer.__name__,
                note=used_by(integer),
                convention=integer,
                multiplier=factor.multiplier,
                right_shift=-factor.left_shift,
                zero_point=zero_point,
            )
    yield from _floating(factor, zero_point, dtype)


def derivations(scale: RealFactor, refused: Refusals) -> list[Derivation]:
    """What each derivation makes of the factors; those that refuse them are appended to `refused`."""
    found: dict[tuple[Derived, ...], list[str]] = {}
    ways = (scale.scale,) if scale.double is None else (scale.scale, scale.double)
    for derive in _DERIVATIONS:
        try:
            made = dict.fromkeys(tuple(derive(float(number)) for number in way) for way in ways)
        except ValueError as error:
            refused.append((derive.__name__, str(error)))
            continue
        for derived, of in zip(made, _ARITHMETICS if len(made) > 1 else ("",), strict=True):
            found.setdefault(derived, []).append(f"{derive.__name__}{of}")
    return [(tuple(names), Multiplier(*np.array(derived, np.int64).T)) for derived, names in found.items()]


def _floating(factor: Factor, zero_point: int, dtype: np.dtype[Any]) -> Iterator[CandidateRule]:
    with np.errstate(over="ignore", under="ignore"):
        scale = np.array([np.float32(float(number)) for number in factor.factors], np.float32)
    in_single, in_double = _ARITHMETICS
    others = [] if isinstance(factor, Multiplier) else [
        (in_double, in_single, factor.single), (in_single, _BY_RECIPROCAL, factor.reciprocal),
    ]  # fmt: skip
    for own, name, other in others:
        if other is not None and (np.isfinite(other) & (other > 0)).all() and not np.array_equal(other, scale):
            yield from _of_float32(scale, own, factor.factors, zero_point, dtype)
            yield from _of_float32(other, name, factor.factors, zero_point, dtype)
            return
    yield from _of_float32(scale, "", factor.factors, zero_point, dtype)


def _of_float32(
    scale: Float32Array, source: str, factors: tuple[Fraction, ...], zero_point: int, dtype: np.dtype[Any]
) -> Iterator[CandidateRule]:
    # of bytes round_away_then_offset is the same as product_in_float, and bounds hide what the magic number does
    others = (product_in_float, product_by_magic_number) if dtype.itemsize > 1 else (product_of_eight_bits,)
    for convention in (product_xnnpack, *others):
        yield FloatScaling(
            f"{convention.__name__}{source}", used_by(convention), convention, scale, factors, zero_point
        )
    if dtype.itemsize > 1:
        return
    lowest = int(np.iinfo(dtype).min)
    # the order of the first two lets an int8 zero point be moved by 128 into uint8; the others would round elsewhere
    offset_first: Sequence[ByteConvention] = _OFFSET_FIRST_TO_INT8 if lowest else _OFFSET_FIRST
    rules = [*((rounding, lowest) for rounding in _ROUND_FIRST), *((rounding, 0) for rounding in offset_first)]
    for rounding, moved in rules:
        yield ByteRounding(
            name=f"{rounding.__name__}{source}",
            note=used_by(rounding),
            convention=rounding,
            scale=scale,
            factor=factors,
            zero_point=zero_point,
            lowest=moved,
        )


def used_by(convention: Callable[..., Any]) -> str:
    """Who uses a convention, as the registry says."""
    return CONVENTIONS[convention.__name__].users
