"""Timing a stream of executed instructions on a core."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sim.timing.model.caches import NO_DELAYS, cache_delays
from sim.timing.model.core import Core
from sim.timing.model.in_order import InOrder
from sim.timing.model.out_of_order import OutOfOrder
from sim.timing.model.predictor import mispredictions
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed

Pipeline = InOrder | OutOfOrder


def pipeline(core: Core) -> Pipeline:
    """An empty pipeline of that core."""
    return InOrder(core) if core.order == "in" else OutOfOrder(core)


def schedule(stream: Sequence[Executed], core: Core, *, warm: bool = True, caches: bool = False) -> Schedule:
    """When each instruction of a stream does what on a core, and why no earlier.

    `warm`: the branch predictor has seen earlier identical runs.  `caches`: the core's caches, empty at first; without
    them every load hits the first.  Raises ValueError for caches that the core file does not describe.
    """
    engine = pipeline(core)
    with uncollected():
        engine.feed(stream, mispredictions(stream, warm), cache_delays(stream, core) if caches else NO_DELAYS)
        return engine.schedule()


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection, which would take half the time: what a pipeline makes is kept anyway."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
