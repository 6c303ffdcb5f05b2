"""Bitwise operations, counts and reversals of one lane (Arm ARM C7.2: AND to RBIT)."""

from __future__ import annotations

from isa.lane import U1, Int, Lane, constant, select


def bitwise_and(to: Int, a: Lane, b: Lane) -> Lane:
    """AND."""
    return to.wrap(a & b)


def bitwise_or(to: Int, a: Lane, b: Lane) -> Lane:
    """ORR."""
    return to.wrap(a | b)


def exclusive_or(to: Int, a: Lane, b: Lane) -> Lane:
    """EOR."""
    return to.wrap(a ^ b)


def clear_bits(to: Int, a: Lane, b: Lane) -> Lane:
    """BIC: a AND NOT b."""
    return to.wrap(a & to.wrap(~b))


def or_not(to: Int, a: Lane, b: Lane) -> Lane:
    """ORN: a OR NOT b."""
    return to.wrap(a | ~b)


def bitwise_not(to: Int, a: Lane) -> Lane:
    """MVN, MVNI: NOT a."""
    return to.wrap(~a)


def copy(to: Int, a: Lane) -> Lane:
    """MOV, DUP, FMOV, MOVI: the value; XTN: its low bits."""
    return to.wrap(a)


def choose(to: Int, mask: Lane, a: Lane, b: Lane) -> Lane:
    """BSL: the bits of `a` where the mask (the old destination) is 1, those of `b` where it is 0."""
    return to.wrap((a & mask) | (b & to.wrap(~mask)))


def insert_where_true(to: Int, old: Lane, a: Lane, mask: Lane) -> Lane:
    """BIT: the bits of `a` where the mask is 1."""
    return to.wrap((a & mask) | (old & to.wrap(~mask)))


def insert_where_false(to: Int, old: Lane, a: Lane, mask: Lane) -> Lane:
    """BIF: the bits of `a` where the mask is 0."""
    return to.wrap((old & mask) | (a & to.wrap(~mask)))


def clear_sign(to: Int, a: Lane) -> Lane:
    """FABS: only the sign bit changes, whatever the number is."""
    return to.wrap(a & (to.high >> 1))


def flip_sign(to: Int, a: Lane) -> Lane:
    """FNEG: only the sign bit changes.  Compilers also make vectors of 0x8000... by it."""
    return to.wrap(a ^ (1 << (to.bits - 1)))


def exclusive_or_three(to: Int, a: Lane, b: Lane, c: Lane) -> Lane:
    """EOR3: a XOR b XOR c."""
    return to.wrap(a ^ b ^ c)


def clear_and_exclusive_or(to: Int, a: Lane, b: Lane, c: Lane) -> Lane:
    """BCAX: a XOR (b AND NOT c)."""
    return to.wrap(a ^ (b & ~c))


def rotate_and_exclusive_or(to: Int, a: Lane, b: Lane) -> Lane:
    """RAX1: `b` rotated left by one."""
    return to.wrap(a ^ ((b << 1) | (b >> (to.bits - 1))))


def leading_zeros(to: Int, a: Lane) -> Lane:
    """Halving search: while the upper half of what is left is zero, count it and shift it out."""
    count, rest, half = constant(0), a, to.bits // 2
    while half:
        empty = rest < (1 << (to.bits - half))
        count = count + empty * half
        rest = to.wrap(select(empty, rest << half, rest))
        half //= 2
    return to.wrap(count + rest.equals(0))


def leading_sign_bits(to: Int, a: Lane) -> Lane:
    """Bits after the sign bit that equal it."""
    unsigned = Int(to.bits, False)
    return to.wrap(leading_zeros(unsigned, unsigned.wrap(a ^ (a >> 1))) - 1)


def ones(to: Int, a: Lane) -> Lane:
    """CNT: the number of bits that are 1."""
    total = constant(0)
    for i in range(to.bits):
        total = total + U1.field(a, i)
    return to.wrap(total)


def reverse_bits(to: Int, a: Lane) -> Lane:
    """RBIT: bit 0 becomes the highest."""
    total = constant(0)
    for i in range(to.bits):
        total = total | (U1.field(a, i) << (to.bits - 1 - i))
    return to.wrap(total)
