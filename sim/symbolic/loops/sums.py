"""Sums over all indices: what loops have summed up, iteration by iteration, is what the reference sums up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from isa.lane import Int, Lane, walk
from sim.symbolic.loops.elements import IndexedElements
from sim.symbolic.loops.facts import Facts
from sim.symbolic.loops.form import plain
from sim.symbolic.loops.induction import InductionLoop, NoInduction
from sim.symbolic.nodes import NOTHING, LinearSum, Simplifier
from sim.symbolic.numbers.any_length import Total

MOST_APART: Final = 64
"""Elements between two loops, or behind the last, that are added one by one."""


class SumsCompared:
    """The questions whether a number modulo 2^bits is one that the reference makes of sums.

    The loops take indices one after the other from 0 on.  In each iteration they add what the reference adds for the
    next so many, and what is added outside of the loops is what it adds for the indices between them.
    """

    def __init__(
        self, s: Simplifier, facts: Facts, elements: IndexedElements, totals: Mapping[Lane, Total],
        at: Callable[[Lane, Lane], Lane], loops: Sequence[InductionLoop], length: Lane,
    ) -> None:  # fmt: skip
        self._s, self._facts, self._elements, self._totals, self._at = s, facts, elements, totals, at
        self._loops, self._length = loops, length

    def questions(
        self, made: Lane, wanted: Lane, bits: int, conditions: Sequence[Lane]
    ) -> Iterator[tuple[Lane, Lane, list[Lane]]]:
        """What must be equal, and the indices of the elements in it.  Raises NoInduction for other sums."""
        s = self._s
        summed = {leaf: (loop, one) for loop in self._loops for leaf, one in loop.sums.items()}
        rest, steps = NOTHING, dict[Lane, LinearSum]()
        pending = [(self._flat(made, bits), 1)]
        while pending:
            parts, factor = pending.pop()
            own = LinearSum({term: times for term, times in parts.terms.items() if term not in summed}, parts.constant)
            rest = rest.plus(own, factor)
            for term, times in parts.terms.items():
                if term in summed:
                    loop, (start, step, of) = summed[term]
                    if of < bits or loop.within:
                        raise NoInduction(
                            "what is summed up in fewer bits, or in a loop within another, is not compared"
                        )
                    known = steps.get(loop.iteration, NOTHING)
                    steps[loop.iteration] = known.plus(self._flat(step, bits), factor * times)
                    pending.append((self._flat(start, bits), factor * times))
        terms, constant = self._flat(wanted, bits)
        each = NOTHING
        for term, times in terms.items():
            total = self._totals.get(term)
            if total is not None:
                if 8 * total.dtype.itemsize < bits:
                    raise NoInduction("the reference sums up in fewer bits than the result has")
                each = each.plus(s.sum_of(total.element), times)
        outside = LinearSum({term: times for term, times in terms.items() if term not in self._totals}, constant)
        element, apart, at = s.total(each), list[Lane](), s.number(0)
        for iteration in sorted(steps, key=lambda leaf: s.order(leaf)[1]):
            first, size = self._block(s.total(steps[iteration]), iteration)
            begin = self._at_iteration(first, iteration)
            apart += self._between(at, begin, conditions)
            block = [self._next(first, k) for k in range(size)]
            yield self._wrapped(steps[iteration], bits), self._sum_at(element, block, bits, NOTHING), block
            at = first  # as it is in the iteration in which the loop is left
        apart += self._between(at, self._length, conditions)
        yield self._wrapped(rest, bits), self._sum_at(element, apart, bits, outside), apart

    def _flat(self, lane: Lane, bits: int) -> LinearSum:
        """A number modulo 2^bits as a sum, wraps to as many bits or more within it left out."""
        found, pending = NOTHING, [(lane, 1)]
        while pending:
            one, factor = pending.pop()
            parts = self._s.sum_of(plain(self._s, one, bits))
            found = found.plus(LinearSum({}, factor * parts.constant))
            for term, times in parts.terms.items():
                if plain(self._s, term, bits) is term:
                    found = found.plus(LinearSum({term: 1}, 0), factor * times)
                else:
                    pending.append((term, factor * times))
        return found

    def _block(self, step: Lane, iteration: Lane) -> tuple[Lane, int]:
        """The first index of the elements that an iteration adds, and by how many the next one's is greater."""
        s = self._s
        indices = [self._elements.indices[node].index for node in walk([step]) if node in self._elements.indices]
        if not indices:
            raise NoInduction("what a loop sums up has no elements of arrays in it")
        away = [s.difference(index, indices[0]) for index in indices]
        if any(one.value is None for one in away):
            raise NoInduction("what a loop sums up is not of elements beside one another")
        first = indices[min(range(len(indices)), key=lambda k: away[k].low)]
        size = s.sum_of(first).terms.get(iteration, 0)
        if not 0 < size <= MOST_APART:
            raise NoInduction("a loop does not sum up elements one after the other")
        return first, size

    def _at_iteration(self, lane: Lane, iteration: Lane) -> Lane:
        """An index as it is in the first iteration; it grows by a number in each."""
        terms, constant = self._s.sum_of(lane)
        return self._s.total(
            LinearSum({term: times for term, times in terms.items() if term is not iteration}, constant)
        )

    def _between(self, at: Lane, end: Lane, conditions: Sequence[Lane]) -> list[Lane]:
        """The indices from one to another, of which the number is known."""
        s = self._s
        for count in range(MOST_APART + 1):
            if self._facts.follows(conditions, s.computed("equal", s.difference(end, at), count)):
                return [self._next(at, k) for k in range(count)]
        raise NoInduction("it is not shown that the loops sum up all elements")

    def _next(self, index: Lane, by: int) -> Lane:
        return self._s.total(self._s.sum_of(index).plus(LinearSum({}, by)))

    def _sum_at(self, element: Lane, indices: Sequence[Lane], bits: int, more: LinearSum) -> Lane:
        for index in indices:
            more = more.plus(self._s.sum_of(self._at(element, index)))
        return self._wrapped(more, bits)

    def _wrapped(self, parts: LinearSum, bits: int) -> Lane:
        return self._s.field(self._s.total(parts), 0, Int(bits, signed=False))
