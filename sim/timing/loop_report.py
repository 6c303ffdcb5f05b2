"""What the loops of a timed stream cost: cycles per iteration in their steady state, their share, their bounds.

Retirement times say little of few iterations: out of order, those that waited for the first retire faster than the loop
runs.  So a loop whose iterations are alike is timed as one that runs for long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from sim.timing.bounds import Bounds, bounds_of_loop
from sim.timing.core import Core
from sim.timing.found_loops import Entry, FoundLoop
from sim.timing.loop import Loop
from sim.timing.schedule import Schedule
from sim.timing.steady import time_loop
from sim.timing.stream import Executed

_SEARCHED = 3000
"""Instructions of a loop, about, that are simulated in search of its steady state: enough for most, and soon done."""
_MANY = 24
"""Iterations that say, without a steady state, what one takes: filling and draining the pipeline is in them too."""


@dataclass(frozen=True)
class LoopReport:
    """A loop of a stream.

    `head` is its first address, `iterations` all those that reached a branch back (a last one that leaves before it is
    not among them), in `entries` entries, with `instructions` in one.  `cycles_per_iteration` is that of the loop if it
    ran for long, where iterations are alike, exact if they come to repeat themselves; else the average of all; None
    where it is never repeated or calls itself.  `steady` says which.  `share` is the part of all cycles that pass in
    it, loops inside included.  `bounds` are those of one iteration, None for the average of all.
    """

    head: int
    entries: int
    iterations: int
    instructions: Fraction
    cycles_per_iteration: Fraction | None
    steady: str
    share: Fraction
    bounds: Bounds | None


class _Iteration(NamedTuple):
    """The cycles of an iteration, how they were found, and their bounds."""

    cycles: Fraction | None
    how: str
    bounds: Bounds | None = None


def loop_report(schedule: Schedule, found: FoundLoop) -> LoopReport:
    """What a loop of the schedule's stream costs."""
    lengths = [len(iteration) for iteration in found.iterations]
    outermost = _outermost(found.entries)
    cycles = sum(_cycles(schedule, entry) for entry in outermost)
    recursive = len(outermost) < len(found.entries)
    iteration = (
        _Iteration(None, "it calls itself: no steady state") if recursive else _iteration(schedule, found, cycles)
    )
    return LoopReport(
        found.head,
        len(found.entries),
        len(lengths),
        Fraction(sum(lengths), len(lengths)),
        iteration.cycles,
        iteration.how,
        Fraction(cycles, schedule.cycles),
        iteration.bounds,
    )


def _outermost(entries: Iterable[Entry]) -> list[Entry]:
    """Without those inside of others: a recursive function enters its loop again before it leaves it."""
    found: list[Entry] = []
    for entry in sorted(entries, key=lambda entry: (entry.start, -entry.end)):
        if not found or found[-1].end <= entry.start:
            found.append(entry)
    return found


def _cycles(schedule: Schedule, entry: Entry) -> int:
    """The cycles from the last retirement before an entry to its own last one."""
    before = schedule.retired[entry.start - 1] if entry.start else 0
    return schedule.retired[entry.end - 1] - before


def _iteration(schedule: Schedule, found: FoundLoop, cycles: int) -> _Iteration:
    """`cycles` are those of all entries."""
    if len(found.longest.iterations) < 2:
        return _Iteration(None, "it runs once: no steady state")
    loop = uniform_loop(schedule.stream, found.longest) if _one_way(schedule.stream, found.iterations) else None
    lasting = _lasting(loop, schedule.core) if loop else None
    return lasting or _Iteration(Fraction(cycles, len(found.iterations)), f"average of all {len(found.iterations)}")


def _lasting(loop: Loop, core: Core) -> _Iteration | None:
    """An iteration if the loop ran for long; None where too few can be simulated to say."""
    count = _SEARCHED // len(loop.body)
    if count < 2:
        return None
    timing, bounds = time_loop(loop, core, count), bounds_of_loop(loop, core)
    if timing.period:
        every = "iteration" if timing.period == 1 else f"{timing.period} iterations"
        return _Iteration(timing.per_iteration, f"repeats itself every {every}", bounds)
    if count < _MANY:
        return None
    cycles = max(timing.per_iteration, bounds.binding.cycles)
    return _Iteration(cycles, f"average of {count} iterations if it ran for long", bounds)


def _one_way(stream: Sequence[Executed], iterations: Iterable[range]) -> bool:
    """Whether all of them execute the same instructions."""
    return len({tuple(stream[number].pc for number in iteration) for iteration in iterations}) == 1


def uniform_loop(stream: Sequence[Executed], entry: Entry) -> Loop | None:
    """The loop that an entry runs through; None if there is one iteration, or these differ in what they execute.

    Addresses have to move by as much from each iteration to the next.
    """
    if len(entry.iterations) < 2 or not _one_way(stream, entry.iterations):
        return None
    bodies = [[stream[number] for number in iteration] for iteration in entry.iterations]
    if len({tuple(map(_sizes, body)) for body in bodies}) > 1:
        return None
    strides = {tuple(map(_strides, one, other)) for one, other in pairwise(bodies)}
    return Loop(tuple(bodies[0]), strides.pop()) if len(strides) == 1 else None


def _sizes(one: Executed) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(size for _, size in one.loads), tuple(size for _, size in one.stores)


def _strides(one: Executed, other: Executed) -> tuple[int, ...]:
    befores, afters = (*one.loads, *one.stores), (*other.loads, *other.stores)
    return tuple(after - before for (before, _), (after, _) in zip(befores, afters, strict=True))
