"""What no schedule can be faster than: the issue slots, each pipe, the latencies, memory, taken branches.

A bound of pipes is exact for its work: for a set of pipes, what only they can do, divided by their number.  A stream is
over when its last instruction is done: for how long pipes may still be busy then does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from math import inf
from typing import Final, NamedTuple

import numpy as np

from sim.timing.analysis.chains import longest_chain, recurrence
from sim.timing.loops.loop import Loop
from sim.timing.model.core import Core
from sim.timing.model.operation import Operation, operations_on
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream

Work = dict[frozenset[str], Fraction]
"""Cycles of pipe that are needed, by the pipes that can give them."""

MOST_SETS: Final = 2_000
"""Of pipes: a core of fifteen pipes, each of which shares work with one of them, can have sixteen thousand."""

Tails = Sequence[tuple[frozenset[str], Fraction]]
"""For how long pipes may be busy when their instruction is done: one of a set of pipes each."""


class Bound(NamedTuple):
    """Cycles that something takes at least, by its name and in a sentence."""

    name: str
    cycles: Fraction
    sentence: str


class _Counted(NamedTuple):
    """An operation, how often it is executed, and how often with an access to memory."""

    operation: Operation
    times: int
    accesses: int


@dataclass(frozen=True)
class Bounds:
    """The bounds of a stream, or of one iteration of a loop, largest first."""

    all: tuple[Bound, ...]

    @property
    def binding(self) -> Bound:
        """The one that allows the least."""
        return self.all[0]

    def excess(self, cycles: Fraction | int) -> Fraction:
        """By what part of the binding bound an estimate is above it: 1/10 is 10 %; 0 where there is nothing to do."""
        return cycles / self.binding.cycles - 1 if self.binding.cycles else Fraction(0)


def bounds_of_stream(stream: Sequence[Executed], core: Core) -> Bounds:
    """What a whole stream takes on a core at least, and why, in cycles: `binding` is the largest."""
    cycles = longest_chain(stream, core)
    latency = Bound("latency", cycles, f"the longest chain of results takes {in_cycles(cycles)}")
    tails, counted = list[tuple[frozenset[str], Fraction]](), _counted(stream, core)
    for operation, times, _ in counted:
        for use in operation.uses:
            tail = use.start + use.cycles + (use.fraction or 0) - operation.done_after
            if tail > 0:  # of more than there are pipes, none is looked at
                tails += [(frozenset(use.pipes), Fraction(tail))] * min(times, len(core.pipes))
    return _bounds(counted, core, latency, int(array_stream(stream).taken.sum()) - 1, tails)


def bounds_of_loop(loop: Loop, core: Core) -> Bounds:
    """What one iteration of a loop that runs for long takes at least, and why, in cycles: `binding` is the largest."""
    chain = recurrence(loop, core)
    members = " -> ".join(loop.body[number].instruction.form.mnemonic for number in chain.members)
    sentence = f"{members} waits for itself, {in_cycles(chain.cycles)} an iteration" if members else "no chain"
    taken = sum(one.taken for one in loop.body)
    return _bounds(_counted(loop.body, core), core, Bound("latency", chain.cycles, sentence), taken)


def _counted(stream: Sequence[Executed], core: Core) -> list[_Counted]:
    """The operations of a stream, as they come first."""
    arrays, operations = array_stream(stream), operations_on(core)
    numbers = arrays.instruction_of_site[arrays.site]
    accessing = (np.diff(arrays.loads.first) > 0) | (np.diff(arrays.stores.first) > 0)
    which, first, times = np.unique(numbers, return_index=True, return_counts=True)
    accesses = np.bincount(numbers[accessing], minlength=len(arrays.instructions))
    return [
        _Counted(operations[arrays.instructions[which[at]]], int(times[at]), int(accesses[which[at]]))
        for at in np.argsort(first).tolist()
    ]


def _bounds(counted: Sequence[_Counted], core: Core, latency: Bound, branches: int, tails: Tails = ()) -> Bounds:
    at_most = core.width if core.order == "in" else inf
    slots = sum(times * int(min(operation.slots, at_most)) for operation, times, _ in counted)
    bounds = [Bound("issue", Fraction(slots, core.width), f"{slots} slots, {core.width} a cycle")]
    if core.order == "in" and (alone := sum(times for one, times, _ in counted if one.first)):
        sentence = f"{alone} instructions must be the first of their cycle"
        bounds.append(Bound("pairing", Fraction(alone), sentence))
    if (cycles := branches * core.taken_branch_interval) > 0:
        sentence = f"taken branches are {in_cycles(core.taken_branch_interval)} apart"
        bounds.append(Bound("taken branches", cycles, sentence))
    bounds.append(latency)
    pipes, cycles = tightest(work_of((operation, times) for operation, _, times in counted if times), tails)
    if cycles:
        bounds.append(_pipe_bound("memory", "loads and stores need", pipes, cycles))
    work = work_of((operation, times) for operation, times, _ in counted)
    for pipes in dict.fromkeys([*work, *([tightest(work, tails)[0]] if work else [])]):
        bounds.append(_pipe_bound(f"pipe {_names(pipes)}", "the work needs", pipes, _load(work, pipes, tails)))
    return Bounds(tuple(sorted(bounds, key=lambda bound: -bound.cycles)))


def work_of(counted: Iterable[tuple[Operation, int]]) -> Work:
    """What operations need of the pipes, each so many times."""
    work: Work = defaultdict(Fraction)
    for operation, times in counted:
        for use in operation.uses:
            work[frozenset(use.pipes)] += times * (use.cycles + (use.fraction or 0))
    return work


def tightest(work: Work, tails: Tails = ()) -> tuple[frozenset[str], Fraction]:
    """The pipes that are needed longest, and how long: the most, over sets of pipes, of what only they can do.

    Without the longest tails, one of each pipe, and divided by their number.  No pipes and 0 where there is no work.
    Of two sets between which no work can choose one is needed at least as long as both together: they are not joined.
    Where that makes more than `MOST_SETS`, those of the fewest parts are looked at, and all pipes together: what they
    are needed for no schedule is faster than either.
    """
    sets, growing = dict.fromkeys(work), [*work]
    for some in growing:  # to which their unions are appended, those of the fewest parts first
        joined = [some | other for other in work if some & other and some | other not in sets]
        sets |= dict.fromkeys(joined)
        growing += dict.fromkeys(joined)
        if len(sets) > MOST_SETS:
            sets[frozenset[str]().union(*work)] = None
            break
    loads = {some: _load(work, some, tails) for some in sorted(sets, key=lambda some: (len(some), *sorted(some)))}
    pipes = max(loads, key=loads.__getitem__, default=frozenset[str]())
    return pipes, loads.get(pipes, Fraction(0))


def _load(work: Work, pipes: frozenset[str], tails: Tails) -> Fraction:
    needed = sum((cycles for some, cycles in work.items() if some <= pipes), Fraction(0))
    left = nlargest(len(pipes), (cycles for some, cycles in tails if some <= pipes))
    return max(needed - sum(left), Fraction(0)) / len(pipes)


def _pipe_bound(name: str, needs: str, pipes: frozenset[str], cycles: Fraction) -> Bound:
    each = " each" if len(pipes) > 1 else ""
    return Bound(name, cycles, f"{needs} {_names(pipes)} for {in_cycles(cycles)}{each}")


def _names(pipes: frozenset[str]) -> str:
    return " and ".join(sorted(pipes))


def in_cycles(cycles: Fraction | int) -> str:
    """Such as "1 cycle" and "2.78 cycles"."""
    return f"{float(cycles):.2f}".rstrip("0").rstrip(".") + (" cycle" if cycles == 1 else " cycles")
