"""What an intrinsic takes: how an argument gets into an instruction's text and registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any

from isa.acle.elements import ElementType
from isa.acle.program import OpenProgram
from isa.acle.register_text import GeneralText, ListText, ScalarText, VectorText
from isa.acle.values import ElementPointer, StructureType, StructureValue, VectorType, VectorValue
from isa.instruction import Pattern
from isa.rows import TABLE


class Parameter(ABC):
    """What one argument may be.  Where `tied`, the argument's registers become the destination."""

    tied: bool = False

    @property
    @abstractmethod
    def c_type(self) -> str:
        """Its type in C."""

    @property
    def width(self) -> int:
        """How many registers an argument takes."""
        return 1

    @abstractmethod
    def checked(self, value: Any, intrinsic: str, position: int) -> Any:
        """The argument.  Raises TypeError or ValueError with a sentence that says what is allowed."""

    def literal(self, value: Any) -> int:
        """The number that an argument puts into the instruction's text, 0 if none."""
        return 0

    @property
    def lowest_literal(self) -> int:
        """A literal that is always allowed, for asking whether the instruction exists."""
        return 0

    @abstractmethod
    def place(self, program: OpenProgram, value: Any) -> tuple[int, ...]:
        """The numbers of the registers that hold an argument in a program."""

    @abstractmethod
    def text(self, register: int, literal: int) -> object:
        """The operand; a template picks the form of it."""


@dataclass(frozen=True)
class VectorParameter(Parameter):
    """A vector; where `tied`, a copy of it becomes the destination."""

    type: VectorType
    tied: bool = False

    @property
    def c_type(self) -> str:
        """`int32x4_t`."""
        return str(self.type)

    def checked(self, value: Any, intrinsic: str, position: int) -> Any:
        """The value.  Raises TypeError for anything but a `VectorValue` of this very type."""
        given = value.type if isinstance(value, VectorValue) else type(value).__name__
        if given is not self.type and given != self.type:
            raise TypeError(f"{intrinsic} takes {self.type} as argument {position}, not {given}")
        return value

    def place(self, program: OpenProgram, value: VectorValue) -> tuple[int, ...]:
        """The register that holds the value; where tied, one with a copy of it."""
        return (program.copied(value) if self.tied else program.vector_register(value),)

    def text(self, register: int, literal: int) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(register, self.type)


@dataclass(frozen=True)
class StructureParameter(Parameter):
    """Two to four vectors, in registers that follow each other; where `tied`, in copies."""

    type: StructureType
    tied: bool = False

    @property
    def c_type(self) -> str:
        """`int32x4x2_t`."""
        return str(self.type)

    @property
    def width(self) -> int:
        """One register for each vector."""
        return self.type.count

    def checked(self, value: Any, intrinsic: str, position: int) -> StructureValue:
        """The value.  Raises TypeError for anything but a `StructureValue` of this very type."""
        given = value.type if isinstance(value, VectorValue | StructureValue) else type(value).__name__
        if not isinstance(value, StructureValue) or value.type != self.type:
            raise TypeError(f"{intrinsic} takes {self.type} as argument {position}, not {given}")
        return value

    def place(self, program: OpenProgram, value: StructureValue) -> tuple[int, ...]:
        """The registers that hold the vectors, or copies of them where those do not follow each other."""
        held = tuple(program.vector_register(vector) for vector in value.val)
        if not self.tied and program.follow(held):
            return held
        return tuple(program.copied(vector) for vector in value.val)

    def text(self, register: int, literal: int) -> ListText:
        """The list of registers from `register` on."""
        return ListText(register, self.type)


@dataclass(frozen=True)
class NumberParameter(Parameter):
    """A number of an element type."""

    element: ElementType

    @property
    def c_type(self) -> str:
        """`int32_t`."""
        return f"{self.element.c_name}_t"

    def checked(self, value: Any, intrinsic: str, position: int) -> int:
        """The bits that stand for the number.  Raises TypeError for no number, ValueError for one out of range."""
        return self.element.bits_of(value, f"argument {position} of {intrinsic}")

    def _general(self, program: OpenProgram, bits: int) -> int:
        """A fresh general register with an integer in two's complement, at least 32 bits wide."""
        number: int = self.element.number(bits)
        return program.registers.new_general(number % (1 << max(self.element.bits, 32)))

    def _vector(self, program: OpenProgram, bits: int, filled: Pattern | None) -> int:
        """A fresh vector register: a float comes in through it, an integer from a general register by `filled`."""
        if filled is None:
            return program.registers.new_vector(bits)
        general, register = self._general(program, bits), program.registers.new_vector()
        program.run(filled, (register, general))
        return register


@dataclass(frozen=True)
class ScalarParameter(NumberParameter):
    """A number, in a general register."""

    def place(self, program: OpenProgram, value: int) -> tuple[int, ...]:
        """The general register that holds the number."""
        return (self._general(program, value),)

    def text(self, register: int, literal: int) -> GeneralText:
        """`w3`; `x3` for 64 bits."""
        return GeneralText(register, self.element)


@dataclass(frozen=True)
class VectorScalarParameter(NumberParameter):
    """A number, in the lowest element of a vector register: where C passes floats, and scalar instructions work."""

    tied: bool = False

    def place(self, program: OpenProgram, value: int) -> tuple[int, ...]:
        """The vector register that holds the number; an integer gets there by an FMOV that is recorded too."""
        moved = None if self.element.is_float else _moved(self.element.bits == 64)
        return (self._vector(program, value, moved),)

    def text(self, register: int, literal: int) -> ScalarText:
        """`s3`."""
        return ScalarText(register, self.element)


@cache
def _moved(is_long: bool) -> Pattern:
    return TABLE.instruction("fmov", "d0, x1" if is_long else "s0, w1").pattern


@dataclass(frozen=True)
class BroadcastParameter(NumberParameter):
    """A number of a vector's type: an integer in every lane, a float in lane 0, which by-element forms read."""

    type: VectorType

    def place(self, program: OpenProgram, value: int) -> tuple[int, ...]:
        """The vector register that holds the number; an integer gets there by a DUP that is recorded too."""
        filled = None if self.element.is_float else _broadcast(self.type)
        return (self._vector(program, value, filled),)

    def text(self, register: int, literal: int) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(register, self.type)


@cache
def _broadcast(vector_type: VectorType) -> Pattern:
    text = f"{VectorText(0, vector_type)}, {GeneralText(1, vector_type.element)}"
    return TABLE.instruction("dup", text).pattern


@dataclass(frozen=True)
class LiteralParameter(Parameter):
    """A number in the instruction's text, as a lane or, times `scale`, as an immediate."""

    kind: str
    low: int
    high: int
    scale: int = 1

    @property
    def c_type(self) -> str:
        """`const int`, which ACLE asks to be a constant expression."""
        return "const int"

    @property
    def width(self) -> int:
        """None: it lies in no register."""
        return 0

    def checked(self, value: Any, intrinsic: str, position: int) -> int:
        """The number.  Raises TypeError for no int, ValueError outside of `low`..`high`."""
        allowed = f"{intrinsic} takes {self.kind} {self.low}..{self.high}"
        if not isinstance(value, int):
            raise TypeError(f"{allowed}, not {type(value).__name__}")
        if not self.low <= value <= self.high:
            raise ValueError(f"{allowed}, not {value}")
        return value

    def literal(self, value: int) -> int:
        """The number itself."""
        return value

    @property
    def lowest_literal(self) -> int:
        """`low`."""
        return self.low

    def place(self, program: OpenProgram, value: int) -> tuple[int, ...]:
        """No register."""
        return ()

    def text(self, register: int, literal: int) -> str:
        """`1` for a lane, which stands in brackets, `#1` for an immediate."""
        return str(literal) if self.kind == "a lane" else f"#{literal * self.scale}"


@dataclass(frozen=True)
class AddressParameter(Parameter):
    """A pointer; `size` is what the offsets that the instruction takes are multiples of, 0 if it takes none."""

    dtype: str
    size: int

    @property
    def c_type(self) -> str:
        """`int32_t *`."""
        return f"{self.dtype}_t *"

    def checked(self, value: Any, intrinsic: str, position: int) -> ElementPointer:
        """The pointer.  Raises TypeError for anything but an `ElementPointer` to this dtype."""
        if not isinstance(value, ElementPointer):
            raise TypeError(f"{intrinsic} takes an ElementPointer as argument {position}, not {type(value).__name__}")
        if value.dtype != self.dtype:
            raise TypeError(f"{intrinsic} takes a pointer to {self.dtype}, not to {value.dtype}")
        return value

    def literal(self, value: ElementPointer) -> int:
        """The offset in bytes from the address register, 0 where the instruction cannot have it."""
        return value.offset(self.size)

    def place(self, program: OpenProgram, value: ElementPointer) -> tuple[int, ...]:
        """The general register that holds the address less the offset."""
        return (program.address_register(value, self.size),)

    def text(self, register: int, literal: int) -> str:
        """`[x3, #16]`; without the offset where it is 0."""
        return f"[x{register}, #{literal}]" if literal else f"[x{register}]"


@cache
def with_offset(pattern: Pattern, offset: int) -> Pattern:
    """The access of a pattern without an offset, so many bytes further."""
    text = pattern.operand_text.replace("_", "0")
    return TABLE.instruction(pattern.form.mnemonic, text.replace("[x0]", f"[x0, #{offset}]")).pattern
