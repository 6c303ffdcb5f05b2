"""Numbers that are taken value by value: a shift that is known is easy for a solver, one of 32 is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from isa.lane import Lane, Place, Read, operands_first
from sim.kernels.input_tree import Where
from sim.symbolic.equality import Equality
from sim.symbolic.proving.substitution import Substitution
from sim.symbolic.reference import TracedReference, name_of
from sim.symbolic.simplify import SIMPLIFIER

MOST_VALUES: Final = 64
"""A number of so few values is taken value by value."""
MOST_QUESTIONS: Final = 1024
"""So many questions at most come of one by that, but where it was asked for."""


class ValueByValue:
    """Which numbers are taken value by value, and the questions that come of it.

    `chosen` gives the values of those that are asked for by name; numbers of a domain of up to `MOST_VALUES` are taken
    so without being named.  `each` has by name those that were met.
    """

    def __init__(self, chosen: Mapping[str, Sequence[int]], substitution: Substitution) -> None:
        self._chosen, self._substitution = chosen, substitution
        self.each: dict[str, Sequence[int]] = {}

    def meet(self, reference: TracedReference) -> None:
        """Take the single numbers of a reference value by value that have few."""
        self.each |= {name: values for name, lane in reference.scalars.items() if (values := self._values(lane))}

    def asked_about(self, where: Where, number: Any) -> Any:
        """A number of an example, or one of those that are asked about in its place."""
        values = self._chosen_of(name_of(where))
        return number if not values or number in values else type(number)(values[0])

    def takes(self, lane: Read) -> bool:
        """Whether an input is taken value by value."""
        return lane.place.file.removeprefix("in.") in self.each

    def questions(self, question: Equality) -> Iterator[tuple[Equality, dict[Place, int]]]:
        """The question with each of the values of the numbers that are taken value by value, and with these."""
        leaves, ways = list[Read](), 1
        for leaf in (n for n in operands_first(question) if isinstance(n, Read) and self.takes(n)):
            name = leaf.place.file.removeprefix("in.")
            ways *= len(self.each[name])
            if ways <= MOST_QUESTIONS or self._chosen_of(name) is not None:
                leaves.append(leaf)
            else:  # for the solver as it is
                ways //= len(self.each[name])
        for values in product(*(self.each[leaf.place.file.removeprefix("in.")] for leaf in leaves)):
            by: dict[Lane, Lane] = {leaf: SIMPLIFIER.number(value) for leaf, value in zip(leaves, values, strict=True)}
            chosen = {leaf.place: value for leaf, value in zip(leaves, values, strict=True)}
            yield Equality(*(self._substitution.of(lane, by) for lane in question)), chosen

    def _chosen_of(self, name: str) -> Sequence[int] | None:
        return self._chosen.get(name, self._chosen.get(name.rpartition(".")[2]))

    def _values(self, lane: Read) -> Sequence[int]:
        """The values of a number that is taken value by value; none of one that is not."""
        chosen = self._chosen_of(lane.place.file.removeprefix("in."))
        if chosen is not None:
            return [value for value in chosen if lane.low <= value <= lane.high]
        return range(lane.low, lane.high + 1) if lane.high - lane.low < MOST_VALUES else ()
