"""Conversions: integers, fixed point, integral numbers, other precisions (Arm ARM, shared pseudocode)."""

from __future__ import annotations

from functools import partial
from typing import cast

from isa.evaluate.floating.formats import (
    IOC,
    IXC,
    Context,
    Infinity,
    NotANumber,
    Number,
    infinity,
    propagated,
    rounded,
    to_integer,
    unpack,
    zero,
)
from isa.evaluate.floating.operands import Function, Real, of_reals, unpacked
from isa.floating import F16, Float, FloatOperation
from isa.lane import Int


def _from_integer(operation: FloatOperation, context: Context, a: int) -> int:
    """FixedToFP: an integer is divided by 2^fraction_bits."""
    to = operation.result_format
    return rounded(Number(int(a < 0), abs(a), -operation.fraction_bits), to, context) if a else 0


def _to_integer(operation: FloatOperation, context: Context, a: int) -> int:
    """FPToFixed: multiplied by 2^fraction_bits, rounded, saturated; a NaN gives 0."""
    to, (x,) = operation.result_integer, unpacked(operation, context, a)
    if not isinstance(x, Number):
        context.raised |= IOC
        return 0 if isinstance(x, NotANumber) else (to.low if x.sign else to.high)
    whole, inexact = to_integer(x._replace(exponent=x.exponent + operation.fraction_bits), context.rounding)
    clamped = min(max(whole, to.low), to.high)
    context.raised |= IOC if clamped != whole else IXC if inexact else 0
    return clamped


def _to_integer_modulo(operation: FloatOperation, context: Context, a: int) -> int:
    """FPToFixedJS: the low bits of the integer toward zero; the highest bit says that it was exact and in range."""
    to, (x,) = Int(operation.result_integer.bits - 1, True), unpacked(operation, context, a)
    if not isinstance(x, Number):
        context.raised |= IOC
        return 0
    whole, inexact = to_integer(x, "zero")
    in_range = to.low <= whole <= to.high
    context.raised |= (IXC if inexact else 0) if in_range else IOC
    minus_zero = x.sign == 1 and x.is_zero
    return (not minus_zero and not context.raised) << to.bits | whole & (1 << to.bits) - 1


def _integral(to: Float, context: Context, a: Real, *, signals: bool) -> int:
    """FPRoundInt: an integral number with the sign of the operand; inexact only where it `signals`."""
    if isinstance(a, Infinity):
        return infinity(to, a.sign)
    whole, inexact = to_integer(a, context.rounding)
    context.raised |= IXC if inexact and signals else 0
    return rounded(Number(a.sign, abs(whole), 0), to, context) if whole else zero(to, a.sign)


def _integral_bounded(operation: FloatOperation, context: Context, a: int) -> int:
    """FPRoundIntN: what does not fit the integer type, a NaN too, becomes its lowest number."""
    to, bound, (x,) = operation.result_format, operation.integer, unpacked(operation, context, a)
    if bound is None:
        raise TypeError(f"{operation} names no integer type that bounds it")
    if isinstance(x, Number) and bound.low <= to_integer(x, context.rounding)[0] <= bound.high:
        return _integral(to, context, x, signals=True)
    context.raised |= IOC
    return rounded(Number(1, -bound.low, 0), to, context)


def _convert(operation: FloatOperation, context: Context, a: int) -> int:
    """FPConvert: FZ16 does not count here, AHP does."""
    of, to = operation.operand_format, operation.result_format
    from_alternative, to_alternative = (context.alternative_half and format == F16 for format in (of, to))
    context.flush_half = False
    x = unpack(a, of, context, from_alternative)
    if to_alternative and not isinstance(x, Number):
        context.raised |= IOC
        return zero(to, x.sign) | (0 if isinstance(x, NotANumber) else to.sign_bit - 1)
    nan = propagated((x,), to, context)
    if nan is not None:
        return nan
    if isinstance(x, Infinity):
        return infinity(to, x.sign)
    number = cast(Number, x)
    return zero(to, x.sign) if number.is_zero else rounded(number, to, context, to_alternative)


OPERATIONS: dict[str, Function] = {
    "from_integer": _from_integer,
    "to_integer": _to_integer,
    "to_integer_modulo": _to_integer_modulo,
    "to_integral": of_reals(partial(_integral, signals=False)),
    "to_integral_exact": of_reals(partial(_integral, signals=True)),
    "to_integral_bounded": _integral_bounded,
    "convert": _convert,
}
"""The operations of this module by name."""
