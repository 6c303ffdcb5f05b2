"""Bits of the general registers: extends, bit fields, counts, reversals (Arm ARM C6.2: BFC to UXTH)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import Int, Lane, constant
from isa.operands import General, Immediate
from isa.semantics import bitwise
from isa.semantics.base.flags import as_signed
from isa.semantics.elementwise import Body, Writes


def extend(element: Int) -> Body:
    """SXTB, UXTH, SXTW, ..."""

    def body(d: General, n: General) -> Writes:
        return d.write(element.wrap(n.value))

    return body


def field_extract(signed: bool) -> Body:
    """SBFX, UBFX: `width` bits from `lsb`, extended."""

    def body(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
        return d.write(Int(width.number, signed).field(n.value, lsb.number))

    return body


def field_insert_in_zero(signed: bool) -> Body:
    """SBFIZ, UBFIZ: the low `width` bits, extended, moved up to `lsb`."""

    def body(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
        return d.write(Int(width.number, signed).wrap(n.value) << lsb.number)

    return body


def _with_field(d: General, field: Lane, lsb: int, width: int) -> Writes:
    kept = d.value & ~(((1 << width) - 1) << lsb)
    return d.write(kept | (field << lsb))


def field_insert(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
    """BFI: the low `width` bits of n replace those of d from `lsb` on."""
    return _with_field(d, Int(width.number, False).wrap(n.value), lsb.number, width.number)


def field_insert_low(d: General, n: General, lsb: Immediate, width: Immediate) -> Writes:
    """BFXIL: `width` bits of n from `lsb` on replace the low bits of d."""
    return _with_field(d, Int(width.number, False).field(n.value, lsb.number), 0, width.number)


def field_clear(d: General, lsb: Immediate, width: Immediate) -> Writes:
    """BFC: `width` bits from `lsb` on become zero."""
    return _with_field(d, constant(0), lsb.number, width.number)


def per_register(function: Callable[[Int, Lane], Lane]) -> Body:
    """CLZ, CLS, RBIT: one function of the whole register."""

    def body(d: General, n: General) -> Writes:
        return d.write(function(d.type, n.value))

    return body


def leading_sign_bits(to: Int, a: Lane) -> Lane:
    """CLS, as a lane function for `per_register`: the bits after the sign bit that equal it."""
    return bitwise.leading_sign_bits(to, as_signed(to).wrap(a))


def reverse_bytes(container_bits: int) -> Body:
    """REV16, REV32, REV: the bytes of each container in reverse order."""

    def body(d: General, n: General) -> Writes:
        swap = container_bits // 8 - 1
        positions = [8 * (i ^ swap) for i in range(d.bits // 8)]
        value = constant(0)
        for i, position in enumerate(positions):
            value = value | (Int(8, False).field(n.value, position) << (8 * i))
        return d.write(value)

    return body
