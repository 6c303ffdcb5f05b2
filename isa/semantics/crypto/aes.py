"""AES: one step of a round on the 16 bytes of the state (Arm ARM C7.2: AESD to AESMC; FIPS 197)."""

from __future__ import annotations

from functools import cache

from isa.lane import U8, Lane, pick
from isa.operands import Vector
from isa.semantics.crypto.field import CYCLIC, combined, inverse, multiples, product, table
from isa.semantics.elementwise import Writes

MODULUS = 0x11B
"""x^8 + x^4 + x^3 + x + 1 (FIPS 197, 4.2)."""
MIX, UNMIX = (2, 3, 1, 1), (14, 11, 13, 9)
"""What the bytes of a column are multiplied by, from the byte of the result on (FIPS 197, 5.1.3 and 5.3.3)."""


def _substitute(byte: int) -> int:
    """The inverse, of which each bit is added to the four next ones, and a constant (FIPS 197, 5.1.1)."""
    return product(inverse(byte, MODULUS), 0x1F, CYCLIC) ^ 0x63


@cache
def substitutes() -> tuple[Lane, ...]:
    """The S-box."""
    return table([_substitute(byte) for byte in range(256)])


@cache
def originals() -> tuple[Lane, ...]:
    """The inverse of that: byte by substitute."""
    return table(sorted(range(256), key=_substitute))


def encrypt(d: Vector, n: Vector) -> Writes:
    """AESE: the round key is added, each row moves left by its number, each byte is substituted."""
    return _substituted(d, n, 1, substitutes())


def decrypt(d: Vector, n: Vector) -> Writes:
    """AESD: the round key is added, each row moves right by its number, each byte is substituted back."""
    return _substituted(d, n, -1, originals())


def _substituted(d: Vector, n: Vector, step: int, box: tuple[Lane, ...]) -> Writes:
    """Byte i of the state is in row i modulo 4."""
    state = [a ^ b for a, b in zip(d.lanes(False), n.lanes(False), strict=True)]
    moved = [state[(i + 4 * step * (i % 4)) % 16] for i in range(16)]
    return d.write([pick(byte, box, 0) for byte in moved])


def mix_columns(d: Vector, n: Vector) -> Writes:
    """AESMC."""
    return _mixed(d, n, MIX)


def unmix_columns(d: Vector, n: Vector) -> Writes:
    """AESIMC: undoes AESMC."""
    return _mixed(d, n, UNMIX)


def _mixed(d: Vector, n: Vector, factors: tuple[int, ...]) -> Writes:
    rows = [multiples(byte, MODULUS) for byte in n.lanes(False)]
    columns = [rows[i : i + 4] for i in range(0, 16, 4)]
    mixed = [combined(column[row:] + column[:row], factors) for column in columns for row in range(4)]
    return d.write([U8.wrap(byte) for byte in mixed])
