"""What follows of lengths, iterations and addresses: asked of the solver, each question once."""

from __future__ import annotations

import time
from collections.abc import Iterable

from isa.evaluate.smt import Impossible, Solver
from isa.evaluate.smt_terms import Untranslatable
from isa.lane import Lane, Read, walk
from sim.symbolic.call import ADDRESS
from sim.symbolic.simplify import SIMPLIFIER

ITERATION = "iteration"
"""The register file of the leaves that count the iterations of loops."""
SECONDS_FOR_A_FACT = 5.0


class Facts:
    """Conclusions; `length` is the leaf of the length of arrays.  What the solver does not decide does not follow."""

    def __init__(self, length: Lane) -> None:
        self._length = length
        self._known: dict[tuple[Lane, ...], bool] = {}

    def is_of_lengths(self, condition: Lane) -> bool:
        """Whether it speaks of the length, of iterations and of addresses only, not of data."""
        return all(
            node is self._length or node.place.file == ITERATION or node.place.file.startswith(ADDRESS)
            for node in walk([condition])
            if isinstance(node, Read)
        )

    def possible(self, conditions: Iterable[Lane]) -> bool:
        """False where no length and no iterations meet all of the conditions that speak of them."""
        asked = tuple(dict.fromkeys(one for one in conditions if self.is_of_lengths(one) and one.value != 1))
        if any(one.high == 0 for one in asked):
            return False
        if asked not in self._known:
            try:
                solver = Solver(time.monotonic() + SECONDS_FOR_A_FACT)
                self._known[asked] = not isinstance(solver.check(*asked), Impossible)
            except Untranslatable:
                self._known[asked] = True
        return self._known[asked]

    def follows(self, conditions: Iterable[Lane], conclusion: Lane) -> bool:
        """Whether a conclusion, which is 0 or 1, holds wherever the conditions do."""
        return conclusion.low == 1 or not self.possible((*conditions, _not(conclusion)))

    def at_most(self, conditions: Iterable[Lane], a: Lane, b: Lane) -> bool:
        """Whether a <= b wherever the conditions hold."""
        return self.follows(conditions, _not(SIMPLIFIER.computed("less", b, a)))


def _not(condition: Lane) -> Lane:
    return SIMPLIFIER.difference(SIMPLIFIER.number(1), condition)
