"""Many claims at once: processes take portions of them, as many as jobs at a time, each stopped when time is over."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

from isa.evaluate.smt import solver_version
from sim.prove.cache import answered, entry_of
from sim.prove.claim import Claim, Finding, Sides, prove_sides, sides_of

_GRACE = 2.0
"""Seconds after its time limit in which the solver should notice that it is over; then its process is killed."""

_PORTION, _PORTIONS = 16, 32
"""A process finds so many answers at most, and there are so many processes at least.

To fork this process takes longer than most answers; with portions that are the same however many run at once, what is
found does not depend on that.
"""

Report = Callable[[Claim, Finding], None]


T = TypeVar("T")
Task = tuple[T, Callable[[], Finding]]


@dataclass
class _Running(Generic[T]):
    """A process with the tasks that it has not answered yet: it is at the first, until the end of its time."""

    tasks: Sequence[Task[T]]
    process: BaseProcess
    answers: Connection
    until: float


def prove_all(claims: Sequence[Claim], seconds: float, jobs: int, cache: Path | None, report: Report) -> bool:
    """Prove claims; `report` gets each finding as it comes.  Whether it was interrupted.

    `seconds` is the time limit of one claim, `cache` a directory of answers, or None to ask for each anew.
    Raises BrokenClaim before anything is asked, and SolverMissing.
    """
    solver_version()
    asked = [(claim, partial(cached_finding, sides_of(claim), seconds, cache)) for claim in claims]
    return in_processes(asked, seconds, jobs, report)


def in_processes(
    asked: Sequence[Task[T]], seconds: float, jobs: int, report: Callable[[T, Finding], None],
    wanted: Callable[[T], bool] = lambda _: True,
) -> bool:  # fmt: skip
    """Let processes find what is asked; `report` gets each finding.  Whether it was interrupted.

    What is not found after its seconds and a moment is "unknown", and so is what a process dies of: another goes on
    behind it.  What is no longer `wanted` when its turn comes is left out.
    """
    size = min(_PORTION, max(1, len(asked) // _PORTIONS))
    waiting = [asked[start : start + size] for start in reversed(range(0, len(asked), size))]
    running: list[_Running[T]] = []
    limit = seconds + _GRACE
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                if portion := [task for task in waiting.pop() if wanted(task[0])]:
                    running.append(_started(portion, time.monotonic() + limit))
            if not running:
                break
            soonest = min(one.until for one in running)
            ready = wait([one.answers for one in running], max(0.0, soonest - time.monotonic()))
            for one in [one for one in running if one.answers in ready or time.monotonic() > one.until]:
                finding, lives = _received(one, seconds)
                (what, _), *one.tasks = one.tasks
                one.until = time.monotonic() + limit
                report(what, finding)
                if not (lives and any(wanted(task) for task, _ in one.tasks)):
                    running.remove(one)
                    _stop(one)
                    waiting += [one.tasks] if one.tasks else []
    except KeyboardInterrupt:
        return True
    finally:
        for one in running:
            _stop(one)
    return False


def _started(tasks: Sequence[Task[T]], until: float) -> _Running[T]:
    context = get_context("fork")  # a user's functions are not importable by name
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=([find for _, find in tasks], theirs), daemon=True)
    process.start()
    theirs.close()
    return _Running(tasks, process, ours, until)


def _answer(asked: Sequence[Callable[[], Finding]], to: Connection) -> None:
    """What one process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # or the collector writes to all that this process shares with its parent
    for find in asked:
        to.send(find())


def cached_finding(sides: Sides, seconds: float, cache: Path | None) -> Finding:
    """The answer kept in the directory, else a new one, which is kept there.  Raises SolverMissing."""
    entry = entry_of(sides, cache) if cache is not None else None
    return answered(entry, sides, partial(prove_sides, sides, seconds))


def _received(one: _Running[T], seconds: float) -> tuple[Finding, bool]:
    """What a process found, and whether it goes on."""
    try:
        if one.answers.poll():
            return one.answers.recv(), True
        return Finding("unknown", seconds, reason="the time limit was reached, and the solver had to be stopped"), False
    except EOFError:
        return Finding("unknown", 0, reason="the solver's process ended without an answer; it may lack memory"), False


def _stop(one: _Running[T]) -> None:
    one.process.kill()
    one.process.join()
    one.answers.close()
