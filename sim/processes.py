"""Work spread over processes, which outlives the crash of one of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, crashed: Callable[[Item], Result]
) -> Iterator[Result]:
    """`work(item)` of every item in so many processes, in no order; in this process where one is enough.

    An item that ends its process by a native crash gives `crashed(item)`; the others are done all the same.
    """
    if jobs <= 1:
        yield from map(work, items)
        return
    lost = []
    with _executing(jobs) as executor:
        pending = {executor.submit(work, item): item for item in items}
        for future in as_completed(pending):
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(pending[future])
    for item in lost:
        with _executing(1) as executor:  # a process of its own
            future = executor.submit(work, item)
            try:
                outcome = future.result()
            except BrokenProcessPool:
                outcome = crashed(item)
        yield outcome


@contextmanager
def _executing(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that leave Ctrl-C to this one, and that are ended where it does not wait for their results."""
    executor = ProcessPoolExecutor(jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    before = set(active_children())
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - before:
            process.terminate()
        raise
    executor.shutdown()
