"""Which loads miss the first cache, and how much later their data come.

Set-associative, the least recently used line of a set goes, stores allocate, nothing is fetched ahead.  What the last
level does not hold costs as much as what it holds: what lies behind it is in no core file.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence

from sim.timing.model.core import CacheLevel, Core
from sim.timing.model.stream import Accesses, Executed

NO_DELAYS: Mapping[int, int] = {}
"""Every load hits the first level."""


class Cache:
    """One level, empty at first."""

    def __init__(self, level: CacheLevel) -> None:
        self.level = level
        self._count = level.size // (level.line * level.ways)
        self._sets = defaultdict[int, OrderedDict[int, None]](OrderedDict)

    def holds(self, line: int) -> bool:
        """Whether it held that line (an address divided by the size of a line); it does from now on."""
        ways = self._sets[line % self._count]
        held = line in ways
        ways[line] = None
        ways.move_to_end(line)
        if len(ways) > self.level.ways:
            ways.popitem(last=False)
        return held


def cache_delays(stream: Sequence[Executed], core: Core) -> Mapping[int, int]:
    """By number in the stream, the cycles that a load's data come later than from the first level.

    Raises ValueError where the core has no two levels, or a level without a latency is reached.
    """
    if len(core.levels) < 2:
        raise ValueError(f"the file of {core.name} has no cache behind the first: a miss would cost nothing")
    caches = [Cache(level) for level in core.levels]
    delays = {}
    for number, one in enumerate(stream):
        _slowest(caches, one.stores)
        if (delay := _slowest(caches, one.loads)) > 0:
            delays[number] = delay
    return delays


def _slowest(caches: Sequence[Cache], accesses: Accesses) -> int:
    """The longest delay of the lines accessed: that of the first level that holds one, else of the last.

    The levels before it take the line.
    """
    slowest, size = 0, caches[0].level.line
    for start, length in accesses:
        for address in range(start // size * size, start + length, size):
            serving = next((cache for cache in caches if cache.holds(address // cache.level.line)), caches[-1])
            if serving is not caches[0]:
                slowest = max(slowest, _latency(serving) - _latency(caches[0]))
    return slowest


def _latency(cache: Cache) -> int:
    if cache.level.latency is None:
        raise ValueError(f"no source says the latency of {cache.level.name}: give it")
    return cache.level.latency
