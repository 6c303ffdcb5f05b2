"""What an instruction does, as statements: `v0.s[i] = saturate s32 (s32 v1.s[i] + s32 v2.s[i])` for i = 0..3.

The language is that of `isa.text.expressions`.  All right sides are read before anything is written; bits of a vector
register that no statement names keep their value, a write of `w0` clears the upper half of x0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from isa.instruction import Instruction, is_kept
from isa.lane import Memory, Place, Write
from isa.operands import ELEMENT_LETTERS
from isa.text.expressions import FLAG_NAMES, expression, memory, place_name
from isa.text.holes import filled, index, steps_of

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
    lines = []  # for each lane the assignment and its definitions, a line each
    for number, (destination, lane) in enumerate(zip(_destinations(write), write.lanes, strict=True)):
        if not _keeps(write, number):
            value = expression(lane)
            definitions = (f"{name} = {text}" for name, text in value.definitions)
            lines.append("\n".join([f"{destination} = {value.text}", *definitions]))
    for group in _groups(lines):
        steps = steps_of(group) or () if len(group) > 1 else ()
        text, *where = filled(group[0], steps).split("\n")
        yield Statement(text, tuple(where), len(group))
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
        return [FLAG_NAMES[i] for i in numbers]
    if place.file == "v" and bits < 128:
        return [f"{place}.{ELEMENT_LETTERS[bits]}[{index(i)}]" for i in numbers]
    return [place_name(place, bits)]


def _keeps(write: Write, number: int) -> bool:
    """Whether the lane is what the destination holds already.  A write of w0 changes the rest of x0 all the same."""
    return is_kept(write, number) and isinstance(write.place, Place) and write.place.file != "x"


def _groups(lines: Sequence[str]) -> list[Sequence[str]]:
    """The lines in groups that have one text for all i; each by itself where there is no such order."""
    runs: list[list[str]] = []  # adjacent lines as long as they are regular
    for line in lines:
        if runs and _is_regular([*runs[-1], line]):
            runs[-1].append(line)
        else:
            runs.append([line])
    candidates: list[list[Sequence[str]]] = [[*runs]]
    candidates += [[lines[r::m] for r in range(m)] for m in (2, 3, 4) if len(lines) >= 2 * m]
    for groups in candidates:
        if len(groups) <= min(_MOST_GROUPS, len(lines) - 1) and all(map(_is_regular, groups)):
            return groups
    return [[line] for line in lines]


def _is_regular(lines: Sequence[str]) -> bool:
    return len(lines) == 1 or steps_of(lines) is not None
