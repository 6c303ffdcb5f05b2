"""Arm's pseudocode arithmetic, stated a second time for the proofs (Arm ARM DDI 0487, the Operation part of C7.2).

The pseudocode computes with integers without bounds; so do lane expressions, whose operators alone are used here:
nothing of `isa.semantics`, no `saturate`, no `wrap`.  The names are those of the manual.  `n` is `esize`, the bits of
an element of the result; elements come as the integers that SInt or UInt make of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from isa.lane import Int, Lane, constant, maximum, select


class Stated(NamedTuple):
    """An element of the result as an unsigned number of its bits, and whether FPSR.QC is set."""

    value: Lane
    saturated: Lane


Computation = Callable[..., Stated]
"""From `n` and the elements, in the order of `ArmStatement.reads`, to the result."""


@dataclass(frozen=True)
class ArmStatement:
    """How an instruction reads its operands, and its computation.

    `reads` has a letter for each element: `s` SInt, `u` UInt; first that of the destination where `accumulates`.
    A shift by an immediate is the last argument and has no letter.
    """

    reads: str
    compute: Computation
    accumulates: bool = False


def bits(value: Lane, high: int, low: int) -> Lane:
    """`value<high:low>`."""
    return Int(high - low + 1, signed=False).field(value, low)


def unsaturated(value: Lane, n: int) -> Stated:
    """`value<n-1:0>`, QC as it was."""
    return Stated(bits(value, n - 1, 0), constant(0))


def signed_sat_q(i: Lane, n: int) -> Stated:
    """SignedSatQ (shared/functions/vector)."""
    highest, lowest = 2 ** (n - 1) - 1, -(2 ** (n - 1))
    result = select(i > highest, highest, select(i < lowest, lowest, i))
    return Stated(bits(result, n - 1, 0), (i > highest) | (i < lowest))


def unsigned_sat_q(i: Lane, n: int) -> Stated:
    """UnsignedSatQ (shared/functions/vector)."""
    highest = 2**n - 1
    result = select(i > highest, highest, select(i < 0, 0, i))
    return Stated(bits(result, n - 1, 0), (i > highest) | (i < 0))


def absolute(x: Lane) -> Lane:
    """Abs(integer)."""
    return select(x < 0, -x, x)


def rounding_constant(shift: Lane) -> Lane:
    """`1 << (shift - 1)` for a shift right by at least 1, else 0."""
    return select(shift > 0, constant(1) << maximum(shift - 1, 0), 0)
