"""The question that a claim about signals puts to the solver, and what it answers, played again without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from isa.evaluate.smt import Found, Impossible, Solver, Undecided
from isa.evaluate.smt_terms import Term, Untranslatable
from isa.lane import Int, Read
from rtl_models.formal.equations.replay import Replay, placed
from rtl_models.formal.equations.smt2 import Equations, NoSuchSignal, parsed
from rtl_models.formal.equations.support import mask, support_in
from rtl_models.formal.equations.unrolling import Unrolled, WireBits, free_bits
from sim.prove.claim import Claim, Finding, Sides, input_lane, left_open, sides_of, tells_apart
from sim.prove.shrink import smallest_found


class SolverQuestion:
    """Whether some state and inputs, and what follows from them, contradict the claim."""

    def __init__(self, sides: Sides, equations: str, deadline: float) -> None:
        self.sides = sides
        self._solver = Solver(deadline)
        self._lanes = {lane.place.file: lane for lane in sides.inputs}
        self._equations, self._support = parsed(equations), support_in(equations)
        self._free = _free(self._equations, self._lanes)
        reached = self._support.over_time(WireBits.named(name) for name in self._lanes if not is_ghost(name))
        vectors = [(vector, mask(vector.bits)) for vector in self._support.vectors]
        # the vectors, and the edges after which, on which depends what the claim speaks of
        self._decide = [(edge, vector) for edge in sorted(reached) for vector, bits in vectors if bits & reached[edge]]
        self._free_lanes = {**{name: self._lanes[name] for name in self._free}, **self._others()}
        # every other signal is what the equations give for the free ones
        terms = self._solver.terms
        given = {WireBits.named(name): self._constant(lane) for name, lane in self._free_lanes.items()}
        unrolled = Unrolled(terms, self._equations, given)
        for name in sorted(name for name in self._lanes if name not in self._free and not is_ghost(name)):
            term, constant = unrolled.term(WireBits.named(name)), self._constant(self._lanes[name])
            if term.sort() != constant.sort():
                raise NoSuchSignal(f"{name} has a width of {term.sort().bv_size()}, not {constant.sort().bv_size()}")
            terms.facts.append(terms.made("EQUAL", constant, term))

    def _others(self) -> dict[str, Read]:
        """Lanes for the bits of those vectors that the claim does not speak of itself: whole ones, or their parts."""
        taken = {bit for bits in self._free.values() for bit in bits}
        lanes = {}
        for edge, vector in self._decide:
            free = [(edge, bit) not in taken for bit in vector.bits]
            for part in [list(run) for is_free, run in groupby(range(len(free)), free.__getitem__) if is_free]:
                name = str(WireBits(vector.wire, part[0], len(part), edge))
                lanes[name] = input_lane(name, Int(len(part), signed=False))
        return lanes

    def _constant(self, lane: Read) -> Term:
        """The solver's constant that a signal is, as wide as the signal."""
        self._solver.terms.term(lane)
        return self._solver.terms.inputs[lane.place]

    def answer(self) -> Found | Impossible | Undecided:
        """What the solver says."""
        try:
            self._solver.require(self.sides.given)
            return self._solver.check(self.sides.differ)
        except Untranslatable as error:
            return Undecided(str(error))

    def without_example(self, answer: Impossible | Undecided) -> Finding:
        """Proved, where some input fulfils the equations and what is given."""
        reason = left_open(self._solver, answer)
        return Finding("unknown" if reason else "proved", 0, reason=reason)

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
        free: dict[int, int] = {}  # by edge the bits that are free, as the solver has them
        for name, lane in self._free_lanes.items():
            own = WireBits.named(name)
            bits = free_bits(self._equations, own) or []
            free[own.edge] = placed(free.get(own.edge, 0), bits, _value(found, lane))
        solved = Replay(self._equations, free)
        by_wire = [WireBits(vector.wire, edge=edge) for edge, vector in self._decide]
        by_sources = [WireBits(vector.shown, edge=edge) for edge, vector in self._decide]
        for signals in (by_sources, by_wire):  # a fault may lie between a register and the wire that shows it
            shown = {str(signal): solved.value(signal) for signal in signals}
            states: dict[int, int] = {}  # from numbers of the vectors that decide alone
            for (edge, vector), signal in zip(self._decide, signals, strict=True):
                states[edge] = placed(states.get(edge, 0), vector.bits, shown[str(signal)])
            replay = Replay(self._equations, states)
            values = {name: self._number(name, found, replay) for name in self._lanes}
            if tells_apart(self.sides, values):
                others = {name: shown[name] for name in shown.keys() - values.keys()}
                return Finding("counter-example", 0, values | others)
        return Finding("unknown", 0, reason=f"solver and exact evaluation disagree on {values | shown}")

    def _number(self, name: str, found: Found, replay: Replay) -> int:
        """Of a signal of the claim, with its sign; a ghost is what the solver says."""
        lane = self._lanes[name]
        if is_ghost(name):
            return _value(found, lane)
        value, bits = replay.value(WireBits.named(name)), self._constant(lane).sort().bv_size()
        return Int(bits, signed=lane.low < 0).wrapped(value)


def depends_on(claim: Claim, equations: str, wire: str) -> bool:
    """Whether any signal that a claim speaks of depends on a wire, before any edge or after one.

    Raises NoSuchSignal, UnreadableEquations.
    """
    names = (lane.place.file for lane in sides_of(claim).inputs)
    reached = support_in(equations).over_time(WireBits.named(name) for name in names if not is_ghost(name))
    of = parsed(equations)
    bits = mask(of.bits_of(of.wire(wire)) or [])
    return any(bits & each for each in reached.values())


def is_ghost(name: str) -> bool:
    """Whether a signal is none of the module: it stands beside it, for an invariant about what has happened."""
    return name.startswith("ghost.")


def _value(found: Found, lane: Read) -> int:
    """Of an input; one that the question does not depend on is 0, or the number of its range next to it."""
    return found.values.get(lane.place, min(max(0, lane.low), lane.high))


def _free(equations: Equations, names: Iterable[str]) -> dict[str, set[tuple[int, int]]]:
    """The signals that can have any value, with their bits: no two of them share one."""
    free: dict[str, set[tuple[int, int]]] = {}
    for name in names:
        signal = WireBits.named(name)
        if is_ghost(name):
            continue
        bits = {(signal.edge, bit) for bit in free_bits(equations, signal) or []}
        if bits and not any(bits & taken for taken in free.values()):
            free[name] = bits
    return free
