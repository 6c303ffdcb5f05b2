"""Addition, subtraction, absolute value, minimum and maximum of one lane (Arm ARM C7.2, ADD to UQSUB)."""

from __future__ import annotations

from isa.lane import Int, Lane, maximum, minimum


def add(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a + b)


def subtract(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a - b)


def saturating_add(to: Int, a: Lane, b: Lane) -> Lane:
    return to.saturate(a + b)


def saturating_subtract(to: Int, a: Lane, b: Lane) -> Lane:
    return to.saturate(a - b)


def saturating_accumulate_mixed(to: Int, accumulator: Lane, a: Lane) -> Lane:
    """SUQADD and USQADD: `a` has the other signedness than the accumulator."""
    return to.saturate(accumulator + a)


def halving_add(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a + b) >> 1)


def halving_subtract(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a - b) >> 1)


def rounding_halving_add(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a + b + 1) >> 1)


def magnitude(a: Lane) -> Lane:
    return maximum(a, -a)


def absolute(to: Int, a: Lane) -> Lane:
    return to.wrap(magnitude(a))


def negate(to: Int, a: Lane) -> Lane:
    return to.wrap(-a)


def saturating_absolute(to: Int, a: Lane) -> Lane:
    return to.saturate(magnitude(a))


def saturating_negate(to: Int, a: Lane) -> Lane:
    return to.saturate(-a)


def absolute_difference(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(magnitude(a - b))


def accumulate_absolute_difference(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    return to.wrap(accumulator + magnitude(a - b))


def accumulate_pair(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    return to.wrap(accumulator + a + b)


def smaller(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(minimum(a, b))


def larger(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(maximum(a, b))
