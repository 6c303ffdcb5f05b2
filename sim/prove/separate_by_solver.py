"""The conventions that are also written as lane expressions, and the solver's answer on two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.errors import LanewiseError
from isa.lane import S32, Lane
from sim.prove import conventions_as_lanes as lanes
from sim.prove.claim import Claim, Finding, Range, prove

_COUNT = Range(0, 31)
_NOT_NEGATIVE = Range(0, S32.high)
_WORD = Range(S32.low, S32.high)
_DOUBLE = {"value": _WORD, "multiplier": _WORD, "left_shift": Range(-31, 31)}

WRITTEN: Mapping[str, tuple[Callable[..., Lane], Mapping[str, Range]]] = {
    "divide_by_power_of_two_ties_away": (lanes.ties_away, {"value": _WORD, "shift": _COUNT}),
    "divide_by_power_of_two_ties_up": (lanes.ties_up, {"value": _WORD, "shift": _COUNT}),
    "shift_right_floor": (lanes.floor, {"value": _WORD, "shift": _COUNT}),
    "vector_shift": (lanes.vector_shift, {"value": _WORD, "shift": _WORD}),
    "tail_shift": (lanes.tail_shift, {"value": _WORD, "shift": _WORD}),
    "doubling_high_multiply": (lanes.doubling_high, {"value": _WORD, "multiplier": _WORD}),
    "doubling_high_multiply_unsaturated": (
        lanes.doubling_high_not_saturated, {"value": _WORD, "multiplier": _WORD},
    ),
    "shift_left_wrap": (lanes.shift_left_wrapped, {"value": _WORD, "shift": _COUNT}),
    "shift_left_saturate": (lanes.shift_left_saturated, {"value": _WORD, "shift": _COUNT}),
    "double_rounding": (lanes.double_rounding, _DOUBLE),
    "single_rounding": (
        lanes.single_rounding, {"value": _WORD, "multiplier": _NOT_NEGATIVE, "left_shift": Range(-31, 30)},
    ),
    "single_rounding_by_vector": (
        lanes.single_rounding_by_vector, {"value": _WORD, "multiplier": _NOT_NEGATIVE, "left_shift": Range(-31, 30)},
    ),
    "single_rounding_of_long": (
        lanes.single_rounding_of_long, {"value": _WORD, "multiplier": _NOT_NEGATIVE, "left_shift": Range(-31, 7)},
    ),
}  # fmt: skip
"""By convention, its lane expression and the operands that it defines."""


class NotWritten(LanewiseError, LookupError):
    """A convention that has no lane expression; the message is one sentence."""


def solved(one: str, other: str, seconds: float) -> Finding:
    """The answer for all operands that both conventions define.

    Raises NotWritten, and isa.evaluate.smt.SolverMissing.
    """
    missing = [name for name in (one, other) if name not in WRITTEN]
    if missing:
        raise NotWritten(f"{' and '.join(missing)} cannot be put to the solver: there is no lane expression")
    (left, ours), (right, theirs) = WRITTEN[one], WRITTEN[other]
    inputs = {
        name: Range(max(range_.low, theirs[name].low), min(range_.high, theirs[name].high))
        for name, range_ in ours.items()
    }
    return prove(Claim(f"{one} is {other}", inputs, left, right), seconds)
