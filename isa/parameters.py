"""What an intrinsic takes and returns, and how that gets into an instruction and out of it.

A `Parameter` says how an argument gets into an instruction's text and registers, a `Result` how the result gets out.
The registers are a `Recorder`'s; `isa.program.Program` is the one there is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from isa.instruction import Pattern
from isa.lane import Int
from isa.operands import ELEMENT_LETTERS
from isa.rows import TABLE
from isa.values import Pointer, VectorText, VectorType, VectorValue, as_element, c_name

# 256 = 16 vectors of 16 bytes.  LDR and STR reach further (4095 vectors, Arm ARM C7.2), but each offset is a pattern,
# of which code is generated: so those of one intrinsic stay at most 16 (32 at 64 bits), however long the array is.
_REACH = 256
"""Bytes that one address register serves by offsets; a pointer that moves on gets the next register."""


class RegisterSupply(Protocol):
    """Fresh registers, and what they hold."""

    @property
    def general(self) -> list[int]:
        """What the general registers hold, unsigned, by number."""

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`."""

    def new_general(self, value: int = 0) -> int:
        """The number of a fresh general register that holds `value` modulo 2^64."""

    def vector(self, number: int) -> int:
        """The 128 bits that a vector register holds."""


class Recorder(Protocol):
    """What placing an argument and reading a result ask of a program."""

    @property
    def registers(self) -> RegisterSupply:
        """Where fresh registers come from."""

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute and record one instruction."""

    def vector_register(self, value: VectorValue) -> int:
        """The number of the register that holds a value."""

    def copied(self, value: VectorValue) -> int:
        """The number of a fresh register with a copy of a value."""

    def address_register(self, address: int) -> int:
        """The number of the general register that holds an address."""

    def value(self, vector_type: VectorType, register: int) -> VectorValue:
        """What a vector register holds, as a value."""


def _general_text(element: Int, register: int) -> str:
    return f"{'x' if element.bits == 64 else 'w'}{register}"


class Parameter(ABC):
    """What one argument may be."""

    @property
    @abstractmethod
    def c_type(self) -> str:
        """Its type in C."""

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
    def place(self, program: Recorder, value: Any) -> int:
        """The number of the register that holds an argument in a program."""

    @abstractmethod
    def text(self, register: int, literal: int) -> object:
        """The operand."""


@dataclass(frozen=True)
class Vector(Parameter):
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

    def place(self, program: Recorder, value: VectorValue) -> int:
        """The register that holds the value; where tied, one with a copy of it."""
        return program.copied(value) if self.tied else program.vector_register(value)

    def text(self, register: int, literal: int) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(register, self.type)


@dataclass(frozen=True)
class Scalar(Parameter):
    """A number, in a general register."""

    element: Int

    @property
    def c_type(self) -> str:
        """`int32_t`."""
        return f"{c_name(self.element)}_t"

    def checked(self, value: Any, intrinsic: str, position: int) -> int:
        """The number as an int.  Raises TypeError for no integer, ValueError for one out of range."""
        return as_element(self.element, value, f"argument {position} of {intrinsic}")

    def place(self, program: Recorder, value: int) -> int:
        """A fresh general register with the number in two's complement, at least 32 bits wide."""
        return program.registers.new_general(value % (1 << max(self.element.bits, 32)))

    def text(self, register: int, literal: int) -> object:
        """`w3`; `x3` for 64 bits."""
        return _general_text(self.element, register)


@dataclass(frozen=True)
class Broadcast(Scalar):
    """A number, in every lane of a vector register."""

    type: VectorType

    def place(self, program: Recorder, value: int) -> int:
        """A fresh vector register, filled by a DUP that is recorded too."""
        general = super().place(program, value)
        register = program.registers.new_vector()
        program.run(_broadcast(self.type), (register, general))
        return register

    def text(self, register: int, literal: int) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(register, self.type)


@cache
def _broadcast(vector_type: VectorType) -> Pattern:
    return TABLE.instruction("dup", f"{VectorText(0, vector_type)}, {_general_text(vector_type.element, 1)}").pattern


@dataclass(frozen=True)
class Literal(Parameter):
    """A number in the instruction's text, as a lane or, times `scale`, as an immediate."""

    kind: str
    low: int
    high: int
    scale: int = 1

    @property
    def c_type(self) -> str:
        """`const int`, which ACLE asks to be a constant expression."""
        return "const int"

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

    def place(self, program: Recorder, value: int) -> int:
        """The number: it lies in no register, so nothing uses this."""
        return value

    def text(self, register: int, literal: int) -> str:
        """`1` for a lane, which stands in brackets, `#1` for an immediate."""
        return str(literal) if self.kind == "a lane" else f"#{literal * self.scale}"


@dataclass(frozen=True)
class Address(Parameter):
    """A pointer; `size` is what the offsets that the instruction takes are multiples of, 0 if it takes none."""

    dtype: str
    size: int

    @property
    def c_type(self) -> str:
        """`int32_t *`."""
        return f"{self.dtype}_t *"

    def checked(self, value: Any, intrinsic: str, position: int) -> Pointer:
        """The pointer.  Raises TypeError for anything but a `Pointer` to this dtype."""
        if not isinstance(value, Pointer):
            raise TypeError(f"{intrinsic} takes a Pointer as argument {position}, not {type(value).__name__}")
        if value.dtype != self.dtype:
            raise TypeError(f"{intrinsic} takes a pointer to {self.dtype}, not to {value.dtype}")
        return value

    def literal(self, value: Pointer) -> int:
        """The offset in bytes from the address register, 0 where the instruction cannot have it."""
        offset = (value.address - value.origin) % _REACH
        return 0 if not self.size or offset % self.size else offset

    def place(self, program: Recorder, value: Pointer) -> int:
        """The general register that holds the address less the offset."""
        return program.address_register(value.address - self.literal(value))

    def text(self, register: int, literal: int) -> str:
        """`[x3, #16]`; without the offset where it is 0."""
        return f"[x{register}, #{literal}]" if literal else f"[x{register}]"


class Result(ABC):
    """What an intrinsic returns."""

    @property
    @abstractmethod
    def c_type(self) -> str:
        """Its type in C."""

    @abstractmethod
    def destination(self, program: Recorder) -> int:
        """A fresh register for it."""

    @abstractmethod
    def value(self, program: Recorder, register: int) -> Any:
        """What the destination holds."""

    @abstractmethod
    def text(self) -> object:
        """The operand, with the register number 0."""


@dataclass(frozen=True)
class VectorResult(Result):
    """A vector."""

    type: VectorType

    @property
    def c_type(self) -> str:
        """`int32x4_t`."""
        return str(self.type)

    def destination(self, program: Recorder) -> int:
        """A fresh vector register."""
        return program.registers.new_vector()

    def value(self, program: Recorder, register: int) -> VectorValue:
        """The low 64 or all 128 bits of the register."""
        return program.value(self.type, register)

    def text(self) -> VectorText:
        """The register; the template of the instruction picks the arrangement."""
        return VectorText(0, self.type)


@dataclass(frozen=True)
class NumberResult(Result):
    """A number of an element type."""

    element: Int

    @property
    def c_type(self) -> str:
        """`int32_t`."""
        return f"{c_name(self.element)}_t"


class GeneralResult(NumberResult):
    """A number, from a general register."""

    def destination(self, program: Recorder) -> int:
        """A fresh general register."""
        return program.registers.new_general()

    def value(self, program: Recorder, register: int) -> int:
        """The low bits of the register as a number of the element type."""
        return self.element.wrapped(program.registers.general[register])

    def text(self) -> str:
        """`w0`; `x0` for 64 bits."""
        return _general_text(self.element, 0)


class ElementResult(NumberResult):
    """A number, from the lowest element of a vector register."""

    def destination(self, program: Recorder) -> int:
        """A fresh vector register."""
        return program.registers.new_vector()

    def value(self, program: Recorder, register: int) -> int:
        """The lowest element of the register."""
        return self.element.wrapped(program.registers.vector(register))

    def text(self) -> str:
        """The scalar register: `s0`."""
        return f"{ELEMENT_LETTERS[self.element.bits]}0"


@dataclass(frozen=True)
class NoResult(Result):
    """A store returns nothing."""

    @property
    def c_type(self) -> str:
        """`void`."""
        return "void"

    def destination(self, program: Recorder) -> int:
        """0: nothing uses it."""
        return 0

    def value(self, program: Recorder, register: int) -> None:
        """None."""

    def text(self) -> str:
        """Nothing: the instruction has no operand for it."""
        return ""
