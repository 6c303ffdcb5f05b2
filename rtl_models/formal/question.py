"""The question that a claim about signals puts to the solver, and what it answers, played again without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import cast

from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.evaluate.smt_terms import Term, Untranslatable
from isa.lane import Int, Lane, Place
from rtl_models.formal.replay import Replay, placed
from rtl_models.formal.smt2 import Equations, NoSuchSignal, parsed
from rtl_models.formal.support import Vector, mask, support_in
from rtl_models.formal.unrolling import Signal, Unrolled, free_bits
from sim.check.prove import Finding, Sides, input_lane, tells_apart
from sim.check.prove_shrink import smallest_found


class Question:
    """Whether some state and inputs, and what follows from them, contradict the claim."""

    def __init__(self, sides: Sides, equations: str, deadline: float) -> None:
        self.sides = sides
        self._solver = Solver(deadline)
        self._lanes = {cast(Place, lane.detail).file: lane for lane in sides.inputs}
        self._equations, self._support = parsed(equations), support_in(equations)
        self._free = _free(self._equations, self._lanes)
        self._decide = self._vectors_that_decide()
        self._free_lanes = {**{name: self._lanes[name] for name in self._free}, **self._others()}
        self._tie()

    def _vectors_that_decide(self) -> list[tuple[int, Vector]]:
        """The vectors, and the edges after which, on which depends what the claim speaks of."""
        reached = self._support.over_time(Signal.named(name) for name in self._lanes if not is_ghost(name))
        vectors = [(vector, mask(vector.bits)) for vector in self._support.vectors]
        return [(edge, vector) for edge in sorted(reached) for vector, bits in vectors if bits & reached[edge]]

    def _others(self) -> dict[str, Lane]:
        """Lanes for the bits of those vectors that the claim does not speak of itself."""
        taken = {bit for bits in self._free.values() for bit in bits}
        return {
            str(signal): input_lane(str(signal), Int(cast(int, signal.bits), signed=False))
            for edge, vector in self._decide
            for signal in _untaken(vector, edge, taken)
        }

    def _tie(self) -> None:
        """Add to the facts that every other signal is what the equations give for the free ones."""
        terms = self._solver.terms
        given = {Signal.named(name): self._constant(lane) for name, lane in self._free_lanes.items()}
        unrolled = Unrolled(terms, self._equations, given)
        for name in sorted(name for name in self._lanes if name not in self._free and not is_ghost(name)):
            term, constant = unrolled.term(Signal.named(name)), self._constant(self._lanes[name])
            if term.sort() != constant.sort():
                raise NoSuchSignal(f"{name} has a width of {term.sort().bv_size()}, not {constant.sort().bv_size()}")
            terms.facts.append(terms.made("EQUAL", constant, term))

    def _constant(self, lane: Lane) -> Term:
        """The solver's constant that a signal is, as wide as the signal."""
        self._solver.terms.term(lane)
        return self._solver.terms.inputs[cast(Place, lane.detail)]

    def answer(self) -> Found | Impossible | Undecided:
        """What the solver says."""
        try:
            self._solver.require(self.sides.given)
            return self._solver.check(self.sides.differ)
        except Untranslatable as error:
            return Undecided(str(error))

    def without_example(self, answer: Impossible | Undecided) -> Finding:
        """Proved, unless no input at all fulfils the equations and what is given."""
        possible = self._solver.check() if isinstance(answer, Impossible) else answer
        if isinstance(possible, Impossible):
            return Finding("unknown", 0, reason="no input at all fulfils what is given")
        return Finding("unknown", 0, reason=answer.reason) if isinstance(answer, Undecided) else Finding("proved", 0)

    def smallest(self, first: Found) -> Finding:
        """The counter-example with the smallest inputs and registers."""
        free = [*self._free_lanes.values()]
        values, smallest = smallest_found(self._solver, free, self.sides.differ, first)
        last = self._solver.check(self.sides.differ, *(lane.equals(values[lane]) for lane in free))
        return replace(self.checked(last if isinstance(last, Found) else first), smallest=smallest)

    def checked(self, found: Found) -> Finding:
        """A counter-example, if the equations and the exact evaluator come to it too from what the solver found.

        Its values are those of the claim's signals, and all that decides them by the names that the sources have.
        """
        solved = Replay(self._equations, self._states(found))
        for name_of in (_shown, _own):  # a fault may lie between a register and the wire that shows it
            shown = {str(name_of(*each)): solved.value(name_of(*each)) for each in self._decide}
            replay = self._replay([shown[str(name_of(*each))] for each in self._decide])
            values = {name: self._number(name, found, replay) for name in self._lanes}
            if tells_apart(self.sides, values):
                others = {name: shown[name] for name in shown.keys() - values.keys()}
                return Finding("counter-example", 0, values | others)
        return Finding("unknown", 0, reason=f"solver and exact evaluation disagree on {values | shown}")

    def _states(self, found: Found) -> Mapping[int, int]:
        """By edge the bits that are free, as the solver has them."""
        states: dict[int, int] = {}
        for name, lane in self._free_lanes.items():
            bits, value = free_bits(self._equations, Signal.named(name)) or [], _value(found, lane)
            edge = Signal.named(name).edge
            states[edge] = placed(states.get(edge, 0), bits, value)
        return states

    def _replay(self, numbers: Iterable[int]) -> Replay:
        """From numbers of the vectors that decide alone."""
        states: dict[int, int] = {}
        for (edge, vector), number in zip(self._decide, numbers, strict=True):
            states[edge] = placed(states.get(edge, 0), vector.bits, number)
        return Replay(self._equations, states)

    def _number(self, name: str, found: Found, replay: Replay) -> int:
        """Of a signal of the claim, with its sign; a ghost is what the solver says."""
        lane = self._lanes[name]
        if is_ghost(name):
            return _value(found, lane)
        value, bits = replay.value(Signal.named(name)), self._constant(lane).sort().bv_size()
        return Int(bits, signed=lane.low < 0).wrapped(value)


def _shown(edge: int, vector: Vector) -> Signal:
    """By the wire of the sources that tells it."""
    return Signal(vector.shown, edge=edge)


def _own(edge: int, vector: Vector) -> Signal:
    """By the wire that it is."""
    return Signal(vector.wire, edge=edge)


def is_ghost(name: str) -> bool:
    """Whether a signal is none of the module: it stands beside it, for an invariant about what has happened."""
    return name.startswith("ghost.")


def _value(found: Found, lane: Lane) -> int:
    """Of an input; one that the question does not depend on is 0, or the number of its range next to it."""
    return found.values.get(cast(Place, lane.detail), min(max(0, lane.low), lane.high))


def _untaken(vector: Vector, edge: int, taken: set[tuple[int, int]]) -> Iterator[Signal]:
    """The bits of a vector that are not taken: the whole of it, or its parts."""
    places = groupby(enumerate(vector.bits), lambda place: (edge, place[1]) in taken)
    parts = [[k for k, _ in part] for is_taken, part in places if not is_taken]
    return (Signal(vector.wire, part[0], len(part), edge) for part in parts)


def _free(equations: Equations, names: Iterable[str]) -> dict[str, set[tuple[int, int]]]:
    """The signals that can have any value, with their bits: no two of them share one."""
    free: dict[str, set[tuple[int, int]]] = {}
    for name in names:
        signal = Signal.named(name)
        if is_ghost(name):
            continue
        bits = {(signal.edge, bit) for bit in free_bits(equations, signal) or []}
        if bits and not any(bits & taken for taken in free.values()):
            free[name] = bits
    return free
