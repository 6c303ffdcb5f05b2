"""What an instruction does, as statements: `v0.s[i] = saturate s32 (s32 v1.s[i] + s32 v2.s[i])` for i = 0..3.

The language is that of `isa.text`.  All right sides are read before anything is written; bits of a vector register
that no statement names keep their value, a write of `w0` clears the upper half of x0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from isa.holes import filled, index, steps_of
from isa.instruction import Instruction
from isa.lane import Int, Lane, Memory, Place, Write
from isa.operands import ELEMENT_LETTERS
from isa.text import Expression, expression, memory, place_name

_FLAG_NAMES = "VCZN"
_MOST_GROUPS = 4


class Statement(NamedTuple):
    """An assignment for each i below `lanes`; `where` defines the names in it (`t1 = ...`), in order."""

    text: str
    where: tuple[str, ...]
    lanes: int


def statements(instruction: Instruction) -> tuple[Statement, ...]:
    """What the instruction does, in the order of its writes."""
    return tuple(statement for write in instruction.writes for statement in _of_write(write))


def _of_write(write: Write) -> Iterator[Statement]:
    lines = [
        _line(destination, expression(lane))
        for (destination, lane) in zip(_destinations(write), write.lanes, strict=True)
        if not _keeps(destination, lane)
    ]
    for group in _groups(lines):
        yield _general(group)
    end = write.bits * len(write.lanes)
    if isinstance(write.place, Place) and write.place.file == "v" and end < 128:
        yield Statement(f"{write.place}<127:{end}> = 0", (), 1)


def _destinations(write: Write) -> list[str]:
    """The name of each element that is written."""
    bits, numbers = write.bits, range(len(write.lanes))
    place = write.place
    if isinstance(place, Memory):
        return [memory(place.address, bits // 8, lambda a: expression(a).text, bits // 8 * i) for i in numbers]
    if place.file == "nzcv" and bits == 1:
        return [_FLAG_NAMES[i] for i in numbers]
    if place.file == "v" and bits < 128:
        return [f"{place}.{ELEMENT_LETTERS[bits]}[{index(i)}]" for i in numbers]
    return [place_name(place, bits)]


def _keeps(destination: str, lane: Lane) -> bool:
    """Whether the lane is what the destination holds already."""
    if lane.op != "field":
        return False
    lsb, element = cast(tuple[int, Int], lane.detail)
    unsigned = Int(element.bits, False).field(lane.args[0], lsb)
    return lane.args[0].op == "read" and expression(unsigned).text == destination


def _line(destination: str, value: Expression) -> str:
    """The statement and its definitions, a line each."""
    return "\n".join([f"{destination} = {value.text}", *(f"{name} = {text}" for name, text in value.definitions)])


def _groups(lines: Sequence[str]) -> list[Sequence[str]]:
    """The lines in groups that have one text for all i; each by itself where there is no such order."""
    candidates: list[list[Sequence[str]]] = [_runs(lines)]
    candidates += [[lines[r::m] for r in range(m)] for m in (2, 3, 4) if len(lines) >= 2 * m]
    for groups in candidates:
        if len(groups) <= min(_MOST_GROUPS, len(lines) - 1) and all(map(_is_regular, groups)):
            return groups
    return [[line] for line in lines]


def _runs(lines: Sequence[str]) -> list[Sequence[str]]:
    """Adjacent lines as long as they are regular."""
    runs: list[list[str]] = []
    for line in lines:
        if runs and _is_regular([*runs[-1], line]):
            runs[-1].append(line)
        else:
            runs.append([line])
    return list(runs)


def _is_regular(lines: Sequence[str]) -> bool:
    return len(lines) == 1 or steps_of(lines) is not None


def _general(lines: Sequence[str]) -> Statement:
    steps = steps_of(lines) or () if len(lines) > 1 else ()
    text, *where = filled(lines[0], steps).split("\n")
    return Statement(text, tuple(where), len(lines))
