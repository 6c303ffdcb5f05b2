"""What placing an argument and reading a result ask of a program: an `isa.acle.program.OpenProgram`."""

from __future__ import annotations

from typing import Protocol

from isa.acle.values import ElementPointer, VectorType, VectorValue
from isa.instruction import Pattern
from isa.lane import Place


class RegisterSupply(Protocol):
    """Fresh registers, and what they hold."""

    def read(self, place: Place) -> int:
        """What a general or vector register holds, unsigned."""

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`; two in turn get numbers that follow."""

    def new_general(self, value: int = 0) -> int:
        """The number of a fresh general register that holds `value` modulo 2^64."""

    def vector(self, number: int) -> int:
        """The 128 bits that a vector register holds."""


class Recorder(Protocol):
    """A program as parameters and results see it."""

    @property
    def registers(self) -> RegisterSupply:
        """Where fresh registers come from."""

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute and record one instruction."""

    def vector_register(self, value: VectorValue) -> int:
        """The number of the register that holds a value."""

    def copied(self, value: VectorValue) -> int:
        """The number of a fresh register with a copy of a value."""

    def follow(self, registers: tuple[int, ...]) -> bool:
        """Whether the registers follow each other."""

    def address_register(self, pointer: ElementPointer, size: int) -> int:
        """The number of the general register that holds a pointer's address, less `ElementPointer.offset(size)`."""

    def value(self, vector_type: VectorType, register: int) -> VectorValue:
        """What a vector register holds, as a value."""
