"""Claims that relate the fixed-point conventions to each other and to the instructions that stand for them.

What docs/spec/known_differences.md section 2 calls equal is claimed equal for all inputs; where it lists a difference,
the claim is "not equal", and the smallest counter-example is the difference in its plainest form.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.lane import S16, S32, U8, Int, Lane, constant, maximum, minimum
from isa.semantics.arithmetic import saturating_add
from isa.semantics.multiply import (
    doubling_multiply_high,
    rounding_doubling_multiply_add_high,
    rounding_doubling_multiply_high,
)
from isa.semantics.narrow import saturate
from isa.semantics.shift import rounding_shift_by_register
from sim.prove import conventions_as_lanes as convention
from sim.prove.claim import Claim, Range

_Inputs = Mapping[str, Int | Range]
X: _Inputs = {"x": S32}
SHIFTED: _Inputs = {"x": S32, "n": Range(0, 31)}
ANY_SHIFT: _Inputs = {"x": S32, "n": S32}
MULTIPLIED: _Inputs = {"x": S32, "q": S32}
NOT_NEGATIVE = Range(0, S32.high)
NORMAL = Range(1 << 30, S32.high)
"""The multipliers that the derivations give, besides 0."""
RIGHT: _Inputs = {"x": S32, "q": NOT_NEGATIVE, "e": Range(-31, 0)}


def _srshl(x: Lane, n: Lane) -> Lane:
    return rounding_shift_by_register(S32, x, -n)


def _fix_up(x: Lane, n: Lane) -> Lane:
    """SRSHL(SQADD(x, (x AND -n) >> 31), -n), ACL's and gemmlowp's vector code."""
    return _srshl(saturating_add(S32, x, (x & -n) >> 31), n)


def _sqrdmulh(x: Lane, q: Lane) -> Lane:
    return rounding_doubling_multiply_high(S32, x, q)


def _distance_is_at_most_one(x: Lane, q: Lane, e: Lane) -> Lane:
    difference = convention.double_rounding(x, q, e) - convention.single_rounding(x, q, e)
    return (difference > -2) & (difference < 2)


def _accumulates(element: Int) -> Claim:
    def apart(a: Lane, x: Lane, y: Lane) -> Lane:
        return saturating_add(element, a, rounding_doubling_multiply_high(element, x, y))

    return Claim(
        f"SQRDMLAH is not SQADD of SQRDMULH, {element}",
        dict.fromkeys("axy", element),
        lambda a, x, y: rounding_doubling_multiply_add_high(element, a, x, y),
        apart,
        relation="not equal",
    )


_EQUAL = (
    Claim("fix-up shift is half away", SHIFTED, _fix_up, convention.ties_away),
    Claim("mask shift is half away", SHIFTED, convention.ties_away_by_mask, convention.ties_away),
    Claim("fix-up shift is the mask shift", SHIFTED, _fix_up, convention.ties_away_by_mask),
    Claim("SRSHL is ties up", SHIFTED, _srshl, convention.ties_up),
    Claim("vector RDP of any count is the fix-up shift", ANY_SHIFT, convention.vector_shift,
          lambda x, n: rounding_shift_by_register(S32, saturating_add(S32, x, (x & S32.wrap(-n)) >> 31), S32.wrap(-n))),
    Claim("vector RDP is half away for 0..31", SHIFTED, convention.vector_shift, convention.ties_away),
    Claim("tail RDP is half away for 0..31", SHIFTED, convention.tail_shift, convention.ties_away),
    Claim("SQRDMULH is its definition", MULTIPLIED, _sqrdmulh, convention.doubling_high),
    Claim("SQRDMULH is nudge and divide", MULTIPLIED, _sqrdmulh, convention.doubling_high_nudged),
    Claim("SQRDMULH is add and shift", MULTIPLIED, _sqrdmulh, convention.doubling_high_added),
    Claim("without saturation equals SQRDMULH but for INT_MIN twice", MULTIPLIED,
          convention.doubling_high_not_saturated, _sqrdmulh,
          given=lambda x, q: (x.equals(S32.low) & q.equals(S32.low)).equals(0)),
    Claim("MAX 0, SQXTN, SQXTUN is clamp to 0..255", X,
          lambda x: saturate(U8, saturate(S16, maximum(x, 0))), lambda x: convention.clamp(x, 0, 255)),
    Claim("clamp then bounds is bounds then clamp", {"x": S32, "lower": U8, "upper": U8},
          lambda x, lower, upper: convention.clamp(convention.clamp(x, 0, 255), lower, upper),
          lambda x, lower, upper: convention.clamp(convention.clamp(x, lower, upper), 0, 255),
          given=lambda x, lower, upper: (lower > upper).equals(0)),
    Claim("max then min is max(min, min(max, x))", {"x": U8, "lower": U8, "upper": U8},
          lambda x, lower, upper: convention.clamp(x, lower, upper),
          lambda x, lower, upper: maximum(lower, minimum(upper, x)),
          given=lambda x, lower, upper: (lower > upper).equals(0)),
    Claim("double and single rounding differ by at most one", RIGHT, _distance_is_at_most_one,
          lambda x, q, e: x.equals(x)),
    Claim("double is single rounding where nothing is shifted", {"x": S32, "q": NOT_NEGATIVE},
          lambda x, q: convention.double_rounding(x, q, constant(0)), convention.doubling_high),
    Claim("single rounding is its form in two shifts", {"x": S32, "q": NOT_NEGATIVE, "e": Range(-31, 7)},
          convention.single_rounding, convention.single_rounding_in_two_shifts),
    Claim("single rounding is SQDMULH and SRSHL for right shifts",
          {"x": S32, "q": NOT_NEGATIVE, "e": Range(-31, -1)},
          convention.single_rounding, convention.single_rounding_by_vector),
    Claim("SQDMULH and SRSHL are their instructions", {"x": S32, "q": NOT_NEGATIVE, "n": Range(1, 31)},
          lambda x, q, n: convention.single_rounding_by_vector(x, q, -n),
          lambda x, q, n: _srshl(doubling_multiply_high(S32, x, q), n)),
)  # fmt: skip

_DIFFERENT = (
    Claim("plain SRSHL is not half away", SHIFTED, _srshl, convention.ties_away, relation="not equal"),
    Claim("plain >> is not half away", SHIFTED, convention.floor, convention.ties_away, relation="not equal"),
    Claim("plain >> is not ties up", SHIFTED, convention.floor, convention.ties_up, relation="not equal"),
    Claim("double is not single rounding", {"x": S32, "q": NORMAL, "e": Range(-31, 0)},
          convention.double_rounding, convention.single_rounding, relation="not equal"),
    Claim("without saturation is not SQRDMULH", MULTIPLIED,
          convention.doubling_high_not_saturated, _sqrdmulh, relation="not equal"),
    Claim("wrapped is not saturated left shift", SHIFTED,
          convention.shift_left_wrapped, convention.shift_left_saturated, relation="not equal"),
    Claim("wrapped left shift is not 64-bit single rounding", {"x": S32, "q": NORMAL, "e": Range(1, 7)},
          convention.double_rounding, convention.single_rounding, relation="not equal"),
    Claim("vector and tail RDP differ for negative shifts", {"x": S32, "n": Range(-31, -1)},
          convention.vector_shift, convention.tail_shift, relation="not equal"),
    Claim("vector and tail RDP differ from 32 on", {"x": S32, "n": Range(32, 255)},
          convention.vector_shift, convention.tail_shift, relation="not equal"),
    Claim("integer scale: floor is not half away",
          {"x": S32, "offset": S32, "multiplier": S32, "n": Range(0, 31)},
          lambda x, offset, multiplier, n: convention.floor(convention.scaled_by_integer(x, offset, multiplier), n),
          lambda x, offset, multiplier, n: convention.ties_away(
              convention.scaled_by_integer(x, offset, multiplier), n),
          relation="not equal"),
    Claim("low byte is not clamp to 0..255", X,
          convention.low_byte, lambda x: convention.clamp(x, 0, 255), relation="not equal"),
    Claim("SQDMULH and SRSHL are not single rounding without a right shift",
          {"x": S32, "q": NORMAL, "e": Range(0, 7)},
          convention.single_rounding, convention.single_rounding_by_vector, relation="not equal"),
    Claim("TFLite's int64 overload is not its int32 function", {"x": S32, "q": NORMAL, "e": Range(-31, 0)},
          convention.single_rounding_of_long, convention.single_rounding, relation="not equal"),
    _accumulates(S16),
    _accumulates(S32),
)  # fmt: skip

CONVENTION_CLAIMS = (*_EQUAL, *_DIFFERENT)
"""All claims about conventions, those of equality first."""
