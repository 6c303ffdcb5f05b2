"""Tasks of a campaign on the workers of a Dask cluster: the one file that knows Dask.

Each thread of a worker has a process of its own for tasks, as a campaign on one machine has: what a task does to it, by
a crash, without end, or with all the memory that it may have, is told of this task, and of no other that waits there.
A task of its own takes Dask milliseconds: it is a portion of short tasks of the campaign, or one that is long.
"""

from __future__ import annotations

import logging
import math
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing import current_process, resource_tracker
from typing import Any, Final

import dask.config
import distributed
from distributed.client import ClosedClientError

from isa.errors import MISSING, LanewiseError
from sim.campaign.result import JobResult
from sim.campaign.work import JobRefused, JobTask, do_job
from sim.contents import versions
from sim.processes import LostItem, OwnProcess, do_apart, interrupts_held, processors

LOCAL: Final = "local"
"""In the place of a scheduler's address: a cluster of processes of this machine, for as long as the campaign takes."""
PORTION: Final = 1.0
"""Seconds of a portion, as its tasks are guessed to take; after twice as long a worker begins none of its tasks."""
AHEAD: Final = 4
"""Portions on their way for each thread of a worker: the next ones travel while one is done."""
_COUNTED_AFTER: Final = 1.0
"""Seconds after which the threads of all workers are counted again, as workers come and go."""
REACHED: Final = 20.0
"""Seconds in which a scheduler answers."""
_GOES_ON: Final = "what was done is kept, and the same command goes on"
_GONE: Final = (OSError, CancelledError, ClosedClientError)
"""What Dask's client fails with where its scheduler does not answer any more."""
_own = threading.local()
"""Of a worker's thread: the process that does its tasks."""


class ClusterError(LanewiseError):
    """A cluster that cannot be used, or is gone; what was done is kept."""

    exit_code = MISSING


@contextmanager
def on_cluster(scheduler: str, jobs: int, timeout: float, attempts: int) -> Iterator[Any]:
    """What spreads tasks over the workers of a scheduler; `jobs` are those of a local one.

    Raises ClusterError where there is no scheduler, where it has no workers, and where one is not what this is.
    """
    for name in ("distributed", "distributed.client"):  # each has a level of its own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set({"distributed.logging.distributed": "critical"}):
        try:
            if scheduler == LOCAL:
                resource_tracker.ensure_running()  # else the first process that starts lets interrupts in again
                with interrupts_held():  # a terminal's Ctrl-C goes to all processes: workers, also later ones, leave it
                    address: Any = distributed.LocalCluster(
                        n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
                    )
            else:
                address = scheduler
                _require_answer(scheduler)
            client = distributed.Client(address, timeout=REACHED, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError, OverflowError) as error:
            raise ClusterError(f"no Dask scheduler answers at {scheduler}: {error}") from None
        try:
            _require_alike(client)
            yield partial(_spread, client=client, timeout=timeout, attempts=attempts)
        finally:
            with suppress(OSError, TimeoutError):  # what is kept is kept, whoever does not answer any more
                client.close(timeout=5)
                if scheduler == LOCAL:
                    address.close(timeout=5)


def _require_answer(scheduler: str) -> None:
    """Refuse an address where nobody listens, or one of TLS without a certificate.

    Dask's client would wait for long, and then again, with a traceback, as it is removed.
    """
    match = re.fullmatch(r"(?:tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^:/\s]+):(\d{1,5})", scheduler)
    if match is None:
        raise ValueError(f"give an address such as tcp://10.0.0.1:8786, or {LOCAL}")
    is_open = distributed.Security().get_connection_args("client").get("ssl_context") is None
    if is_open and scheduler.startswith("tls:"):
        raise ValueError("Dask's configuration has no certificate for a client (distributed.comm.tls)")
    socket.create_connection((match[1].strip("[]"), int(match[2])), REACHED).close()


def _require_alike(client: Any) -> None:
    """Refuse workers of another lanewise or of other packages before anything is done; those that come later refuse."""
    try:
        client.wait_for_workers(1, timeout=REACHED)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler has had no worker for {REACHED:g} s: start some, dask worker ADDRESS"
        ) from None
    own = versions()
    for worker, theirs in client.run(versions).items():
        if theirs != own:
            raise ClusterError(f"the worker {worker} is not what this campaign is: it has {theirs}, and here is {own}")


def _portions(tasks: Iterable[JobTask]) -> Iterator[list[JobTask]]:
    """Tasks of `PORTION` seconds together, as they are guessed, or one of more."""
    portion, seconds = list[JobTask](), 0.0
    for task in tasks:
        if portion and seconds + task.cost > PORTION:
            yield portion
            portion, seconds = [], 0.0
        portion.append(task)
        seconds += task.cost
    if portion:
        yield portion


def _spread(
    tasks: Iterable[JobTask], *, client: Any, timeout: float, attempts: int
) -> Generator[tuple[JobTask, JobResult | JobRefused | LostItem], None, None]:
    coming, alone = _portions(tasks), deque[JobTask]()  # those that came back go out alone, before the others
    running: dict[Any, list[JobTask]] = {}
    threads, counted = 0, -_COUNTED_AFTER

    def submit() -> list[Any]:
        nonlocal threads, counted
        if time.monotonic() >= counted + _COUNTED_AFTER:
            threads, counted = sum(client.nthreads().values()), time.monotonic()
        count = max(0, max(2, AHEAD * threads) - len(running))
        some = [[alone.popleft()] for _ in range(min(count, len(alone)))]
        some += islice(coming, count - len(some))
        futures = client.map(_do_portion, some, timeout=timeout, attempts=attempts, pure=False)
        running.update(zip(futures, some, strict=True))
        return list(futures)

    try:
        arriving = distributed.as_completed(submit(), loop=client.loop)
        for batch in arriving.batches():
            finished = [future for future in batch if future.status == "finished"]
            results = {}
            with suppress(distributed.KilledWorker):  # of one that is done again: its worker was lost with the result
                results = dict(zip(finished, client.gather(finished), strict=True))  # one by one each takes ms
            done = list[tuple[JobTask, JobResult | JobRefused | LostItem]]()
            for future in batch:
                portion = running.pop(future)
                found = results[future] if future in results else _of_lost(future, portion)
                done += zip(portion, found, strict=False)
                alone += portion[len(found) :]
            arriving.update(submit())
            yield from done
    except _GONE as error:
        raise ClusterError(f"the scheduler is gone ({error}); {_GOES_ON}") from None
    finally:
        with suppress(*_GONE):
            client.cancel(list(running))


def _of_lost(future: Any, portion: Sequence[JobTask]) -> Sequence[JobResult | JobRefused | LostItem]:
    """Of a portion that failed, or whose results were lost since with its worker: that is done again, and waited for.

    Of several tasks nobody knows which one it was that took the workers with it, and nothing is said of any.
    """
    if future.status == "cancelled":
        raise ClusterError(f"the scheduler has forgotten this campaign; {_GOES_ON}")
    error = future.exception()
    if error is None:
        found: list[JobResult | JobRefused | LostItem] = future.result()
        return found
    if len(portion) > 1:
        return []
    if isinstance(error, distributed.KilledWorker):
        lost = error.allowed_failures + 1
        return [LostItem(f"{lost} workers were lost, one after the other, that had it", lost, 0.0)]
    return [LostItem(f"{type(error).__name__}: {error}", 1, 0.0)]


def _do_portion(tasks: Sequence[JobTask], timeout: float, attempts: int) -> list[JobResult | JobRefused | LostItem]:
    """`do_job` in the own process of a worker's thread, of the first tasks: all that take as long as was guessed."""
    if not hasattr(_own, "process"):
        worker = distributed.get_worker()
        limit = worker.memory_manager.memory_limit
        current_process().daemon = False  # as a daemon, which a nanny makes it, it could have no process
        _own.process = OwnProcess(do_job, processors(), limit and limit // worker.state.nthreads)
    found, until = [], math.inf
    for task in tasks:
        found.append(do_apart(_own.process, task, timeout, attempts))
        until = min(until, time.monotonic() + 2 * PORTION)  # from the first one on, for which the process was started
        if time.monotonic() > until:
            break
    return found
