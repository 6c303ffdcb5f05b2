"""Chains of dependences: how long a stream takes, and an iteration of a loop, if nothing but latencies matters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from sim.timing.analysis.dependences import dependences
from sim.timing.loops.loop import Loop
from sim.timing.model.core import Core
from sim.timing.model.operation import operations_on
from sim.timing.model.schedule import StallKind
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.timing.native.following import longest_chain as native_longest_chain
from sim.timing.native.scheduling import is_left_to_c
from sim.timing.native.tables import NotNative

_ITERATIONS = 4
"""Iterations of a loop in which dependences are looked for: one is found that reaches back over three."""


class Chain(NamedTuple):
    """The dependences that a loop cannot be faster than: cycles per iteration, and the instructions by their places
    in its body, each of which waits for the one before it and the first one for the last, an iteration earlier.
    """

    cycles: Fraction
    members: tuple[int, ...]


class _Node(NamedTuple):
    """The results of an instruction; or, out of order, its updated base register, which waits for the address only."""

    number: int
    base: bool


class _Arc(NamedTuple):
    """A node issues `cycles` after another one; `distance` iterations of a loop lie between."""

    before: _Node
    after: _Node
    cycles: Fraction | int
    distance: int = 0


def _arcs(stream: Sequence[Executed], core: Core) -> Iterator[list[_Arc]]:
    """For each instruction, what its nodes wait for."""
    apart = core.order == "out"
    for number, needs in enumerate(dependences(stream, core)):
        addresses = [need for need in needs if apart and need.kind is StallKind.ADDRESS]
        yield [
            _Arc(_Node(need.producer, need.base and apart), _Node(number, base), need.cycles)
            for base, some in ((False, needs), (True, addresses))
            for need in some
        ]


def longest_chain(stream: Sequence[Executed], core: Core) -> Fraction:
    """Cycles from the first issue to the last result of a stream if instructions waited for operands alone."""
    if is_left_to_c(stream):
        with suppress(NotNative):
            return native_longest_chain(array_stream(stream), core)
    operations, at = operations_on(core), defaultdict[_Node, Fraction | int](int)
    end: Fraction | int = 0
    for number, (one, arcs) in enumerate(zip(stream, _arcs(stream, core), strict=True)):
        for before, after, cycles, _ in arcs:
            at[after] = max(at[after], at[before] + cycles)
        end = max(end, at[_Node(number, False)] + operations[one.instruction].last_result)
    return Fraction(end)


def recurrence(loop: Loop, core: Core) -> Chain:
    """The cycle of dependences of a loop with the most cycles per iteration; 0 cycles where there is none.

    Dependences through memory are followed at the addresses of the first iterations.
    """
    size = len(loop.body)
    stream = list(chain.from_iterable(loop.iteration(number) for number in range(_ITERATIONS)))
    arcs = [
        _Arc(before._replace(number=before.number % size), after._replace(number=after.number % size), cycles,
             after.number // size - before.number // size)
        for arcs in list(_arcs(stream, core))[-size:]
        for before, after, cycles, _ in arcs
    ]  # fmt: skip
    best = Chain(Fraction(0), ())
    while found := _longer_cycle(arcs, best.cycles):
        cycles, distance = sum(arc.cycles for arc in found), sum(arc.distance for arc in found)
        best = Chain(Fraction(cycles) / distance, tuple(arc.before.number for arc in found))
    return best


def _longer_cycle(arcs: Sequence[_Arc], cycles: Fraction) -> list[_Arc]:
    """A cycle of more than so many cycles an iteration; empty if there is none (Bellman and Ford's method)."""
    length, last = defaultdict[_Node, Fraction](Fraction), dict[_Node, _Arc]()
    changed = True
    while changed:
        changed = False
        for arc in arcs:
            reached = length[arc.before] + arc.cycles - cycles * arc.distance
            if reached > length[arc.after]:
                length[arc.after], last[arc.after], changed = reached, arc, True
        if changed and (found := _closed(last)):
            return found
    return []


def _closed(last: dict[_Node, _Arc]) -> list[_Arc]:
    """A cycle among the last arcs to each node, in the order in which it is run through; empty if there is none."""
    done: set[_Node] = set()
    for start in last:
        seen: dict[_Node, _Arc] = {}
        node = start
        while node in last and node not in done and node not in seen:
            seen[node] = last[node]
            node = last[node].before
        if node in seen:
            members = list(seen.values())
            return members[list(seen).index(node) :][::-1]
        done.update(seen)
    return []
