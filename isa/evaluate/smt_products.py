"""What the ranges of two factors say of their product: facts that a solver is slow to find out bit by bit."""

from __future__ import annotations

from isa.lane import Lane


def highest_corners(a: Lane, b: Lane) -> list[tuple[int, int]]:
    """The ends of the ranges of two factors at which their product is highest."""
    corners = {(x, y) for x in (a.low, a.high) for y in (b.low, b.high)}
    return sorted((x, y) for x, y in corners if x * y == max(p * q for p, q in corners))


def second_highest_product(a: Lane, b: Lane) -> int:
    """A bound on the product everywhere but at those corners.

    Along each factor a product is linear, so off the corners it is highest at a corner's neighbour or another corner.
    """
    ends = [{lane.low, min(lane.low + 1, lane.high), max(lane.high - 1, lane.low), lane.high} for lane in (a, b)]
    highest = highest_corners(a, b)
    others = [x * y for x in ends[0] for y in ends[1] if (x, y) not in highest]
    return max(others, default=highest[0][0] * highest[0][1])
