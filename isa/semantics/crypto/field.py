"""GF(2^8): bytes as polynomials over {0, 1} modulo one of degree 8.  The tables of ciphers follow from it.

They are computed when they are first asked for: most programs use none.
"""

from __future__ import annotations

from functools import reduce
from operator import xor

from isa.lane import Lane, constant

CYCLIC = 0x101
"""x^8 + 1: a product modulo this is the exclusive or of rotations."""


def product(a: int, b: int, modulus: int) -> int:
    """The product of two bytes."""
    remainder = 0
    for i in reversed(range(8)):
        remainder <<= 1
        remainder ^= (remainder >> 8) * modulus ^ (b >> i & 1) * a
    return remainder


def inverse(a: int, modulus: int) -> int:
    """What gives 1 with `a`, as its power of 254 = 2 + 4 + ... + 128; that of 0 is 0."""
    square, power = a, 1
    for _ in range(7):
        square = product(square, square, modulus)
        power = product(power, square, modulus)
    return power


def table(bytes_: list[int]) -> tuple[Lane, ...]:
    """What `pick` looks bytes up in, the same nodes for every byte of a register."""
    return tuple(constant(byte) for byte in bytes_)


def multiples(a: Lane, modulus: int) -> list[Lane]:
    """A byte times 1, x, x^2 and x^3."""
    found = [a]
    for _ in range(3):
        found.append((found[-1] << 1) ^ ((found[-1] >> 7) * modulus))
    return found


def combined(rows: list[list[Lane]], factors: tuple[int, ...]) -> Lane:
    """The sum of bytes, given by their `multiples`, each times its factor below 16."""
    terms = [row[i] for row, factor in zip(rows, factors, strict=True) for i in range(4) if factor >> i & 1]
    return reduce(xor, terms)
