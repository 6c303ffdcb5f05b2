"""The registers of the members of a batch: arrays with a row for each member."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from sim.machine.registers import SP, as_register, register_index

Array = NDArray[Any]
FLAG_TYPES = ("u1", "u4", "u4", "O", "u8")
"""The types of nzcv, fpsr, fpcr, the exclusive monitor, and tpidr."""


class BatchRegisters:
    """Storage in the layout that generated functions work on (see `isa.evaluate.batch.Frame`), zero at first.

    So many vector and general registers: of a machine, sp is the last.
    """

    def __init__(self, members: int, vectors: int = 32, general: int = SP + 1) -> None:
        self.members = members
        self.vectors: list[Array] = [np.zeros((members, 16), "u1") for _ in range(vectors)]
        self.general: list[Array] = [np.zeros((members, 1), "u8") for _ in range(general)]
        self.flags: list[Array] = [np.zeros((members, 1), kind) for kind in FLAG_TYPES]


def column_of(value: SupportsIndex | Array, members: int, bits: int, kind: str) -> Array:
    """A number for all members, or an array of one for each, as a column; one below zero is its two's complement.

    Raises ValueError for an array of another shape or what has more bits, TypeError for what is no integer.
    """
    if isinstance(value, np.ndarray) and value.ndim:
        if value.shape != (members,):
            raise ValueError(f"an array of shape {value.shape} is no register: give ({members},), or one number")
        numbers = [as_register(number, bits) for number in value.tolist()]
        return np.array(numbers, dtype=kind).reshape(-1, 1)
    return np.full((members, 1), as_register(value, bits), dtype=kind)


class GeneralFile:
    """`batch.x`: by number, the general registers as arrays of (members,) unsigned 64-bit numbers, read-only.

    Setting one takes such an array, or one number for all members.
    """

    def __init__(self, registers: BatchRegisters, count: int) -> None:
        self._registers = registers
        self._count = count

    def __getitem__(self, number: SupportsIndex) -> NDArray[np.uint64]:
        return read_only(self._registers.general[register_index(number, self._count, "x")])[:, 0]

    def __setitem__(self, number: SupportsIndex, value: SupportsIndex | Array) -> None:
        self._registers.general[register_index(number, self._count, "x")] = column_of(
            value, self._registers.members, 64, "u8"
        )

    def __len__(self) -> int:
        return self._count


class VectorFile:
    """`batch.v`: by number, the vector registers as arrays of (members, 16) bytes, read-only.

    `batch.v[0].view("<i4")` has the four 32-bit lanes of every member.  Setting one takes an array of (members, lanes)
    of any type with 16 bytes in a row, or one 128-bit number for all members.
    """

    def __init__(self, registers: BatchRegisters) -> None:
        self._registers = registers

    def __getitem__(self, number: SupportsIndex) -> NDArray[np.uint8]:
        return read_only(self._registers.vectors[register_index(number, len(self), "v")])

    def __setitem__(self, number: SupportsIndex, value: SupportsIndex | Array) -> None:
        self._registers.vectors[register_index(number, len(self), "v")] = self._rows(value)

    def _rows(self, value: SupportsIndex | Array) -> Array:
        members = self._registers.members
        if not isinstance(value, np.ndarray):
            row = np.frombuffer(as_register(value, 128).to_bytes(16, "little"), "u1")
            return np.repeat(row.reshape(1, 16), members, axis=0)
        if value.ndim != 2 or len(value) != members or value.shape[1] * value.itemsize != 16 or value.dtype == object:
            raise ValueError(
                f"an array of shape {value.shape} and type {value.dtype} is no vector register: "
                f"give {members} rows of 16 bytes, or one number"
            )
        return np.array(value, order="C").view("u1")

    def __len__(self) -> int:
        return len(self._registers.vectors)


def read_only(array: Array) -> Array:
    """The array, not to be written; a run makes new arrays, so it keeps what it shows."""
    view = array.view()
    view.flags.writeable = False
    return view
