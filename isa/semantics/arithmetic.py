"""Addition, subtraction, absolute value, minimum and maximum of one lane (Arm ARM C7.2, ADD to UQSUB)."""

from __future__ import annotations

from isa.lane import Int, Lane, maximum, minimum


def add(to: Int, a: Lane, b: Lane) -> Lane:
    """ADD, SADDL, UADDW, ADDP, ADDV, ...: the sum, its low bits; in the long forms it cannot overflow."""
    return to.wrap(a + b)


def subtract(to: Int, a: Lane, b: Lane) -> Lane:
    """SUB, SSUBL, USUBW, ...: the difference, its low bits."""
    return to.wrap(a - b)


def saturating_add(to: Int, a: Lane, b: Lane) -> Lane:
    """SQADD, UQADD."""
    return to.saturate(a + b)


def saturating_subtract(to: Int, a: Lane, b: Lane) -> Lane:
    """SQSUB, UQSUB."""
    return to.saturate(a - b)


def saturating_accumulate_mixed(to: Int, accumulator: Lane, a: Lane) -> Lane:
    """SUQADD and USQADD: `a` has the other signedness than the accumulator."""
    return to.saturate(accumulator + a)


def halving_add(to: Int, a: Lane, b: Lane) -> Lane:
    """SHADD, UHADD: the sum halved, rounded down; it cannot overflow."""
    return to.wrap((a + b) >> 1)


def halving_subtract(to: Int, a: Lane, b: Lane) -> Lane:
    """SHSUB, UHSUB: the difference halved, rounded down; UHSUB wraps where it is negative."""
    return to.wrap((a - b) >> 1)


def rounding_halving_add(to: Int, a: Lane, b: Lane) -> Lane:
    """SRHADD, URHADD: the sum halved, ties up; it cannot overflow."""
    return to.wrap((a + b + 1) >> 1)


def magnitude(a: Lane) -> Lane:
    """The absolute value, exact: it has room for minus the lowest number."""
    return maximum(a, -a)


def absolute(to: Int, a: Lane) -> Lane:
    """ABS: that of the lowest number wraps to itself."""
    return to.wrap(magnitude(a))


def negate(to: Int, a: Lane) -> Lane:
    """NEG: minus the lowest number wraps to itself."""
    return to.wrap(-a)


def saturating_absolute(to: Int, a: Lane) -> Lane:
    """SQABS: that of the lowest number saturates to the highest."""
    return to.saturate(magnitude(a))


def saturating_negate(to: Int, a: Lane) -> Lane:
    """SQNEG: minus the lowest number saturates to the highest."""
    return to.saturate(-a)


def absolute_difference(to: Int, a: Lane, b: Lane) -> Lane:
    """SABD, UABD, SABDL, UABDL: the magnitude of the exact difference, its low bits."""
    return to.wrap(magnitude(a - b))


def accumulate_absolute_difference(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SABA, UABA, SABAL, UABAL: the magnitude of the exact difference is added; the sum wraps."""
    return to.wrap(accumulator + magnitude(a - b))


def accumulate_pair(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SADALP, UADALP: both lanes of a pair are added; the sum wraps."""
    return to.wrap(accumulator + a + b)


def smaller(to: Int, a: Lane, b: Lane) -> Lane:
    """SMIN, UMIN, SMINP, UMINV, ...: the smaller one."""
    return to.wrap(minimum(a, b))


def larger(to: Int, a: Lane, b: Lane) -> Lane:
    """SMAX, UMAX, SMAXP, UMAXV, ...: the larger one."""
    return to.wrap(maximum(a, b))
