"""What numpy makes of floating-point numbers, as lanes of their bits: Arm's operations, rounded to nearest even.

numpy computes by IEEE 754 as Arm does but for which NaN comes out, so nothing here tells one NaN from another: bits are
not seen as integers, and there is no conversion to integers, which is not defined for NaN and for what is too large.
The named conversions of `sim.golden.floating_point` and its multiply-add are taken by their formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from isa.floating import FLOATS, Float, FloatOperation, Operation, Rounding
from isa.lane import S32, U1, Int, Lane, constant
from sim.symbolic.numbers.elementwise import DType, cast, element_type, less, negated, settled

NEAREST: Final = constant(0)
"""FPCR at a call: to nearest, ties to even, no flushing, NaNs propagated."""


def is_floating(dtype: DType) -> bool:
    """Whether it is single or double precision."""
    return dtype.kind == "f" and dtype.itemsize in (4, 8)


def format_of(dtype: DType) -> Float:
    """The format of a floating-point dtype."""
    return FLOATS[8 * dtype.itemsize]


def bits_of(number: Any, dtype: DType) -> int:
    """The bits of a number in a floating-point dtype."""
    return int(np.asarray(number, dtype).view(f"u{dtype.itemsize}")[()])


def operation(name: Operation, of: Float | Int, to: Float | Int, rounding: Rounding = "fpcr") -> Callable[..., Lane]:
    """The function of lanes that an operation is, rounded as numpy rounds."""
    made = FloatOperation(name, of, to, rounding)
    return lambda *lanes: settled(made(*lanes, fpcr=NEAREST))


def converted(lane: Lane, of: DType, to: DType) -> Lane | None:
    """The number of one dtype as numpy stores it in another; None where that is not defined for all numbers."""
    if of == to:
        return lane
    if to.kind != "f":
        return cast(lane, to) if of.kind != "f" else None
    kind = format_of(of) if of.kind == "f" else element_type(of)
    return operation("convert" if of.kind == "f" else "from_integer", kind, format_of(to))(lane)


def _of_one_format(name: Operation, rounding: Rounding = "fpcr") -> Callable[..., Lane]:
    return lambda format, *lanes: operation(name, format, format, rounding)(*lanes)


def _holds(name: Operation, *order: int) -> Callable[..., Lane]:
    return lambda format, *lanes: operation(name, format, U1)(*(lanes[number] for number in order))


def _is_equal(format: Float, a: Lane, b: Lane) -> Lane:
    return operation("equal", format, U1)(a, b)


def _is_finite(format: Float, a: Lane) -> Lane:
    return less(Int(format.bits - 1, signed=False).field(a, 0), constant(format.infinity))


FLOATING: Final[Mapping[np.ufunc, Callable[..., Lane]]] = {
    np.add: _of_one_format("add"),
    np.subtract: _of_one_format("subtract"),
    np.multiply: _of_one_format("multiply"),
    np.true_divide: _of_one_format("divide"),
    np.sqrt: _of_one_format("square_root"),
    np.rint: _of_one_format("to_integral", "even"),
    np.trunc: _of_one_format("to_integral", "zero"),
    np.floor: _of_one_format("to_integral", "down"),
    np.ceil: _of_one_format("to_integral", "up"),
    np.positive: lambda format, a: a,
    np.negative: lambda format, a: settled(format.negated(a)),
    np.absolute: lambda format, a: settled(format.magnitude(a)),
    np.fabs: lambda format, a: settled(format.magnitude(a)),
    np.less: _holds("greater", 1, 0),
    np.greater: _holds("greater", 0, 1),
    np.less_equal: _holds("greater_or_equal", 1, 0),
    np.greater_equal: _holds("greater_or_equal", 0, 1),
    np.equal: _is_equal,
    np.not_equal: lambda format, a, b: negated(_is_equal(format, a, b)),
    np.isnan: lambda format, a: negated(_is_equal(format, a, a)),
    np.isfinite: _is_finite,
}
"""By numpy's function: what it makes of operands of a format."""

SINGLE: Final = FLOATS[32]
_product, _to_nearest = operation("multiply", SINGLE, SINGLE), operation("to_integer", SINGLE, S32, "even")
BY_FORMULA: Final[Mapping[str, Callable[..., Lane]]] = {
    "sim.golden.floating_point.fused_multiply_add": lambda a, b, c: operation("multiply_add", SINGLE, SINGLE)(c, a, b),
    "sim.golden.floating_point.to_int32_ties_even": _to_nearest,
    "sim.golden.floating_point.to_int32_truncated": operation("to_integer", SINGLE, S32, "zero"),
    "sim.golden.scaling.scale_float_ties_even": lambda value, scale: _to_nearest(_product(value, scale)),
}
"""By module and name in the golden references: what its documented formula makes of single-precision operands.

`tests/test_golden_floating_point.py` and `tests/test_golden_scaling.py` compare the functions with exact fractions.
"""
