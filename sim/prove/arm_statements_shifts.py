"""Shifts and narrowing of `sim.prove.arm_statements` (Arm ARM C7.2, from ADDHN to XTN)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import Lane, constant, maximum, select
from sim.prove.arm_statements import (
    ArmStatement,
    Computation,
    Stated,
    bits,
    rounding_constant,
    signed_sat_q,
    unsaturated,
    unsigned_sat_q,
)

_Kept = Callable[[Lane, int], Stated]
"""How a result becomes n bits: `unsaturated`, or one of the saturations."""


def _left(kept: _Kept) -> Computation:
    return lambda n, a, shift: kept(a << shift, n)


def _right(kept: _Kept) -> Computation:
    return lambda n, a, shift: kept(a >> shift, n)


def _rounding_right(kept: _Kept) -> Computation:
    return lambda n, a, shift: kept((a + rounding_constant(shift)) >> shift, n)


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


def _high_half(sign: int, rounding: bool) -> Computation:
    def compute(n: int, a: Lane, b: Lane) -> Stated:
        total = a + b * sign + (2 ** (n - 1) if rounding else 0)
        return Stated(bits(total, 2 * n - 1, n), constant(0))

    return compute


SHIFTS: dict[str, ArmStatement] = {
    "shl #": ArmStatement("u", _left(unsaturated)),
    "sshll #": ArmStatement("s", _left(unsaturated)),
    "ushll #": ArmStatement("u", _left(unsaturated)),
    "shll #": ArmStatement("u", _left(unsaturated)),
    "sshr #": ArmStatement("s", _right(unsaturated)),
    "ushr #": ArmStatement("u", _right(unsaturated)),
    "srshr #": ArmStatement("s", _rounding_right(unsaturated)),
    "urshr #": ArmStatement("u", _rounding_right(unsaturated)),
    "ssra #": ArmStatement("ss", _right_accumulate, accumulates=True),
    "usra #": ArmStatement("uu", _right_accumulate, accumulates=True),
    "srsra #": ArmStatement("ss", _rounding_right_accumulate, accumulates=True),
    "ursra #": ArmStatement("uu", _rounding_right_accumulate, accumulates=True),
    "sli #": ArmStatement("uu", _left_insert, accumulates=True),
    "sri #": ArmStatement("uu", _right_insert, accumulates=True),
    "sqshl #": ArmStatement("s", _left(signed_sat_q)),
    "uqshl #": ArmStatement("u", _left(unsigned_sat_q)),
    "sqshlu #": ArmStatement("s", _left(unsigned_sat_q)),
    # ROR of a EOR b: the low bits of two copies one above the other
    "xar #": ArmStatement("uu", lambda n, a, b, shift: unsaturated(((a ^ b) * (2**n + 1)) >> shift, n)),
    "sshl": ArmStatement("ss", _by_register(rounding=False, saturating=False, signed=True)),
    "ushl": ArmStatement("us", _by_register(rounding=False, saturating=False, signed=False)),
    "srshl": ArmStatement("ss", _by_register(rounding=True, saturating=False, signed=True)),
    "urshl": ArmStatement("us", _by_register(rounding=True, saturating=False, signed=False)),
    "sqshl": ArmStatement("ss", _by_register(rounding=False, saturating=True, signed=True)),
    "uqshl": ArmStatement("us", _by_register(rounding=False, saturating=True, signed=False)),
    "sqrshl": ArmStatement("ss", _by_register(rounding=True, saturating=True, signed=True)),
    "uqrshl": ArmStatement("us", _by_register(rounding=True, saturating=True, signed=False)),
}
"""By the mnemonic, with ` #` where it shifts by an immediate."""

NARROWING: dict[str, ArmStatement] = {
    "xtn": ArmStatement("u", lambda n, a: unsaturated(a, n)),
    "sqxtn": ArmStatement("s", lambda n, a: signed_sat_q(a, n)),
    "uqxtn": ArmStatement("u", lambda n, a: unsigned_sat_q(a, n)),
    "sqxtun": ArmStatement("s", lambda n, a: unsigned_sat_q(a, n)),
    "shrn #": ArmStatement("u", _right(unsaturated)),
    "rshrn #": ArmStatement("u", _rounding_right(unsaturated)),
    "sqshrn #": ArmStatement("s", _right(signed_sat_q)),
    "uqshrn #": ArmStatement("u", _right(unsigned_sat_q)),
    "sqshrun #": ArmStatement("s", _right(unsigned_sat_q)),
    "sqrshrn #": ArmStatement("s", _rounding_right(signed_sat_q)),
    "uqrshrn #": ArmStatement("u", _rounding_right(unsigned_sat_q)),
    "sqrshrun #": ArmStatement("s", _rounding_right(unsigned_sat_q)),
    "addhn": ArmStatement("uu", _high_half(1, rounding=False)),
    "subhn": ArmStatement("uu", _high_half(-1, rounding=False)),
    "raddhn": ArmStatement("uu", _high_half(1, rounding=True)),
    "rsubhn": ArmStatement("uu", _high_half(-1, rounding=True)),
}
"""By the mnemonic without the `2` of the forms that fill the upper half."""
