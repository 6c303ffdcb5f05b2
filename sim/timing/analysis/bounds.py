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
from typing import NamedTuple

from sim.timing.analysis.chains import longest_chain, recurrence
from sim.timing.loops.loop import Loop
from sim.timing.model.core import Core
from sim.timing.model.operation import Operation, operations_on
from sim.timing.model.stream import Executed

Work = dict[frozenset[str], Fraction]
"""Cycles of pipe that are needed, by the pipes that can give them."""

Tails = Sequence[tuple[frozenset[str], Fraction]]
"""For how long pipes may be busy when their instruction is done: one of a set of pipes each."""


class Bound(NamedTuple):
    """Cycles that something takes at least, by its name and in a sentence."""

    name: str
    cycles: Fraction
    sentence: str


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
    operations = operations_on(core)
    tails = []
    for operation in (operations[one.instruction] for one in stream):
        for use in operation.uses:
            tail = use.start + use.cycles + (use.fraction or 0) - operation.done_after
            if tail > 0:
                tails.append((frozenset(use.pipes), Fraction(tail)))
    return _bounds(stream, core, latency, sum(one.taken for one in stream) - 1, tails)


def bounds_of_loop(loop: Loop, core: Core) -> Bounds:
    """What one iteration of a loop that runs for long takes at least, and why, in cycles: `binding` is the largest."""
    chain = recurrence(loop, core)
    members = " -> ".join(loop.body[number].instruction.form.mnemonic for number in chain.members)
    sentence = f"{members} waits for itself, {in_cycles(chain.cycles)} an iteration" if members else "no chain"
    return _bounds(loop.body, core, Bound("latency", chain.cycles, sentence), sum(one.taken for one in loop.body))


def _bounds(stream: Sequence[Executed], core: Core, latency: Bound, branches: int, tails: Tails = ()) -> Bounds:
    operations = operations_on(core)
    found = [operations[one.instruction] for one in stream]
    accesses = [operation for operation, one in zip(found, stream, strict=True) if one.loads or one.stores]
    at_most = core.width if core.order == "in" else inf
    slots = sum(int(min(operation.slots, at_most)) for operation in found)
    bounds = [Bound("issue", Fraction(slots, core.width), f"{slots} slots, {core.width} a cycle")]
    if core.order == "in" and (alone := sum(operation.first for operation in found)):
        sentence = f"{alone} instructions must be the first of their cycle"
        bounds.append(Bound("pairing", Fraction(alone), sentence))
    if (cycles := branches * core.taken_branch_interval) > 0:
        sentence = f"taken branches are {in_cycles(core.taken_branch_interval)} apart"
        bounds.append(Bound("taken branches", cycles, sentence))
    bounds.append(latency)
    pipes, cycles = tightest(work_of(accesses), tails)
    if cycles:
        bounds.append(_pipe_bound("memory", "loads and stores need", pipes, cycles))
    work = work_of(found)
    for pipes in dict.fromkeys([*work, *([tightest(work, tails)[0]] if work else [])]):
        bounds.append(_pipe_bound(f"pipe {_names(pipes)}", "the work needs", pipes, _load(work, pipes, tails)))
    return Bounds(tuple(sorted(bounds, key=lambda bound: -bound.cycles)))


def work_of(operations: Iterable[Operation]) -> Work:
    """What operations need of the pipes."""
    work: Work = defaultdict(Fraction)
    for operation in operations:
        for use in operation.uses:
            work[frozenset(use.pipes)] += use.cycles + (use.fraction or 0)
    return work


def tightest(work: Work, tails: Tails = ()) -> tuple[frozenset[str], Fraction]:
    """The pipes that are needed longest, and how long: the most, over sets of pipes, of what only they can do.

    Without the longest tails, one of each pipe, and divided by their number.  No pipes and 0 where there is no work.
    """
    sets: set[frozenset[str]] = set()
    for pipes in work:
        sets |= {pipes, *(pipes | other for other in sets)}
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
