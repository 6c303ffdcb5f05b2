"""What hashes do to words: rotations and bitwise functions of three."""

from __future__ import annotations

from functools import reduce
from operator import xor

from isa.lane import U32, Int, Lane, Write, read
from isa.operands import Scalar, Vector
from isa.semantics.elementwise import Writes


def words(register: Vector | Scalar) -> list[Lane]:
    """The four words of a register, whatever its operand calls it."""
    return U32.lanes(read(register.place), 4)


def written(register: Vector | Scalar, words_: list[Lane]) -> Writes:
    """The register with these four words."""
    return (Write(register.place, 32, [U32.wrap(word) for word in words_]),)


def rotated_left(of: Int, a: Lane, count: int) -> Lane:
    """The word, of an unsigned type, rotated left by a constant that is neither 0 nor its width."""
    return of.wrap(a << count) | (a >> (of.bits - count))


def rotated_right(of: Int, a: Lane, count: int) -> Lane:
    """The same to the right."""
    return rotated_left(of, a, of.bits - count)


def sum_of_rotations(of: Int, a: Lane, *counts: int, shift: int | None = None) -> Lane:
    """The exclusive or of the word rotated right by each count, and of it shifted right by `shift`."""
    terms = [rotated_right(of, a, count) for count in counts]
    return reduce(xor, terms if shift is None else [*terms, a >> shift])


def choose(x: Lane, y: Lane, z: Lane) -> Lane:
    """The bits of `y` where `x` is 1, those of `z` where it is 0 (FIPS 180-4, 4.1: Ch; GB/T 32905: GG)."""
    return ((y ^ z) & x) ^ z


def parity(x: Lane, y: Lane, z: Lane) -> Lane:
    """1 where an odd number of bits is (FIPS 180-4, 4.1: Parity; GB/T 32905: FF and GG of the first rounds)."""
    return x ^ y ^ z


def majority(x: Lane, y: Lane, z: Lane) -> Lane:
    """1 where at least two bits are (FIPS 180-4, 4.1: Maj; GB/T 32905: FF)."""
    return (x & y) | ((x | y) & z)
