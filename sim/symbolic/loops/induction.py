"""Code followed to its end whatever lengths are: each loop once, from the state of any iteration.

At the head of a loop stands the state of iteration t as an expression of t, made from what the first round does.  A
round from it must end in that of t + 1: then every iteration begins in such a state.  What is known of t besides is
that the round before went back to the head, and what is shown by induction of the numbers that decide about the end.
docs/proving.md has the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import Final

from isa.errors import MISMATCH, LanewiseError
from isa.lane import Binary, Constant, Lane, Place, Read, operands_first, walk
from sim.symbolic.following.flow import Flow
from sim.symbolic.following.machine import FPSR, SP, Ways
from sim.symbolic.loops.code import CodeLoops
from sim.symbolic.loops.facts import ITERATION, Facts
from sim.symbolic.loops.form import Carried, Summed, plain
from sim.symbolic.loops.machine import AnyLengthMachine, LoopState
from sim.symbolic.nodes import LinearSum

MOST_WAYS: Final = 600
"""Ways through the code that are followed, those of all rounds together."""
MOST_FORMS: Final = 24
"""Forms of what a loop carries along that are tried."""
MOST_STRAIGHT: Final = 20_000
"""Instructions of a round that is followed to see whether a loop's count is known."""


class NoInduction(LanewiseError):
    """Code that is not shown to do its work for any length: where, and what is in the way."""

    exit_code = MISMATCH


@dataclass
class InductionLoop:
    """A loop that is in a state of a known form in each iteration.

    `iteration` is its leaf, `sums` are what is summed up, by the leaves for that; `within` is whether it is part of
    another.
    """

    head: int
    iteration: Lane
    within: bool
    sums: dict[Lane, Summed]


class Induction:
    """Follows code on a machine; `longest` is the greatest length, and so many iterations a loop may have at most.

    `loops` are those that were met, in the order in which they are entered.
    """

    def __init__(self, machine: AnyLengthMachine, flow: Flow, facts: Facts, longest: int) -> None:
        self._machine, self._facts, self._longest, self._s = machine, facts, longest, machine.s
        self._code = CodeLoops(flow)
        self._leaves, self._iterations = count(), count()
        self._followed = 0
        self.loops: list[InductionLoop] = []

    def ends(self, state: LoopState, until: int) -> list[LoopState]:
        """The states in which the code comes to an address, with accesses checked and stores noted.

        Raises NoInduction, NotFollowed and what an instruction raises.
        """
        self._code.enter(state.pc)
        self._machine.checking = True
        return self._follow(state, until, (), frozenset())

    def _follow(self, start: LoopState, until: int, heads: tuple[int, ...], body: frozenset[int]) -> list[LoopState]:
        """All ways to `until`; of a body those out of it, and back to its head, which is the last of `heads`."""
        level, is_first = len(start.returns), bool(heads)
        pending, ends = [start], list[LoopState]()
        while pending:
            state = pending.pop()
            self._followed += 1
            if self._followed > MOST_WAYS:
                raise self._error(state.pc, f"the code goes more than {MOST_WAYS} ways")
            ways = self._to_branch(state, until, level, heads, body, is_first)
            is_first = False
            if isinstance(ways, Ways):
                pending += self._sides(state, ways)
            elif ways:
                pending += self._loop(state, until, heads)
            else:
                ends.append(state)
        return ends

    def _to_branch(
        self, state: LoopState, until: int, level: int, heads: tuple[int, ...], body: frozenset[int], is_first: bool
    ) -> Ways | bool:
        """Follow the code to a branch, to the head of a loop (True) or to where it is followed to (False)."""
        while True:
            if not is_first:
                out = state.pc == until or (bool(body) and state.pc not in body) or state.pc in heads[-1:]
                if out and len(state.returns) == level:
                    return False
                if state.pc in self._code.heads:
                    return True
            is_first = False
            if self._machine.executed >= (most := self._machine.most_instructions):
                raise self._error(state.pc, f"it did not end within {most:,} instructions")
            ways = self._machine.step(state)
            if isinstance(ways, Ways):
                return ways
            if state.returns and ways == state.returns[-1]:
                state.returns = state.returns[:-1]
            elif state.returns and state.returns[-1] == state.pc + 4:
                self._code.enter(ways)
            state.pc = ways

    def _sides(self, state: LoopState, ways: Ways) -> Iterator[LoopState]:
        """The ways of a branch that some length goes."""
        opposite = self._s.difference(self._s.number(1), ways.condition)
        sides = [(ways.condition, ways.taken), (opposite, ways.not_taken)]
        possible = [side for side in sides if self._facts.possible((*state.assumed, side[0]))]
        for condition, pc in possible:
            side = state.copy(pc, condition)
            assert isinstance(side, LoopState)
            assumed = side.assumed if len(possible) > 1 else state.assumed
            yield replace(side, saturated=state.saturated, assumed=assumed)

    def _loop(self, entered: LoopState, until: int, heads: tuple[int, ...]) -> list[LoopState]:
        """The states in which a loop is left."""
        s, machine, around = self._s, self._machine, (*heads, entered.pc)
        body = self._code.body(entered.pc, heads)
        if self._is_straight(entered, body):
            return self._round(entered, until, around, body)
        registers = {**entered.registers, FPSR: machine.held(entered, FPSR)}
        start = replace(entered, registers=registers, apart=(), saturated=())
        checking, machine.checking = machine.checking, False
        first = self._back(self._round(start, until, around, body), entered.pc)
        if not first:
            machine.checking = checking
            return self._round(start, until, around, body)
        iteration = s.made(Read(Place(ITERATION, next(self._iterations)), 0, self._longest))
        after = s.total(s.sum_of(iteration).plus(LinearSum({}, 1)))
        carried = Carried(machine, start, self._leaves)
        carried.guess(first[0])
        for _ in range(MOST_FORMS):
            back = self._back(self._round(carried.at(iteration), until, around, body), entered.pc)
            unlike = carried.unlike(back, after)
            if not unlike:
                break
            for what in unlike:
                carried.weaken(what, first[0], back)
        else:
            raise self._error(entered.pc, "no form of what the loop carries along was found")
        form = carried.form
        if any(cell.place == SP for cell in (*form.grown, *form.summed, *form.unknown)):
            raise self._error(entered.pc, "the stack pointer is another in each round: stacks are not that deep")
        before = self._went_back(start, back, iteration)
        known = (*start.assumed, before, *self._kept(start, back, iteration, before))
        self._require_end(entered.pc, known, back, iteration)
        machine.checking = checking
        loop = InductionLoop(entered.pc, iteration, bool(heads), {})
        if checking:
            self.loops.append(loop)
        ends = self._round(replace(carried.at(iteration), assumed=known), until, around, body)
        back = self._back(ends, entered.pc)
        if carried.unlike(back, after):
            raise self._error(
                entered.pc, "a round of the loop does not leave what it carries along as the next needs it"
            )
        if back:
            loop.sums |= carried.sums(back)
        return [end for end in ends if end.pc != entered.pc]

    @staticmethod
    def _back(ends: Iterable[LoopState], head: int) -> list[LoopState]:
        return [end for end in ends if end.pc == head]

    def _round(self, start: LoopState, until: int, heads: tuple[int, ...], body: frozenset[int]) -> list[LoopState]:
        copy = replace(start, registers=dict(start.registers), memory=dict(start.memory))
        return self._follow(copy, until, heads, body)

    def _is_straight(self, entered: LoopState, body: frozenset[int]) -> bool:
        """Whether a round meets no branch that is not decided."""
        machine, level = self._machine, len(entered.returns)
        state = replace(entered, registers=dict(entered.registers), memory=dict(entered.memory))
        checking, machine.checking = machine.checking, False
        try:
            for _ in range(MOST_STRAIGHT):
                ways = machine.step(state)
                if isinstance(ways, Ways):
                    return False
                if state.returns and ways == state.returns[-1]:
                    state.returns = state.returns[:-1]
                state.pc = ways
                if len(state.returns) == level and (ways == entered.pc or ways not in body):
                    return True
        finally:
            machine.checking = checking
        raise self._error(entered.pc, "a round of the loop does not end")

    def _went_back(self, start: LoopState, back: Sequence[LoopState], iteration: Lane) -> Lane:
        """1 where it is iteration 0, or where the one before went back: what it says of lengths and iterations."""
        s = self._s
        holds = s.computed("equal", iteration, 0)
        for end in back:
            conditions = [self._before(one, iteration) for one in self._own(start, end, iteration)]
            way = reduce(lambda a, b: s.computed("and", a, b), conditions, s.number(1))
            holds = s.computed("maximum", holds, way)
        return holds

    def _own(self, start: LoopState, end: LoopState, iteration: Lane) -> list[Lane]:
        """The conditions of a round that speak of lengths and of no loop within."""
        assert isinstance(iteration, Read)
        newest: int = iteration.place.index  # type: ignore[assignment]  # no leaf has an open index
        return [
            one
            for one in end.assumed[len(start.assumed) :]
            if self._facts.is_of_lengths(one)
            and all(
                node.place.index <= newest  # type: ignore[operator]  # no leaf has an open index
                for node in walk([one])
                if isinstance(node, Read) and node.place.file == ITERATION
            )
        ]

    def _before(self, lane: Lane, iteration: Lane) -> Lane:
        """The lane as it was in the iteration before."""
        return self._with(lane, iteration, self._s.difference(iteration, self._s.number(1)))

    def _with(self, lane: Lane, leaf: Lane, other: Lane) -> Lane:
        known: dict[Lane, Lane] = {leaf: other}
        for node in operands_first([lane], known):
            known[node] = self._s.again(node, [known[arg] for arg in node.args])
        return known[lane]

    def _kept(self, start: LoopState, back: Sequence[LoopState], iteration: Lane, before: Lane) -> list[Lane]:
        """What holds in each iteration of the numbers whose comparison sends back: they have not passed the end."""
        s, found = self._s, dict[Lane, None]()
        for end in back:
            for node in operands_first(self._own(start, end, iteration)):
                if isinstance(node, Binary) and node.operator in ("equal", "less") and isinstance(node.b, Constant):
                    compared = s.sum_of(s.difference(plain(s, node.a, 64), node.b))
                    grown = compared.terms.get(iteration, 0)
                    for least in (0, 1) if grown else ():
                        towards = s.total(compared.times(-1 if grown > 0 else 1))
                        found[s.difference(s.number(1), s.computed("less", towards, least))] = None
        zero = s.number(0)
        kept = [one for one in found if self._facts.follows(start.assumed, self._with(one, iteration, zero))]
        after = s.total(s.sum_of(iteration).plus(LinearSum({}, 1)))
        while True:
            known = (*start.assumed, before, *kept)
            still = [
                one
                for one in kept
                if all(self._facts.follows((*known, *end.assumed), self._with(one, iteration, after)) for end in back)
            ]
            if len(still) == len(kept):
                return kept
            kept = still

    def _require_end(self, head: int, known: Sequence[Lane], back: Sequence[LoopState], iteration: Lane) -> None:
        """That no iteration beyond the greatest length goes back, so that the leaf stands for all there are."""
        bound = self._s.computed("less", iteration, self._longest)
        if not all(self._facts.follows((*known, *end.assumed), bound) for end in back):
            raise self._error(head, "it is not shown that the loop ends")

    def _error(self, pc: int, reason: str) -> NoInduction:
        return NoInduction(f"at {pc:#x} ({self._machine.line_of(pc)}): {reason}")
