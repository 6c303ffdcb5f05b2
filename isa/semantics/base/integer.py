"""The general registers: arithmetic, logic, moves, shifts (Arm ARM C6.2)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import U64, Int, Lane, constant, lift
from isa.operands import Extended, General, Immediate, Shifted
from isa.semantics import bitwise
from isa.semantics.base.flags import C, as_signed, difference_and_flags, flag, logical_flags, logical_not, sum_and_flags
from isa.semantics.elementwise import Body, Writes

Source = General | Shifted | Extended | Immediate


def _operand(element: Int, source: Source) -> Lane:
    return element.wrap(source.value)


def add(d: General, n: General, m: Source) -> Writes:
    """ADD: the sum, its low bits."""
    return d.write(n.value + m.value)


def subtract(d: General, n: General, m: Source) -> Writes:
    """SUB: the difference, its low bits."""
    return d.write(n.value - m.value)


def add_setting_flags(d: General, n: General, m: Source) -> Writes:
    """ADDS: the sum, and its flags."""
    result, flags = sum_and_flags(d.type, n.value, _operand(d.type, m), 0)
    return d.write(result) + flags


def subtract_setting_flags(d: General, n: General, m: Source) -> Writes:
    """SUBS: the difference, and its flags."""
    result, flags = difference_and_flags(d.type, n.value, _operand(d.type, m), 0)
    return d.write(result) + flags


def compare(n: General, m: Source) -> Writes:
    """CMP: the flags of n - m."""
    return difference_and_flags(n.type, n.value, _operand(n.type, m), 0)[1]


def compare_negative(n: General, m: Source) -> Writes:
    """CMN: the flags of n + m."""
    return sum_and_flags(n.type, n.value, _operand(n.type, m), 0)[1]


def negate(d: General, m: Source) -> Writes:
    """NEG: 0 - m."""
    return d.write(-m.value)


def negate_setting_flags(d: General, m: Source) -> Writes:
    """NEGS: 0 - m, and its flags."""
    result, flags = difference_and_flags(d.type, constant(0), _operand(d.type, m), 0)
    return d.write(result) + flags


def add_with_carry(d: General, n: General, m: General) -> Writes:
    """ADC: n + m + C."""
    return d.write(n.value + m.value + flag(C))


def add_with_carry_setting_flags(d: General, n: General, m: General) -> Writes:
    """ADCS: n + m + C, and its flags."""
    result, flags = sum_and_flags(d.type, n.value, m.value, flag(C))
    return d.write(result) + flags


def subtract_with_carry(d: General, n: General, m: General) -> Writes:
    """SBC: n - m, and 1 less where C is clear (a borrow)."""
    return d.write(n.value - m.value - logical_not(flag(C)))


def subtract_with_carry_setting_flags(d: General, n: General, m: General) -> Writes:
    """SBCS: as SBC, and its flags."""
    result, flags = difference_and_flags(d.type, n.value, m.value, logical_not(flag(C)))
    return d.write(result) + flags


def negate_with_carry(d: General, m: General) -> Writes:
    """NGC: 0 - m, and 1 less where C is clear."""
    return d.write(-m.value - logical_not(flag(C)))


def negate_with_carry_setting_flags(d: General, m: General) -> Writes:
    """NGCS: as NGC, and its flags."""
    result, flags = difference_and_flags(d.type, constant(0), m.value, logical_not(flag(C)))
    return d.write(result) + flags


def page_address(d: General, target: Immediate) -> Writes:
    """ADR, ADRP: the disassembler has already added the program counter."""
    return d.write(U64.wrap(target.value))


def logical(function: Callable[[Int, Lane, Lane], Lane]) -> Body:
    """AND, ORR, EOR, BIC, ORN, EON of two registers or a register and an immediate."""

    def body(d: General, n: General, m: Source) -> Writes:
        return d.write(function(d.type, n.value, m.value))

    return body


def exclusive_or_not(to: Int, a: Lane, b: Lane) -> Lane:
    """EON, as a lane function for `logical`: a XOR NOT b."""
    return to.wrap(a ^ ~b)


def and_setting_flags(d: General, n: General, m: Source) -> Writes:
    """ANDS: n AND m, and its flags."""
    result = bitwise.bitwise_and(d.type, n.value, _operand(d.type, m))
    return d.write(result) + logical_flags(d.type, result)


def clear_setting_flags(d: General, n: General, m: Source) -> Writes:
    """BICS: n AND NOT m, and its flags."""
    result = bitwise.clear_bits(d.type, n.value, m.value)
    return d.write(result) + logical_flags(d.type, result)


def test(n: General, m: Source) -> Writes:
    """TST: the flags of n AND m."""
    return logical_flags(n.type, bitwise.bitwise_and(n.type, n.value, _operand(n.type, m)))


def invert(d: General, m: Source) -> Writes:
    """MVN: the bits of m inverted."""
    return d.write(~m.value)


def move(d: General, source: Source) -> Writes:
    """MOV, MOVZ: the register, or the immediate with its shift; the other bits become zero."""
    return d.write(source.value)


def move_inverted(d: General, source: Immediate) -> Writes:
    """MOVN: the shifted immediate with all bits inverted."""
    return d.write(~source.value)


def move_keeping(d: General, source: Immediate) -> Writes:
    """MOVK: 16 bits replaced."""
    kept = d.value & ~(0xFFFF << source.amount)
    return d.write(kept | source.value)


def _shift_amount(d: General, m: Source) -> Lane:
    return m.value & (d.bits - 1)


def shift_left(d: General, n: General, m: Source) -> Writes:
    """LSL: by an immediate, or by a register modulo the width."""
    return d.write(n.value << _shift_amount(d, m))


def shift_right(d: General, n: General, m: Source) -> Writes:
    """LSR: zeros shifted in; by an immediate, or by a register modulo the width."""
    return d.write(n.value >> _shift_amount(d, m))


def shift_right_signed(d: General, n: General, m: Source) -> Writes:
    """ASR: copies of the sign bit shifted in; by an immediate, or by a register modulo the width."""
    return d.write(as_signed(n.type).wrap(n.value) >> _shift_amount(d, m))


def rotate_right(d: General, n: General, m: Source) -> Writes:
    """ROR: by an immediate, or by a register modulo the width."""
    amount = _shift_amount(d, m)
    return d.write((n.value >> amount) | (n.value << (lift(d.bits) - amount)))


def extract(d: General, n: General, m: General, lsb: Immediate) -> Writes:
    """EXTR: as many bits as a register has, from bit `lsb` of n:m on; n is the upper half."""
    return d.write(((n.value << d.bits) | m.value) >> lsb.number)
