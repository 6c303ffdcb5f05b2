"""A schedule as tracks of slices, for viewers of traces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from sim.timing.attribution import life
from sim.timing.reasons import Activity
from sim.timing.schedule import Schedule
from sim.view.cycles.reasons import UNHINDERED, producers, reason_text

STALLS = "held up"
"""The track of what kept instructions from entering."""


class Slice(NamedTuple):
    """The cycles from `start` up to `end`; slices that share one of `arrows` depend on each other."""

    name: str
    start: int
    end: int
    number: int
    note: str = ""
    arrows: tuple[int, ...] = ()


Tracks = dict[str, list[Slice]]


def tracks(schedule: Schedule) -> Tracks:
    """By name and in the order of time: what entered, by slot of its cycle; what held up the entry; every pipe.

    Slices of one track never overlap.  Arrows join an instruction with those that waited for its result: the first
    slices of their pipes, or those of their entry where they need no pipe.
    """
    arrows = _arrows(schedule)
    return {**_entries(schedule, arrows), STALLS: _stalls(schedule), **_pipes(schedule, arrows)}


def _arrows(schedule: Schedule) -> Sequence[tuple[int, ...]]:
    """For each instruction the numbers of its arrows, one for every producer and consumer."""
    pairs = [(producer, number) for number in range(len(schedule.stream)) for producer in producers(schedule, number)]
    arrows: list[tuple[int, ...]] = [()] * len(schedule.stream)
    for arrow, (producer, consumer) in enumerate(pairs, 1):
        arrows[producer] += (arrow,)
        arrows[consumer] += (arrow,)
    return arrows


def _entries(schedule: Schedule, arrows: Sequence[tuple[int, ...]]) -> Tracks:
    found: Tracks = defaultdict(list)
    slot = 0
    for number, cycle in enumerate(schedule.entered):
        slot = slot + 1 if number and schedule.entered[number - 1] == cycle else 0
        own = () if schedule.pipes[number] else arrows[number]
        piece = Slice(_text(schedule, number), cycle, cycle + 1, number, _note(schedule, number), own)
        found[f"slot {slot}"].append(piece)
    return found


def _stalls(schedule: Schedule) -> list[Slice]:
    """An entry that only found the slots of a cycle taken was not held up."""
    found, before = [], 0
    for number, (cycle, stall) in enumerate(zip(schedule.entered, schedule.entry_stall, strict=True)):
        if cycle > before and stall.kind not in UNHINDERED:
            found.append(Slice(stall.kind.value, before, cycle, number, reason_text(schedule, number, stall)))
        before = cycle
    return found


def _pipes(schedule: Schedule, arrows: Sequence[tuple[int, ...]]) -> Tracks:
    found: Tracks = {pipe: [] for pipe in schedule.core.pipes}
    for number, uses in enumerate(schedule.pipes):
        for place, (pipe, start, end) in enumerate(uses):
            own = () if place else arrows[number]
            found[pipe].append(Slice(_text(schedule, number), start, end, number, _note(schedule, number), own))
    return {pipe: sorted(slices, key=lambda piece: piece.start) for pipe, slices in found.items()}


def _text(schedule: Schedule, number: int) -> str:
    return schedule.stream[number].instruction.text


def _note(schedule: Schedule, number: int) -> str:
    """What it waited for after it entered."""
    waits = [part for part in life(schedule, number) if part.activity in (Activity.OPERANDS, Activity.ISSUE)]
    return "; ".join(f"{w.cycles}: {text}" for w in waits if (text := reason_text(schedule, number, w.stall)))
