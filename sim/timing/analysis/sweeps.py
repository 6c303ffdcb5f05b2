"""The same code at other addresses, and with a second cache that is slower or faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import ArrayStream, array_stream
from sim.timing.native.scheduling import schedule

OFFSETS: Final = (0, 1, 2, 4, 8, 16)
"""Bytes by which every access is moved."""
L2_LATENCIES: Final = (8, 10, 12, 15, 20, 30)
"""Cycles of a hit in the second cache: about what cores of this kind have, as no core file knows it."""


def alignment_sweep(timed: Loop | Sequence[Executed], core: Core, count: int = 1) -> dict[int, int]:
    """The cycles of a stream, or of `count` iterations of a loop, with every access so many bytes further on.

    What meets in memory still does.  Raises ValueError as `time_loop`.
    """
    found = {}
    for offset in OFFSETS:
        if isinstance(timed, Loop):
            found[offset] = time_loop(Loop(tuple(moved(timed.body, offset)), timed.strides), core, count).cycles
        else:
            found[offset] = schedule(moved(timed, offset), core).cycles
    return found


def cache_sweep(stream: Sequence[Executed], core: Core) -> dict[int, int]:
    """The cycles of a stream whose caches are empty at first, by the latency of the second one in cycles.

    Raises ValueError for a core of which no second cache is known.
    """
    if not any(level.name == "L2" for level in core.levels):
        raise ValueError(f"the file of {core.name} has no cache behind the first")
    found = {}
    for latency in L2_LATENCIES:
        levels = tuple(level._replace(latency=latency) if level.name == "L2" else level for level in core.levels)
        found[latency] = schedule(stream, replace(core, levels=levels), caches=True).cycles
    return found


def moved(stream: Sequence[Executed], offset: int) -> ArrayStream:
    """The same with every access so many bytes further on; addresses wrap at 2^64, as they do in a machine."""
    of = array_stream(stream)
    loads, stores = (one._replace(addresses=one.addresses + np.uint64(offset)) for one in (of.loads, of.stores))
    return ArrayStream(of.sites, of.site, of.next_pcs, of.taken, loads, stores)
