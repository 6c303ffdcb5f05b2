"""Products of one lane: plain, accumulating, long, doubling, high half, polynomial (Arm ARM C7.2)."""

from __future__ import annotations

from isa.lane import U1, Int, Lane, constant
from isa.semantics.shift import rounding_shift_right


def multiply(to: Int, a: Lane, b: Lane) -> Lane:
    """MUL, SMULL, UMULL: the product, its low bits; in the long forms it cannot overflow."""
    return to.wrap(a * b)


def multiply_add(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """MLA, SMLAL, UMLAL: the sum wraps."""
    return to.wrap(accumulator + a * b)


def multiply_subtract(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """MLS, SMLSL, UMLSL: the difference wraps."""
    return to.wrap(accumulator - a * b)


def doubling_multiply_long(to: Int, a: Lane, b: Lane) -> Lane:
    """SQDMULL: saturates where both are the lowest number."""
    return to.saturate(a * b * 2)


def doubling_multiply_add_long(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SQDMLAL: the doubled product saturates first, then the sum; either sets QC."""
    return to.saturate(accumulator + to.saturate(a * b * 2))


def doubling_multiply_subtract_long(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SQDMLSL: the doubled product saturates first, then the difference; either sets QC."""
    return to.saturate(accumulator - to.saturate(a * b * 2))


def doubling_multiply_high(to: Int, a: Lane, b: Lane) -> Lane:
    """SQDMULH: the high half of the doubled product, rounded down."""
    return to.saturate((a * b) >> (to.bits - 1))


def rounding_doubling_multiply_high(to: Int, a: Lane, b: Lane) -> Lane:
    """SQRDMULH.  The textbook form (2ab + 2^(n-1)) >> n needs one bit more for the same result."""
    return to.saturate(rounding_shift_right(a * b, to.bits - 1))


def rounding_doubling_multiply_add_high(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SQRDMLAH: one rounding and one saturation, of the sum."""
    return to.saturate(rounding_shift_right((accumulator << (to.bits - 1)) + a * b, to.bits - 1))


def rounding_doubling_multiply_subtract_high(to: Int, accumulator: Lane, a: Lane, b: Lane) -> Lane:
    """SQRDMLSH: one rounding and one saturation, of the difference."""
    return to.saturate(rounding_shift_right((accumulator << (to.bits - 1)) - a * b, to.bits - 1))


def polynomial_multiply(to: Int, a: Lane, b: Lane) -> Lane:
    """PMUL, PMULL: the carry-less product, of polynomials over {0, 1}; PMUL keeps its low bits."""
    product = constant(0)
    for i in range(b.magnitude_bits):
        product = product ^ ((a << i) * U1.field(b, i))
    return to.wrap(product)
