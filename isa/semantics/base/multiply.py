"""The general registers: multiplication and division (Arm ARM C6.2: MADD to UMULH, SDIV, UDIV)."""

from __future__ import annotations

from isa.lane import Int, Lane, divide
from isa.operands import General
from isa.semantics.elementwise import Body, Writes


def multiply(d: General, n: General, m: General) -> Writes:
    """MUL: the low bits of the product."""
    return d.write(n.value * m.value)


def multiply_negate(d: General, n: General, m: General) -> Writes:
    """MNEG: the low bits of minus the product."""
    return d.write(-(n.value * m.value))


def multiply_add(d: General, n: General, m: General, a: General) -> Writes:
    """MADD: a + n * m, its low bits."""
    return d.write(a.value + n.value * m.value)


def multiply_subtract(d: General, n: General, m: General, a: General) -> Writes:
    """MSUB: a - n * m, its low bits."""
    return d.write(a.value - n.value * m.value)


def _long_product(signed: bool, n: General, m: General) -> Lane:
    element = Int(n.bits, signed)
    return element.wrap(n.value) * element.wrap(m.value)


def multiply_long(signed: bool) -> Body:
    """SMULL, UMULL: the 64-bit product of two 32-bit registers."""
    return lambda d, n, m: d.write(_long_product(signed, n, m))


def multiply_long_negate(signed: bool) -> Body:
    """SMNEGL, UMNEGL: minus the 64-bit product of two 32-bit registers."""
    return lambda d, n, m: d.write(-_long_product(signed, n, m))


def multiply_long_add(signed: bool) -> Body:
    """SMADDL, UMADDL: a plus the 64-bit product of two 32-bit registers, its low bits."""
    return lambda d, n, m, a: d.write(a.value + _long_product(signed, n, m))


def multiply_long_subtract(signed: bool) -> Body:
    """SMSUBL, UMSUBL: a minus the 64-bit product of two 32-bit registers, its low bits."""
    return lambda d, n, m, a: d.write(a.value - _long_product(signed, n, m))


def multiply_high(signed: bool) -> Body:
    """SMULH, UMULH: the upper 64 bits of the 128-bit product."""
    return lambda d, n, m: d.write(_long_product(signed, n, m) >> 64)


def divide_registers(signed: bool) -> Body:
    """SDIV, UDIV: toward zero; by zero gives zero."""

    def body(d: General, n: General, m: General) -> Writes:
        element = Int(d.bits, signed)
        return d.write(divide(element.wrap(n.value), element.wrap(m.value)))

    return body
