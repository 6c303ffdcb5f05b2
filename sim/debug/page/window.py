"""Some executed instructions of a session as arrays: what a page is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from isa.evaluate.exact import Occurrence
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.native.recorder import ACCESS, Array, registers_written
from sim.debug.session import Session
from sim.machine.registers import register_number

PLACES: Final = (
    *(Place("v", n) for n in range(32)), *(Place("x", n) for n in range(31)), Place("sp"), Place("nzcv"),
    *map(Place, ("fpsr", "fpcr", "monitor", "tpidr", "pc")),
)  # fmt: skip
"""All registers; their number here is what stands for them in a page."""
NZCV: Final = PLACES.index(Place("nzcv"))
"""Those before it are what recordings have the values of; those behind are taken to stay as they are."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Window:
    """The executed instructions of a call from number `first` on.

    `code` are the different ones with their addresses, `path` says of each execution which of them it is.  `status`,
    `accesses` and `values` are as those of `sim.call.native.recorder.Recording`, numbered from `first`; `initial` is
    what `PLACES` held before, 16 bytes each.
    """

    first: int
    code: tuple[tuple[int, Instruction], ...]
    path: Array
    status: Array
    accesses: Array
    values: Array
    initial: Array

    def __len__(self) -> int:
        return len(self.path)

    @classmethod
    def of(cls, session: Session, first: int, end: int) -> Window:
        """Those of a session from one number to before another; it stands before the first one then."""
        numbers: dict[tuple[int, str], int] = {}
        code = list[tuple[int, Instruction]]()
        paths, states, accesses, values = [], [], [np.zeros(0, ACCESS)], []
        for recording in session.timeline.recordings(first):
            low, high = max(first - recording.start, 0), min(end - recording.start, len(recording))
            if high <= low:
                break
            known = np.zeros(len(recording.code), np.uint32)
            for at, pc in enumerate(np.unique(recording.pcs).tolist()):
                instruction = recording.instructions[pc]
                known[at] = number = numbers.setdefault((pc, instruction.text), len(code))
                if number == len(code):
                    code.append((pc, instruction))
            paths.append(known[recording.numbers[low:high]])
            states.append(recording.status[low:high])
            values.append(recording.values[recording.first_values[low] : recording.first_values[high]])
            rows = recording.accesses
            rows = rows[(rows["instruction"] >= low) & (rows["instruction"] < high)]
            rows["instruction"] += np.uint64(recording.start)
            rows["instruction"] -= np.uint64(first)
            accesses.append(rows)
        session.goto(first)
        machine = session.machine
        held = b"".join(machine.read(place).to_bytes(16, "little") for place in PLACES)
        return cls(
            first=first, code=tuple(code), path=np.concatenate([np.zeros(0, np.uint32), *paths]),
            status=np.concatenate([np.zeros(0, np.uint8), *states]), accesses=np.concatenate(accesses),
            values=np.concatenate([np.zeros((0, 16), np.uint8), *values]),
            initial=np.frombuffer(held, np.uint8).reshape(-1, 16),
        )  # fmt: skip

    @cached_property
    def written(self) -> tuple[tuple[int, ...], ...]:
        """Of each of `code`, which of `PLACES` it writes, as its rows of `values` are ordered."""
        return tuple(
            tuple(number if kind == "v" else 32 + number for kind, number in registers_written(instruction))
            for _, instruction in self.code
        )

    @cached_property
    def first_values(self) -> Array:
        """Where in `values` those of each execution begin."""
        counts = np.array([len(places) for places in self.written], np.int64)
        return np.concatenate([[0], np.cumsum(counts[self.path])])

    @cached_property
    def _writes(self) -> list[tuple[Array, Array]]:
        """Of each of `PLACES` up to the flags, the executions that write it, ascending, and the rows of `values`."""
        found: list[list[tuple[Array, Array]]] = [[] for _ in range(NZCV)]
        for number, places in enumerate(self.written):
            own = np.flatnonzero(self.path == number)
            for row, place in enumerate(places):
                found[place].append((own, self.first_values[own] + row))
        merged = []
        for parts in found:
            executions, rows = (np.concatenate([np.zeros(0, np.int64), *(part[at] for part in parts)]) for at in (0, 1))
            order = np.argsort(executions, kind="stable")
            merged.append((executions[order], rows[order]))
        return merged

    def before(self, place: Place, numbers: Array) -> Array:
        """What one of `PLACES` held before some executions, 16 bytes each."""
        if place.file == "nzcv":
            status = np.concatenate([self.initial[NZCV][:1], self.status])[numbers] & 15
            return np.pad(status[:, None], ((0, 0), (0, 15)))
        number = place_number(place)
        if number > NZCV:
            return np.repeat(self.initial[number][None], len(numbers), axis=0)
        executions, rows = self._writes[number]
        last = np.searchsorted(executions, numbers) - 1
        held = np.repeat(self.initial[number][None], len(numbers), axis=0)
        held[last >= 0] = self.values[rows[last[last >= 0]]]
        return held

    def accesses_of(self, number: int) -> Array:
        """The loads and stores of an execution, in their order."""
        low, high = np.searchsorted(self.accesses["instruction"], [number, number + 1])
        return self.accesses[low:high]

    def occurrence(self, number: int) -> Occurrence:
        """An execution, with what it read."""
        pc, instruction = self.code[self.path[number]]
        registers = {Place("pc"): pc}
        for place in instruction.places_read:
            if place.file != "pc":
                held = self.before(place, np.array([number]))[0].tobytes()
                registers[place] = int.from_bytes(held, "little") & (1 << place.bits) - 1
        reads = [each for each in self.accesses_of(number) if not each["writes"]]
        memory = {int(each["address"]): each["bytes"][: each["size"]].tobytes() for each in reads}
        return Occurrence(instruction, registers, memory)


def place_number(place: Place) -> int:
    """Which of `PLACES` it is."""
    if place.file in ("v", "x", "sp"):
        return register_number(place) + (0 if place.file == "v" else 32)
    return PLACES.index(place)
