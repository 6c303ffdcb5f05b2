"""Estimates of eight bits (Arm ARM, shared pseudocode: FPRecipEstimate, FPRSqrtEstimate, FPRecpX)."""

from __future__ import annotations

from isa.evaluate.floating.formats import (
    DZC,
    IXC,
    OFC,
    UFC,
    Context,
    Infinity,
    Number,
    infinity,
    invalid,
    overflowed,
    rounded,
    zero,
)
from isa.evaluate.floating.operands import Function, Real, of_reals
from isa.floating import Float, FloatOperation
from isa.semantics.estimate import reciprocal_estimate, reciprocal_square_root_estimate


def _leading_bits(number: Number, count: int) -> int:
    """The highest bits of the significand, from its leading 1 on."""
    shift = number.significand.bit_length() - count
    return number.significand >> shift if shift > 0 else number.significand << -shift


def _exact(number: Number, to: Float) -> int:
    """An estimate has fewer bits than any format: nothing is rounded, and FZ does not heed it."""
    return rounded(number, to, Context(0))


def _reciprocal(to: Float, context: Context, a: Real) -> int:
    """Out of range for the smallest subnormal numbers; flushed where it would be subnormal itself."""
    if isinstance(a, Infinity):
        return zero(to, a.sign)
    if a.is_zero:
        context.raised |= DZC
        return infinity(to, a.sign)
    if a.highest_exponent < to.lowest_exponent - 2:
        context.raised |= OFC | IXC
        return overflowed(to, a.sign, context)
    if context.flushes(to) and a.highest_exponent >= to.highest_exponent - 1:
        context.raised |= UFC
        return zero(to, a.sign)
    return _exact(Number(a.sign, reciprocal_estimate(_leading_bits(a, 9)), -a.highest_exponent - 9), to)


def _reciprocal_root(to: Float, context: Context, a: Real) -> int:
    if a.is_zero:
        context.raised |= DZC
        return infinity(to, a.sign)
    if a.sign:
        return invalid(to, context)
    if isinstance(a, Infinity):
        return zero(to, 0)
    estimate = reciprocal_square_root_estimate(_leading_bits(a, 8 + a.highest_exponent % 2))
    return _exact(Number(0, estimate, -8 - (a.highest_exponent + 2) // 2), to)


def _reciprocal_exponent(operation: FloatOperation, context: Context, a: int) -> int:
    """The exponent field inverted, the fraction cleared; that of zero is the highest."""

    def inverted(to: Float, context: Context, value: Real) -> int:
        exponent = a & to.infinity
        return zero(to, value.sign) | to.infinity - (exponent or 1 << to.fraction_bits)

    return of_reals(inverted)(operation, context, a)


OPERATIONS: dict[str, Function] = {
    "reciprocal_estimate": of_reals(_reciprocal),
    "reciprocal_root_estimate": of_reals(_reciprocal_root),
    "reciprocal_exponent": _reciprocal_exponent,
}
"""The operations of this module by name."""
