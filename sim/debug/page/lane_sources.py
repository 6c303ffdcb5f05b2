"""Which bytes the lanes of executed instructions were made of, so that a page can walk back through them.

That is the same for all executions of an instruction, but for those that pick among values or mask them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Binary, Constant, Field, Lane, Load, Pick, Place, Read
from sim.call.native.recorder import Array
from sim.check.origin import MEMORY, Byte, copied_bytes, keeps_number, source_bytes, written_lanes
from sim.debug.page.window import PLACES, Window, place_number

FIRST_ACCESS = len(PLACES)
"""From this number on, a place stands for a load or store of the instruction, in their order."""
_SHOWN = ("v", "x", "sp", "nzcv")
_Run = tuple[int, int, int]
"""Place, first byte, number of bytes."""


class LaneSources(NamedTuple):
    """`patterns` are the different ones, and `numbers` says which of them each execution of a window has.

    A pattern is a list of lanes: [which of the instruction's writes, place, first byte, bytes, bits, number of the
    lane, 1 where it was only moved and 2 where it was widened too, and the runs of bytes it was made of: place, first
    byte, bytes, ...].
    """

    patterns: list[tuple[tuple[int, ...], ...]]
    numbers: Array


def lane_sources(window: Window) -> LaneSources:
    """What the lanes of a window were made of."""
    patterns: dict[tuple[tuple[int, ...], ...], int] = {}
    numbers = np.zeros(len(window), np.uint32)
    for number, (_, instruction) in enumerate(window.code):
        executions = np.flatnonzero(window.path == number)
        if not len(executions):
            continue
        if _is_static(instruction):
            made = _pattern(window, int(executions[0]))
            numbers[executions] = patterns.setdefault(made, len(patterns))
            continue
        for execution in executions.tolist():
            numbers[execution] = patterns.setdefault(_pattern(window, execution), len(patterns))
    return LaneSources(list(patterns), numbers)


def _pattern(window: Window, number: int) -> tuple[tuple[int, ...], ...]:
    occurrence, accesses = window.occurrence(number), window.accesses_of(number)
    evaluation, lanes = Evaluation(occurrence), list[tuple[int, ...]]()
    writes = {id(write): at for at, write in enumerate(occurrence.instruction.writes)}
    for part in written_lanes(evaluation, occurrence.instruction):
        if isinstance(part.write.place, Place) and part.write.place.file not in _SHOWN:
            continue
        copied = copied_bytes(part.lane, evaluation)
        sources = list(source_bytes(part.lane, evaluation)) if copied is None else copied
        place, first, size = next(iter(_runs(part.span, accesses, is_store=True)))
        moved = 1 if copied is not None else 2 * keeps_number(part.lane)
        head = (writes[id(part.write)], place, first, size, part.bits, part.number, moved)
        lanes.append((*head, *(each for run in _runs(sources, accesses, is_store=False) for each in run)))
    return tuple(lanes)


def _runs(found: Sequence[Byte], accesses: Array, is_store: bool) -> Iterable[_Run]:
    """Bytes as runs of neighbours, in the order in which they are given; those of memory by access."""
    placed = [_placed(byte, accesses, is_store) for byte in found]
    for (place, _), run in groupby(enumerate(placed), lambda at: (at[1][0], at[1][1] - at[0])):
        bytes_ = [byte for _, (_, byte) in run]
        yield place, bytes_[0], len(bytes_)


def _placed(byte: Byte, accesses: Array, is_store: bool) -> tuple[int, int]:
    if byte.where != MEMORY:
        assert isinstance(byte.where, Place)
        return place_number(byte.where), byte.number
    for at, access in enumerate(accesses):
        if access["writes"] == is_store and 0 <= byte.number - int(access["address"]) < access["size"]:
            return FIRST_ACCESS + at, byte.number - int(access["address"])
    raise LookupError(f"no access of the instruction has the byte at {byte.number:#x}")


@cache
def _is_static(instruction: Instruction) -> bool:
    """Whether its lanes are made of the same bytes at each execution."""
    return all(map(_has_no_choice, (lane for write in instruction.writes for lane in write.lanes)))


def _has_no_choice(lane: Lane) -> bool:
    if isinstance(lane, (Read, Load)) or (isinstance(lane, Field) and isinstance(lane.operand, (Read, Load))):
        return True
    if isinstance(lane, Pick):
        return False
    if isinstance(lane, Binary) and lane.operator == "and" and not any(isinstance(a, Constant) for a in lane.args):
        return False
    return all(map(_has_no_choice, lane.args))
