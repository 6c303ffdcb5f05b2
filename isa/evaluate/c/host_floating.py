"""Floating point by the host's, in C, where the result is provably Arm's: single and double precision.

The proof is that of `isa.evaluate.host_floating`, with less to show: C has both formats, so that every operation here
is one of IEEE 754 which rounds once, to nearest even (C11 F.3, F.10).  The text runs only where FPCR asks for no more
than that and FPSR.IXC is set already, and what it computes counts only where the guards hold: a result above the lowest
normal number raises nothing but inexact, a result of zero counts where an operand makes it exact, and NaNs fail every
guard.  Whoever compiles must leave the arithmetic as it is written: no contraction, no fast mathematics.
"""

from __future__ import annotations

from typing import NamedTuple

from isa.evaluate.c.source import Source
from isa.evaluate.c.types import NotInC, name
from isa.evaluate.floating.formats import FZ, FZ16, IXC
from isa.evaluate.rolling import Rolled
from isa.floating import F32, F64, Float, FloatOperation
from isa.lane import Int, Read

APPLIES = f"S->fpsr & {IXC} && !(S->fpcr & {FZ | FZ16 | 3 << 22})"
"""When the text may run: inexact has been noted, FPCR rounds to nearest even and flushes nothing."""


class _Format(NamedTuple):
    """The type of C, what turns bits into it and back, the letter of its functions and literals, and of its limits."""

    type_name: str
    letter: str
    limits: str


_FORMATS = {F32: _Format("float", "f", "FLT"), F64: _Format("double", "", "DBL")}
_SUMS = {"add": "{a} + {b}", "subtract": "{a} - {b}"}
_ZEROS = {
    "multiply": "{a} == 0 || {b} == 0", "divide": "{a} == 0", "square_root": "{a} == 0", "convert": "{a} == 0",
    "multiply_add": "{a} == 0 && ({b} == 0 || {c} == 0)",
}  # fmt: skip
"""When a result of zero is exact."""
_CHOICES = {"maximum": ">", "minimum": "<", "maximum_number": ">", "minimum_number": "<"}
_ORDERS = {"equal": "==", "greater": ">", "greater_or_equal": ">="}
_ROUNDED = {"fpcr": "rint", "even": "rint", "zero": "trunc", "down": "floor", "up": "ceil", "away": "round"}


def _format_of(kind: Float | Int) -> _Format:
    found = _FORMATS.get(kind) if isinstance(kind, Float) else None
    if found is None:
        raise NotInC(f"floating point has no C yet: of the format {kind}")
    return found


class GuardedSource(Source):
    """Expressions with floating point.  Where there is any, `applies` is 0 if a guard did not hold."""

    def __init__(self, accessed: str) -> None:
        super().__init__(accessed)
        self.computes_floating = False

    def floating(self, node: Rolled, operation: FloatOperation) -> str:
        if not isinstance(node.args[-1].node, Read):
            raise NotInC("floating point has no C yet: not by the rules of FPCR")
        self.computes_floating = True
        if operation.name == "from_integer":
            return self._from_integer(node, operation)
        if operation.name == "to_integer":
            return self._to_integer(node, operation)
        of = _format_of(operation.of)
        operands = dict(zip("abc", (self._number(arg, of) for arg in node.args[:-1]), strict=False))
        if operation.name in _ORDERS:
            self._require_order(node, operands)
            return f"{operands['a']} {_ORDERS[operation.name]} {operands['b']}"
        if operation.name in ("compare", "compare_signalling"):
            self._require_order(node, operands)
            return "{a} == {b} ? 6 : {a} < {b} ? 8 : 2".format(**operands)
        if operation.name in _CHOICES:
            return self._choice(node, operation, operands)
        if operation.name in ("to_integral", "to_integral_exact"):
            rounded = self._result(node, of, f"{self._rounding(operation, of)}({operands['a']})")
            self._require(node, f"{operands['a']} - {operands['a']} == 0")
            return _bits(rounded, of)
        return self._arithmetic(node, operation, operands)

    def _arithmetic(self, node: Rolled, operation: FloatOperation, operands: dict[str, str]) -> str:
        to, of = _format_of(operation.to), _format_of(operation.of)
        texts = _SUMS | {
            "multiply": "{a} * {b}", "divide": "{a} / {b}", "convert": f"({to.type_name}){{a}}",
            "square_root": f"sqrt{to.letter}({{a}})", "multiply_add": f"fma{to.letter}({{b}}, {{c}}, {{a}})",
        }  # fmt: skip
        converts = operation.name == "convert"
        if operation.name not in texts or operation.rounding != "fpcr" or (of != to and not converts):
            raise NotInC(f"floating point has no C yet: {operation}")
        result = self._result(node, to, texts[operation.name].format(**operands))
        exact_zero = "" if operation.name in _SUMS else f" && ({_ZEROS[operation.name].format(**operands)})"
        self._require(node, f"{_is_normal(result, to)} || ({result} == 0{exact_zero})")
        return _bits(result, to)

    def _choice(self, node: Rolled, operation: FloatOperation, operands: dict[str, str]) -> str:
        """The larger or smaller of two; equal ones only where they are not zeros, which may differ in sign."""
        self._require(node, "{a} < {b} || {a} > {b} || ({a} == {b} && {a} != 0)".format(**operands))
        a, b = (self.value(arg) for arg in node.args[:2])
        return f"{operands['a']} {_CHOICES[operation.name]} {operands['b']} ? {a} : {b}"

    def _from_integer(self, node: Rolled, operation: FloatOperation) -> str:
        """Zero, or a number that is far from the ends of the range."""
        to = _format_of(operation.to)
        if operation.rounding != "fpcr":
            raise NotInC(f"floating point has no C yet: {operation}")
        scale = f" * 0x1p-{operation.fraction_bits}{to.letter}" if operation.fraction_bits else ""
        return _bits(self._result(node, to, f"({to.type_name}){self.value(node.args[0])}{scale}"), to)

    def _to_integer(self, node: Rolled, operation: FloatOperation) -> str:
        of, integer = _format_of(operation.of), operation.to
        assert isinstance(integer, Int)
        operand = self._number(node.args[0], of)
        scaled = f"{operand} * 0x1p{operation.fraction_bits}{of.letter}" if operation.fraction_bits else operand
        rounded = self._result(node, of, f"{self._rounding(operation, of)}({scaled})")
        magnitude = integer.bits - 1 if integer.signed else integer.bits
        low = f"-0x1p{magnitude}{of.letter}" if integer.signed else "0"
        fits = f"{rounded} >= {low} && {rounded} < 0x1p{magnitude}{of.letter}"
        self._require(node, fits)
        return f"{fits} ? ({name(integer)}){rounded} : 0"

    def _rounding(self, operation: FloatOperation, format: _Format) -> str:
        if operation.rounding not in _ROUNDED:
            raise NotInC(f"floating point has no C yet: {operation}")
        return f"{_ROUNDED[operation.rounding]}{format.letter}"

    def _number(self, node: Rolled, format: _Format) -> str:
        text = f"{format.type_name}_of({self.value(node)})"
        return self.known(("number", node, format)) or self.named(
            ("number", node, format), node, format.type_name, text
        )

    def _result(self, node: Rolled, format: _Format, text: str) -> str:
        return self.named(("result", node), node, format.type_name, text)

    def _require(self, node: Rolled, guard: str) -> None:
        self.append(node, f"applies &= {guard};")

    def _require_order(self, node: Rolled, operands: dict[str, str]) -> None:
        self._require(node, "{a} <= {b} || {a} > {b}".format(**operands))


def _bits(text: str, format: _Format) -> str:
    return f"bits_of_{format.type_name}({text})"


def _is_normal(text: str, format: _Format) -> str:
    """Above the lowest normal number, to which a tiny one may be rounded, and finite."""
    magnitude = f"fabs{format.letter}({text})"
    return f"({magnitude} > {format.limits}_MIN && {magnitude} <= {format.limits}_MAX)"
