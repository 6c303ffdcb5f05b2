"""A Python function run on symbolic numbers, once for every way that its conditions on them can go.

Nothing symbolic ever becomes a number: what would make one of it is refused, with file, line and reason.  A condition
that Python must know is taken both ways, each in a run of its own, under the conditions that were taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import Generic, NoReturn, TypeVar

import numpy as np

from isa.errors import LanewiseError
from isa.lane import Lane, Place, Read, walk
from sim.symbolic.numbers.elementwise import FALSE, equal
from sim.symbolic.simplify import simplified

T = TypeVar("T")
MOST_WAYS = 256
"""So many runs of one function at most."""
MOST_CONDITIONS = 200
"""So many conditions in one run at most: `in` asks them of a range number by number."""
_OWN = (str(Path(__file__).parent), str(Path(np.__file__).parent))


class Untraceable(LanewiseError):
    """What cannot be done to numbers that are not known; the message names file, line and reason.

    `needs` are the inputs that would have to be known for it.
    """

    def __init__(self, message: str, needs: frozenset[Place] = frozenset()) -> None:
        super().__init__(message)
        self.needs = needs


@dataclass(frozen=True)
class Way(Generic[T]):
    """One run: the conditions that it was under, each a lane that is 1 there, and what was returned or raised."""

    conditions: tuple[Lane, ...]
    result: T | None
    raised: Exception | None = None


@dataclass
class _Run:
    """`script` says how the first conditions go; `taken` how they went."""

    script: list[bool]
    taken: list[tuple[Lane, bool]] = field(default_factory=list)
    refusal: Untraceable | None = None


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


def every_way(function: Callable[[], T]) -> list[Way[T]]:
    """The runs of the function, whose conditions together hold for all numbers and no two of them at once.

    Raises Untraceable, also where the function itself caught it, and where there are more than `MOST_WAYS` of them.
    """
    ways: list[Way[T]] = []
    script: list[bool] | None = []
    run = _Run([])
    while script is not None:
        if len(ways) == MOST_WAYS:
            needs = frozenset(n.place for n in walk(lane for lane, _ in run.taken) if isinstance(n, Read))
            raise Untraceable(f"the conditions on unknown numbers go more than {MOST_WAYS} ways: give fewer", needs)
        run = _Run(script)
        token = _RUN.set(run)
        result, raised = None, None
        try:
            result = function()
        except Exception as error:  # whatever a golden reference raises, as for what is no input of it
            raised = error
        finally:
            _RUN.reset(token)
        if run.refusal is not None:
            raise run.refusal
        conditions = tuple(lane if yes else equal(lane, FALSE) for lane, yes in run.taken)
        ways.append(Way(conditions, result, raised))
        choices = [yes for _, yes in run.taken]
        while choices and not choices[-1]:
            choices.pop()
        script = [*choices[:-1], False] if choices else None
    return ways


def decided(condition: Lane) -> bool:
    """Whether the condition, 0 or 1, holds in this run.  Raises Untraceable outside of one."""
    condition = simplified(condition)
    if condition.value is not None:
        return bool(condition.value)
    run = _RUN.get()
    if run is None:
        refuse("a condition on a number that is not known decides what is done")
    for known, yes in run.taken:
        if known is condition:
            return yes
    at = len(run.taken)
    if at == MOST_CONDITIONS:
        refuse(f"more than {MOST_CONDITIONS} conditions on numbers that are not known decide what is done", [condition])
    yes = run.script[at] if at < len(run.script) else True
    run.taken.append((condition, yes))
    return yes


def line_raising(error: BaseException) -> str:
    """File and line of the caller's that an error was raised in, or in what it called."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    file, line = [found for found in frames if not found[0].startswith(_OWN)][-1]
    return f"{file}:{line}"


def refuse(reason: str, unknown: Iterable[Lane] = ()) -> NoReturn:
    """Say that the line of the caller's which is being run cannot be traced, why, and for which numbers."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    needs = frozenset(node.place for node in walk(unknown) if isinstance(node, Read))
    refusal = Untraceable(f"{frame.f_code.co_filename}:{frame.f_lineno}: {reason}", needs)
    run = _RUN.get()
    if run is not None and run.refusal is None:
        run.refusal = refusal
    raise refusal
