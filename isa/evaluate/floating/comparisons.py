"""Comparisons (Arm ARM, shared pseudocode: FPCompare, FPCompareEQ, FPCompareGE, FPCompareGT)."""

from __future__ import annotations

from functools import partial
from typing import cast

from isa.evaluate.floating.formats import IOC, Context, NotANumber
from isa.evaluate.floating.operands import Function, Real, order_key, unpacked
from isa.floating import FloatOperation

_FLAGS = {None: 0b0011, -1: 0b1000, 0: 0b0110, 1: 0b0010}
"""N, Z, C, V as a number: unordered, less, equal, greater."""


def _order(operation: FloatOperation, context: Context, a: int, b: int, *, signals: bool) -> int | None:
    """-1, 0 or 1; None where a NaN makes the operands unordered, which raises IOC if it `signals` or is signalling."""
    values = unpacked(operation, context, a, b)
    nans = [value for value in values if isinstance(value, NotANumber)]
    if nans:
        context.raised |= IOC if signals or any(nan.is_signalling for nan in nans) else 0
        return None
    x, y = (order_key(cast(Real, value)) for value in values)
    return (x > y) - (x < y)


def _compare(operation: FloatOperation, context: Context, a: int, b: int, *, signals: bool) -> int:
    return _FLAGS[_order(operation, context, a, b, signals=signals)]


def _holds(
    operation: FloatOperation, context: Context, a: int, b: int, *, orders: tuple[int, ...], signals: bool
) -> int:
    """1 where the operands are in one of these orders, else 0."""
    return int(_order(operation, context, a, b, signals=signals) in orders)


OPERATIONS: dict[str, Function] = {
    "compare": partial(_compare, signals=False),
    "compare_signalling": partial(_compare, signals=True),
    "equal": partial(_holds, orders=(0,), signals=False),
    "greater": partial(_holds, orders=(1,), signals=True),
    "greater_or_equal": partial(_holds, orders=(0, 1), signals=True),
}
"""The operations of this module by name."""
