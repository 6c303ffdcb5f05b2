"""Sums, halves, magnitudes and doubled products of `sim.prove.arm_statements` (Arm ARM C7.2, from ABS to USUBW)."""

from __future__ import annotations

import operator
from collections.abc import Callable

from isa.lane import Lane, constant
from sim.prove.arm_statements import (
    ArmStatement,
    Computation,
    Stated,
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


def _doubling_accumulate_long(accumulate: Callable[[Lane, Lane], Lane]) -> Computation:
    def compute(n: int, d: Lane, a: Lane, b: Lane) -> Stated:
        product, sat1 = signed_sat_q((a * b) * 2, n)
        signed = product - (bits(product, n - 1, n - 1) << n)  # SInt(product)
        value, sat2 = signed_sat_q(accumulate(d, signed), n)
        return Stated(value, sat1 | sat2)

    return compute


ARITHMETIC: dict[str, ArmStatement] = {
    "sqadd": ArmStatement("ss", _add(signed_sat_q)),
    "uqadd": ArmStatement("uu", _add(unsigned_sat_q)),
    "sqsub": ArmStatement("ss", _subtract(signed_sat_q)),
    "uqsub": ArmStatement("uu", _subtract(unsigned_sat_q)),
    "suqadd": ArmStatement("su", _add(signed_sat_q), accumulates=True),
    "usqadd": ArmStatement("us", _add(unsigned_sat_q), accumulates=True),
    "shadd": ArmStatement("ss", _halving_add),
    "uhadd": ArmStatement("uu", _halving_add),
    "shsub": ArmStatement("ss", _halving_subtract),
    "uhsub": ArmStatement("uu", _halving_subtract),
    "srhadd": ArmStatement("ss", _rounding_halving_add),
    "urhadd": ArmStatement("uu", _rounding_halving_add),
    "abs": ArmStatement("s", lambda n, a: unsaturated(absolute(a), n)),
    "neg": ArmStatement("s", lambda n, a: unsaturated(-a, n)),
    "sqabs": ArmStatement("s", lambda n, a: signed_sat_q(absolute(a), n)),
    "sqneg": ArmStatement("s", lambda n, a: signed_sat_q(-a, n)),
    **{
        f"{letter}abd{long}": ArmStatement(letter * 2, lambda n, a, b: unsaturated(absolute(a - b), n))
        for letter in "su" for long in ("", "l")
    },
    **{
        f"{letter}aba{long}": ArmStatement(
            letter * 3, lambda n, d, a, b: unsaturated(d + bits(absolute(a - b), n - 1, 0), n), accumulates=True
        )
        for letter in "su" for long in ("", "l")
    },
    "sqdmulh": ArmStatement("ss", lambda n, a, b: signed_sat_q(((a * b) * 2) >> n, n)),
    "sqrdmulh": ArmStatement("ss", lambda n, a, b: signed_sat_q(((a * b) * 2 + 2 ** (n - 1)) >> n, n)),
    "sqrdmlah": ArmStatement(
        "sss", lambda n, d, a, b: signed_sat_q(((d << n) + (a * b) * 2 + 2 ** (n - 1)) >> n, n), accumulates=True
    ),
    "sqrdmlsh": ArmStatement(
        "sss", lambda n, d, a, b: signed_sat_q(((d << n) - (a * b) * 2 + 2 ** (n - 1)) >> n, n), accumulates=True
    ),
    "sqdmull": ArmStatement("ss", lambda n, a, b: signed_sat_q((a * b) * 2, n)),
    "sqdmlal": ArmStatement("sss", _doubling_accumulate_long(operator.add), accumulates=True),
    "sqdmlsl": ArmStatement("sss", _doubling_accumulate_long(operator.sub), accumulates=True),
}  # fmt: skip
"""By the mnemonic without the `2` of the forms on the upper half."""
