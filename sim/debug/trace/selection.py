"""Which executed instructions a trace has, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isa.instruction import Instruction
from isa.lane import Floating, Place, Write, walk
from isa.operands import ELEMENT_LETTERS
from sim.call.native.recorder import Array, Recording, registers_written
from sim.debug.conditions import At
from sim.debug.session import Session
from sim.debug.spots import Spot


@dataclass(frozen=True)
class Selection:
    """The executed instructions from number `first` to before `last`, of those at the addresses of `places` and those
    that write the register of a spot, where these are given.
    """

    first: int = 0
    last: int | None = None
    places: At | None = None
    written: Spot | None = None

    def recordings(self, session: Session) -> Iterator[tuple[Recording, Array]]:
        """The recordings of a call, each with the numbers in it that are wanted."""
        for recording in session.timeline.recordings(self.first):
            if self.last is not None and recording.start >= self.last:
                return
            numbers = np.arange(recording.start, recording.end)
            wanted = numbers >= self.first
            if self.last is not None:
                wanted &= numbers < self.last
            if self.places is not None:
                wanted &= np.isin(recording.pcs, np.array(sorted(self.places.pcs), np.uint64))
            if self.written is not None:
                writing = [self.written.where in each.places_written for each in recording.code]
                wanted &= np.array(writing, bool)[recording.numbers]
            yield recording, np.flatnonzero(wanted)


class ShownRegister(NamedTuple):
    """How a register that an instruction writes is shown: its name with the lanes' type, and the numpy type of these.

    `lanes` lanes from the lowest one are shown; `row` says which of the instruction's values it is.
    """

    name: str
    place: Place
    dtype: str
    lanes: int
    row: int


def makes_floats(write: Write) -> bool:
    """Whether lanes that are written are of floating point, by how they are computed."""
    return write.bits in (16, 32, 64) and any(isinstance(node, Floating) for node in walk(write.lanes))


def shown_registers(instruction: Instruction) -> list[ShownRegister]:
    """The registers that an instruction writes, in lanes as it writes them; general ones as unsigned numbers."""
    found = []
    writes = {write.place: write for write in instruction.writes if isinstance(write.place, Place)}
    for row, (kind, number) in enumerate(registers_written(instruction)):
        if kind == "x":
            place = Place("sp") if number == 31 else Place("x", number)
            found.append(ShownRegister(str(place), place, "<u8", 1, row))
            continue
        place = Place("v", number)
        write = writes[place]
        bits = write.bits if write.bits in (8, 16, 32, 64) else 32
        count = max(1, len(write.lanes) * write.bits // bits)
        dtype = f"<{'f' if makes_floats(write) else 'i'}{bits // 8}"
        found.append(ShownRegister(f"{place}.{count}{ELEMENT_LETTERS[bits]}", place, dtype, count, row))
    return found


def register_lanes(recording: Recording, register: ShownRegister, numbers: Array) -> Array:
    """The lanes that were written to a register by some executions of one instruction, a row each."""
    rows = recording.values[recording.first_values[numbers] + register.row]
    size = np.dtype(register.dtype).itemsize
    return np.ascontiguousarray(rows[:, : register.lanes * size]).view(register.dtype)


def each_instruction(recording: Recording, numbers: Array) -> Iterator[tuple[int, Instruction, Array]]:
    """Those of the numbers that are executions of the same instruction, with its address."""
    which = recording.numbers[numbers]
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order], prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(order)]):
        pc = int(recording.pcs[numbers[order[start]]])
        yield pc, recording.instructions[pc], numbers[order[start:end]]


def accesses_of(recording: Recording, numbers: Array) -> Iterator[tuple[int, int, bytes, bool]]:
    """The loads and stores of some executed instructions, in order: number in the recording, address, bytes, whether it
    is a store.
    """
    rows = recording.accesses[np.isin(recording.accesses["instruction"], numbers)]
    fields = (rows["instruction"].tolist(), rows["address"].tolist(), rows["size"].tolist(), rows["writes"].tolist())
    data = rows["bytes"].tobytes()
    for at, (number, address, size, writes) in enumerate(zip(*fields, strict=True)):
        yield number, address, data[64 * at : 64 * at + size], bool(writes)
