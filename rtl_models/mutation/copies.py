"""A module and a mutant side by side, in states that have the same bits but for some, as terms of the solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Final, cast

from isa.evaluate.smt import Found, Impossible, Solver
from isa.evaluate.smt_terms import Term
from isa.lane import Int, Lane, Place
from rtl_models.formal.smt2 import Equations
from rtl_models.formal.unrolling import Moment, Source
from rtl_models.mutation.netlist import SELECT
from sim.check.prove import input_lane

READY: Final = "ready_i"
"""The input that says whether a result is taken."""
MOST_SPOILT: Final = 40
"""Bits of registers: a mutant that spoils more reaches an output in the end, and time is better spent on theorems."""
_VALID: Final = "valid_o"
_ALWAYS_SEEN: Final = (_VALID, "ready_o")
_State = Mapping[int, Source]
"""By the number of a bit of the state."""


class Late(Exception):
    """The time is over."""


class Copies:
    """The module and the mutant in states that have the same bits but for the spoilt ones."""

    def __init__(self, equations: Equations, mutant: int, spoilt: frozenset[int], edges: int, deadline: float) -> None:
        self._equations, self._spoilt = equations, spoilt
        self._solver = Solver(deadline)
        self._terms = self._solver.terms
        shared = self._state("state")
        for edge in range(edges):
            shared = self._state(f"state after edge {edge}") | self._moved(shared)
        other = self._state("spoilt")
        self._one = self._selected(0, shared)
        self._other = self._selected(mutant, shared | {bit: other[bit] for bit in spoilt})

    def newly_spoilt(self) -> frozenset[int] | None:
        """The bits of registers that an edge may spoil besides; None where an output may differ.  Raises Late."""
        if self._solutions(list(self._outputs())):
            return None
        differences = list(self._registers())
        bits = [bit for _, places in differences for bit in places]
        found = self._solutions([difference for difference, _ in differences])
        return frozenset(bit for k, bit in enumerate(bits) if found >> k & 1)

    def waits(self) -> bool:
        """Whether the module keeps its registers at an edge at which a result waits.  Raises Late."""
        state = self._state("waiting")
        before = self._selected(0, state)
        self._terms.facts.append(self._waiting(before))
        changes = (self._terms.made("BV_XOR", term, self._bits(state, at)) for term, at in before.following())
        return not self._solutions(list(changes))

    def _bits(self, state: _State, places: list[int]) -> Term:
        """Some bits of a state, the first place lowest."""
        parts = [self._terms.made("BV_EXTRACT", state[p].term, indices=[state[p].bit] * 2) for p in reversed(places)]
        return parts[0] if len(parts) == 1 else self._terms.made("BV_CONCAT", *parts)

    def _state(self, name: str) -> dict[int, Source]:
        """A constant for all bits of the state."""
        bits = self._equations.state_bits
        constant = self._terms.manager.mk_const(self._terms.manager.mk_bv_sort(bits), name)
        return {bit: Source(constant, bit) for bit in range(bits)}

    def _number(self, value: int, bits: int) -> Term:
        return self._terms.manager.mk_bv_value(self._terms.manager.mk_bv_sort(bits), value)

    def _with(self, port: str, value: int, state: _State) -> dict[int, Source]:
        """The state with a number on an input port."""
        places = self._equations.bits_of(self._equations.wire(port)) or []
        number = self._number(value, len(places))
        return {**state, **{place: Source(number, k) for k, place in enumerate(places)}}

    def _selected(self, mutant: int, state: _State) -> Moment:
        return Moment(self._terms, self._equations, self._with(SELECT, mutant, state))

    def _moved(self, state: _State) -> dict[int, Source]:
        """What the registers of the module are after an edge at which no result waits."""
        before = self._selected(0, state)
        self._terms.facts.append(self._terms.made("NOT", self._waiting(before)))
        return {place: Source(term, k) for term, places in before.following() for k, place in enumerate(places)}

    def _waiting(self, copy: Moment) -> Term:
        """That a result is there and not taken, and nothing is reset."""
        ports = {_VALID: 1, READY: 0, "rst_ni": 1}
        values = [self._terms.made("EQUAL", copy.wire(p), self._number(v, 1)) for p, v in ports.items()]
        return reduce(lambda one, other: self._terms.made("AND", one, other), values)

    def _outputs(self) -> Iterator[Term]:
        """Where the outputs differ; those beside a `valid_o` count only where that is 1."""
        for port in self._equations.outputs:
            one, other = (copy.wire(port) for copy in (self._one, self._other))
            difference = self._terms.made("BV_XOR", one, other)
            always = port in _ALWAYS_SEEN or _VALID not in self._equations.outputs
            yield difference if always else self._where_valid(difference)

    def _where_valid(self, difference: Term) -> Term:
        valid = self._terms.made("EQUAL", self._one.wire(_VALID), self._number(1, 1))
        return self._terms.made("ITE", valid, difference, self._number(0, difference.sort().bv_size()))

    def _registers(self) -> Iterator[tuple[Term, list[int]]]:
        """Where registers differ after an edge, and which bits of the state they are; spoilt ones do not count."""
        for (one, places), (other, _) in zip(self._one.following(), self._other.following(), strict=True):
            kept = sum((place not in self._spoilt) << k for k, place in enumerate(places))
            if kept and one != other:
                difference = self._terms.made("BV_XOR", one, other)
                yield self._terms.made("BV_AND", difference, self._number(kept, len(places))), places

    def _solutions(self, words: list[Term]) -> int:
        """The bits of the words, one after the other, that can be 1.  Raises Late."""
        if not words:
            return 0
        lane = self._as_lane(reduce(lambda low, high: self._terms.made("BV_CONCAT", high, low), words))
        found = 0
        while isinstance(answer := self._solver.check((lane & (lane.high ^ found)) > 0), Found):
            found |= answer.values[cast(Place, lane.detail)]
            if found.bit_count() > MOST_SPOILT:
                return found
        if not isinstance(answer, Impossible):
            raise Late
        return found

    def _as_lane(self, term: Term) -> Lane:
        """A number for a claim that has the value of the term."""
        bits = term.sort().bv_size()
        lane = input_lane(f"difference {len(self._terms.facts)} of {bits} bits", Int(bits, False))
        self._terms.term(lane)
        constant = self._terms.inputs[cast(Place, lane.detail)]
        self._terms.facts.append(self._terms.made("EQUAL", constant, term))
        return lane
