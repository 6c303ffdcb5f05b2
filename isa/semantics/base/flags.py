"""The flags N, Z, C and V: reading them, and what arithmetic and logic set them to (Arm ARM C6.2)."""

from __future__ import annotations

from isa.lane import U1, Int, Lane, Place, Write, constant, read
from isa.operands import General, Immediate
from isa.semantics.elementwise import Body, Writes

FLAGS = Place("nzcv")
V, C, Z, N = range(4)
"""The bit of each flag in `FLAGS`."""


def flag(bit: int) -> Lane:
    """One of the flags, 0 or 1; `bit` is `V`, `C`, `Z` or `N`."""
    return U1.field(read(FLAGS), bit)


def logical_not(condition: Lane) -> Lane:
    """1 where the condition is 0, else 0."""
    return condition.equals(0)


def as_signed(element: Int) -> Int:
    """The signed element type of the same width."""
    return Int(element.bits, True)


def _flags(element: Int, result: Lane, carry: Lane, overflow: Lane) -> Writes:
    negative = as_signed(element).wrap(result) < 0
    return (Write(FLAGS, 1, [overflow, carry, result.equals(0), negative]),)


def sum_and_flags(element: Int, a: Lane, b: Lane, carry_in: Lane | int) -> tuple[Lane, Writes]:
    """Sum and flags: carry where the unsigned, overflow where the signed sum does not fit."""
    signed = as_signed(element)
    total, signed_total = a + b + carry_in, signed.wrap(a) + signed.wrap(b) + carry_in
    result = element.wrap(total)
    overflow = logical_not(signed.wrap(result).equals(signed_total))
    return result, _flags(element, result, total >> element.bits, overflow)


def difference_and_flags(element: Int, a: Lane, b: Lane, borrow_in: Lane | int) -> tuple[Lane, Writes]:
    """Difference and flags; carry is set where nothing had to be borrowed."""
    signed = as_signed(element)
    total, signed_total = a - b - borrow_in, signed.wrap(a) - signed.wrap(b) - borrow_in
    result = element.wrap(total)
    overflow = logical_not(signed.wrap(result).equals(signed_total))
    return result, _flags(element, result, logical_not(total < 0), overflow)


def logical_flags(element: Int, result: Lane) -> Writes:
    """The flags of ANDS, BICS, TST: N and Z of the result, C and V cleared."""
    return _flags(element, result, constant(0), constant(0))


def _set_flags(n: Lane, z: Lane, c: Lane, v: Lane) -> Writes:
    return (Write(FLAGS, 1, [v, c, z, n]),)


def invert_carry() -> Writes:
    """CFINV."""
    return _set_flags(flag(N), flag(Z), logical_not(flag(C)), flag(V))


def insert_rotated(n: General, lsb: Immediate, mask: Immediate) -> Writes:
    """RMIF: the flags under the mask from the register rotated right by `lsb`."""
    rotated = (n.value >> lsb.number) | (n.value << (64 - lsb.number))
    return (Write(FLAGS, 4, [(rotated & mask.number) | (read(FLAGS) & (15 & ~mask.number))]),)


def evaluate(bits: int) -> Body:
    """SETF8, SETF16: N, Z of the low bits; V where the bit above differs from their sign; C stays."""

    def body(n: General) -> Writes:
        part = Int(bits, False).wrap(n.value)
        sign = U1.field(n.value, bits - 1)
        return _set_flags(sign, part.equals(0), flag(C), sign ^ U1.field(n.value, bits))

    return body


def to_external() -> Writes:
    """AXFLAG: the flags of a floating-point comparison from Arm's form to the one that x86 has."""
    zero, carry, overflow = flag(Z), flag(C), flag(V)
    return _set_flags(constant(0), zero | overflow, carry & logical_not(overflow), constant(0))


def from_external() -> Writes:
    """XAFLAG: the reverse of AXFLAG."""
    zero, carry = flag(Z), flag(C)
    no_zero, no_carry = logical_not(zero), logical_not(carry)
    return _set_flags(no_carry & no_zero, zero & carry, carry | zero, no_carry & zero)
