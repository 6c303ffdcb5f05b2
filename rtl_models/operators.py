"""The combinational operators: which module, which ports, and the isa semantics that each must equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from isa.lane import S8, U64, Int, Lane, Place, constant, read
from isa.operands import Vector
from isa.semantics import arithmetic, multiply, narrow, shift
from isa.semantics.dot import dot
from rtl_models.tools.sources import LANES

TypeOfWidth = Callable[[int], Int]


@dataclass(frozen=True)
class OperandPort:
    """An input port, and the type of the number on it."""

    port: str
    type_of: TypeOfWidth

    def lane(self, width: int, register: int) -> Lane:
        """The number as the low bits of a vector register."""
        kind, source = self.type_of(width), read(Place("v", register))
        if kind.bits in (8, 16, 32, 64):
            return kind.field(source, 0)
        return U64.field(source, 0) & kind.high  # such types are unsigned: shift counts


@dataclass(frozen=True)
class Operator:
    """A module `lanes/<name>.sv` with the parameter Width, and what it computes.

    `expression` is the result as a lane expression at a width, operand number k being the low bits of register v<k>.
    The outputs are `result_o`, of the type `result_of`, and `saturated_o`: whether a `saturate` in it clamps.
    """

    name: str
    operands: tuple[OperandPort, ...]
    result_of: TypeOfWidth
    expression: Callable[[int], Lane]
    widths: tuple[int, ...] = (8, 16, 32, 64)

    @property
    def source(self) -> Path:
        """The file of the module."""
        return LANES / f"{self.name}.sv"

    def operand_types(self, width: int) -> list[Int]:
        """The types of the operands, in order."""
        return [operand.type_of(width) for operand in self.operands]


def _signed(width: int) -> Int:
    return Int(width, True)


def _unsigned(width: int) -> Int:
    return Int(width, False)


def _lanewise(
    operands: tuple[OperandPort, ...], result: TypeOfWidth, function: Callable[..., Lane]
) -> Callable[..., Lane]:
    """The expression of a function of `isa.semantics`: of the result's element type and a lane of each operand."""

    def expression(width: int) -> Lane:
        lanes = [operand.lane(width, register) for register, operand in enumerate(operands)]
        return function(result(width), *lanes)

    return expression


def _two_operands(name: str, kind: TypeOfWidth, function: Callable[..., Lane]) -> Operator:
    operands = (OperandPort("a_i", kind), OperandPort("b_i", kind))
    return Operator(name, operands, kind, _lanewise(operands, kind, function))


def _shift(name: str, kind: TypeOfWidth, function: Callable[..., Lane]) -> Operator:
    operands = (OperandPort("a_i", kind), OperandPort("shift_i", lambda _: S8))
    return Operator(name, operands, kind, _lanewise(operands, kind, function))


def _narrowing(name: str, source: TypeOfWidth, result: TypeOfWidth) -> Operator:
    operands = (OperandPort("a_i", lambda width: source(2 * width)),)
    return Operator(name, operands, result, _lanewise(operands, result, narrow.saturate), (8, 16, 32))


def _dot(name: str, is_signed: bool) -> Operator:
    """The first lane of the instruction: four bytes of v0, four bytes of v1, the accumulator v2."""
    accumulator, a, b = Vector(2, 2, "s"), Vector(0, 8, "b"), Vector(1, 8, "b")
    operands = tuple(OperandPort(port, _unsigned) for port in ("a_i", "b_i", "accumulator_i"))
    result = _signed if is_signed else _unsigned
    lane = dot(is_signed, is_signed)(accumulator, a, b)[0].lanes[0]
    return Operator(name, operands, result, lambda width: result(width).wrap(lane), (32,))


def _divide_by_power_of_two(to: Int, a: Lane, count: Lane) -> Lane:
    """Ties away from zero: SRSHL(SQADD(a, (a AND -count) >> sign bit), -count)."""
    fix_up = shift.shift_right(to, a & -count, constant(to.bits - 1))
    return shift.rounding_shift_by_register(to, arithmetic.saturating_add(to, a, fix_up), -count)


_DIVIDED: Final = (
    OperandPort("a_i", _signed),
    OperandPort("shift_i", lambda width: Int((width - 1).bit_length(), False)),  # 0 to width - 1
)
_ALL: Final = (
    _two_operands("add", _signed, arithmetic.add),
    _two_operands("sub", _signed, arithmetic.subtract),
    _two_operands("sqadd", _signed, arithmetic.saturating_add),
    _two_operands("uqadd", _unsigned, arithmetic.saturating_add),
    _two_operands("sqsub", _signed, arithmetic.saturating_subtract),
    _two_operands("uqsub", _unsigned, arithmetic.saturating_subtract),
    _two_operands("smin", _signed, arithmetic.smaller),
    _two_operands("umin", _unsigned, arithmetic.smaller),
    _two_operands("smax", _signed, arithmetic.larger),
    _two_operands("umax", _unsigned, arithmetic.larger),
    _two_operands("sqdmulh", _signed, multiply.doubling_multiply_high),
    _two_operands("sqrdmulh", _signed, multiply.rounding_doubling_multiply_high),
    _shift("sshl", _signed, shift.shift_by_register),
    _shift("ushl", _unsigned, shift.shift_by_register),
    _shift("srshl", _signed, shift.rounding_shift_by_register),
    _shift("urshl", _unsigned, shift.rounding_shift_by_register),
    _shift("sqshl", _signed, shift.saturating_shift_by_register),
    _shift("uqshl", _unsigned, shift.saturating_shift_by_register),
    _shift("sqrshl", _signed, shift.saturating_rounding_shift_by_register),
    _shift("uqrshl", _unsigned, shift.saturating_rounding_shift_by_register),
    Operator("rounding_divide_by_pot", _DIVIDED, _signed, _lanewise(_DIVIDED, _signed, _divide_by_power_of_two)),
    _narrowing("sqxtn", _signed, _signed),
    _narrowing("sqxtun", _signed, _unsigned),
    _narrowing("uqxtn", _unsigned, _unsigned),
    _dot("sdot4", True),
    _dot("udot4", False),
)
OPERATORS: Final = {operator.name: operator for operator in _ALL}
"""By name."""
