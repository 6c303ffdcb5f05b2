"""SM3: one round in three instructions, and the schedule of four words (Arm ARM C7.2: SM3*; GB/T 32905-2016)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import U32, Lane, constant
from isa.operands import Element, Vector
from isa.semantics.crypto.words import rotated_left, words, written
from isa.semantics.elementwise import Body, Writes


def _permuted(a: Lane, one: int, other: int) -> Lane:
    """P0 (9 and 17) and P1 (15 and 23) of the standard."""
    return a ^ rotated_left(U32, a, one) ^ rotated_left(U32, a, other)


def sum_of_round(d: Vector, n: Vector, m: Vector, a: Vector) -> Writes:
    """SM3SS1: SS1 in the highest word, of A in `n`, E in `m` and the rotated constant in `a`; the others become 0."""
    total = U32.wrap(rotated_left(U32, words(n)[3], 12) + words(m)[3] + words(a)[3])
    return written(d, [constant(0)] * 3 + [rotated_left(U32, total, 7)])


def first_half(function: Callable[[Lane, Lane, Lane], Lane]) -> Body:
    """SM3TT1A, SM3TT1B: A to D, A highest, after one round; `n` has SS1 highest, `m` is a word W' of the schedule."""

    def body(d: Vector, n: Vector, m: Element) -> Writes:
        d_, c, b, a = words(d)
        second_sum = words(n)[3] ^ rotated_left(U32, a, 12)
        return written(d, [c, rotated_left(U32, b, 9), a, function(a, b, c) + d_ + second_sum + m.lanes(False)[0]])

    return body


def second_half(function: Callable[[Lane, Lane, Lane], Lane]) -> Body:
    """SM3TT2A, SM3TT2B: E to H, E highest, after one round; `n` has SS1 highest, `m` is a word W of the schedule."""

    def body(d: Vector, n: Vector, m: Element) -> Writes:
        h, g, f, e = words(d)
        total = U32.wrap(function(e, f, g) + h + words(n)[3] + m.lanes(False)[0])
        return written(d, [g, rotated_left(U32, f, 19), e, _permuted(total, 9, 17)])

    return body


def schedule_1(d: Vector, n: Vector, m: Vector) -> Writes:
    """SM3PARTW1: P1 of the words 16, 9 and 3 before; the last of those 3 before is of this very step."""
    sums = [a ^ b for a, b in zip(words(d), words(n), strict=True)]
    new = [_permuted(a ^ rotated_left(U32, b, 15), 15, 23) for a, b in zip(sums, words(m)[1:], strict=False)]
    return written(d, [*new, _permuted(sums[3] ^ rotated_left(U32, new[0], 15), 15, 23)])


def schedule_2(d: Vector, n: Vector, m: Vector) -> Writes:
    """SM3PARTW2: the words 13 before, rotated, and those 6 before are added, to the last what its 3 before lacks."""
    added = [a ^ rotated_left(U32, b, 7) for a, b in zip(words(n), words(m), strict=True)]
    new = [a ^ b for a, b in zip(words(d), added, strict=True)]
    return written(d, [*new[:3], new[3] ^ _permuted(rotated_left(U32, added[0], 15), 15, 23)])
