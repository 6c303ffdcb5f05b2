"""SM4: four rounds of the cipher and of its key (Arm ARM C7.2: SM4E, SM4EKEY; GB/T 32907-2016)."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_

from isa.lane import U8, U32, Lane, pick
from isa.operands import Vector
from isa.semantics.crypto.field import CYCLIC, inverse, product, table
from isa.semantics.crypto.words import rotated_left, words, written
from isa.semantics.elementwise import Writes

MODULUS = 0x1F5
"""x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1."""


def _affine(byte: int) -> int:
    return product(byte, 0xCB, CYCLIC) ^ 0xD3


@cache
def substitutes() -> tuple[Lane, ...]:
    """The S-box, which the standard only lists: the inverse between two affine maps, as found by Liu et al. (2007)."""
    return table([_affine(inverse(_affine(byte), MODULUS)) for byte in range(256)])


def _substituted(word: Lane) -> Lane:
    picked = [pick(byte, substitutes(), 0) << 8 * i for i, byte in enumerate(U8.lanes(word, 4))]
    return reduce(or_, picked)


def _four_rounds(state: list[Lane], keys: list[Lane], rotations: tuple[int, ...]) -> list[Lane]:
    for key in keys:
        mixed = _substituted(state[1] ^ state[2] ^ state[3] ^ key)
        new = reduce(lambda total, count: total ^ rotated_left(U32, mixed, count), rotations, state[0] ^ mixed)
        state = [*state[1:], new]
    return state


def encrypt(d: Vector, n: Vector) -> Writes:
    """SM4E: four rounds with the round keys of `n`; with those in reverse order they decrypt."""
    return written(d, _four_rounds(words(d), words(n), (2, 10, 18, 24)))


def expand_key(d: Vector, n: Vector, m: Vector) -> Writes:
    """SM4EKEY: the four round keys after those of `n`, with the constants of `m`."""
    return written(d, _four_rounds(words(n), words(m), (13, 23)))
