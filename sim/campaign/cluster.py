"""Tasks of a campaign on the workers of a Dask cluster: the one file that knows Dask.

A worker is a process that does one task at a time (`dask worker --nthreads 1`, with its nanny).  A task that takes too
long ends the process, as one does that crashes or eats the memory that the nanny allows: the nanny starts another, and
the scheduler tries the task again.
"""

from __future__ import annotations

import faulthandler
import os
import re
import socket
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Any, Final

import dask.config
import distributed
from distributed.client import ClosedClientError

from isa.errors import MISSING, LanewiseError
from sim.campaign.contents import versions
from sim.campaign.result import JobResult
from sim.campaign.work import JobRefused, JobTask, do_job
from sim.processes import LostItem

LOCAL: Final = "local"
"""In the place of a scheduler's address: a cluster of processes of this machine, for as long as the campaign takes."""
AHEAD: Final = 64
"""Tasks on their way for each worker: those of a millisecond are done while the next ones travel."""
REACHED: Final = 20.0
"""Seconds in which a scheduler answers."""
_GOES_ON: Final = "what was done is kept, and the same command goes on"
_GONE: Final = (OSError, CancelledError, ClosedClientError)
"""What Dask's client fails with where its scheduler does not answer any more."""
_ALONE = threading.Lock()
"""Of a worker that has several threads all the same: what a job does is of its whole process."""


class ClusterError(LanewiseError):
    """A cluster that cannot be used, or is gone; what was done is kept."""

    exit_code = MISSING


@contextmanager
def on_cluster(scheduler: str, jobs: int, timeout: float, attempts: int) -> Iterator[Any]:
    """What spreads tasks over the workers of a scheduler; `jobs` are those of a local one.

    Raises ClusterError where there is no scheduler, where it has no workers, and where one is not what this is.
    """
    settings = {"distributed.scheduler.allowed-failures": attempts - 1, "distributed.logging.distributed": "critical"}
    with dask.config.set(settings):
        try:
            if scheduler == LOCAL:
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
    """Refuse an address where nobody listens: Dask's client would wait for long, and then again as it is removed."""
    match = re.fullmatch(r"(?:tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^:/\s]+):(\d{1,5})", scheduler)
    if match is None:
        raise ValueError(f"give an address such as tcp://10.0.0.1:8786, or {LOCAL}")
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


def _spread(
    tasks: Iterable[JobTask], *, client: Any, timeout: float, attempts: int
) -> Generator[tuple[JobTask, JobResult | JobRefused | LostItem], None, None]:
    coming = iter(tasks)
    running: dict[Any, JobTask] = {}

    def submit(count: int) -> list[Any]:
        some = list(islice(coming, count))
        futures = client.map(_do_timed, some, timeout=timeout, pure=False, batch_size=100)
        running.update(zip(futures, some, strict=True))
        return list(futures)

    try:
        workers = client.scheduler_info()["workers"]
        arriving = distributed.as_completed(submit(max(2, AHEAD * len(workers))), loop=client.loop)
        for batch in arriving.batches():
            arriving.update(submit(len(batch)))
            finished = [future for future in batch if future.status == "finished"]
            results = dict(zip(finished, client.gather(finished), strict=True))  # all at once: each by itself takes ms
            for future in batch:
                found = results[future] if future in results else _failed(future, timeout, attempts)
                yield running.pop(future), found
    except _GONE as error:
        raise ClusterError(
            f"the scheduler is gone ({error}); what was done is kept, and the same command goes on"
        ) from None
    finally:
        with suppress(*_GONE):
            client.cancel(list(running))


def _failed(future: Any, timeout: float, attempts: int) -> LostItem:
    if future.status == "cancelled":
        raise ClusterError(
            "the scheduler has forgotten this campaign; what was done is kept, and the same command goes on"
        )
    error = future.exception()
    if isinstance(error, distributed.KilledWorker):
        reason = f"its worker was ended: it crashed, took more than {timeout:g} s, or all memory that it may have"
        return LostItem(reason, attempts, 0.0)
    return LostItem(f"{type(error).__name__}: {error}", attempts, 0.0)


def _do_timed(task: JobTask, timeout: float) -> JobResult | JobRefused:
    """`do_job` on a worker, which ends where it takes too long."""
    with _ALONE, open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(timeout, exit=True, file=nowhere)
        try:
            return do_job(task)
        finally:
            faulthandler.cancel_dump_traceback_later()
