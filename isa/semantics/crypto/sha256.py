"""SHA-256: four rounds, and the schedule of four words (Arm ARM C7.2: SHA256H to SHA256SU1; FIPS 180-4, 6.2)."""

from __future__ import annotations

from isa.lane import U32, Lane
from isa.operands import Scalar, Vector
from isa.semantics.crypto.words import choose, majority, sum_of_rotations, words, written
from isa.semantics.elementwise import Writes


def _four_rounds(a_to_d: list[Lane], e_to_h: list[Lane], schedule: list[Lane]) -> tuple[list[Lane], list[Lane]]:
    """Both halves of the state after four rounds; `schedule` has the constants added."""
    for word in schedule:
        a, b, c, d = a_to_d
        e, f, g, h = e_to_h
        first = h + sum_of_rotations(U32, e, 6, 11, 25) + choose(e, f, g) + word
        second = sum_of_rotations(U32, a, 2, 13, 22) + majority(a, b, c)
        a_to_d, e_to_h = [U32.wrap(first + second), a, b, c], [U32.wrap(d + first), e, f, g]
    return a_to_d, e_to_h


def hash_first(d: Scalar, n: Scalar, m: Vector) -> Writes:
    """SHA256H: `d` holds a to d, `n` e to h; a to d after four rounds."""
    return written(d, _four_rounds(words(d), words(n), words(m))[0])


def hash_second(d: Scalar, n: Scalar, m: Vector) -> Writes:
    """SHA256H2: `n` holds a to d, `d` e to h; e to h after four rounds."""
    return written(d, _four_rounds(words(n), words(d), words(m))[1])


def schedule_0(d: Vector, n: Vector) -> Writes:
    """SHA256SU0: the words 16 before, and sigma 0 of those 15 before."""
    next_words = [*words(d)[1:], words(n)[0]]
    return written(d, [a + sum_of_rotations(U32, b, 7, 18, shift=3) for a, b in zip(words(d), next_words, strict=True)])


def schedule_1(d: Vector, n: Vector, m: Vector) -> Writes:
    """SHA256SU1: the words 7 before are added, and sigma 1 of those 2 before; the last two are of this very step."""
    seven_before, two_before = [*words(n)[1:], words(m)[0]], words(m)[2:]
    for i, (old, seven) in enumerate(zip(words(d), seven_before, strict=True)):
        sigma = sum_of_rotations(U32, two_before[i], 17, 19, shift=10)
        two_before.append(U32.wrap(old + seven + sigma))
    return written(d, two_before[2:])
