"""Which instructions of a schedule a view shows."""

from __future__ import annotations

from typing import Final

from sim.timing.loops.found_loops import find_loops, hottest
from sim.timing.model.schedule import Schedule

STEADY: Final = 40
"""Rows of a steady state that are readable at a glance."""


def window(schedule: Schedule, first: int, rows: int) -> range:
    """The numbers of `rows` instructions from `first` on, fewer at the end.  Raises ValueError where there is none."""
    count = len(schedule.stream)
    if not 0 <= first < count or rows < 1:
        raise ValueError(f"there is nothing to show of {rows} instructions from number {first} on: there are {count}")
    return range(first, min(first + rows, count))


def steady_window(schedule: Schedule, rows: int = STEADY) -> range:
    """The middle of the hottest loop, from the start of an iteration on; the start of a stream without loops.

    Raises ValueError for an empty stream.
    """
    loop = hottest(find_loops(schedule.stream))
    if loop is None:
        return window(schedule, 0, rows)
    iterations = loop.longest.iterations
    return window(schedule, iterations[len(iterations) // 2].start, rows)
