"""Floating point by the host's, where the result is provably Arm's.

Python's floats are IEEE 754 double precision, rounded to nearest even.  The text that is generated here runs only
where FPCR asks for no more than that and FPSR.IXC is set already, and its result counts only where its guards hold:

- Numbers of single and half precision are exact in double precision.  Their sums, differences, products, quotients
  and roots, rounded to double and then (by `struct`) to their own precision p, are those rounded once, since
  53 >= 2p + 2 (Figueroa, "When is double rounding innocuous?", 1995), and in the subnormal range, which the guards
  keep out, nothing is claimed.
- A fused multiply-add has an exact product in double precision; its sum is rounded to double.  Where that lost
  something (`2Sum`, Knuth, TAOCP 2, 4.2.2), the neighbours of the sum must round to the same number of precision p,
  so that no tie was made or broken.  In double precision itself the arbiter computes it.
- A result in the normal range raises nothing but inexact, which FPSR has noted.  A result of zero is exact but for
  underflow: of single and half precision, double precision underflows nowhere; of double precision only sums count.
- NaNs fail every guard, or raise ArithmeticError or ValueError in Python, and so do infinities, but where they are
  compared or chosen: then the arbiter computes.  Hence DN and AHP, which change only NaNs, infinities and what would
  be infinite, need not be asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, copysign, floor, inf, nextafter, sqrt
from struct import pack, unpack
from typing import TypeGuard, assert_never

from isa.errors import LanewiseError
from isa.evaluate.floating.formats import FZ, FZ16, IXC
from isa.evaluate.source import Piece, Source, byte_key, piece_of
from isa.floating import F16, F32, F64, Float, FloatOperation
from isa.lane import Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Read, Saturate

_LETTERS = {F16: "e", F32: "f", F64: "d"}
"""The `struct` letters of the formats; bfloat16 has none."""
APPLIES = f"F[1] & {IXC} and not F[2] & {FZ | FZ16 | 3 << 22}"
"""When the text may run: inexact has been noted, FPCR rounds to nearest even and flushes nothing."""
FAILS = "(ArithmeticError, ValueError)"
"""What the text raises where it does not apply."""
_ROUNDED = {"even": "round({a})", "fpcr": "round({a})", "zero": "int({a})", "down": "floor({a})", "up": "ceil({a})",
            "away": "int({a} + copysign(0.5, {a}))"}  # fmt: skip
_ORDERS = {"equal": "({a} == {b})", "greater": "({a} > {b})", "greater_or_equal": "({a} >= {b})"}
_SUMS = {"add": "({a} + {b})", "subtract": "({a} - {b})"}
_PRODUCTS = {"multiply": "({a} * {b})", "divide": "({a} / {b})", "square_root": "sqrt({a})"}
_CHOICES = {"maximum": ">", "minimum": "<", "maximum_number": ">", "minimum_number": "<"}


class NotOnHost(LanewiseError):
    """An expression that the host's arithmetic does not cover."""


def computes_float(lane: Lane) -> bool:
    """Whether a lane is the result of a floating-point operation, perhaps with its sign changed."""
    if isinstance(lane, Floating):
        return isinstance(lane.operation.to, Float)
    return _is_masked(lane) and computes_float(lane.a)


def _is_masked(lane: Lane) -> TypeGuard[Binary]:
    """Whether a lane is another one with constant bits flipped or kept, such as its sign."""
    return isinstance(lane, Binary) and lane.operator in ("xor", "and") and isinstance(lane.b, Constant)


class HostSource(Source):
    """Expressions as text over the host's floats.  `guards` must hold for the values to count.

    Raises NotOnHost.
    """

    def __init__(self, roots: Sequence[Lane]) -> None:
        super().__init__(roots)
        self.guards: list[str] = []
        self.constants |= {"copysign": copysign, "ceil": ceil, "floor": floor, "inf": inf, "nextafter": nextafter}
        self.constants |= {"sqrt": sqrt}

    def float_layout(self, lanes: Sequence[Lane]) -> tuple[str, list[str]] | None:
        if not all(map(computes_float, lanes)):
            return None
        format = _format(lanes[0])
        return _letter(format), [self.temporary(self._float(lane, format)) for lane in lanes]

    def _float(self, lane: Lane, format: Float) -> str:
        """The text of a lane as a float."""
        match lane:
            case Constant(bits):
                number = _number(bits, format)
                if number - number != 0:  # infinite, or not a number
                    raise NotOnHost
                return repr(number)
            case Floating():
                return self._operation(lane, format)
            case Binary():
                return self._with_sign(lane, format)
            case Field() | Load():
                return self._float_lane(piece_of(lane, format.bits), format)
            case Read() | Saturate() | Pick():
                raise NotOnHost
            case _:
                assert_never(lane)

    def _with_sign(self, lane: Binary, format: Float) -> str:
        mask = lane.b.value
        if mask == format.sign_bit and lane.operator == "xor":
            return f"(-{self._float(lane.a, format)})"
        if mask == format.sign_bit - 1 and lane.operator == "and":
            return f"abs({self._float(lane.a, format)})"
        raise NotOnHost

    def _float_lane(self, piece: Piece | None, format: Float) -> str:
        size = format.bits // 8
        if piece is None or piece.first % size:
            raise NotOnHost
        key = (byte_key(piece.source), format)
        if key not in self._unpacked:
            numbers = self._needed[byte_key(piece.source), Int(format.bits, False)]
            first, count = min(numbers), max(numbers) - min(numbers) + 1
            prefix = f"f{len(self._unpacked)}_"
            names = ", ".join(f"{prefix}{i}" for i in range(count))
            unpack_from = self.struct(f"{count}{_letter(format)}", "unpack_from")
            self.lines.append(f"{names}, = {unpack_from}({self.where(piece.source, first * size)})")
            self._unpacked[key] = prefix, first
        prefix, first = self._unpacked[key]
        return f"{prefix}{piece.first // size - first}"

    def _operands(self, lane: Floating) -> dict[str, str]:
        """The operands of a node as text of floats, by the letters of the templates."""
        format = lane.operation.of
        if not isinstance(format, Float) or not isinstance(lane.fpcr, Read):
            raise NotOnHost
        if any(map(computes_float, lane.operands)):
            raise NotOnHost  # it is not rounded yet
        return {letter: self._atom(self._float(o, format)) for letter, o in zip("abc", lane.operands, strict=False)}

    def _atom(self, text: str) -> str:
        return text if text.isidentifier() else self.temporary(text)

    def _operation(self, lane: Floating, format: Float) -> str:
        """A floating-point operation with a floating-point result."""
        operation = lane.operation
        if operation.to != format:
            raise NotOnHost
        if operation.name in ("to_integral", "to_integral_exact"):
            return self._integral(operation, format, **self._operands(lane))
        if operation.rounding != "fpcr":
            raise NotOnHost
        if operation.name == "from_integer":
            return self._from_integer(lane, operation, format)
        operands = self._operands(lane)
        if operation.name == "convert":
            return self._in_range(operands["a"], format, zero=True)
        if operation.of != format:
            raise NotOnHost
        if operation.name in _SUMS:
            return self._in_range(_SUMS[operation.name].format(**operands), format, zero=True)
        if operation.name in _PRODUCTS:
            return self._in_range(_PRODUCTS[operation.name].format(**operands), format, zero=format.bits < 64)
        if operation.name == "multiply_add" and format.bits < 64:
            return self._fused(format, **operands)
        if operation.name in _CHOICES:
            order, a, b = _CHOICES[operation.name], operands["a"], operands["b"]
            # Equal ones only where they are not zeros, which may differ in sign.
            self.guards.append(f"({a} < {b} or {a} > {b} or {a} == {b} != 0.0)")
            return f"({a} if {a} {order} {b} else {b})"
        raise NotOnHost

    def _in_range(self, text: str, format: Float, zero: bool) -> str:
        """A result above the lowest normal number, to which a tiny one may be rounded, or zero where that may be."""
        name, low = self._atom(text), 2.0**format.lowest_exponent
        high = _number(format.infinity - 1, format)
        or_zero = f" or {name} == 0.0" if zero else ""
        self.guards.append(f"({low!r} < {name} <= {high!r} or -{high!r} <= {name} < -{low!r}{or_zero})")
        return name

    def _fused(self, format: Float, a: str, b: str, c: str) -> str:
        """`a` plus `b` times `c`; what the sum loses is compared with its neighbours only where it loses something."""
        product = self.temporary(f"({b} * {c})")
        total = self._in_range(f"({a} + {product})", format, zero=True)
        part = self.temporary(f"({total} - {product})")
        lost = self.temporary(f"(({product} - ({total} - {part})) + ({a} - {part}))")
        pack_one = self.struct(_letter(format), "pack")
        low, high = (f"{pack_one}(nextafter({total}, {end}))" for end in ("-inf", "inf"))
        self.guards.append(f"({lost} == 0.0 or {low} == {high})")
        return total

    def _integral(self, operation: FloatOperation, format: Float, a: str) -> str:
        """The guard keeps the integers small; larger numbers are integral."""
        if operation.rounding == "away" and format.bits == 64:
            raise NotOnHost  # half less a bit, plus half, is 1
        self.guards.append(f"-4503599627370496.0 < {a} < 4503599627370496.0")
        return f"copysign({_ROUNDED[operation.rounding].format(a=a)}, {a})"

    def _from_integer(self, lane: Floating, operation: FloatOperation, format: Float) -> str:
        (operand,) = lane.operands
        number = self.atom(operand)
        if not isinstance(lane.fpcr, Read):
            raise NotOnHost
        if operand.magnitude_bits > 53 and format.bits < 64:
            self.guards.append(f"-9007199254740992 <= {number} <= 9007199254740992")
        return self._in_range(f"({number} * {2.0**-operation.fraction_bits!r})", format, zero=True)

    def _floating(self, lane: Floating) -> str:
        """A floating-point operation with an integer result."""
        operation = lane.operation
        if operation.name == "to_integer":
            return self._to_integer(lane, operation)
        operands = self._operands(lane)
        if operation.name in _ORDERS:
            self._require_order(**operands)
            return _ORDERS[operation.name].format(**operands)
        if operation.name in ("compare", "compare_signalling"):
            self._require_order(**operands)
            return "(6 if {a} == {b} else 8 if {a} < {b} else 2)".format(**operands)
        raise NotOnHost

    def _require_order(self, a: str, b: str) -> None:
        self.guards.append(f"({a} <= {b} or {a} > {b})")

    def _to_integer(self, lane: Floating, operation: FloatOperation) -> str:
        format, integer = operation.of, operation.to
        assert isinstance(format, Float)
        assert isinstance(integer, Int)
        if operation.rounding == "away" and format.bits == 64:
            raise NotOnHost  # half less a bit, plus half, is 1
        scaled = self._operands(lane)["a"]
        if operation.fraction_bits:
            scaled = self.temporary(f"({scaled} * {2.0**operation.fraction_bits!r})")
        self.guards.append(f"{integer.low} <= {scaled} <= {integer.high}")
        return _ROUNDED[operation.rounding].format(a=scaled)


def _letter(format: Float) -> str:
    if format not in _LETTERS:
        raise NotOnHost
    return _LETTERS[format]


def _format(lane: Lane) -> Float:
    """The format of what `computes_float`."""
    if _is_masked(lane):
        return _format(lane.a)
    assert isinstance(lane, Floating)
    assert isinstance(lane.operation.to, Float)
    return lane.operation.to


def _number(bits: int, format: Float) -> float:
    number: float = unpack(_letter(format), pack(_letter(format).translate(_UNSIGNED), bits))[0]
    return number


_UNSIGNED = str.maketrans("efd", "HIQ")
