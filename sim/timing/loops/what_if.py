"""What if a latency, a pipe, the width, or the whole core were another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import NamedTuple

from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.core import Core
from sim.timing.model.operation import operations_on
from sim.timing.model.stream import Executed
from sim.timing.native.scheduling import schedule

ITERATIONS = 1000
"""Of a loop: enough that it reaches its steady state, few enough that its accesses do not run into each other."""


class Change(NamedTuple):
    """A change to a core, in words and as what makes the changed core; that raises ValueError where it cannot be."""

    text: str
    apply: Callable[[Core], Core]


def latency(name: str, cycles: int | str | Fraction) -> Change:
    """Another latency of one instruction class."""
    return Change(f"latency of {name} {cycles}", lambda core: core.with_latency(name, cycles))


def parameter(name: str, value: int | str | Fraction) -> Change:
    """Another parameter, `width` for example."""
    return Change(f"{name} {value}", lambda core: core.with_parameter(name, value))


def further_pipe(pipe: str) -> Change:
    """One more pipe like that one: what goes there can go to either."""
    return Change(f"a further pipe {pipe}", lambda core: _with_further_pipe(core, pipe))


def _with_further_pipe(core: Core, pipe: str) -> Core:
    if pipe not in core.pipes:
        raise ValueError(f"there is no pipe {pipe!r}; the pipes are {', '.join(core.pipes)}")
    name = next(name for number in count(2) if (name := f"{pipe}_{number}") not in core.pipes)
    classes = {}
    for key, timing in core.classes.items():
        uses = (use._replace(pipes=(*use.pipes, name)) if pipe in use.pipes else use for use in timing.uses)
        classes[key] = replace(timing, uses=tuple(uses))
    queues = {**core.queues, **({name: core.queues[pipe]} if pipe in core.queues else {})}
    return replace(core, pipes=(*core.pipes, name), classes=classes, queues=queues)


class ChangedCycles(NamedTuple):
    """A change, and the cycles before and after it: of a stream, or of one iteration of a loop in its steady state."""

    change: str
    before: Fraction
    after: Fraction

    @property
    def gain(self) -> Fraction:
        """Cycles saved; less than 0 where it got slower."""
        return self.before - self.after

    @property
    def speedup(self) -> Fraction:
        """How many times faster: 2 takes half of the cycles.  1 where there is nothing to do."""
        return self.before / self.after if self.after else Fraction(1)


Timed = Sequence[Executed] | Loop


def cycles_of(timed: Timed, core: Core) -> Fraction:
    """Cycles of a stream, or of one iteration of a loop in its steady state."""
    if isinstance(timed, Loop):
        return time_loop(timed, core, ITERATIONS).per_iteration
    return Fraction(schedule(timed, core).cycles)


def what_if(timed: Timed, core: Core, changes: Iterable[Change]) -> ChangedCycles:
    """All the changes together, against the core as it is.  Raises ValueError for a change that cannot be made."""
    changed, texts = core, []
    for change in changes:
        changed = change.apply(changed)
        texts.append(change.text)
    return ChangedCycles(", ".join(texts) or "no change", cycles_of(timed, core), cycles_of(timed, changed))


def sensitivity(timed: Timed, core: Core) -> list[ChangedCycles]:
    """What each latency would bring that is one cycle shorter, and each further pipe, slot and place; most first.

    Only classes and pipes that are used, and latencies of more than one cycle.
    """
    before, operations = cycles_of(timed, core), operations_on(core)
    stream = timed.body if isinstance(timed, Loop) else timed
    timings = {(found := operations[one.instruction].timing).name: found for one in stream}
    pipes = dict.fromkeys(pipe for timing in timings.values() for use in timing.uses for pipe in use.pipes)
    shorter = [latency(name, timing.latency - 1) for name, timing in sorted(timings.items()) if timing.latency > 1]
    changes = [*shorter, *map(further_pipe, sorted(pipes)), parameter("width", core.width + 1)]
    if core.reorder_buffer:
        changes.append(parameter("reorder_buffer", 2 * core.reorder_buffer))
    outcomes = [ChangedCycles(change.text, before, cycles_of(timed, change.apply(core))) for change in changes]
    return sorted(outcomes, key=lambda outcome: -outcome.gain)
