"""Dot products and 2x2 matrix products of bytes into 32-bit lanes (Arm ARM C7.2: SDOT, USDOT, SMMLA, ...)."""

from __future__ import annotations

from isa.lane import S32, Lane
from isa.operands import Element, Vector
from isa.semantics.elementwise import Body, Writes


def _sum_of_products(accumulator: Lane, a: list[Lane], b: list[Lane]) -> Lane:
    return S32.wrap(sum((x * y for x, y in zip(a, b, strict=True)), accumulator))


def dot(signed_a: bool, signed_b: bool) -> Body:
    """Four products of bytes added to each 32-bit lane; wraps."""

    def body(d: Vector, n: Vector, m: Vector | Element) -> Writes:
        a, b = n.lanes(signed_a, n.count), m.lanes(signed_b, n.count)
        old = d.lanes(True)
        fours = [slice(4 * i, 4 * i + 4) for i in range(d.count)]
        return d.write([_sum_of_products(old[i], a[four], b[four]) for i, four in enumerate(fours)])

    return body


def matrix_multiply(signed_a: bool, signed_b: bool) -> Body:
    """The 2x8 matrix `n` times the transposed 2x8 matrix `m`, added to the 2x2 matrix `d`; wraps."""

    def body(d: Vector, n: Vector, m: Vector) -> Writes:
        a, b, old = n.lanes(signed_a), m.lanes(signed_b), d.lanes(True)
        rows = [slice(0, 8), slice(8, 16)]
        products = [(a[row], b[column]) for row in rows for column in rows]
        return d.write([_sum_of_products(old[i], *pair) for i, pair in enumerate(products)])

    return body
