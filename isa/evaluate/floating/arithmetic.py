"""Sums, products, quotients, roots, and what is made of them (Arm ARM, shared pseudocode: FPAdd to FPSub)."""

from __future__ import annotations

from functools import partial
from math import isqrt
from typing import cast

from isa.evaluate.floating.formats import (
    DZC,
    Context,
    Infinity,
    NotANumber,
    Number,
    infinity,
    invalid,
    propagated,
    rounded,
    unpack,
    zero,
)
from isa.evaluate.floating.operands import Function, Real, of_reals, order_key, unpacked
from isa.floating import Float, FloatOperation

_SPARE_BITS = 64
"""Quotients and roots are computed to so many bits more than the operands have; the rest is one sticky bit."""


def _packed(value: Real, to: Float, context: Context) -> int:
    if isinstance(value, Infinity):
        return infinity(to, value.sign)
    return zero(to, value.sign) if value.is_zero else rounded(value, to, context)


def add(to: Float, context: Context, a: Real, b: Real) -> int:
    """The sum, rounded; infinities of different signs have none."""
    if isinstance(a, Infinity) and isinstance(b, Infinity) and a.sign != b.sign:
        return invalid(to, context)
    for value in (a, b):
        if isinstance(value, Infinity):
            return infinity(to, value.sign)
    x, y = cast(Number, a), cast(Number, b)
    exponent = min(x.exponent, y.exponent)
    terms = [number.significand << number.exponent - exponent for number in (x, y)]
    total = sum(-term if number.sign else term for term, number in zip(terms, (x, y), strict=True))
    if total == 0:
        alike = x.is_zero and y.is_zero and x.sign == y.sign
        return zero(to, x.sign if alike else int(context.rounding == "down"))
    return rounded(Number(int(total < 0), abs(total), exponent), to, context)


def _subtract(to: Float, context: Context, a: Real, b: Real) -> int:
    return add(to, context, a, b._replace(sign=1 - b.sign))


def _exact_product(a: Real, b: Real) -> Real | None:
    """None for zero times infinity."""
    sign = a.sign ^ b.sign
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(sign, a.significand * b.significand, a.exponent + b.exponent)
    return None if a.is_zero or b.is_zero else Infinity(sign)


def _multiply(to: Float, context: Context, a: Real, b: Real) -> int:
    product = _exact_product(a, b)
    return invalid(to, context) if product is None else _packed(product, to, context)


def _multiply_extended(to: Float, context: Context, a: Real, b: Real) -> int:
    """FPMulX: zero times infinity is 2."""
    product = _exact_product(a, b)
    return _packed(Number(a.sign ^ b.sign, 1, 1) if product is None else product, to, context)


def _divide(to: Float, context: Context, a: Real, b: Real) -> int:
    sign, infinite = a.sign ^ b.sign, [isinstance(value, Infinity) for value in (a, b)]
    if all(infinite) or (a.is_zero and b.is_zero):
        return invalid(to, context)
    if infinite[0] or b.is_zero:
        context.raised |= 0 if infinite[0] else DZC
        return infinity(to, sign)
    if infinite[1] or a.is_zero:
        return zero(to, sign)
    return rounded(_quotient(cast(Number, a), cast(Number, b)), to, context)


def _quotient(a: Number, b: Number) -> Number:
    """The quotient; its last bit is set where anything was left over, so that it rounds like the exact one."""
    shift = b.significand.bit_length() + _SPARE_BITS
    quotient, rest = divmod(a.significand << shift, b.significand)
    return Number(a.sign ^ b.sign, quotient << 1 | (rest != 0), a.exponent - b.exponent - shift - 1)


def _square_root(to: Float, context: Context, a: Real) -> int:
    if a.is_zero:
        return zero(to, a.sign)
    if a.sign:
        return invalid(to, context)
    return infinity(to, 0) if isinstance(a, Infinity) else rounded(_root(a), to, context)


def _root(a: Number) -> Number:
    """The root, with a sticky last bit as in `_quotient`."""
    shift = 2 * _SPARE_BITS + (a.exponent & 1)
    scaled = a.significand << shift
    root = isqrt(scaled)
    return Number(0, root << 1 | (root * root != scaled), (a.exponent - shift) // 2 - 1)


def _multiply_add(operation: FloatOperation, context: Context, addend: int, a: int, b: int) -> int:
    """One rounding of the whole.  Zero times infinity is invalid even where the addend is a quiet NaN (FPMulAdd)."""
    to = operation.result_format
    c, (x, y) = unpack(addend, to, context), unpacked(operation, context, a, b)
    nan = propagated((c, x, y), to, context)
    if isinstance(x, NotANumber) or isinstance(y, NotANumber):
        return cast(int, nan)
    product = _exact_product(x, y)
    if product is None and not (isinstance(c, NotANumber) and c.is_signalling):
        return invalid(to, context)
    return add(to, context, cast(Real, c), cast(Real, product)) if nan is None else nan


def _step(operation: FloatOperation, context: Context, a: int, b: int, *, start: int, halvings: int) -> int:
    """(start - a * b) / 2^halvings, rounded once; that of `start` where zero meets infinity.

    The sign bit of `a` is flipped first, that of a NaN too (FPRecipStepFused, FPRSqrtStepFused).
    """

    def step(to: Float, context: Context, minus_a: Real, b: Real) -> int:
        first, product = Number(0, start, -halvings), _exact_product(minus_a, b)
        if isinstance(product, Number):
            product = product._replace(exponent=product.exponent - halvings)
        return rounded(first, to, context) if product is None else add(to, context, first, product)

    return of_reals(step)(operation, context, a ^ operation.operand_format.sign_bit, b)


def _order(value: Real) -> tuple[tuple[int, int], int]:
    """Orders values, minus zero below plus zero."""
    return order_key(value), -value.sign


def _maximum(to: Float, context: Context, a: Real, b: Real) -> int:
    return _packed(max(a, b, key=_order), to, context)


def _minimum(to: Float, context: Context, a: Real, b: Real) -> int:
    return _packed(min(a, b, key=_order), to, context)


def _extreme_number(operation: FloatOperation, context: Context, a: int, b: int, *, largest: bool) -> int:
    """FPMaxNum, FPMinNum: a single quiet NaN counts as the infinity that loses."""
    x, y = unpacked(operation, context, a, b)
    loser = infinity(operation.result_format, int(largest))
    quiet = [isinstance(value, NotANumber) and not value.is_signalling for value in (x, y)]
    if quiet == [True, False]:
        a = loser
    elif quiet == [False, True]:
        b = loser
    return of_reals(_maximum if largest else _minimum)(operation, context, a, b)


OPERATIONS: dict[str, Function] = {
    "add": of_reals(add),
    "subtract": of_reals(_subtract),
    "multiply": of_reals(_multiply),
    "multiply_extended": of_reals(_multiply_extended),
    "divide": of_reals(_divide),
    "square_root": of_reals(_square_root),
    "multiply_add": _multiply_add,
    "reciprocal_step": partial(_step, start=2, halvings=0),
    "reciprocal_root_step": partial(_step, start=3, halvings=1),
    "maximum": of_reals(_maximum),
    "minimum": of_reals(_minimum),
    "maximum_number": partial(_extreme_number, largest=True),
    "minimum_number": partial(_extreme_number, largest=False),
}
"""The operations of this module by name."""
