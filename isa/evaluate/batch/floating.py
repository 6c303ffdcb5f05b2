"""Floating point on arrays of members by lanes.

numpy's arithmetic counts where it is provably Arm's, by the argument of `isa.evaluate.host_floating`: FPCR in its
default modes, inexact noted in FPSR already, and a result in the normal range.  The arbiter computes every other
element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.evaluate.batch.arithmetic import Array
from isa.evaluate.floating import compute
from isa.evaluate.floating.formats import IXC, MODES
from isa.evaluate.rolling import carrier
from isa.floating import F16, F32, F64, Float, FloatOperation
from isa.lane import Int

_TYPES = {F16: "f2", F32: "f4", F64: "f8"}
Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]


def computed(operation: FloatOperation, operands: tuple[Array, ...], fpcr: Array, fpsr: Array) -> tuple[Array, Any]:
    """The bits of the results, and the FPSR bits they raise by member (an array of one column), None where none.

    `operands` are arrays of one shape, `fpcr` and `fpsr` columns.
    """
    to = Int(operation.to.bits, False) if isinstance(operation.to, Float) else operation.to
    result = np.zeros(operands[0].shape, carrier(to.low, to.high))
    left = np.ones(result.shape, bool)
    usual = (fpsr & IXC != 0) & (fpcr & MODES == 0)
    if usual.any():
        on_host = _on_host(operation, operands)
        if on_host is not None:
            left = ~(on_host[1] & usual)
            result[...] = np.where(left, 0, on_host[0])
    return result, _by_arbiter(operation, operands, fpcr, result, left) if left.any() else None


def _by_arbiter(
    operation: FloatOperation, operands: tuple[Array, ...], fpcr: Array, result: Array, left: Mask
) -> Array:
    """Fill in the elements that are left; the FPSR bits they raise by member."""
    raised = np.zeros((len(result), 1), "u4")
    modes = fpcr[:, 0].tolist()
    for member, lane in np.argwhere(left).tolist():
        numbers = tuple(int(operand[member, lane]) for operand in operands)
        result[member, lane], noted = compute(operation, numbers, modes[member])
        raised[member, 0] |= noted
    return raised


def _on_host(operation: FloatOperation, operands: tuple[Array, ...]) -> tuple[Array, Mask] | None:
    """The bits of the results and where they count; None for an operation that numpy does not do."""
    format = operation.of
    if format not in _TYPES or operation.to != format or operation.rounding != "fpcr":
        return None
    with np.errstate(all="ignore"):
        bits = [operand.astype(f"u{format.bits // 8}", copy=False) for operand in operands]
        values = [np.ascontiguousarray(each).view(_TYPES[format]).astype("f8") for each in bits]
        found = _arithmetic(operation.name, values, format)
        if found is None:
            return None
        rounded = found[0].astype(_TYPES[format])
    return rounded.view(f"u{format.bits // 8}"), found[1]


def _arithmetic(name: str, values: list[Reals], format: Float) -> tuple[Reals, Mask] | None:
    """The results in double precision, and where they count."""
    if name == "add":
        return _in_range(values[0] + values[1], format, True)
    if name == "subtract":
        return _in_range(values[0] - values[1], format, True)
    if name == "multiply":
        return _in_range(values[0] * values[1], format, format.bits < 64)
    if name == "divide":
        total, counts = _in_range(values[0] / values[1], format, format.bits < 64)
        return total, counts & np.isfinite(values[1])
    if name == "square_root":
        return _in_range(np.sqrt(values[0]), format, format.bits < 64)
    if name == "multiply_add" and format.bits < 64:
        return _fused(format, *values)
    return None


def _in_range(value: Reals, format: Float, zero: bool) -> tuple[Reals, Mask]:
    """Where a result is above the lowest normal number, to which a tiny one may be rounded, or zero where that may be.

    NaNs and infinities are not in the range.
    """
    size = np.abs(value)
    low, high = 2.0**format.lowest_exponent, (2 - 2.0**-format.fraction_bits) * 2.0**format.highest_exponent
    counts = (size > low) & (size <= high)
    return value, counts | (value == 0) if zero else counts


def _fused(format: Float, a: Reals, b: Reals, c: Reals) -> tuple[Reals, Mask]:
    """`a` plus `b` times `c`, where the sum loses nothing that decides a rounding (2Sum, Knuth, TAOCP 2, 4.2.2)."""
    product = b * c
    total, counts = _in_range(a + product, format, True)
    part = total - product
    lost = (product - (total - part)) + (a - part)
    kind = _TYPES[format]
    same = np.nextafter(total, -np.inf).astype(kind) == np.nextafter(total, np.inf).astype(kind)
    return total, counts & ((lost == 0) | same)
