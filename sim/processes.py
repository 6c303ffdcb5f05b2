"""Work spread over processes, which outlives the crash of one of them, and the memory that a process may take."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from ctypes import CDLL
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Final, TypeVar

from isa.errors import MISSING, LanewiseError

Item = TypeVar("Item")
Result = TypeVar("Result")
_PR_SET_PDEATHSIG: Final = 1
"""Of Linux's prctl."""
_is_limited = ContextVar("_is_limited", default=False)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def memory_limited() -> Iterator[None]:
    """Let this process take as much memory as there is, so that an endless eater meets MemoryError.

    Without it the system slows down and ends some process.  Nothing is limited where the system does not say how much
    there is (/proc/meminfo, and the limit of the control group), nor where a lower limit holds already.  Inside of
    itself it does nothing: a search that calls a golden reference ten thousand times sets the limit once.
    """
    free = None if _is_limited.get() else _free_memory()
    if free is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    limit = taken + free * 9 // 10
    if any(limit > other != resource.RLIM_INFINITY for other in (soft, hard)):
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    outside = _is_limited.set(True)
    try:
        yield
    finally:
        _is_limited.reset(outside)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@cache
def _free_memory() -> int | None:
    """Bytes that this process could have when it was first asked; None where nothing tells."""
    try:
        about = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = 1024 * int(about["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return None
    with suppress(OSError, ValueError):  # a group without a limit has the text max
        group = Path("/sys/fs/cgroup")
        free = min(free, int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(free, 0)


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
    with _executing(jobs, "spawn", work) as executor:
        with _interrupts_held():
            pending = {executor.submit(_do, item): item for item in items}
        for future in as_completed(pending):
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(pending[future])
    for item in lost:
        with _executing(1, "spawn", work) as executor:  # a process of its own
            with _interrupts_held():
                future = executor.submit(_do, item)
            try:
                outcome = future.result()
            except BrokenProcessPool:
                outcome = crashed(item)
        yield outcome


def spread_here(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """The same in copies of this process: what it has loaded, such as a user's functions, need not be sent to them.

    Raises LostProcess where one ends before its item is done: whatever ended it is not done again.  Everything is done
    in this process where the system has no copies that are safe.
    """
    if jobs <= 1 or sys.platform != "linux":
        yield from map(work, items)
        return
    with _executing(jobs, "fork", work) as executor:
        with _interrupts_held():
            pending = [executor.submit(_do, item) for item in items]
        for future in as_completed(pending):
            try:
                result: Result = future.result()
            except BrokenProcessPool:
                raise LostProcess(
                    "stopped, without a verdict: a process that did a part of the work was ended, by what it ran, such "
                    "as a golden reference, or by the system, as one does that has no memory left"
                ) from None
            yield result


class LostProcess(LanewiseError):
    """A process that was to do a part of the work is no more."""

    exit_code = MISSING


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C comes afterwards; the processes that start meanwhile never have it, not even as they start."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _executing(jobs: int, method: str, work: Callable[[Any], Any]) -> Iterator[ProcessPoolExecutor]:
    """Processes that leave Ctrl-C to this one, and that are ended where it does not wait for their results."""
    executor = ProcessPoolExecutor(jobs, get_context(method), _begin, (work, os.getpid()))
    before = set(active_children())
    try:
        yield executor
    except BaseException:
        with _interrupts_held():  # what ends at once is waited for: the executor's thread and Python's end would meet
            for process in set(active_children()) - before:
                process.kill()
            executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


_work: Callable[[Any], Any]
"""What this process does, where `spread` has started it."""


def _begin(work: Callable[[Any], Any], starter: int) -> None:
    """Begin a process of a pool.  On Linux it ends with the process that started it: nobody else wants its results."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != starter:
            os._exit(MISSING)


def _do(item: Any) -> Any:
    return _work(item)
