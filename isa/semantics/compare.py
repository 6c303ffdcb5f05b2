"""Comparison of one lane: all ones where it holds, zero where not (Arm ARM C7.2: CMEQ to CMTST)."""

from __future__ import annotations

from isa.lane import Int, Lane


def _mask(to: Int, condition: Lane) -> Lane:
    return to.wrap(-condition)


def equal(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, a.equals(b))


def greater(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, a > b)


def greater_or_equal(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, (a < b).equals(0))


def less(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, a < b)


def less_or_equal(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, (a > b).equals(0))


def bits_in_common(to: Int, a: Lane, b: Lane) -> Lane:
    return _mask(to, (a & b).equals(0).equals(0))
