"""A loop without end: simulated until the pipeline is in a state that it was in before, then counted on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sim.timing.loops.loop import Loop
from sim.timing.model.core import Core
from sim.timing.model.pipeline import pipeline, uncollected
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.timing.native.library import why_not
from sim.timing.native.scheduling import native_schedule
from sim.timing.native.tables import NotNative

USUAL_SEARCH = 10_000
"""Instructions in which a loop comes to its steady state, if to any; then one that ends is simulated to its end."""
LONGEST_SEARCH = 2_000_000
"""Instructions that are simulated in search of a steady state, and at most without one."""
MOST_IN_FLIGHT = 2_000
"""Instructions between dispatch and retirement; where there are more, dispatch runs ahead and never comes back."""
FEW_IN_FLIGHT = 512
"""Up to as many, every state is kept; beyond, where states are large, not one with more in flight than any before."""


@dataclass(frozen=True)
class LoopTiming:
    """The cycles of so many iterations, the first and the drained last ones included.

    After `warm_up` iterations the loop repeats itself every `period` iterations, at `per_iteration` cycles each.
    Where a loop ended before that, `period` is 0 and `per_iteration` its average.
    """

    cycles: int
    per_iteration: Fraction
    warm_up: int
    period: int


@lru_cache(maxsize=64)
def time_loop(loop: Loop, core: Core, count: int) -> LoopTiming:
    """`count` iterations of a loop on a core; every branch that closes one is predicted.  The last answers are kept.

    Exact: the same cycles as the simulation of every instruction.  Raises ValueError for a count below 1, and for a
    loop too long to simulate where no steady state is found (accesses that move differently and meet).
    """
    if count < 1:
        raise ValueError(f"a loop runs once or more, not {count} times")
    search = _Search(loop, core, count)
    if search.period is None:
        total = search.cycles
        return LoopTiming(total, Fraction(total, count), count, 0)
    first, last, cycles = search.period
    periods, rest = divmod(count - first, last - first)
    engine = pipeline(core)
    with uncollected():
        engine.feed(one for number in range(first + rest) for one in loop.iteration(number))
    return LoopTiming(engine.schedule().cycles + periods * cycles, Fraction(cycles, last - first), first, last - first)


class _Search:
    """Simulates until a state comes again: `period` is then its two iterations and the cycles between them.

    Else `cycles` are those of all iterations, in C if that takes long.
    """

    def __init__(self, loop: Loop, core: Core, count: int) -> None:
        self.period: tuple[int, int, int] | None = None
        self._in_c: int | None = None
        self._loop, self._core, self._count = loop, core, count
        self._engine = pipeline(core)
        self._most_in_flight = FEW_IN_FLIGHT
        self._repeats = _repeats(loop, count)
        with uncollected():
            self._engine.feed(self._instructions())

    @property
    def cycles(self) -> int:
        """Of all iterations, where there is no period."""
        return self._engine.schedule().cycles if self._in_c is None else self._in_c

    def _instructions(self) -> Iterator[Executed]:
        """Until a state comes again.

        One with more in flight than any before is new, and can repeat later only.  What the addresses of an iteration
        decide, besides which store a load meets, is part of the state.
        """
        engine, size = self._engine, self._core.unaligned_bytes
        has_end = self._count * len(self._loop.body) <= LONGEST_SEARCH
        seen: dict[Hashable, tuple[int, int]] = {}
        for number in range(self._count):
            if number * len(self._loop.body) > LONGEST_SEARCH:
                raise ValueError(
                    f"no steady state in {LONGEST_SEARCH} instructions: give a count of at most {number} iterations"
                )
            if has_end and number == USUAL_SEARCH // len(self._loop.body) + 1:
                self._repeats = False
                self._in_c = _cycles_in_c(self._loop, self._core, self._count)
                if self._in_c is not None:
                    return
            iteration, in_flight = self._loop.iteration(number), engine.in_flight
            grown = in_flight > self._most_in_flight
            self._most_in_flight = max(in_flight, self._most_in_flight)
            if self._repeats and in_flight < MOST_IN_FLIGHT and not grown:
                alignments = [address % size for one in iteration for address, _ in one.loads] if size else ()
                first, at = seen.setdefault((engine.state(), tuple(alignments)), (number, engine.now))
                if first < number:
                    self.period = first, number, engine.now - at
                    return
            yield from iteration


def _cycles_in_c(loop: Loop, core: Core, count: int) -> int | None:
    """Of all iterations; None where there is no compiler, or a core that C cannot have."""
    if why_not():
        return None
    stream = array_stream([one for number in range(count) for one in loop.iteration(number)])
    try:
        return native_schedule(stream, core, mispredicted=frozenset()).cycles
    except NotNative:
        return None


def _repeats(loop: Loop, count: int) -> bool:
    """Whether a load meets the same earlier stores in every iteration: accesses that meet move alike."""
    stores = [span for one, strides in _accesses(loop) for span in _spans(one.stores, strides[len(one.loads) :], count)]
    loads = [span for one, strides in _accesses(loop) for span in _spans(one.loads, strides, count)]
    return all(
        stored[2] == loaded[2] or stored[1] <= loaded[0] or loaded[1] <= stored[0]
        for stored in stores
        for loaded in loads
    )


def _accesses(loop: Loop) -> Iterator[tuple[Executed, tuple[int, ...]]]:
    return zip(loop.body, loop.strides, strict=True)


def _spans(
    accesses: tuple[tuple[int, int], ...], strides: tuple[int, ...], count: int
) -> Iterator[tuple[int, int, int]]:
    """From where to where each access gets, and its stride."""
    for (address, size), stride in zip(accesses, strides, strict=False):
        last = address + stride * (count - 1)
        yield min(address, last), max(address, last) + size, stride
