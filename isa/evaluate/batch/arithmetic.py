"""Integer arithmetic on arrays of members by lanes, exact for numbers of any size.

Where the range of an expression needs more than 64 bits, its arrays are looked at as it is computed: what they hold
may need less.  Where it does not, numpy's object arrays hold Python integers.
"""

from __future__ import annotations

from typing import Any, Final, assert_never

import numpy as np
from numpy.typing import NDArray

from isa.evaluate.batch.narrowing import grown
from isa.evaluate.exact import QC
from isa.evaluate.exact import divided as divided_exactly
from isa.evaluate.rolling import carrier
from isa.lane import Int, Operator, Place, Read

Array = NDArray[Any]
_LOW = (1 << 64) - 1
_divided_objects = np.frompyfunc(divided_exactly, 2, 1)


def divided(dividend: Array | int, divisor: Array | int) -> Array:
    """The quotients rounded toward zero, 0 where the divisor is 0.  Arrays are of one type, and the quotients fit it.

    One of both may be a number.
    """
    a, b = np.broadcast_arrays(dividend, divisor)
    a, b = (a.astype(b.dtype), b) if isinstance(dividend, int) else (a, b.astype(a.dtype))
    if a.dtype == object:
        return np.asarray(_divided_objects(a, b))
    by = np.where(b == 0, 1, b).astype(a.dtype)
    quotient = a // by
    quotient += ((a % by != 0) & ((a < 0) != (by < 0))).astype(a.dtype)
    return np.where(b == 0, 0, quotient).astype(a.dtype)


def _compute(operator: Operator, a: Array, b: Array) -> Any:
    """The operation on arrays of one type, which the result fits; comparisons give booleans."""
    match operator:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            return divided(a, b)
        case "shift_left":
            return a << b
        case "shift_right":
            return a >> b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "minimum":
            return np.minimum(a, b)
        case "maximum":
            return np.maximum(a, b)
        case "less":
            return np.less(a, b)
        case "equal":
            return np.equal(a, b)
        case _:
            assert_never(operator)


_ANY: Final = Place("x", 0)


def wide(operator: Operator, a: Array | int, b: Array | int) -> Array:
    """The operation, exact: in a type that holds it for the numbers that are there."""
    operands = [np.array([[value]], dtype=object) if isinstance(value, int) else value for value in (a, b)]
    ranges = [Read(_ANY, int(value.min()), int(value.max())) for value in operands]
    of = [grown(operator, *ranges), *ranges]
    kind = carrier(min(lane.low for lane in of), max(lane.high for lane in of)) or "O"
    computed = _compute(operator, *(value.astype(kind) for value in operands))
    return np.asarray(computed.view("u1") if computed.dtype == bool else computed)


def below(bound: int, *arrays: Array) -> bool:
    """Whether all numbers of 64-bit arrays are in -bound..bound - 1."""
    return all(int(a.max()) < bound and (a.dtype.kind == "u" or int(a.min()) >= -bound) for a in arrays)


def field(value: Array, lsb: int, bits: int, signed: bool) -> Array:
    """The element of so many bits from bit `lsb` on, in the smallest type that holds it."""
    kind = carrier(Int(bits, signed).low, Int(bits, signed).high) or "O"
    if value.dtype == object:
        half = 1 << bits - 1 if signed else 0
        return np.asarray((((value >> lsb) & ((1 << bits) - 1)) ^ half) - half).astype(kind)
    shifted = value >> lsb
    if bits in (8, 16, 32, 64):
        return shifted.astype(kind)
    if bits > 64:
        return field(value.astype(object), lsb, bits, signed)
    low = shifted.astype("u8") & ((1 << bits) - 1)
    half = 1 << bits - 1 if signed else 0
    return ((low ^ half).astype("i8") - half if signed else low).astype(kind)


def saturated(value: Array, low: int, high: int, kind: str) -> tuple[Array, Array | None]:
    """The values clamped to a range, and QC by member (an array of one column), None where nothing was clamped."""
    least, greatest = int(value.min()), int(value.max())
    if least >= low and greatest <= high:
        return value.astype(kind), None
    floor, ceiling = max(low, least), min(high, greatest)
    if floor > ceiling:
        return np.full(value.shape, low if greatest < low else high, kind), np.full((len(value), 1), QC, "u4")
    clamped = np.minimum(np.maximum(value, floor), ceiling)
    return clamped.astype(kind), _any_lane(clamped != value).astype("u4") * np.uint32(QC)


def _any_lane(marks: Array) -> Array:
    """Whether any of 1, 2, 4, 8 or 16 lanes is marked, as a column: `any(axis=1)` would be slow on such short rows."""
    size = min(marks.shape[1], 8)
    words = np.ascontiguousarray(marks).view(f"u{size}") != 0
    return np.asarray(words if words.shape[1] == 1 else words[:, :1] | words[:, 1:])


def joined(value: Array, lane: str, unit: str) -> Array:
    """Adjacent lanes of the type `lane` as fewer and larger numbers: the same bytes, quicker to copy."""
    lanes = value.astype(lane, copy=False)
    return np.ascontiguousarray(lanes).view(unit) if lanes.strides[1] != lanes.itemsize else lanes.view(unit)


def looked_up(index: Array, items: Array, count: int) -> Array:
    """`items[index]`, or the item number `count` where the index is not in 0..count - 1.

    `items` is one row for all members (1, count + 1), a row for each (members, count + 1), or one for each lane.
    """
    inside = (index >= 0) & (index < count)
    number = np.where(inside, index, count).astype("i8")
    if items.ndim == 2 and len(items) == 1:
        return np.asarray(items[0][number])
    if items.ndim == 2:
        return np.take_along_axis(items, number, axis=1)
    return np.take_along_axis(items, number[..., None], axis=2)[..., 0]


def whole(data: Array) -> Array:
    """Rows of bytes as one column of numbers, little-endian."""
    numbers = [int.from_bytes(row.tobytes(), "little") for row in data]
    return np.array(numbers, dtype=object).reshape(-1, 1)


def halves(value: Array) -> Array:
    """A column of 128-bit numbers as two of 64 bits, the lower first."""
    numbers = value.astype(object)
    return np.concatenate([(numbers & _LOW).astype("u8"), ((numbers >> 64) & _LOW).astype("u8")], axis=1)


class Row:
    """A number for each lane, the same for all members."""

    def __init__(self, values: tuple[int, ...], kind: str) -> None:
        self._row = np.array([values], dtype=kind)
        self._rows = self._row

    def __call__(self, members: int) -> Array:
        """The row, once for each member: numpy is slow where it repeats short rows itself."""
        if len(self._rows) != members:
            self._rows = np.repeat(self._row, members, axis=0)
        return self._rows
