"""The loops of an executed stream: taken branches to an address before them, and what is executed in between.

Which branch was taken says what a loop is, not the code: one of which only a first iteration was executed is not found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sim.timing.loops.loop_walk import Entry, LoopWalk, nested
from sim.timing.model.stream import Executed

__all__ = ["Entry", "FoundLoop", "Steady", "find_loops", "hottest", "steady"]

_LEFT_OUT = 4
"""Of the iterations of an entry, one in so many is not steady yet."""


class Steady(NamedTuple):
    """A number of iterations, between two instructions of the stream that each end one.

    In a schedule they take `retired[last] - retired[first]` cycles.
    """

    first: int
    last: int
    iterations: int


@dataclass(frozen=True)
class FoundLoop:
    """A loop of a stream, known by its head.

    `branches` are the addresses of the taken branches back to `head`, `calls` those of the functions called from it.
    `instructions` counts what is executed in its entries and in no loop inside of them.
    """

    head: int
    branches: tuple[int, ...]
    entries: tuple[Entry, ...]
    calls: tuple[int, ...]
    instructions: int

    @property
    def iterations(self) -> tuple[range, ...]:
        """Those of all entries, as indices of the stream."""
        return tuple(iteration for entry in self.entries for iteration in entry.iterations)

    @property
    def longest(self) -> Entry:
        """The first of the entries with the most iterations."""
        return max(self.entries, key=lambda entry: len(entry.iterations))


def find_loops(stream: Sequence[Executed]) -> tuple[FoundLoop, ...]:
    """The loops in the order in which they are first entered; none in a program of intrinsics, which never branches.

    The branch of a loop was taken at least once, and an iteration reached it.  A call belongs to the iteration that
    makes it, and the loops in it are inside of that.
    """
    walk = LoopWalk(stream)
    whole = {entry.head for entry in walk.entries if entry.iterations}
    entries = defaultdict[int, list[Entry]](list)
    instructions = Counter[int | None]()
    for entry in nested(entry for entry in walk.entries if entry.head in whole):
        entries[entry.head].append(entry)
        instructions[entry.head] += entry.end - entry.start
        instructions[entry.around] -= entry.end - entry.start
    return tuple(
        FoundLoop(
            head, tuple(sorted(walk.branches[head])), tuple(found), tuple(sorted(walk.calls[head])), instructions[head]
        )
        for head, found in entries.items()
    )


def hottest(loops: Iterable[FoundLoop]) -> FoundLoop | None:
    """The loop in which most is executed, loops inside left out; None where there is none."""
    return max(loops, key=lambda loop: loop.instructions, default=None)


def steady(entry: Entry) -> Steady | None:
    """The iterations after the first quarter of them, one at least left out; None where fewer than two are whole."""
    count = len(entry.iterations)
    skipped = -(-count // _LEFT_OUT)
    if skipped == count:
        return None
    return Steady(entry.iterations[skipped - 1][-1], entry.iterations[-1][-1], count - skipped)
