"""What each lane of an instruction is computed of, where that has so few bits that all values can be tried.

It follows from the expressions: of every lane the fields of registers that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, assert_never

import numpy as np

from isa.errors import LanewiseError
from isa.instruction import Instruction, is_kept
from isa.lane import Binary, Constant, Field, Floating, Lane, Load, Pick, Place, Read, Saturate, Write

MOST_BITS: Final = 32
"""Of which all values are tried in minutes."""
AT_ONCE: Final = 1 << 21
"""Values in a chunk, at most."""
REGISTER: Final = 128
"""Bits."""
_TYPES: Final = {8: np.uint8, 16: np.uint16, 32: np.uint32}


class NotExhaustible(LanewiseError):
    """Lanes that are computed of more than can be tried, or of something else than lanes: one sentence."""


@dataclass(frozen=True)
class LaneOperand:
    """Elements of `bits` bits of a vector register; `lsbs` are their lowest bits in the order of the lanes."""

    register: int
    bits: int
    lsbs: tuple[int, ...]

    @property
    def values(self) -> int:
        return 1 << self.bits

    def spread(self, first: int, count: int) -> bytes:
        """Registers with the values from `first` on, each lane another one, 16 bytes a register."""
        table = np.zeros((count // len(self.lsbs), REGISTER // self.bits), _TYPES[self.bits])
        table[:, [lsb // self.bits for lsb in self.lsbs]] = self._numbers(first, count).reshape(-1, len(self.lsbs))
        return table.tobytes()

    def repeated(self, first: int, count: int) -> bytes:
        """Registers with the values from `first` on, each in all lanes of its own register, 16 bytes a register."""
        return np.repeat(self._numbers(first, count), REGISTER // self.bits).tobytes()

    def _numbers(self, first: int, count: int) -> np.ndarray:
        return np.arange(first, first + count, dtype=np.uint64).astype(_TYPES[self.bits])


@dataclass(frozen=True)
class Chunk:
    """Values that are tried together: `rows` of the outer operand from `first_row` on, each with `count` inner ones."""

    first_row: int
    rows: int
    first: int
    count: int


@dataclass(frozen=True)
class Space:
    """All values of an instruction's lanes: in each lane another one of `inner`, in all of them one of `outer`.

    `write` is the register that it writes, `lanes` the numbers of the elements that it computes.
    """

    instruction: Instruction
    write: Write
    lanes: tuple[int, ...]
    inner: LaneOperand
    outer: LaneOperand | None

    @property
    def destination(self) -> int:
        (place,) = self.instruction.places_written
        assert isinstance(place.index, int)
        return place.index

    @property
    def values(self) -> int:
        return self.inner.values * self.rows

    @property
    def rows(self) -> int:
        return self.outer.values if self.outer else 1

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        count = min(self.inner.values, AT_ONCE)
        rows = min(self.rows, AT_ONCE // count)
        return tuple(
            Chunk(row, rows, first, count)
            for row in range(0, self.rows, rows)
            for first in range(0, self.inner.values, count)
        )


def space_of(instruction: Instruction) -> Space:
    """The values of which its lanes are computed.  Raises NotExhaustible."""
    text = instruction.text
    if len(instruction.writes) != 1 or instruction.places_written[:1] != tuple(
        place for place in instruction.places_written if place.file == "v"
    ):
        raise NotExhaustible(f"{text} does more than to write one vector register: it cannot be exhausted")
    (write,) = instruction.writes
    lanes, fields = [], []
    for number, lane in enumerate(write.lanes):
        if lane.value is None and not is_kept(write, number):
            lanes.append(number)
            fields.append(dict(_merged(_fields(lane, text), text)))
    registers = sorted({register for read in fields for register in read})
    if not registers or any(sorted(read) != registers for read in fields):
        raise NotExhaustible(f"{text} computes its lanes of different operands: it cannot be exhausted")
    operands = [_operand(register, [read[register] for read in fields], text) for register in registers]
    bits = sum(operand.bits for operand in operands)
    if len(operands) > 2 or bits > MOST_BITS:
        said = f"{text} computes a lane of {bits} bits of {len(operands)} registers"
        raise NotExhaustible(f"{said}: all values are tried of at most {MOST_BITS} bits of two")
    (destination,) = (place.index for place in instruction.places_written)
    # What is written comes anew for each result, and so is an inner operand where it is one.
    inner, *outer = sorted(operands, key=lambda one: (-len(one.lsbs), one.register != destination, one.register))
    if len(inner.lsbs) != len(lanes) or inner.values < len(lanes):
        raise NotExhaustible(f"{text} computes several lanes of the same element: it cannot be exhausted")
    return Space(instruction, write, tuple(lanes), inner, outer[0] if outer else None)


def _fields(lane: Lane, text: str) -> Iterator[tuple[int, int, int]]:
    """Of every field of a vector register that a lane is computed of, the register and the bits from, to."""
    pending = [lane]
    while pending:
        node = pending.pop()
        match node:
            case Field(Read(Place("v", int(register))), lsb, element):
                yield register, lsb, lsb + element.bits
            case Read() | Load() | Floating():
                more = "more than integers in lanes"
                raise NotExhaustible(f"{text} computes its lanes of {more}: it cannot be exhausted")
            case Field() | Saturate() | Pick() | Binary():
                pending += node.args
            case Constant():
                pass
            case _:
                assert_never(node)


def _merged(fields: Iterator[tuple[int, int, int]], text: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """By register the bits from, to; those of one register must be one element."""
    found: dict[int, tuple[int, int]] = {}
    for register, start, end in sorted(set(fields)):
        before = found.get(register, (start, end))
        if start >= before[1]:
            raise NotExhaustible(f"in {text} lanes of one register meet: it cannot be exhausted")
        found[register] = before[0], max(before[1], end)
    yield from found.items()


def _operand(register: int, fields: list[tuple[int, int]], text: str) -> LaneOperand:
    (bits, *others) = {end - start for start, end in fields}
    if others or bits not in _TYPES or any(start % bits for start, _ in fields):
        raise NotExhaustible(f"{text} reads no elements of 8, 16 or 32 bits of v{register}: it cannot be exhausted")
    return LaneOperand(register, bits, tuple(dict.fromkeys(start for start, _ in fields)))
