"""The arbiter's floating point: exact numbers, rounded once by Arm's rules (Arm ARM, shared pseudocode: FP*)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.evaluate.floating import arithmetic, comparisons, conversions, estimates
from isa.evaluate.floating.formats import Context
from isa.floating import FloatOperation

_OPERATIONS = arithmetic.OPERATIONS | comparisons.OPERATIONS | conversions.OPERATIONS | estimates.OPERATIONS


def compute(operation: FloatOperation, operands: tuple[int, ...], fpcr: int) -> tuple[int, int]:
    """The result of a floating-point node, and the exception bits of FPSR that it raises."""
    context = Context(fpcr, operation.rounding)
    result = _OPERATIONS[operation.name](operation, context, *operands)
    return result, 0 if operation.silent else context.raised


def noting(operation: FloatOperation) -> Callable[..., int]:
    """The operation as a function of its operands and the flags (nzcv, fpsr, fpcr, ...), which notes exceptions."""

    def function(*arguments: Any) -> int:
        *operands, flags = arguments
        result, raised = compute(operation, tuple(operands), flags[2])
        if raised:
            flags[1] |= raised
        return result

    return function
