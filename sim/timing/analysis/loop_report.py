"""What the loops of a timed stream cost: cycles per iteration in their steady state, their share, their bounds.

Retirement times say little of few iterations: out of order, those that waited for the first retire faster than the loop
runs.  So a loop whose iterations are alike is timed as one that runs for long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from sim.timing.analysis.bounds import Bounds, bounds_of_loop
from sim.timing.loops.found_loops import Entry, FoundLoop
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import AT_ONCE, array_stream

Array = np.ndarray[Any, Any]
SEARCHED: Final = 3000
"""Instructions of a loop, about, that are simulated in search of its steady state: enough for most, and soon done."""
_MANY = 24
"""Iterations that say, without a steady state, what one takes: filling and draining the pipeline is in them too."""


@dataclass(frozen=True, kw_only=True)
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
    outermost: list[Entry] = []  # a recursive function enters its loop again before it leaves it
    for entry in sorted(found.entries, key=lambda entry: (entry.start, -entry.end)):
        if not outermost or outermost[-1].end <= entry.start:
            outermost.append(entry)
    retired = [0, *schedule.retired]
    cycles = sum(retired[entry.end] - retired[entry.start] for entry in outermost)
    if len(outermost) < len(found.entries):
        iteration = _Iteration(None, "it calls itself: no steady state")
    else:
        iteration = _iteration(schedule, found, cycles)
    return LoopReport(
        head=found.head,
        entries=len(found.entries),
        iterations=len(lengths),
        instructions=Fraction(sum(lengths), len(lengths)),
        cycles_per_iteration=iteration.cycles,
        steady=iteration.how,
        share=Fraction(cycles, schedule.cycles),
        bounds=iteration.bounds,
    )


def _iteration(schedule: Schedule, found: FoundLoop, cycles: int) -> _Iteration:
    """An iteration if the loop ran for long, else the average of all; `cycles` are those of all entries."""
    if len(found.longest.iterations) < 2:
        return _Iteration(None, "it runs once: no steady state")
    loop = uniform_loop(schedule.stream, found.longest) if _one_way(schedule.stream, found.iterations) else None
    count = SEARCHED // len(loop.body) if loop else 0
    if loop and count >= 2:
        timing, bounds = time_loop(loop, schedule.core, count), bounds_of_loop(loop, schedule.core)
        if timing.period:
            every = "iteration" if timing.period == 1 else f"{timing.period} iterations"
            return _Iteration(timing.per_iteration, f"repeats itself every {every}", bounds)
        if count >= _MANY:
            average = max(timing.per_iteration, bounds.binding.cycles)
            return _Iteration(average, f"average of {count} iterations if it ran for long", bounds)
    return _Iteration(Fraction(cycles, len(found.iterations)), f"average of all {len(found.iterations)}")


def _one_way(stream: Sequence[Executed], iterations: Sequence[range]) -> bool:
    """Whether all of them execute the same instructions."""
    arrays = array_stream(stream)
    return _alike(arrays.pcs[arrays.site], iterations)


def _alike(column: Array, iterations: Sequence[range]) -> bool:
    """Whether all iterations have the same in a column of the stream."""
    first, *_ = iterations
    starts = np.array([iteration.start for iteration in iterations], np.int64)
    if any(len(iteration) != len(first) for iteration in iterations):
        return False
    for start in range(0, len(starts), AT_ONCE):
        rows = column[starts[start : start + AT_ONCE, None] + np.arange(len(first))]
        if (rows != column[first.start : first.stop]).any():
            return False
    return True


def uniform_loop(stream: Sequence[Executed], entry: Entry) -> Loop | None:
    """The loop that an entry runs through; None if there is one iteration, or these differ in what they execute.

    Addresses have to move by as much from each iteration to the next.
    """
    iterations, arrays = entry.iterations, array_stream(stream)
    if len(iterations) < 2 or not _one_way(arrays, iterations):
        return None
    first, *_ = iterations
    body = arrays[first.start : first.stop]
    strides = []
    for accesses in (arrays.loads, arrays.stores):
        if not _alike(np.diff(accesses.first), iterations):
            return None
        per = int(accesses.first[first.stop] - accesses.first[first.start])
        begins = accesses.first[[iteration.start for iteration in iterations]]
        places = begins[:, None] + np.arange(per)
        moved = np.diff(accesses.addresses[places], axis=0).view(np.int64)
        if (accesses.sizes[places] != accesses.sizes[places[0]]).any() or (moved != moved[0]).any():
            return None
        strides.append(moved[0].tolist())
    loads, stores = map(iter, strides)
    of_each = ([*islice(loads, len(one.loads)), *islice(stores, len(one.stores))] for one in body)
    return Loop(tuple(body), tuple(map(tuple, of_each)))
