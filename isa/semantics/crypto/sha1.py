"""SHA-1: four rounds, and the schedule of four words (Arm ARM C7.2: SHA1C to SHA1SU1; FIPS 180-4, 6.1)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import U32, Int, Lane
from isa.operands import Scalar, Vector
from isa.semantics.crypto.words import rotated_left, words, written
from isa.semantics.elementwise import Body, Writes


def four_rounds(function: Callable[[Lane, Lane, Lane], Lane]) -> Body:
    """SHA1C, SHA1P, SHA1M: `d` holds a to d, `n` e, `m` the words of the schedule with the constant added."""

    def body(d: Scalar, n: Scalar, m: Vector) -> Writes:
        a_to_d, e = words(d), n.lanes(False)[0]
        for word in words(m):
            a, b, c, d_ = a_to_d
            new = U32.wrap(rotated_left(U32, a, 5) + function(b, c, d_) + e + word)
            a_to_d, e = [new, a, rotated_left(U32, b, 30), c], d_
        return written(d, a_to_d)

    return body


def rotate(to: Int, a: Lane) -> Lane:
    """SHA1H: what a round makes of b; of a, it is e four rounds later."""
    return rotated_left(to, a, 30)


def schedule_0(d: Vector, n: Vector, m: Vector) -> Writes:
    """SHA1SU0: the exclusive or of the words 16, 14 and 8 before."""
    first, second, third = words(d), words(n), words(m)
    two_later = [*first[2:], *second[:2]]
    return written(d, [a ^ b ^ c for a, b, c in zip(first, two_later, third, strict=True)])


def schedule_1(d: Vector, n: Vector) -> Writes:
    """SHA1SU1: the words 3 before are added, and the sums rotated; the last of those words is of this very step."""
    old, before = words(d), words(n)[1:]
    new = [rotated_left(U32, a ^ b, 1) for a, b in zip(old, before, strict=False)]
    return written(d, [*new, rotated_left(U32, old[3] ^ new[0], 1)])
