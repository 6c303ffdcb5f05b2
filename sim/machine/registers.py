"""The architectural registers, and how they look from outside."""

from __future__ import annotations

from operator import index
from typing import Final, Protocol, SupportsIndex, cast

from isa.lane import Place
from isa.semantics.base.system import FPCR_BITS, FPCR_NOT_MODELLED
from sim.machine.errors import UnmodelledMode

_FLAG_INDEX = {"nzcv": 0, "fpsr": 1, "fpcr": 2, "monitor": 3, "tpidr": 4}
SP = 31


def register_number(place: Place) -> int:
    """Where a register of v, or of x and sp, is among those of its kind: 0 to 31."""
    return SP if place.file == "sp" else cast(int, place.index)


class RegisterStorage:
    """Storage in the layout that generated code works on.

    `vectors` holds v0..v31, 16 bytes each, little-endian; `general` x0..x30 and sp; `flags` nzcv, fpsr, fpcr, the
    local exclusive monitor, and tpidr.
    """

    def __init__(self) -> None:
        self.vectors = bytearray(512)
        self.general = [0] * 32
        self.flags = [0, 0, 0, 0, 0]

    def copy(self, other: RegisterStorage) -> None:
        """Take over the values of another set of registers."""
        self.vectors[:] = other.vectors
        self.general[:] = other.general
        self.flags[:] = other.flags

    def equal(self, other: RegisterStorage) -> bool:
        """Whether every register holds what that of another set does."""
        return self.general == other.general and self.flags == other.flags and self.vectors == other.vectors

    def read(self, place: Place) -> int:
        number = cast(int, place.index)
        if place.file == "v":
            return int.from_bytes(self.vectors[16 * number : 16 * number + 16], "little")
        if place.file in _FLAG_INDEX:
            return self.flags[_FLAG_INDEX[place.file]]
        if place.file == "zr":
            return 0
        return self.general[SP if place.file == "sp" else number]

    def write(self, place: Place, value: int) -> None:
        number = cast(int, place.index)
        if place.file == "v":
            self.vectors[16 * number : 16 * number + 16] = value.to_bytes(16, "little")
        elif place.file in _FLAG_INDEX:
            self.flags[_FLAG_INDEX[place.file]] = value
        elif place.file != "zr":
            self.general[SP if place.file == "sp" else number] = value


VISIBLE_PLACES: Final = (
    *(Place("v", i) for i in range(32)),
    *(Place("x", i) for i in range(31)),
    *(Place(file) for file in ("sp", "nzcv", "fpsr", "fpcr", "tpidr")),
)
"""Every register that a program sees but the program counter."""


class RegisterAccess(Protocol):
    def read(self, place: Place) -> int: ...

    def write(self, place: Place, value: int) -> None: ...


def as_register(value: SupportsIndex, bits: int) -> int:
    """What a register of so many bits holds for an integer (of numpy too): one below zero is its two's complement.

    Raises TypeError for what is no integer, ValueError for one that is no number of that many bits, signed or not.
    """
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"a register holds an integer, not {value!r}") from None
    if not -(1 << bits - 1) <= number < 1 << bits:
        raise ValueError(f"a register of {bits} bits holds -2^{bits - 1} to 2^{bits} - 1, not {number:#x}")
    return number % (1 << bits)


def as_fpcr(value: SupportsIndex) -> int:
    """A value of FPCR, 32 bits.  Raises UnmodelledMode where it sets a bit that no instruction here looks at."""
    fpcr = as_register(value, 32)
    other = fpcr & ~FPCR_BITS
    if other:
        names = [name for name, bit in FPCR_NOT_MODELLED.items() if other >> bit & 1] or ["reserved bits"]
        raise UnmodelledMode(
            f"FPCR {fpcr:#x} sets {', '.join(names)}, which lanewise does not model: of FPCR there are AHP, DN, FZ, "
            f"RMode and FZ16 (and Stride and Len, which change nothing), {FPCR_BITS:#x}"
        )
    return fpcr


class RegisterFile:
    """`m.v` or `m.x`: the registers of one file by number.

    A value is a number of the register's width, signed or not: -1 is all ones.  Setting another raises ValueError, what
    is no integer TypeError, a number that no register has IndexError.
    """

    def __init__(self, registers: RegisterAccess, file: str, count: int) -> None:
        self._registers = registers
        self._file = file
        self._count = count

    def __getitem__(self, number: int) -> int:
        return self._registers.read(self._place(number))

    def __setitem__(self, number: int, value: SupportsIndex) -> None:
        place = self._place(number)
        self._registers.write(place, as_register(value, place.bits))

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        values = ", ".join(f"{self._file}{i}={self[i]:#x}" for i in range(self._count) if self[i])
        return f"<{values or f'{self._file}0..{self._file}{self._count - 1} all zero'}>"

    def _place(self, number: int) -> Place:
        return Place(self._file, register_index(number, self._count, self._file))


def register_index(number: SupportsIndex, count: int, file: str) -> int:
    """The number of one of so many registers of a file.  Raises IndexError for another, and for no integer."""
    if not hasattr(number, "__index__") or not 0 <= index(number) < count:
        raise IndexError(f"there is no {file}{number}: {file}0 to {file}{count - 1}")
    return index(number)
