"""Narrowing and widening of one lane (Arm ARM C7.2: XTN, SHRN, ADDHN, SSHLL and their variants)."""

from __future__ import annotations

from isa.lane import Int, Lane
from isa.semantics.shift import rounding_shift_right


def truncate(to: Int, a: Lane) -> Lane:
    return to.wrap(a)


def saturate(to: Int, a: Lane) -> Lane:
    return to.saturate(a)


def shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    return to.wrap(a >> count)


def rounding_shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    return to.wrap(rounding_shift_right(a, count))


def saturating_shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    return to.saturate(a >> count)


def saturating_rounding_shift_right_narrow(to: Int, a: Lane, count: Lane) -> Lane:
    return to.saturate(rounding_shift_right(a, count))


def add_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a + b) >> to.bits)


def subtract_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap((a - b) >> to.bits)


def rounding_add_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(rounding_shift_right(a + b, to.bits))


def rounding_subtract_high_half(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(rounding_shift_right(a - b, to.bits))
