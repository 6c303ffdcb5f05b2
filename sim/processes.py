"""Work spread over processes, which outlives the crash of one of them, and the memory that a process may take."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from ctypes import CDLL
from functools import cache
from multiprocessing import active_children, connection, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar

from isa.errors import MISSING, LanewiseError
from sim.signals import signal_name

Item = TypeVar("Item")
Result = TypeVar("Result")
_PR_SET_PDEATHSIG: Final = 1
"""Of Linux's prctl."""
_STARTING: Final = 60.0
"""Seconds in which a process is ready for work."""
_LOOKED_AFTER: Final = 1.0
"""Seconds after which it is looked whether processes are ready."""
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
        with interrupts_held():
            pending = {executor.submit(_do, item): item for item in items}
            done = _DoneFutures(pending)
        for future in done:
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(pending[future])
    for item in lost:
        with _executing(1, "spawn", work) as executor:  # a process of its own
            with interrupts_held():
                done = _DoneFutures([executor.submit(_do, item)])
            try:
                outcome = next(iter(done)).result()
            except BrokenProcessPool:
                outcome = crashed(item)
        yield outcome


def spread_here(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """The same in copies of this process: what it has loaded, such as a user's functions, need not be sent to them.

    Raises LostProcess where one ends before its item is done: whatever ended it is not done again.
    """
    return in_copies(work, items, jobs) if jobs > 1 else map(work, items)


def in_copies(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """The same, in a copy even where one is enough: native code that it runs may crash, or spoil the copy's memory.

    Raises LostProcess as `spread_here` does.  Everything is done in this process where the system has no copies that
    are safe.
    """
    if sys.platform != "linux":
        yield from map(work, items)
        return
    with _executing(jobs, "fork", work) as executor:
        with interrupts_held():
            done = _DoneFutures([executor.submit(_do, item) for item in items])
        for future in done:
            try:
                result: Result = future.result()
            except BrokenProcessPool:
                raise LostProcess from None
            yield result


class _DoneFutures:
    """Futures as they are done.

    `concurrent.futures.wait` and `as_completed` take the locks of futures: Ctrl-C in the middle of that leaves one
    locked, and the thread that has a result for it waits for ever.
    """

    def __init__(self, futures: Iterable[Future[Any]] = ()) -> None:
        self._done = SimpleQueue[Future[Any]]()
        self._left = 0
        for future in futures:
            self.add(future)

    def add(self, future: Future[Any]) -> None:
        """Wait for another one too."""
        self._left += 1
        with interrupts_held():
            future.add_done_callback(self._done.put)

    def __iter__(self) -> Iterator[Future[Any]]:
        for _ in range(self._left):
            yield self._done.get()

    def within(self, seconds: float) -> Future[Any] | None:
        """The next one; None where none is done in so many seconds."""
        try:
            return self._done.get(timeout=max(0.0, seconds))
        except Empty:
            return None


class LostItem(NamedTuple):
    """In place of a result: why there is none, after how many attempts, the last of which took so many seconds."""

    reason: str
    attempts: int
    seconds: float


class OwnProcess:
    """A process of its own for one item at a time, which outlives what an item does to it: the next one has a new one.

    Of the memory that is free it may take a share, and no more than so `many` bytes.  Ctrl-C is left to this process.
    """

    def __init__(self, work: Callable[[Any], Any], sharers: int, many: int | None = None) -> None:
        self._work, self._sharers, self._many = work, sharers, many
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self.begun = 0.0

    def begin(self, item: object) -> Future[Any]:
        """Start with an item; its future fails with BrokenProcessPool where the process ends under it.

        `begun` is when that was, on the monotonic clock; of a new process when it must be ready, and then was.
        """
        self.begun = time.monotonic()
        if self._executor is None:  # where interrupts are not held: multiprocessing lets them through as it begins
            given = (self._work, os.getpid(), self._sharers, self._many)
            self._executor = ProcessPoolExecutor(1, get_context("spawn"), _begin, given)
        with interrupts_held():
            if self._process is None:
                before = set(active_children())
                self.begun += _STARTING
                self._executor.submit(os.getpid).add_done_callback(self._is_ready)
                (self._process,) = set(active_children()) - before
            return self._executor.submit(_do, item)

    def _is_ready(self, _: object) -> None:
        self.begun = time.monotonic()

    def outcome(self, future: Future[Result], seconds: float) -> Result | LostItem:
        """What came of the item that was begun, where it is done or has had so many seconds; else the process ends."""
        took = max(0.0, time.monotonic() - self.begun)
        try:
            with interrupts_held():
                return future.result(0)
        except BrokenProcessPool:
            reason = self.end(patience=1.0) or "its process was ended"
        except MemoryError:
            self.end()
            reason = "there is no memory left for it"
        except TimeoutError:
            self.end()
            reason = f"it took more than {seconds:g} s"
        return LostItem(reason, 1, took)

    def end(self, patience: float = 0.0) -> str:
        """End the process, whatever it does; in a few words how it ended, if it has by itself in so many seconds."""
        executor, process, self._executor, self._process = self._executor, self._process, None, None
        if executor is None or process is None:
            return ""
        with interrupts_held():
            has_ended = bool(connection.wait([process.sentinel], patience))
            if not has_ended:
                process.kill()
            executor.shutdown(cancel_futures=True)  # then nobody else is at asking how it ended
            code = process.exitcode if has_ended else None
        if code is None:
            return ""
        if code == -signal.SIGKILL:
            return "its process was ended by SIGKILL, as a system does that has no memory left"
        how = f"by {signal_name(-code)}" if code < 0 else f"with exit code {code}"
        return f"its process was ended {how}, by what it ran"


def spread_apart(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, seconds: float, attempts: int
) -> Generator[tuple[Item, Result | LostItem], None, None]:
    """`work(item)` of every item, as they come, in so many processes, each of which stands for itself; in no order.

    An item that ends its process, meets the end of memory or takes more than so many `seconds` is tried again, in
    another process, so many `attempts` in all; then it is lost.  Items are taken when there is somebody to do them.
    """
    coming, again, results = iter(items), list[tuple[Item, int]](), list[tuple[Item, Result | LostItem]]()
    running: dict[Future[Result], tuple[OwnProcess, Item, int]] = {}
    done = _DoneFutures()
    with ExitStack() as ending:
        idle = [OwnProcess(work, jobs) for _ in range(jobs)]
        for slot in idle:
            ending.callback(slot.end)
        while True:
            while idle:
                item, tried = again.pop() if again else (next(coming, None), 0)
                if item is None:
                    break
                slot = idle.pop()
                future = slot.begin(item)
                done.add(future)
                running[future] = slot, item, tried + 1
            yield from results  # while the others are done
            if not running:
                return
            results = []
            until = min(slot.begun for slot, *_ in running.values()) + seconds
            first = done.within(min(_LOOKED_AFTER, until - time.monotonic()))
            late = [one for one, (slot, *_) in running.items() if time.monotonic() > slot.begun + seconds]
            ready = [first] if first in running else []  # one that was late before is not
            for future in dict.fromkeys((*ready, *late)):
                slot, item, tried = running.pop(future)
                idle.append(slot)
                found = slot.outcome(future, seconds)
                if not isinstance(found, LostItem):
                    results.append((item, found))
                elif tried < attempts:
                    again.append((item, tried))
                else:
                    results.append((item, found._replace(attempts=tried)))


def do_apart(slot: OwnProcess, item: object, seconds: float, attempts: int) -> Any:
    """What the process makes of one item, which is tried and lost as by `spread_apart`; while this process waits."""
    for tried in range(1, attempts + 1):
        future = slot.begin(item)
        done = _DoneFutures([future])
        while (patience := slot.begun + seconds - time.monotonic()) > 0:
            if done.within(min(_LOOKED_AFTER, patience)) is not None:
                break
        found = slot.outcome(future, seconds)
        if not isinstance(found, LostItem):
            break
        found = found._replace(attempts=tried)
    return found


class LostProcess(LanewiseError):
    """A process that was to do a part of the work is no more."""

    exit_code = MISSING

    def __init__(self) -> None:
        super().__init__(
            "stopped, without a verdict: a process that did a part of the work was ended, by what it ran, such as a "
            "golden reference, or by the system, as one does that has no memory left"
        )


@contextmanager
def interrupts_held() -> Iterator[None]:
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
        with interrupts_held():  # what ends at once is waited for: the executor's thread and Python's end would meet
            for process in set(active_children()) - before:
                process.kill()
            executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


_work: Callable[[Any], Any]
"""What this process does, where `spread` has started it."""


def _begin(work: Callable[[Any], Any], starter: int, sharers: int = 0, many: int | None = None) -> None:
    """Begin a process of a pool, which ends with the process that started it: nobody else wants its results.

    With `sharers` it takes no more than its share of the memory that is free, nor than so `many` bytes.
    """
    global _work
    _work = work
    if sharers and (free := _free_memory()) is not None:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        share = min(free * 9 // 10 // sharers, many or free)
        resource.setrlimit(resource.RLIMIT_DATA, (share if hard == resource.RLIM_INFINITY else min(share, hard), hard))
    leave_interrupts_to(starter)


def leave_interrupts_to(starter: int) -> None:
    """The process that started this one has Ctrl-C, and on Linux this one ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != starter:
            os._exit(MISSING)


def _do(item: Any) -> Any:
    return _work(item)
