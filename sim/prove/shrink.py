"""The smallest counter-example: first in the largest of its numbers, then in one input after the other.

Small is near 0, and of a number and its negative the positive one.  Bounds are tried from below, doubling: the solver
is quick where the inputs have few bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.lane import Lane, Read

Values = Mapping[Read, int]


class _OutOfTime(Exception):
    """The solver gave up while shrinking."""


def smallest_found(solver: Solver, inputs: Sequence[Read], differ: Lane, first: Found) -> tuple[Values, bool]:
    """The smallest inputs on which `differ` holds, from some on which it does; and whether time sufficed."""
    search = _Search(solver, inputs, differ, first)
    try:
        search.run()
    except _OutOfTime:
        return search.values, False
    return search.values, True


class _Search:
    """`values` is the best counter-example so far; `_fixed` are conditions that the smallest one fulfils."""

    def __init__(self, solver: Solver, inputs: Sequence[Read], differ: Lane, first: Found) -> None:
        self._solver, self._inputs = solver, inputs
        self._fixed = [differ]
        self.values = self._values_of(first)

    def run(self) -> None:
        """Shrink the largest magnitude, then each input, and make it positive where it can be."""
        self._shrink(self._inputs)
        for lane in self._inputs:
            self._shrink([lane])
            if self.values[lane] < 0:
                self._finds([lane.equals(-self.values[lane])])
            self._fixed.append(lane.equals(self.values[lane]))

    def _shrink(self, lanes: Sequence[Read]) -> None:
        """Fix the least bound on the magnitude of these inputs that leaves a counter-example."""
        low, bound = 0, 0
        while low < (high := self._magnitude(lanes)):
            if not self._finds([_within(lane, bound) for lane in lanes]):
                low = bound + 1
            bound = min(2 * low, (low + self._magnitude(lanes)) // 2)
        self._fixed += [_within(lane, high) for lane in lanes]

    def _magnitude(self, lanes: Sequence[Read]) -> int:
        return max((abs(self.values[lane]) for lane in lanes), default=0)

    def _finds(self, conditions: Sequence[Lane]) -> bool:
        answer = self._solver.check(*self._fixed, *conditions)
        if isinstance(answer, Undecided):
            raise _OutOfTime
        if isinstance(answer, Impossible):
            return False
        self.values = self._values_of(answer)
        return True

    def _values_of(self, found: Found) -> Values:
        """An input that neither side uses is 0, or the number of its range next to it."""
        return {lane: found.values.get(lane.place, min(max(0, lane.low), lane.high)) for lane in self._inputs}


def _within(lane: Lane, bound: int) -> Lane:
    return (lane < bound + 1) & (lane > -bound - 1)
