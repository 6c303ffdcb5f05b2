"""A schedule as tracks of slices, for viewers of traces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from sim.timing.analysis.attribution import life
from sim.timing.analysis.reasons import Activity
from sim.timing.model.schedule import Schedule
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


def tracks(schedule: Schedule, told: Callable[[str], str] = str) -> Tracks:
    """By name and in the order of time: what entered, by slot of its cycle; what held up the entry; every pipe.

    Slices of one track never overlap.  Arrows join an instruction with those that waited for its result: the first
    slices of their pipes, or those of their entry where they need no pipe.  `told` makes the texts of instructions
    ready to be read.
    """
    pairs = [(producer, number) for number in range(len(schedule.stream)) for producer in producers(schedule, number)]
    arrows: list[tuple[int, ...]] = [()] * len(schedule.stream)
    for arrow, (producer, consumer) in enumerate(pairs, 1):
        arrows[producer] += (arrow,)
        arrows[consumer] += (arrow,)
    entries: Tracks = defaultdict(list)
    stalls: list[Slice] = []
    pipes: Tracks = {pipe: [] for pipe in schedule.core.pipes}
    slot, before = 0, 0
    for number, (cycle, stall) in enumerate(zip(schedule.entered, schedule.entry_stall, strict=True)):
        text, uses = told(schedule.stream[number].instruction.text), schedule.pipes[number]
        waits = [part for part in life(schedule, number) if part.activity in (Activity.OPERANDS, Activity.ISSUE)]
        reasons = [(part.cycles, reason_text(schedule, number, part.stall)) for part in waits]
        note = "; ".join(f"{cycles}: {reason}" for cycles, reason in reasons if reason)
        slot = slot + 1 if number and cycle == before else 0
        entries[f"slot {slot}"].append(Slice(text, cycle, cycle + 1, number, note, () if uses else arrows[number]))
        if cycle > before and stall.kind not in UNHINDERED:  # to find the slots of a cycle taken is no delay
            stalls.append(Slice(stall.kind.value, before, cycle, number, reason_text(schedule, number, stall)))
        for place, (pipe, start, end) in enumerate(uses):
            pipes[pipe].append(Slice(text, start, end, number, note, () if place else arrows[number]))
        before = cycle
    in_time = {pipe: sorted(slices, key=lambda piece: piece.start) for pipe, slices in pipes.items()}
    return {**entries, STALLS: stalls, **in_time}
