"""Branches: writes of the program counter (Arm ARM C6.2).  The disassembler gives their targets as addresses."""

from __future__ import annotations

from isa.lane import U1, U64, Lane, Place, Write, read, select
from isa.operands import Condition, General, Immediate
from isa.semantics.base.conditional import holds
from isa.semantics.elementwise import Writes

PC = Place("pc")
LINK = General(30, 64)


def _jump(target: Lane) -> Writes:
    return (Write(PC, 64, [target]),)


def _next() -> Lane:
    return U64.wrap(read(PC) + 4)


def _jump_if(condition: Lane, target: Immediate) -> Writes:
    return _jump(select(condition, target.value, _next()))


def branch(target: Immediate) -> Writes:
    """B."""
    return _jump(target.value)


def branch_if(condition: Condition, target: Immediate) -> Writes:
    """B.cond: the next instruction where the condition does not hold."""
    return _jump_if(holds(condition), target)


def branch_to_register(n: General) -> Writes:
    """BR, RET Xn."""
    return _jump(n.value)


def call(target: Immediate) -> Writes:
    """BL: the address of the next instruction goes into x30."""
    return LINK.write(_next()) + _jump(target.value)


def call_register(n: General) -> Writes:
    """BLR: the target is read before x30 is written, so BLR x30 works."""
    return LINK.write(_next()) + _jump(n.value)


def return_to_link() -> Writes:
    """RET, and RETAA and RETAB where no key is enabled: to the address in x30."""
    return _jump(LINK.value)


def branch_if_zero(n: General, target: Immediate) -> Writes:
    """CBZ."""
    return _jump_if(n.value.equals(0), target)


def branch_if_not_zero(n: General, target: Immediate) -> Writes:
    """CBNZ."""
    return _jump_if(n.value.equals(0).equals(0), target)


def branch_if_bit_clear(n: General, bit: Immediate, target: Immediate) -> Writes:
    """TBZ."""
    return _jump_if(U1.field(n.value, bit.number).equals(0), target)


def branch_if_bit_set(n: General, bit: Immediate, target: Immediate) -> Writes:
    """TBNZ."""
    return _jump_if(U1.field(n.value, bit.number), target)


def stay(*_operands: object) -> Writes:
    """The instructions of `isa.refusals.TRAPS`: control does not pass them."""
    return _jump(read(PC))


def nothing(*_operands: object) -> Writes:
    """NOP and the hints and barriers that mean nothing to one thread."""
    return ()
