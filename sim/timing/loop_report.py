"""What the loops of a timed stream cost: cycles per iteration in their steady state, their share, their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sim.timing.bounds import Bounds, bounds_of_loop
from sim.timing.found_loops import Entry, FoundLoop, steady
from sim.timing.loop import Loop
from sim.timing.schedule import Schedule
from sim.timing.stream import Executed

_LONGEST_PERIOD = 64


@dataclass(frozen=True)
class LoopReport:
    """A loop of a stream.

    `head` is its first address, `iterations` all those executed, in `entries` entries, with `instructions` in one.
    `cycles_per_iteration` is that of its steady state, None where it has none; `steady` says how that was found.
    `share` is the part of all cycles that pass in it, loops inside included.  `bounds` are those of one iteration, None
    where iterations differ.
    """

    head: int
    entries: int
    iterations: int
    instructions: Fraction
    cycles_per_iteration: Fraction | None
    steady: str
    share: Fraction
    bounds: Bounds | None


def loop_report(schedule: Schedule, found: FoundLoop) -> LoopReport:
    """What a loop of the schedule's stream costs."""
    per_iteration, how = _steady_state(schedule, found.longest)
    lengths = [len(iteration) for iteration in found.iterations]
    loop = uniform_loop(schedule.stream, found.longest)
    return LoopReport(
        found.head,
        len(found.entries),
        len(lengths),
        Fraction(sum(lengths), len(lengths)),
        per_iteration,
        how,
        Fraction(sum(_cycles(schedule, entry) for entry in found.entries), schedule.cycles),
        bounds_of_loop(loop, schedule.core) if loop else None,
    )


def _cycles(schedule: Schedule, entry: Entry) -> int:
    """The cycles from the last retirement before an entry to its own last one."""
    before = schedule.retired[entry.start - 1] if entry.start else 0
    return schedule.retired[entry.end - 1] - before


def _steady_state(schedule: Schedule, entry: Entry) -> tuple[Fraction | None, str]:
    part = steady(entry)
    if part is None:
        return None, "it runs once: no steady state"
    ends = [iteration[-1] for iteration in entry.iterations if part.first <= iteration[-1] <= part.last]
    took = [schedule.retired[after] - schedule.retired[before] for before, after in pairwise(ends)]
    period = _period(took)
    if period:
        return Fraction(sum(took[-period:]), period), f"repeats itself every {_count(period, 'iteration')}"
    last = _count(len(took), "iteration")
    return Fraction(sum(took), len(took)), f"average over the last {last} of {len(entry.iterations)}"


def _period(took: Sequence[int]) -> int:
    """After how many iterations the same cycles come again, seen twice over at least; 0 for never."""
    periods = range(1, min(_LONGEST_PERIOD, len(took) // 2) + 1)
    return next((period for period in periods if all(a == b for a, b in zip(took, took[period:], strict=False))), 0)


def _count(number: int, what: str) -> str:
    return what if number == 1 else f"{number} {what}s"


def uniform_loop(stream: Sequence[Executed], entry: Entry) -> Loop | None:
    """The loop that an entry runs through, by two of its middle iterations; None if these differ in their code."""
    middle = len(entry.iterations) // 2
    if not middle:
        return None
    first, second = ([stream[number] for number in entry.iterations[at]] for at in (middle - 1, middle))
    if [one.pc for one in first] != [one.pc for one in second] or not all(map(_same_accesses, first, second)):
        return None
    return Loop(tuple(first), tuple(map(_strides, first, second)))


def _same_accesses(one: Executed, other: Executed) -> bool:
    return [size for _, size in (*one.loads, *one.stores)] == [size for _, size in (*other.loads, *other.stores)]


def _strides(one: Executed, other: Executed) -> tuple[int, ...]:
    befores, afters = (*one.loads, *one.stores), (*other.loads, *other.stores)
    return tuple(after - before for (before, _), (after, _) in zip(befores, afters, strict=True))
