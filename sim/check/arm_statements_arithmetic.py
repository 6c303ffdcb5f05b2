"""Sums, halves, magnitudes and doubled products of `sim.check.arm_statements` (Arm ARM C7.2, from ABS to USUBW)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import Lane, constant
from sim.check.arm_statements import (
    Computation,
    Stated,
    Statement,
    absolute,
    bits,
    signed_sat_q,
    unsaturated,
    unsigned_sat_q,
)

_SatQ = Callable[[Lane, int], Stated]


def _add(sat_q: _SatQ) -> Computation:
    return lambda n, a, b: sat_q(a + b, n)


def _subtract(sat_q: _SatQ) -> Computation:
    return lambda n, a, b: sat_q(a - b, n)


def _halving_add(n: int, a: Lane, b: Lane) -> Stated:
    return Stated(bits(a + b, n, 1), constant(0))


def _halving_subtract(n: int, a: Lane, b: Lane) -> Stated:
    return Stated(bits(a - b, n, 1), constant(0))


def _rounding_halving_add(n: int, a: Lane, b: Lane) -> Stated:
    return Stated(bits(a + b + 1, n, 1), constant(0))


def _absolute(n: int, a: Lane) -> Stated:
    return unsaturated(absolute(a), n)


def _negate(n: int, a: Lane) -> Stated:
    return unsaturated(-a, n)


def _absolute_difference(n: int, a: Lane, b: Lane) -> Stated:
    return unsaturated(absolute(a - b), n)


def _accumulated_absolute_difference(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
    return unsaturated(d + bits(absolute(a - b), n - 1, 0), n)


def _doubling_high(n: int, a: Lane, b: Lane) -> Stated:
    return signed_sat_q(((a * b) * 2) >> n, n)


def _rounding_doubling_high(n: int, a: Lane, b: Lane) -> Stated:
    return signed_sat_q(((a * b) * 2 + 2 ** (n - 1)) >> n, n)


def _rounding_doubling_add_high(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
    return signed_sat_q(((d << n) + (a * b) * 2 + 2 ** (n - 1)) >> n, n)


def _rounding_doubling_subtract_high(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
    return signed_sat_q(((d << n) - (a * b) * 2 + 2 ** (n - 1)) >> n, n)


def _doubling_long(n: int, a: Lane, b: Lane) -> Stated:
    return signed_sat_q((a * b) * 2, n)


def _doubling_add_long(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
    product, sat1 = signed_sat_q((a * b) * 2, n)
    value, sat2 = signed_sat_q(d + _sint(product, n), n)
    return Stated(value, sat1 | sat2)


def _doubling_subtract_long(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
    product, sat1 = signed_sat_q((a * b) * 2, n)
    value, sat2 = signed_sat_q(d - _sint(product, n), n)
    return Stated(value, sat1 | sat2)


def _sint(x: Lane, n: int) -> Lane:
    """SInt of n bits, which come as an unsigned number."""
    return x - (bits(x, n - 1, n - 1) << n)


ARITHMETIC: dict[str, Statement] = {
    "sqadd": Statement("ss", _add(signed_sat_q)),
    "uqadd": Statement("uu", _add(unsigned_sat_q)),
    "sqsub": Statement("ss", _subtract(signed_sat_q)),
    "uqsub": Statement("uu", _subtract(unsigned_sat_q)),
    "suqadd": Statement("su", _add(signed_sat_q), accumulates=True),
    "usqadd": Statement("us", _add(unsigned_sat_q), accumulates=True),
    "shadd": Statement("ss", _halving_add),
    "uhadd": Statement("uu", _halving_add),
    "shsub": Statement("ss", _halving_subtract),
    "uhsub": Statement("uu", _halving_subtract),
    "srhadd": Statement("ss", _rounding_halving_add),
    "urhadd": Statement("uu", _rounding_halving_add),
    "abs": Statement("s", _absolute),
    "neg": Statement("s", _negate),
    "sqabs": Statement("s", lambda n, a: signed_sat_q(absolute(a), n)),
    "sqneg": Statement("s", lambda n, a: signed_sat_q(-a, n)),
    **{
        f"{letter}abd{long}": Statement(letter * 2, _absolute_difference)
        for letter in "su" for long in ("", "l")
    },
    **{
        f"{letter}aba{long}": Statement(letter * 3, _accumulated_absolute_difference, accumulates=True)
        for letter in "su" for long in ("", "l")
    },
    "sqdmulh": Statement("ss", _doubling_high),
    "sqrdmulh": Statement("ss", _rounding_doubling_high),
    "sqrdmlah": Statement("sss", _rounding_doubling_add_high, accumulates=True),
    "sqrdmlsh": Statement("sss", _rounding_doubling_subtract_high, accumulates=True),
    "sqdmull": Statement("ss", _doubling_long),
    "sqdmlal": Statement("sss", _doubling_add_long, accumulates=True),
    "sqdmlsl": Statement("sss", _doubling_subtract_long, accumulates=True),
}  # fmt: skip
"""By the mnemonic without the `2` of the forms on the upper half."""
