"""Comparison of one lane: all ones where it holds, zero where not (Arm ARM C7.2: CMEQ to CMTST)."""

from __future__ import annotations

from isa.lane import Int, Lane


def _mask(to: Int, condition: Lane) -> Lane:
    return to.wrap(-condition)


def equal(to: Int, a: Lane, b: Lane) -> Lane:
    """CMEQ."""
    return _mask(to, a.equals(b))


def greater(to: Int, a: Lane, b: Lane) -> Lane:
    """CMGT, CMHI."""
    return _mask(to, a > b)


def greater_or_equal(to: Int, a: Lane, b: Lane) -> Lane:
    """CMGE, CMHS."""
    return _mask(to, (a < b).equals(0))


def less(to: Int, a: Lane, b: Lane) -> Lane:
    """CMLT (with zero)."""
    return _mask(to, a < b)


def less_or_equal(to: Int, a: Lane, b: Lane) -> Lane:
    """CMLE (with zero)."""
    return _mask(to, (a > b).equals(0))


def bits_in_common(to: Int, a: Lane, b: Lane) -> Lane:
    """CMTST: where a AND b is not zero."""
    return _mask(to, (a & b).equals(0).equals(0))
