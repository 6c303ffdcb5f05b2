"""CRC32 and CRC32C: remainders of polynomials over {0, 1} (Arm ARM C6.2: CRC32B to CRC32CX).

The bits of all numbers are reversed: bit 0 is the highest coefficient.  The remainder is linear, so that of a
polynomial is the sum of those of its terms, which are constants.
"""

from __future__ import annotations

from functools import cache

from isa.lane import U1, Int, constant
from isa.operands import General
from isa.semantics.elementwise import Body, Writes

CRC32 = 0x04C11DB7
"""x^32 + x^26 + ... + 1 without x^32: the polynomial of CRC32B to CRC32X."""
CRC32C = 0x1EDC6F41
"""The Castagnoli polynomial without x^32: that of CRC32CB to CRC32CX."""


@cache
def reversed_remainder(degree: int, polynomial: int) -> int:
    """x^degree modulo x^32 + polynomial, as 32 bits of which bit 0 is the coefficient of x^31."""
    remainder = 1
    for _ in range(degree):
        remainder <<= 1
        remainder ^= (remainder >> 32) * (1 << 32 | polynomial)
    return int(f"{remainder:032b}"[::-1], 2)


def checksum(polynomial: int, bits: int) -> Body:
    """CRC32B to CRC32CX: the checksum `n` continued by the low `bits` bits of `m`.

    Bit i of both together is the coefficient of x^(31 + bits - i): the data stand 32 places higher, the checksum
    `bits` places.
    """

    def body(d: General, n: General, m: General) -> Writes:
        dividend, total = n.value ^ Int(bits, False).wrap(m.value), constant(0)
        for i in range(max(32, bits)):
            total = total ^ (U1.field(dividend, i) * reversed_remainder(31 + bits - i, polynomial))
        return d.write(total)

    return body
