"""SHA-512: two rounds, and the schedule of two words (Arm ARM C7.2: SHA512H to SHA512SU1; FIPS 180-4, 6.4)."""

from __future__ import annotations

from isa.lane import U64, Lane, Write, read
from isa.operands import Scalar, Vector
from isa.semantics.crypto.words import choose, majority, sum_of_rotations
from isa.semantics.elementwise import Writes


def _words(register: Vector | Scalar) -> list[Lane]:
    return U64.lanes(read(register.place), 2)


def _written(register: Vector | Scalar, low: Lane, high: Lane) -> Writes:
    return (Write(register.place, 64, [low, high]),)


def hash_first(d: Scalar, n: Scalar, m: Vector) -> Writes:
    """SHA512H: the first sums of two rounds, the later one low, with g and h in `d`, f and g in `n`, d and e in `m`.

    The words of the schedule and the constants are added to `d` already.
    """
    (sum_g, sum_h), (f, g), (d_, e) = _words(d), _words(n), _words(m)
    first = U64.wrap(sum_h + sum_of_rotations(U64, e, 14, 18, 41) + choose(e, f, g))
    next_e = U64.wrap(first + d_)
    second = U64.wrap(sum_g + sum_of_rotations(U64, next_e, 14, 18, 41) + choose(next_e, e, f))
    return _written(d, second, first)


def hash_second(d: Scalar, n: Scalar, m: Vector) -> Writes:
    """SHA512H2: a after two rounds, the later one low; `d` has their first sums, `n` c, `m` a and b."""
    (second, first), c, (a, b) = _words(d), _words(n)[0], _words(m)
    next_a = U64.wrap(first + sum_of_rotations(U64, a, 28, 34, 39) + majority(a, b, c))
    last_a = U64.wrap(second + sum_of_rotations(U64, next_a, 28, 34, 39) + majority(next_a, a, b))
    return _written(d, last_a, next_a)


def schedule_0(d: Vector, n: Vector) -> Writes:
    """SHA512SU0: the words 16 before, and sigma 0 of those 15 before."""
    (first, second), third = _words(d), _words(n)[0]
    low, high = (a + sum_of_rotations(U64, b, 1, 8, shift=7) for a, b in ((first, second), (second, third)))
    return _written(d, U64.wrap(low), U64.wrap(high))


def schedule_1(d: Vector, n: Vector, m: Vector) -> Writes:
    """SHA512SU1: the words 7 before are added, and sigma 1 of those 2 before."""
    rows = zip(_words(d), _words(n), _words(m), strict=True)
    low, high = (old + sum_of_rotations(U64, two, 19, 61, shift=6) + seven for old, two, seven in rows)
    return _written(d, U64.wrap(low), U64.wrap(high))
