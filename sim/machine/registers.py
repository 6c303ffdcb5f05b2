"""The architectural registers, and how they look from outside."""

from __future__ import annotations

from typing import Protocol, cast

from isa.lane import Place

_FLAG_INDEX = {"nzcv": 0, "fpsr": 1, "fpcr": 2}
SP = 31


class Registers:
    """Storage in the layout that generated code works on.

    `vectors` holds v0..v31, 16 bytes each, little-endian; `general` x0..x30 and sp; `flags` nzcv, fpsr, fpcr.
    """

    def __init__(self) -> None:
        self.vectors = bytearray(512)
        self.general = [0] * 32
        self.flags = [0, 0, 0]

    def copy(self, other: Registers) -> None:
        """Take over the values of another set of registers."""
        self.vectors[:] = other.vectors
        self.general[:] = other.general
        self.flags[:] = other.flags

    def read(self, place: Place) -> int:
        index = cast(int, place.index)
        if place.file == "v":
            return int.from_bytes(self.vectors[16 * index : 16 * index + 16], "little")
        if place.file in _FLAG_INDEX:
            return self.flags[_FLAG_INDEX[place.file]]
        if place.file == "zr":
            return 0
        return self.general[SP if place.file == "sp" else index]

    def write(self, place: Place, value: int) -> None:
        index = cast(int, place.index)
        if place.file == "v":
            self.vectors[16 * index : 16 * index + 16] = value.to_bytes(16, "little")
        elif place.file in _FLAG_INDEX:
            self.flags[_FLAG_INDEX[place.file]] = value
        elif place.file != "zr":
            self.general[SP if place.file == "sp" else index] = value


class Readable(Protocol):
    def read(self, place: Place) -> int: ...

    def write(self, place: Place, value: int) -> None: ...


class RegisterFile:
    """`m.v` or `m.x`: the registers of one file by number.  A value is taken modulo the register's width."""

    def __init__(self, registers: Readable, file: str, count: int) -> None:
        self._registers = registers
        self._file = file
        self._count = count

    def __getitem__(self, index: int) -> int:
        return self._registers.read(self._place(index))

    def __setitem__(self, index: int, value: int) -> None:
        place = self._place(index)
        self._registers.write(place, value % (1 << place.bits))

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        values = ", ".join(f"{self._file}{i}={self[i]:#x}" for i in range(self._count) if self[i])
        return f"<{values or f'{self._file}0..{self._file}{self._count - 1} all zero'}>"

    def _place(self, index: int) -> Place:
        if not 0 <= index < self._count:
            raise IndexError(f"there is no {self._file}{index}: {self._file}0 to {self._file}{self._count - 1}")
        return Place(self._file, index)
