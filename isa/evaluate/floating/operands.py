"""Operands of operations, taken apart; NaNs among them decide the result at once."""

from __future__ import annotations

from collections.abc import Callable

from isa.evaluate.floating.formats import Context, Infinity, Number, Value, propagated, unpack
from isa.floating import FloatOperation

Function = Callable[..., int]
"""Takes the operation, the context and the bits of each operand; returns the bits of the result."""
Real = Number | Infinity


def order_key(value: Real) -> tuple[int, int]:
    """Orders values, both zeros alike; numbers by the finest scale that any format has."""
    if isinstance(value, Infinity):
        return (-1 if value.sign else 1), 0
    magnitude = value.significand << value.exponent + 1100
    return 0, -magnitude if value.sign else magnitude


def unpacked(operation: FloatOperation, context: Context, *operands: int) -> tuple[Value, ...]:
    """The values of some operands in the format of the operation."""
    return tuple(unpack(bits, operation.operand_format, context) for bits in operands)


def of_reals(function: Callable[..., int]) -> Function:
    """The operation of a function that takes the format of the result, the context and values, none a NaN."""

    def operation_of(operation: FloatOperation, context: Context, *operands: int) -> int:
        to, values = operation.result_format, unpacked(operation, context, *operands)
        nan = propagated(values, to, context)
        return function(to, context, *values) if nan is None else nan

    return operation_of
