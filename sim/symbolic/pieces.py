"""What registers and memory hold: bits in pieces, each of them some bits of a number.

Moving, loading and storing whole pieces changes nothing of the numbers that they are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from isa.lane import U8, Constant, Int, Lane, constant
from sim.symbolic.nodes import NOTHING, Simplifier


class BitPiece(NamedTuple):
    """`bits` bits of a number, from its bit `lsb` on."""

    lane: Lane
    lsb: int
    bits: int

    def cut(self, lsb: int, bits: int) -> BitPiece:
        """Some of its bits."""
        return BitPiece(self.lane, self.lsb + lsb, bits)


Pieces = tuple[BitPiece, ...]
"""From bit 0 upwards."""


def zeros(bits: int) -> BitPiece:
    """So many bits that are 0."""
    return BitPiece(constant(0), 0, bits)


def cut(pieces: Pieces, lsb: int, bits: int) -> Pieces:
    """`bits` bits from bit `lsb` on; above the pieces there are zeros."""
    found, at, end = list[BitPiece](), 0, lsb + bits
    for piece in pieces:
        first, last = max(lsb, at), min(end, at + piece.bits)
        if first < last:
            found.append(piece.cut(first - at, last - first))
        at += piece.bits
    if at < end:
        found.append(zeros(end - max(at, lsb)))
    return tuple(found)


def joined(pieces: Iterable[BitPiece]) -> Pieces:
    """The same bits in as few pieces as possible."""
    found = list[BitPiece]()
    for piece in pieces:
        below = found[-1] if found else None
        if below is None:
            found.append(piece)
        elif below.lane is piece.lane and below.lsb + below.bits == piece.lsb:
            found[-1] = BitPiece(piece.lane, below.lsb, below.bits + piece.bits)
        elif isinstance(below.lane, Constant) and isinstance(piece.lane, Constant):
            low = (below.lane.low >> below.lsb) & ((1 << below.bits) - 1)
            found[-1] = BitPiece(constant(low | piece.lane.low >> piece.lsb << below.bits), 0, below.bits + piece.bits)
        else:
            found.append(piece)
    return tuple(found)


def number(s: Simplifier, pieces: Pieces, element: Int) -> Lane:
    """The number of a type that pieces of its size are."""
    at, total = 0, NOTHING
    pieces = joined(pieces)
    for piece in pieces:
        signed = element.signed and at + piece.bits == element.bits
        lane = piece.lane if not isinstance(piece.lane, Constant) else s.number(piece.lane.low)
        total = total.plus(s.sum_of(s.field(lane, piece.lsb, Int(piece.bits, signed))), 1 << at)
        at += piece.bits
    return s.total(total)


def in_bytes(s: Simplifier, pieces: Pieces) -> Iterator[BitPiece]:
    """The same bits byte by byte, each byte in one piece."""
    at, begun = 0, list[BitPiece]()
    for piece in pieces:
        first = 0
        while first < piece.bits:
            bits = min(8 - at % 8, piece.bits - first)
            begun.append(piece.cut(first, bits))
            first, at = first + bits, at + bits
            if at % 8 == 0:
                byte, begun = joined(begun), []
                yield byte[0] if len(byte) == 1 else BitPiece(number(s, byte, U8), 0, 8)


def merged(s: Simplifier, condition: Lane, yes: Pieces, no: Pieces) -> Pieces:
    """One or the other, of the same size."""
    if yes == no:
        return yes
    ends = sorted({sum(p.bits for p in of[: i + 1]) for of in (yes, no) for i in range(len(of))})
    found, at = list[BitPiece](), 0
    for end in ends:
        one, other = joined(cut(yes, at, end - at)), joined(cut(no, at, end - at))
        if one == other:
            found += one
        else:
            element = Int(end - at, signed=False)
            found.append(BitPiece(s.select(condition, number(s, one, element), number(s, other, element)), 0, end - at))
        at = end
    return joined(found)
