"""Program: intrinsics recorded as instructions on virtual registers, executed as they are called.

Every result gets a fresh virtual register (`v0`, `v1`, ... without limit).  Addresses and numbers come in through
virtual general registers, which nothing writes.  An instruction that reads its destination works on a copy.
A `Parameter` says how an argument gets into an instruction's text and registers, a `Result` how the result gets out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from isa.evaluate.exact import QC, Occurrence
from isa.evaluate.python import bind
from isa.instruction import Instruction, Pattern
from isa.lane import Int, Lane, Memory, Place, Slot, walk
from isa.rows import TABLE
from isa.values import LETTERS, Pointer, VectorText, VectorType, VectorValue, as_element, c_name

_FPSR = 1
_REACH = 256
"""Bytes that one address register serves by offsets; a pointer that moves on gets the next register."""
_COPY = TABLE.instruction("mov", "v0.16b, v1.16b").pattern


class ProgramMemory(Protocol):
    """The memory of a program; an access that is not allowed raises, and the program lets it through."""

    def load(self, address: int, size: int) -> bytes | memoryview: ...

    def store(self, address: int, data: bytes) -> None: ...


class VirtualRegisters:
    """As many registers as a program asks for, in the layout that generated code works on."""

    def __init__(self) -> None:
        self.vectors = bytearray()
        self.general: list[int] = []
        self.flags = [0, 0, 0]

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`."""
        number = len(self.vectors) // 16
        self.vectors += bits.to_bytes(16, "little")
        return number

    def new_general(self, value: int = 0) -> int:
        """The number of a fresh general register that holds `value` modulo 2^64."""
        self.general.append(value % 2**64)
        return len(self.general) - 1

    def read(self, place: Place) -> int:
        if place.file == "x":
            return self.general[cast(int, place.index)]
        return self.vector(cast(int, place.index))

    def vector(self, number: int) -> int:
        return int.from_bytes(self.vectors[16 * number : 16 * number + 16], "little")


class Program:
    """A sequence of intrinsics: `with Program(memory) as p:` records what is called inside, and runs it.

    `memory` may be left out where nothing is loaded or stored.  `instructions` and `trace` grow as intrinsics are
    called; entering a second time goes on where the first ended.  An instruction that faults is not recorded.
    Raises RuntimeError where a Program is entered inside of another.
    """

    def __init__(self, memory: ProgramMemory | None = None) -> None:
        self.memory = memory
        self.registers = VirtualRegisters()
        self.instructions: list[Instruction] = []
        self.trace: list[Occurrence] = []
        self._adopted: dict[VectorValue, int] = {}
        self._addresses: dict[int, int] = {}
        self._loaded: dict[int, bytes] = {}
        self._token: Token[Program | None] | None = None

    def __enter__(self) -> Program:
        if _current.get() is not None:
            raise RuntimeError("programs do not nest: leave the `with Program()` that is open before entering another")
        self._token = _current.set(self)
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None

    @property
    def saturated(self) -> bool:
        """Whether any instruction saturated: FPSR.QC, which stays set."""
        return bool(self.registers.flags[_FPSR] & QC)

    def listing(self) -> str:
        """The text of the instructions, one a line."""
        return "\n".join(instruction.text for instruction in self.instructions)

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute one instruction and record it."""
        instruction = Instruction(pattern, registers)
        before = self._read_by(pattern, registers)
        self._loaded = {}
        bind(instruction, self.registers, self._load, self._store, 4 * len(self.instructions))()
        self.instructions.append(instruction)
        self.trace.append(Occurrence(instruction, before, self._loaded))

    def _read_by(self, pattern: Pattern, registers: tuple[int, ...]) -> dict[Place, int]:
        places = [Place(file, registers[slot]) for file, slot in _slots_read(pattern)]
        return {place: self.registers.read(place) for place in places}

    def _load(self, address: int, size: int) -> bytes:
        data = self._loaded[address] = bytes(self._reachable_memory().load(address, size))
        return data

    def _store(self, address: int, data: bytes) -> None:
        self._reachable_memory().store(address, data)

    def _reachable_memory(self) -> ProgramMemory:
        if self.memory is None:
            raise RuntimeError("a load or store needs memory: call it inside of `with Program(memory)`")
        return self.memory

    def vector_register(self, value: VectorValue) -> int:
        """The register that holds a value; one that was made elsewhere comes in through a fresh register."""
        if value.owner is self and value.register is not None:
            return value.register
        if value not in self._adopted:
            self._adopted[value] = self.registers.new_vector(value.bits)
        return self._adopted[value]

    def copied(self, value: VectorValue) -> int:
        """A fresh register with a copy of a value, for an instruction that reads its destination."""
        source = self.vector_register(value)
        copy = self.registers.new_vector()
        self.run(_COPY, (copy, source))
        return copy

    def address_register(self, address: int) -> int:
        """The general register that holds an address: one for each address."""
        if address not in self._addresses:
            self._addresses[address] = self.registers.new_general(address)
        return self._addresses[address]

    def value(self, vector_type: VectorType, register: int) -> VectorValue:
        """What a register holds, as a value; it belongs to this program while the program is entered."""
        bits = self.registers.vector(register) & (1 << vector_type.total_bits) - 1
        if _current.get() is self:
            return VectorValue(vector_type, bits, register, self)
        return VectorValue(vector_type, bits)


_current: ContextVar[Program | None] = ContextVar("lanewise_program", default=None)


def current_program() -> Program | None:
    """The Program whose `with` block is open, if there is one."""
    return _current.get()


@cache
def _slots_read(pattern: Pattern) -> tuple[tuple[str, int], ...]:
    """The registers that an instruction of this pattern reads: their file, and their number in its text."""
    writes = pattern.open_writes
    roots: list[Lane] = [lane for write in writes for lane in write.lanes]
    roots += [write.place.address for write in writes if isinstance(write.place, Memory)]
    places = {node.detail for node in walk(roots) if node.op == "read" and isinstance(node.detail, Place)}
    return tuple(sorted((p.file, p.index.number) for p in places if isinstance(p.index, Slot)))


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
        return 0

    @abstractmethod
    def place(self, program: Program, value: Any) -> int:
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
        return str(self.type)

    def checked(self, value: Any, intrinsic: str, position: int) -> Any:
        given = value.type if isinstance(value, VectorValue) else type(value).__name__
        if given is not self.type and given != self.type:
            raise TypeError(f"{intrinsic} takes {self.type} as argument {position}, not {given}")
        return value

    def place(self, program: Program, value: VectorValue) -> int:
        return program.copied(value) if self.tied else program.vector_register(value)

    def text(self, register: int, literal: int) -> VectorText:
        return VectorText(register, self.type)


@dataclass(frozen=True)
class Scalar(Parameter):
    """A number, in a general register."""

    element: Int

    @property
    def c_type(self) -> str:
        return f"{c_name(self.element)}_t"

    def checked(self, value: Any, intrinsic: str, position: int) -> int:
        return as_element(self.element, value, f"argument {position} of {intrinsic}")

    def place(self, program: Program, value: int) -> int:
        return program.registers.new_general(value % (1 << max(self.element.bits, 32)))

    def text(self, register: int, literal: int) -> object:
        return _general_text(self.element, register)


@dataclass(frozen=True)
class Broadcast(Scalar):
    """A number, in every lane of a vector register."""

    type: VectorType

    def place(self, program: Program, value: int) -> int:
        general = super().place(program, value)
        register = program.registers.new_vector()
        program.run(_broadcast(self.type), (register, general))
        return register

    def text(self, register: int, literal: int) -> VectorText:
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
        return "const int"

    def checked(self, value: Any, intrinsic: str, position: int) -> int:
        allowed = f"{intrinsic} takes {self.kind} {self.low}..{self.high}"
        if not isinstance(value, int):
            raise TypeError(f"{allowed}, not {type(value).__name__}")
        if not self.low <= value <= self.high:
            raise ValueError(f"{allowed}, not {value}")
        return value

    def literal(self, value: int) -> int:
        return value

    @property
    def lowest_literal(self) -> int:
        return self.low

    def place(self, program: Program, value: int) -> int:
        return value

    def text(self, register: int, literal: int) -> str:
        return str(literal) if self.kind == "a lane" else f"#{literal * self.scale}"


@dataclass(frozen=True)
class Address(Parameter):
    """A pointer; `size` is what the offsets that the instruction takes are multiples of, 0 if it takes none."""

    dtype: str
    size: int

    @property
    def c_type(self) -> str:
        return f"{self.dtype}_t *"

    def checked(self, value: Any, intrinsic: str, position: int) -> Pointer:
        if not isinstance(value, Pointer):
            raise TypeError(f"{intrinsic} takes a Pointer as argument {position}, not {type(value).__name__}")
        if value.dtype != self.dtype:
            raise TypeError(f"{intrinsic} takes a pointer to {self.dtype}, not to {value.dtype}")
        return value

    def literal(self, value: Pointer) -> int:
        offset = (value.address - value.origin) % _REACH
        return 0 if not self.size or offset % self.size else offset

    def place(self, program: Program, value: Pointer) -> int:
        return program.address_register(value.address - self.literal(value))

    def text(self, register: int, literal: int) -> str:
        return f"[x{register}, #{literal}]" if literal else f"[x{register}]"


class Result(ABC):
    """What an intrinsic returns."""

    @property
    @abstractmethod
    def c_type(self) -> str:
        """Its type in C."""

    @abstractmethod
    def destination(self, program: Program) -> int:
        """A fresh register for it."""

    @abstractmethod
    def value(self, program: Program, register: int) -> Any:
        """What the destination holds."""

    @abstractmethod
    def text(self) -> object:
        """The operand, with the register number 0."""


@dataclass(frozen=True)
class VectorResult(Result):
    type: VectorType

    @property
    def c_type(self) -> str:
        return str(self.type)

    def destination(self, program: Program) -> int:
        return program.registers.new_vector()

    def value(self, program: Program, register: int) -> VectorValue:
        return program.value(self.type, register)

    def text(self) -> VectorText:
        return VectorText(0, self.type)


@dataclass(frozen=True)
class NumberResult(Result):
    """A number of an element type."""

    element: Int

    @property
    def c_type(self) -> str:
        return f"{c_name(self.element)}_t"


class GeneralResult(NumberResult):
    """A number, from a general register."""

    def destination(self, program: Program) -> int:
        return program.registers.new_general()

    def value(self, program: Program, register: int) -> int:
        return self.element.wrapped(program.registers.general[register])

    def text(self) -> str:
        return _general_text(self.element, 0)


class ElementResult(NumberResult):
    """A number, from the lowest element of a vector register."""

    def destination(self, program: Program) -> int:
        return program.registers.new_vector()

    def value(self, program: Program, register: int) -> int:
        return self.element.wrapped(program.registers.vector(register))

    def text(self) -> str:
        return f"{LETTERS[self.element.bits]}0"


@dataclass(frozen=True)
class NoResult(Result):
    """A store returns nothing."""

    @property
    def c_type(self) -> str:
        return "void"

    def destination(self, program: Program) -> int:
        return 0

    def value(self, program: Program, register: int) -> None:
        return None

    def text(self) -> str:
        return ""
