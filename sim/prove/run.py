"""Many claims at once: a process for each, as many at a time as there are jobs, each stopped when its time is over."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from isa.evaluate.smt import solver_version
from sim.prove.cache import answered, entry_of
from sim.prove.claim import Claim, Finding, Sides, prove_sides, sides_of

_GRACE = 2.0
"""Seconds after its time limit in which the solver should notice that it is over; then its process is killed."""

Report = Callable[[Claim, Finding], None]


T = TypeVar("T")


class _Running(NamedTuple, Generic[T]):
    what: T
    process: BaseProcess
    answer: Connection
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
    asked: Sequence[tuple[T, Callable[[], Finding]]], seconds: float, jobs: int, report: Callable[[T, Finding], None]
) -> bool:
    """Let processes find what is asked, each in its own; `report` gets each finding.  Whether it was interrupted.

    One that is not back after its seconds and a moment is killed, and its finding is "unknown".
    """
    waiting = list(reversed(asked))
    context = get_context("fork")  # a user's functions are not importable by name
    running: list[_Running[T]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                what, find = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_answer, args=(find, theirs), daemon=True)
                process.start()
                theirs.close()
                running.append(_Running(what, process, ours, time.monotonic() + seconds + _GRACE))
            soonest = min(one.until for one in running)
            ready = wait([one.answer for one in running], max(0.0, soonest - time.monotonic()))
            for done in [one for one in running if one.answer in ready or time.monotonic() > one.until]:
                running.remove(done)
                report(done.what, _finding(done, seconds))
    except KeyboardInterrupt:
        return True
    finally:
        for one in running:
            _stop(one)
    return False


def _answer(find: Callable[[], Finding], to: Connection) -> None:
    """What one process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # or the collector writes to all that this process shares with its parent
    to.send(find())


def cached_finding(sides: Sides, seconds: float, cache: Path | None) -> Finding:
    """The answer kept in the directory, else a new one, which is kept there.  Raises SolverMissing."""
    entry = entry_of(sides, cache) if cache is not None else None
    return answered(entry, sides, partial(prove_sides, sides, seconds))


def _finding(done: _Running[T], seconds: float) -> Finding:
    try:
        if done.answer.poll():
            finding: Finding = done.answer.recv()
            return finding
        return Finding("unknown", seconds, reason="the time limit was reached, and the solver had to be stopped")
    except EOFError:
        return Finding("unknown", 0, reason="the solver's process ended without an answer; it may lack memory")
    finally:
        _stop(done)


def _stop(one: _Running[T]) -> None:
    one.process.kill()
    one.process.join()
    one.answer.close()
