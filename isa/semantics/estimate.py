"""Estimates of the reciprocal and of the reciprocal square root, 9 bits in and out (Arm ARM, shared pseudocode:
RecipEstimate, RecipSqrtEstimate, UnsignedRecipEstimate, UnsignedRSqrtEstimate).
"""

from __future__ import annotations

from functools import cache

from isa.lane import Int, Lane, constant, divide, pick, select


def reciprocal_estimate(a: int) -> int:
    """RecipEstimate: about 2^17 / a, in 256..511, for `a` in 256..511 (a/512 and the result/256 are the numbers)."""
    return ((1 << 19) // (2 * a + 1) + 1) // 2


def reciprocal_square_root_estimate(a: int) -> int:
    """RecipSqrtEstimate: in 256..511, for `a` in 128..511 (a/512 and the result/256 are the numbers).

    The centre of the interval that `a` stands for is c/1024, and the estimate the greatest b/512, halved and rounded
    up, of which the square is below 1 / (c/1024).
    """
    centre = 2 * a + 1 if a < 256 else 2 * (a // 2 * 2 + 1)
    b = 512
    while centre * (b + 1) ** 2 < 1 << 28:
        b += 1
    return (b + 1) // 2


@cache
def reciprocal_square_root_estimates() -> tuple[int, ...]:
    """The estimates for 128..511, in order."""
    return tuple(reciprocal_square_root_estimate(a) for a in range(128, 512))


def reciprocal_lane(a: Lane) -> Lane:
    """`reciprocal_estimate` of a lane in 256..511."""
    return (divide(constant(1 << 19), a * 2 + 1) + 1) >> 1


def reciprocal_square_root_lane(a: Lane) -> Lane:
    """`reciprocal_square_root_estimate` of a lane in 128..511."""
    return pick(a - 128, reciprocal_square_root_estimates(), 0)


def unsigned_reciprocal_estimate(to: Int, a: Lane) -> Lane:
    """URECPE: of a/2^32 in 0.5..1, as the result/2^31; all ones where `a` is below that."""
    return to.wrap(select(a < 1 << 31, to.high, reciprocal_lane(a >> 23) << 23))


def unsigned_reciprocal_square_root_estimate(to: Int, a: Lane) -> Lane:
    """URSQRTE: of a/2^32 in 0.25..1, as the result/2^31; all ones where `a` is below that."""
    return to.wrap(select(a < 1 << 30, to.high, reciprocal_square_root_lane(a >> 23) << 23))
