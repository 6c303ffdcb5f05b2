"""Narrowing and widening of one lane (Arm ARM C7.2: XTN, SHRN, ADDHN, SSHLL and their variants)."""

from __future__ import annotations

from isa.lane import Int, Lane
from isa.semantics.shift import rounding_shift_right


def saturate(to: Int, a: Lane) -> Lane:
    """SQXTN, UQXTN, SQXTUN."""
    return to.saturate(a)


def saturating_shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    """SQSHRN, UQSHRN, SQSHRUN: rounded down, then saturated."""
    return to.saturate(a >> count)


def saturating_rounding_shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    """SQRSHRN, UQRSHRN, SQRSHRUN: ties up, then saturated."""
    return to.saturate(rounding_shift_right(a, count))


def add_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    """ADDHN: the high half of the sum, rounded down."""
    return to.wrap((a + b) >> to.bits)


def subtract_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    """SUBHN: the high half of the difference, rounded down."""
    return to.wrap((a - b) >> to.bits)


def rounding_add_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    """RADDHN: the high half of the sum, ties up."""
    return to.wrap(rounding_shift_right(a + b, to.bits))


def rounding_subtract_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    """RSUBHN: the high half of the difference, ties up."""
    return to.wrap(rounding_shift_right(a - b, to.bits))
