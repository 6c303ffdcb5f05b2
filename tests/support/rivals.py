"""The other arithmetics that a kernel could be taken for, and whether random input sets tell it from them."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from sim.kernels import Kernel


def hardly_apart(kernel: Kernel, sets: int, lanes: int = 5) -> list[str]:
    """The conventions that differ from a kernel in fewer output lanes than `lanes`, of so many random input sets.

    No more sets are drawn than it takes to find none.  A convention that does not define a call agrees with it.
    """
    rng, seen = np.random.default_rng(3), dict.fromkeys(kernel.conventions, 0)
    for _ in range(sets):
        if not (left := [name for name, count in seen.items() if count < lanes]):
            break
        inputs = kernel.sample(rng)
        own = kernel.golden(inputs)
        for name in left:
            with suppress(ValueError):
                made = kernel.conventions[name](inputs)
                seen[name] += sum(int((made[output] != numbers).sum()) for output, numbers in own.items())
    return [name for name, count in seen.items() if count < lanes]
