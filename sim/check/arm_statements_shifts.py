"""Shifts and narrowing of `sim.check.arm_statements` (Arm ARM C7.2, from ADDHN to XTN)."""

from __future__ import annotations

from isa.lane import Lane, constant, maximum, select
from sim.check.arm_statements import (
    Computation,
    Stated,
    Statement,
    bits,
    rounding_constant,
    signed_sat_q,
    unsaturated,
    unsigned_sat_q,
)


def _left(n: int, a: Lane, shift: Lane) -> Stated:
    return unsaturated(a << shift, n)


def _right(n: int, a: Lane, shift: Lane) -> Stated:
    return unsaturated(a >> shift, n)


def _rounding_right(n: int, a: Lane, shift: Lane) -> Stated:
    return unsaturated((a + rounding_constant(shift)) >> shift, n)


def _right_accumulate(n: int, d: Lane, a: Lane, shift: Lane) -> Stated:
    return unsaturated(d + (a >> shift), n)


def _rounding_right_accumulate(n: int, d: Lane, a: Lane, shift: Lane) -> Stated:
    return unsaturated(d + ((a + rounding_constant(shift)) >> shift), n)


def _ones(n: int) -> int:
    return (1 << n) - 1


def _left_insert(n: int, d: Lane, a: Lane, shift: Lane) -> Stated:
    mask = bits(constant(_ones(n)) << shift, n - 1, 0)
    return Stated((d & (mask ^ _ones(n))) | bits(a << shift, n - 1, 0), constant(0))


def _right_insert(n: int, d: Lane, a: Lane, shift: Lane) -> Stated:
    mask = constant(_ones(n)) >> shift
    return Stated((d & (mask ^ _ones(n))) | (a >> shift), constant(0))


def _rotated_right(n: int, a: Lane, b: Lane, shift: Lane) -> Stated:
    """ROR of a EOR b: the low bits of two copies one above the other."""
    return unsaturated(((a ^ b) * (2**n + 1)) >> shift, n)


def _by_register(rounding: bool, saturating: bool, signed: bool) -> Computation:
    """`shift = SInt(Elem[operand2, e, esize]<7:0>)`; to the left where it is not negative."""

    def compute(n: int, a: Lane, count: Lane) -> Stated:
        low = bits(count, 7, 0)
        shift = select(low > 127, low - 256, low)
        right = maximum(-shift, 0)
        rounded = a + rounding_constant(right) if rounding else a
        element = select(shift < 0, rounded >> right, a << maximum(shift, 0))
        if not saturating:
            return unsaturated(element, n)
        return signed_sat_q(element, n) if signed else unsigned_sat_q(element, n)

    return compute


def _signed_left(n: int, a: Lane, shift: Lane) -> Stated:
    return signed_sat_q(a << shift, n)


def _unsigned_left(n: int, a: Lane, shift: Lane) -> Stated:
    return unsigned_sat_q(a << shift, n)


def _signed_right(n: int, a: Lane, shift: Lane) -> Stated:
    return signed_sat_q(a >> shift, n)


def _unsigned_right(n: int, a: Lane, shift: Lane) -> Stated:
    return unsigned_sat_q(a >> shift, n)


def _signed_rounding_right(n: int, a: Lane, shift: Lane) -> Stated:
    return signed_sat_q((a + rounding_constant(shift)) >> shift, n)


def _unsigned_rounding_right(n: int, a: Lane, shift: Lane) -> Stated:
    return unsigned_sat_q((a + rounding_constant(shift)) >> shift, n)


def _high_half(sign: int, rounding: bool) -> Computation:
    def compute(n: int, a: Lane, b: Lane) -> Stated:
        total = a + b * sign + (2 ** (n - 1) if rounding else 0)
        return Stated(bits(total, 2 * n - 1, n), constant(0))

    return compute


SHIFTS: dict[str, Statement] = {
    "shl #": Statement("u", _left),
    "sshll #": Statement("s", _left),
    "ushll #": Statement("u", _left),
    "shll #": Statement("u", _left),
    "sshr #": Statement("s", _right),
    "ushr #": Statement("u", _right),
    "srshr #": Statement("s", _rounding_right),
    "urshr #": Statement("u", _rounding_right),
    "ssra #": Statement("ss", _right_accumulate, accumulates=True),
    "usra #": Statement("uu", _right_accumulate, accumulates=True),
    "srsra #": Statement("ss", _rounding_right_accumulate, accumulates=True),
    "ursra #": Statement("uu", _rounding_right_accumulate, accumulates=True),
    "sli #": Statement("uu", _left_insert, accumulates=True),
    "sri #": Statement("uu", _right_insert, accumulates=True),
    "sqshl #": Statement("s", _signed_left),
    "uqshl #": Statement("u", _unsigned_left),
    "sqshlu #": Statement("s", _unsigned_left),
    "xar #": Statement("uu", _rotated_right),
    "sshl": Statement("ss", _by_register(rounding=False, saturating=False, signed=True)),
    "ushl": Statement("us", _by_register(rounding=False, saturating=False, signed=False)),
    "srshl": Statement("ss", _by_register(rounding=True, saturating=False, signed=True)),
    "urshl": Statement("us", _by_register(rounding=True, saturating=False, signed=False)),
    "sqshl": Statement("ss", _by_register(rounding=False, saturating=True, signed=True)),
    "uqshl": Statement("us", _by_register(rounding=False, saturating=True, signed=False)),
    "sqrshl": Statement("ss", _by_register(rounding=True, saturating=True, signed=True)),
    "uqrshl": Statement("us", _by_register(rounding=True, saturating=True, signed=False)),
}
"""By the mnemonic, with ` #` where it shifts by an immediate."""

NARROWING: dict[str, Statement] = {
    "xtn": Statement("u", lambda n, a: unsaturated(a, n)),
    "sqxtn": Statement("s", lambda n, a: signed_sat_q(a, n)),
    "uqxtn": Statement("u", lambda n, a: unsigned_sat_q(a, n)),
    "sqxtun": Statement("s", lambda n, a: unsigned_sat_q(a, n)),
    "shrn #": Statement("u", _right),
    "rshrn #": Statement("u", _rounding_right),
    "sqshrn #": Statement("s", _signed_right),
    "uqshrn #": Statement("u", _unsigned_right),
    "sqshrun #": Statement("s", _unsigned_right),
    "sqrshrn #": Statement("s", _signed_rounding_right),
    "uqrshrn #": Statement("u", _unsigned_rounding_right),
    "sqrshrun #": Statement("s", _unsigned_rounding_right),
    "addhn": Statement("uu", _high_half(1, rounding=False)),
    "subhn": Statement("uu", _high_half(-1, rounding=False)),
    "raddhn": Statement("uu", _high_half(1, rounding=True)),
    "rsubhn": Statement("uu", _high_half(-1, rounding=True)),
}
"""By the mnemonic without the `2` of the forms that fill the upper half."""
