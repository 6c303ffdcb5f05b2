"""Schedules by C beside those by the pipelines in Python: every cycle, every reason, every reservation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from sim.timing.model.core import Core
from sim.timing.model.pipeline import pipeline
from sim.timing.model.schedule import Schedule
from sim.timing.model.stream import Executed
from sim.timing.native.array_stream import array_stream
from sim.timing.native.scheduling import native_schedule
from support.random_executed import random_stream

COLUMNS: Final = (
    "classes", "entered", "available", "issued", "ready", "retired", "entry_stall", "operand_stall", "issue_stall",
    "pipes",
)  # fmt: skip


def difference(one: Schedule, other: Schedule) -> str:
    """Where two schedules differ first; "" where they are the same."""
    for name in COLUMNS:
        pairs = zip(getattr(one, name), getattr(other, name), strict=True)
        for number, (a, b) in enumerate(pairs):
            if a != b:
                return f"{name} of [{number}] {one.stream[number].instruction.text}: {a}, not {b}"
    for name in ("mispredicted", "unmodelled", "cycles"):
        if getattr(one, name) != getattr(other, name):
            return f"{name}: {getattr(one, name)}, not {getattr(other, name)}"
    return "" if list(one.stream) == list(other.stream) else "the stream"


def both(
    stream: Sequence[Executed], core: Core, wrong: frozenset[int], delays: Mapping[int, int]
) -> tuple[Schedule, Schedule]:
    """By C, and by Python."""
    engine = pipeline(core)
    engine.feed(stream, wrong, delays)
    return native_schedule(array_stream(stream), core, wrong, delays), engine.schedule()


def random_difference(random: Random, core: Core) -> str:
    """Of a random stream with mispredicted branches and late loads."""
    stream = random_stream(random)
    branches = [number for number, one in enumerate(stream) if one.instruction.is_branch]
    loads = [number for number, one in enumerate(stream) if one.loads]
    wrong = frozenset(number for number in branches if random.random() < 0.3)
    delays = {number: random.randint(1, 9) for number in loads if random.random() < 0.1}
    return difference(*both(stream, core, wrong, delays))
