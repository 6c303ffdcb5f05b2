"""A question that no solver answers while a test waits: the factors of a product of two large primes."""

from __future__ import annotations

from isa.lane import Lane, constant
from sim.prove.claim import Claim, Range

FACTOR = Range(3, 2**61)
PRODUCT = 0x13C6EF372FE94F9D * 0x1A54FF53A5F1D3F7


def is_product(p: Lane, q: Lane) -> Lane:
    return (p * q).equals(PRODUCT)


HARD = Claim("hard", {"p": FACTOR, "q": FACTOR}, is_product, lambda p, q: constant(0), given=lambda p, q: p < q)
