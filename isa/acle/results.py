"""What an intrinsic returns: how it gets out of an instruction's registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from isa.acle.elements import ElementType
from isa.acle.program import OpenProgram
from isa.acle.register_text import GeneralText, ListText, ScalarText, VectorText
from isa.acle.values import StructureType, StructureValue, VectorType, VectorValue
from isa.lane import Place


class IntrinsicResult(ABC):
    """What an intrinsic returns."""

    @property
    @abstractmethod
    def c_type(self) -> str:
        """Its type in C."""

    @property
    def width(self) -> int:
        """How many registers it takes."""
        return 1

    @abstractmethod
    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """Fresh registers for it."""

    @abstractmethod
    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> Any:
        """What the destination holds."""

    @abstractmethod
    def text(self) -> object:
        """The operand, with the register number 0; a template picks the form of it."""


@dataclass(frozen=True)
class VectorResult(IntrinsicResult):
    """A vector."""

    type: VectorType

    @property
    def c_type(self) -> str:
        """`int32x4_t`."""
        return str(self.type)

    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """A fresh vector register."""
        return (program.registers.new_vector(),)

    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> VectorValue:
        """The low 64 or all 128 bits of the register."""
        return program.value(self.type, registers[0])

    def text(self) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(0, self.type)


@dataclass(frozen=True)
class StructureResult(IntrinsicResult):
    """Two to four vectors."""

    type: StructureType

    @property
    def c_type(self) -> str:
        """`int32x4x2_t`."""
        return str(self.type)

    @property
    def width(self) -> int:
        """One register for each vector."""
        return self.type.count

    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """Fresh vector registers that follow each other."""
        return tuple(program.registers.new_vector() for _ in range(self.type.count))

    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> StructureValue:
        """The vectors in the registers."""
        return StructureValue(self.type, tuple(program.value(self.type.vector, register) for register in registers))

    def text(self) -> ListText:
        """The list of registers."""
        return ListText(0, self.type)


@dataclass(frozen=True)
class NumberResult(IntrinsicResult):
    """A number of an element type."""

    element: ElementType

    @property
    def c_type(self) -> str:
        """`int32_t`."""
        return f"{self.element.c_name}_t"


class GeneralResult(NumberResult):
    """A number, from a general register."""

    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """A fresh general register."""
        return (program.registers.new_general(),)

    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> Any:
        """The low bits of the register as a number of the element type."""
        return self.element.number(program.registers.read(Place("x", registers[0])))

    def text(self) -> GeneralText:
        """`w0`; `x0` for 64 bits."""
        return GeneralText(0, self.element)


class ElementResult(NumberResult):
    """A number, from the lowest element of a vector register."""

    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """A fresh vector register."""
        return (program.registers.new_vector(),)

    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> Any:
        """The lowest element of the register."""
        return self.element.number(program.registers.vector(registers[0]))

    def text(self) -> ScalarText:
        """The scalar register: `s0`."""
        return ScalarText(0, self.element)


@dataclass(frozen=True)
class NoResult(IntrinsicResult):
    """A store returns nothing."""

    @property
    def c_type(self) -> str:
        """`void`."""
        return "void"

    @property
    def width(self) -> int:
        """No register."""
        return 0

    def destination(self, program: OpenProgram) -> tuple[int, ...]:
        """No register."""
        return ()

    def value(self, program: OpenProgram, registers: tuple[int, ...]) -> None:
        """None."""

    def text(self) -> str:
        """Nothing: the instruction has no operand for it."""
        return ""
