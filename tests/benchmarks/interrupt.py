"""How soon what runs an endless loop ends on an interrupt."""

from __future__ import annotations

import signal
from collections.abc import Callable
from time import perf_counter

from sim import Memory

LOOP = 0x10000
"""Where the loop is."""


def map_loop(memory: Memory) -> None:
    """Place an endless loop in a memory."""
    memory.map(LOOP, 4096, "rx")
    memory.write(LOOP, (0x14000000).to_bytes(4, "little"))  # b #0


def seconds_to_end(run: Callable[[], object]) -> float:
    """Seconds from an interrupt to the end of what would never end."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        run()
    except KeyboardInterrupt:
        return perf_counter() - start - 0.3
    finally:
        signal.signal(signal.SIGALRM, before)
    raise AssertionError("an endless loop ended")
