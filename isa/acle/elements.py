"""The element types of ACLE: what the numbers in lanes are, and which bits stand for them.

Source: Arm C Language Extensions (ACLE), section "Advanced SIMD (Neon) intrinsics", vector data types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import copysign, isfinite, isnan
from operator import index
from struct import unpack
from typing import Any, Literal, SupportsFloat, cast

from isa.evaluate.floating.formats import Context, Number, infinity, largest, rounded, zero
from isa.floating import BF16, FLOATS, Float
from isa.lane import Int
from isa.operands import ELEMENT_LETTERS

Kind = Literal["s", "u", "p", "f", "b"]
"""Signed, unsigned, polynomial over {0, 1}, floating point, bfloat."""

_WIDTHS: dict[Kind, tuple[int, ...]] = {
    "s": (8, 16, 32, 64), "u": (8, 16, 32, 64), "p": (8, 16, 64, 128), "f": (16, 32, 64), "b": (16,),
}  # fmt: skip
_C_NAMES: dict[Kind, str] = {"s": "int", "u": "uint", "p": "poly", "f": "float", "b": "bfloat"}


class FloatNumber(float):
    """A Python float that knows its `bits` in the format of its `element`: NaNs keep their payload."""

    bits: int
    element: ElementType


@dataclass(frozen=True)
class ElementType:
    """An element type by its kind and width.  Raises ValueError where ACLE has no such type."""

    kind: Kind
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in _WIDTHS[self.kind]:
            widths = ", ".join(map(str, _WIDTHS[self.kind]))
            raise ValueError(f"{_C_NAMES[self.kind]} elements have {widths} bits, not {self.bits}")

    def __str__(self) -> str:
        """How an intrinsic's name ends: `s32`, `bf16`."""
        return f"{'bf' if self.kind == 'b' else self.kind}{self.bits}"

    @property
    def c_name(self) -> str:
        """The name without `_t`, which is numpy's too where it has the type: `int32`."""
        return f"{_C_NAMES[self.kind]}{self.bits}"

    @property
    def letter(self) -> str:
        """The letter of one element in assembly text."""
        return ELEMENT_LETTERS[self.bits]

    @property
    def is_float(self) -> bool:
        """Whether its numbers are floating-point ones."""
        return self.kind in ("f", "b")

    @cached_property
    def integer(self) -> Int:
        """Its bits as an integer: signed for the signed kind only."""
        return Int(self.bits, self.kind == "s")

    @property
    def format(self) -> Float:
        """The floating-point format of its width and kind."""
        return BF16 if self.kind == "b" else FLOATS[self.bits]

    @property
    def wide(self) -> ElementType:
        """Twice the bits, of the same kind; bfloat16 widens to float32."""
        return ElementType("f" if self.kind == "b" else self.kind, 2 * self.bits)

    @property
    def narrow(self) -> ElementType:
        """Half the bits, of the same kind."""
        return ElementType(self.kind, self.bits // 2)

    def number(self, bits: int) -> Any:
        """The number that the low bits stand for: an int or a `FloatNumber`."""
        low = self.integer.wrapped(bits)
        if not self.is_float:
            return low
        number = FloatNumber(_decoded(low, self.format))
        number.bits, number.element = low, self
        return number

    def bits_of(self, value: object, what: str) -> int:
        """The bits that stand for a number, unsigned; a float is rounded to nearest even, as in C.

        `what` names the number in the TypeError (no number) or ValueError (out of range).
        """
        if self.is_float:
            return self._float_bits(value, what)
        low, high = self.integer.low, self.integer.high
        try:
            number = index(value)  # type: ignore[arg-type]  # the point is to ask
        except TypeError:
            raise TypeError(f"{what} is an int, not {type(value).__name__}") from None
        if not low <= number <= high:
            raise ValueError(f"{what} is {self.c_name}_t, {low}..{high}, not {number}")
        return number % (1 << self.bits)

    def _float_bits(self, value: object, what: str) -> int:
        if isinstance(value, FloatNumber) and value.element == self:
            return value.bits
        if not hasattr(value, "__float__"):
            raise TypeError(f"{what} is a number, not {type(value).__name__}")
        try:
            return _encoded(float(cast(SupportsFloat, value)), self.format)
        except OverflowError:
            greatest = _decoded(largest(self.format, 0), self.format)
            raise ValueError(f"{what} is {self.c_name}_t, -{greatest:g}..{greatest:g}, not {value}") from None


def _decoded(bits: int, format: Float) -> float:
    if format == BF16:
        return _decoded(bits << 16, FLOATS[32])
    code = {16: "<e", 32: "<f", 64: "<d"}[format.bits]
    return float(unpack(code, bits.to_bytes(format.bits // 8, "little"))[0])


def _encoded(value: float, format: Float) -> int:
    """The nearest number of a format.  Raises OverflowError where only an infinity is near a finite number."""
    sign = int(copysign(1, value) < 0)
    if not isfinite(value):
        return infinity(format, sign) | (format.quiet_bit if isnan(value) else 0)
    if value == 0:
        return zero(format, sign)
    numerator, denominator = abs(value).as_integer_ratio()
    bits = rounded(Number(sign, numerator, 1 - denominator.bit_length()), format, Context(0, "even"))
    if bits == infinity(format, sign):
        raise OverflowError
    return bits


ELEMENTS = {str(e): e for e in (ElementType(kind, bits) for kind, widths in _WIDTHS.items() for bits in widths)}
"""Every element type by the suffix of names: `s8`."""

DTYPES = {element.c_name: element for element in ELEMENTS.values()}
"""What a `Pointer` can point to, by name: `int8`."""
