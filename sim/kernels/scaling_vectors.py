"""Values that tell the scaling rules apart, computed backwards from the products that they must give.

Random values almost never meet a tie, so for a given multiplier and shift the values are those around every tie of the
multiply and of the shift, around the edges of int32 before and after, and around the edges of the left shift.
"""

from functools import lru_cache

import numpy as np

from sim.golden.fixed_point import INT32_MAX, INT32_MIN, Int32Array

EXTREMES = (INT32_MIN, INT32_MIN + 1, INT32_MAX - 1, INT32_MAX, 0, 1, -1, 2, -2, 3, -3)
HALF = 1 << 30  # the multiplier 0.5
TIED_MULTIPLIERS = (HALF, 3 * HALF // 2, 5 * HALF // 4, 7 * HALF // 4, 5 << 26, 1 << 20, 3)
"""Multipliers with low bits 0, for which the multiply meets its tie; others hardly ever do."""
ANY_SIGN_MULTIPLIERS = (INT32_MIN, -HALF, -3 * HALF // 2, -5)


@lru_cache(maxsize=4096)
def separating_values(multiplier: int, left_shift: int) -> Int32Array:
    """int32[n]: ties of both roundings, edges of int32, wraps of the left shift; each with its neighbours.

    They are not to be written to: the same array is returned for the same factor.
    """
    left, right = max(left_shift, 0), max(-left_shift, 0)
    halves = [odd << right >> 1 for odd in (-5, -3, -1, 1, 3, 5)]
    edges = [sign * (HALF << bit) for sign in (1, -1) for bit in (0, 1)]
    doubled = [2 * product + step for product in (*halves, *edges, 0, 1, -1, 2, 3) for step in (-1, 0, 1)]
    # What the left shift and the multiply take to a tie or next to one, then what the left shift takes past the edges.
    middles = [(twice * HALF // multiplier) >> left for twice in doubled] if multiplier else []
    middles += [sign * ((quarters << 29) >> left) for quarters in (1, 2, 3, 4, 5, 6, 8) for sign in (1, -1)]
    near = [middle + step for middle in middles for step in (-1, 0, 1)]
    values = np.array([x for x in dict.fromkeys((*EXTREMES, *near)) if INT32_MIN <= x <= INT32_MAX], np.int32)
    values.setflags(write=False)
    return values


def random_multiplier(rng: np.random.Generator, negative: bool) -> int:
    """A Q0.31 multiplier: often one with ties, else a normalised one, seldom any; of either sign where asked."""
    pools = [TIED_MULTIPLIERS, TIED_MULTIPLIERS, (int(rng.integers(HALF, INT32_MAX)), INT32_MAX, 1, 0)]
    pools += [ANY_SIGN_MULTIPLIERS] if negative else []
    return int(rng.choice(pools[int(rng.integers(len(pools)))]))
