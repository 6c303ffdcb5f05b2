"""A module and a mutant side by side, in states that have the same bits but for some, as terms of the solver."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Final

from isa.errors import LanewiseError
from isa.evaluate.smt import Found, Impossible, Solver
from isa.evaluate.smt_terms import Term
from isa.lane import Int
from rtl_models.formal.equations.smt2 import Equations
from rtl_models.formal.equations.unrolling import Moment, TermBit
from rtl_models.mutation.netlist import SELECT
from sim.prove.claim import input_lane

READY: Final = "ready_i"
"""The input that says whether a result is taken."""
MOST_SPOILT: Final = 40
"""Bits of registers: a mutant that spoils more reaches an output in the end, and time is better spent on theorems."""
_VALID: Final = "valid_o"
_ALWAYS_SEEN: Final = (_VALID, "ready_o")
_State = Mapping[int, TermBit]
"""By the number of a bit of the state."""
Ranges = Mapping[str, tuple[int, int]]
"""By wire the least and the greatest number that it has in any state behind a reset, without sign."""
NO_RANGES: Final[Ranges] = {}


class Late(LanewiseError):
    """The time is over."""


class Copies:
    """The module and the mutant in states that have the same bits but for the spoilt ones, and numbers in ranges."""

    def __init__(
        self,
        equations: Equations,
        mutant: int,
        spoilt: frozenset[int],
        edges: int,
        deadline: float,
        ranges: Ranges = NO_RANGES,
    ) -> None:
        self._equations, self._spoilt = equations, spoilt
        self._solver = Solver(deadline)
        self._terms = self._solver.terms
        shared = self._state("state")
        for edge in range(edges):
            fresh, before = self._state(f"state after edge {edge}"), self._selected(0, shared)
            self._terms.facts.append(self._terms.made("NOT", self._waiting(before)))
            following = before.following()
            shared = fresh | {at: TermBit(term, k) for term, places in following for k, at in enumerate(places)}
        other = self._state("spoilt")
        self._one = self._selected(0, shared)
        self._terms.facts += [self._inside(self._one, wire, ends) for wire, ends in ranges.items()]
        self._other = self._selected(mutant, shared | {bit: other[bit] for bit in spoilt})

    def newly_spoilt(self) -> frozenset[int] | None:
        """The bits of registers that an edge may spoil besides; None where an output may differ.  Raises Late."""
        outputs = []
        for port in self._equations.outputs:
            one, other = (copy.wire(port) for copy in (self._one, self._other))
            difference = self._terms.made("BV_XOR", one, other)
            if port not in _ALWAYS_SEEN and _VALID in self._equations.outputs:  # seen only where `valid_o` is 1
                valid = self._terms.made("EQUAL", self._one.wire(_VALID), self._number(1, 1))
                none = self._number(0, difference.sort().bv_size())
                difference = self._terms.made("ITE", valid, difference, none)
            outputs.append(difference)
        if self._solutions(outputs):
            return None
        registers, bits = [], []
        for (one, places), (other, _) in zip(self._one.following(), self._other.following(), strict=True):
            kept = sum((place not in self._spoilt) << k for k, place in enumerate(places))
            if kept and one != other:
                difference = self._terms.made("BV_XOR", one, other)
                registers.append(self._terms.made("BV_AND", difference, self._number(kept, len(places))))
                bits += places
        found = self._solutions(registers)
        return frozenset(bit for k, bit in enumerate(bits) if found >> k & 1)

    def waits(self) -> bool:
        """Whether the module keeps its registers at an edge at which a result waits.  Raises Late."""
        state = self._state("waiting")
        before = self._selected(0, state)
        self._terms.facts.append(self._waiting(before))
        changes = []
        for term, places in before.following():
            bits = [self._terms.made("BV_EXTRACT", state[p].term, indices=[state[p].bit] * 2) for p in reversed(places)]
            kept = bits[0] if len(bits) == 1 else self._terms.made("BV_CONCAT", *bits)
            changes.append(self._terms.made("BV_XOR", term, kept))
        return not self._solutions(changes)

    def keeps(self, ranges: Ranges) -> bool:
        """Whether numbers are in these ranges during a reset, and stay there at any edge.  Raises Late."""
        begun, state = self._selected(0, self._state("in reset")), self._state("before")
        in_reset = self._terms.made("EQUAL", begun.wire("rst_ni"), self._number(0, 1))
        before = self._selected(0, state)
        self._terms.facts += [self._inside(before, wire, ends) for wire, ends in ranges.items()]
        kept = {at: TermBit(term, k) for term, places in before.following() for k, at in enumerate(places)}
        after = self._selected(0, self._state("behind") | kept)
        zero, one = self._number(0, 1), self._number(1, 1)
        wrong = []
        for wire, ends in ranges.items():
            beginning, following = (self._inside(moment, wire, ends) for moment in (begun, after))
            wrong.append(self._terms.made("ITE", in_reset, self._terms.made("ITE", beginning, zero, one), zero))
            wrong.append(self._terms.made("ITE", following, zero, one))
        return not self._solutions(wrong)

    def _inside(self, moment: Moment, wire: str, ends: tuple[int, int]) -> Term:
        """That a wire has a number of a range."""
        number = moment.wire(wire)
        low, high = (self._number(end, number.sort().bv_size()) for end in ends)
        above, below = self._terms.made("BV_UGE", number, low), self._terms.made("BV_ULE", number, high)
        return self._terms.made("AND", above, below)

    def _state(self, name: str) -> dict[int, TermBit]:
        """A constant for all bits of the state."""
        bits = self._equations.state_bits
        constant = self._terms.manager.mk_const(self._terms.manager.mk_bv_sort(bits), name)
        return {bit: TermBit(constant, bit) for bit in range(bits)}

    def _number(self, value: int, bits: int) -> Term:
        return self._terms.manager.mk_bv_value(self._terms.manager.mk_bv_sort(bits), value)

    def _selected(self, mutant: int, state: _State) -> Moment:
        """The wires of the state in which the input that selects has this number."""
        places = self._equations.bits_of(self._equations.wire(SELECT)) or []
        number = self._number(mutant, len(places))
        selecting = {place: TermBit(number, k) for k, place in enumerate(places)}
        return Moment(self._terms, self._equations, {**state, **selecting})

    def _waiting(self, copy: Moment) -> Term:
        """That a result is there and not taken, and nothing is reset."""
        ports = {_VALID: 1, READY: 0, "rst_ni": 1}
        values = [self._terms.made("EQUAL", copy.wire(p), self._number(v, 1)) for p, v in ports.items()]
        return reduce(lambda one, other: self._terms.made("AND", one, other), values)

    def _solutions(self, words: list[Term]) -> int:
        """The bits of the words, one after the other, that can be 1.  Raises Late."""
        if not words:
            return 0
        word = reduce(lambda low, high: self._terms.made("BV_CONCAT", high, low), words)
        bits = word.sort().bv_size()
        lane = input_lane(f"difference {len(self._terms.facts)} of {bits} bits", Int(bits, False))
        self._terms.term(lane)
        self._terms.facts.append(self._terms.made("EQUAL", self._terms.inputs[lane.place], word))
        found = 0
        while isinstance(answer := self._solver.check((lane & (lane.high ^ found)) > 0), Found):
            found |= answer.values[lane.place]
            if found.bit_count() > MOST_SPOILT:
                return found
        if not isinstance(answer, Impossible):
            raise Late
        return found
