"""Program: intrinsics recorded as instructions on virtual registers, executed as they are called.

Every result gets a fresh virtual register (`v0`, `v1`, ... without limit).  Addresses and numbers come in through
virtual general registers, which nothing writes.  An instruction that reads its destination works on a copy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Protocol, Self, cast

from isa.acle.allocation import Allocation, allocate
from isa.acle.liveness import Lives, lives
from isa.acle.values import ElementPointer, VectorType, VectorValue
from isa.evaluate.exact import QC, Occurrence
from isa.evaluate.python import bind
from isa.instruction import Instruction, Pattern
from isa.lane import Place
from isa.rows import TABLE

_FPSR = 1
_COPY = TABLE.instruction("mov", "v0.16b, v1.16b").pattern


class ProgramMemory(Protocol):
    """The memory of a program; an access that is not allowed raises, and the program lets it through."""

    def load(self, address: int, size: int) -> bytes | memoryview:
        """`size` bytes from `address` on."""

    def store(self, address: int, data: bytes) -> None:
        """Set the bytes from `address` on."""


class VirtualRegisters:
    """As many registers as a program asks for, in the layout that generated code works on."""

    def __init__(self) -> None:
        self.vectors = bytearray()
        self.general: list[int] = []
        self.flags = [0, 0, 0, 0]

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
        """What a general or vector register holds, unsigned.  Raises IndexError for a general one never made."""
        if place.file == "x":
            return self.general[cast(int, place.index)]
        return self.vector(cast(int, place.index))

    def vector(self, number: int) -> int:
        """The 128 bits of a vector register, lane 0 lowest; 0 for one never made."""
        return int.from_bytes(self.vectors[16 * number : 16 * number + 16], "little")


class OpenProgram(ABC):
    """What intrinsics are called in: `with` it, and those that are called inside run there.

    `memory` may be None where nothing is loaded or stored.  Entering a second time goes on where the first ended.
    Raises RuntimeError where a program is entered inside of another.
    """

    def __init__(self, memory: ProgramMemory | None, registers: VirtualRegisters) -> None:
        self.memory = memory
        self.registers = registers
        self.saturations = 0
        """How many of the executed instructions saturated, in one lane or more."""
        self._adopted: dict[VectorValue, int] = {}
        self._addresses: dict[int, int] = {}
        self._outer: OpenProgram | None = None
        """The program, if any, that is open where this one may be entered."""
        self._token: Token[OpenProgram | None] | None = None

    def __enter__(self) -> Self:
        if _current.get() is not self._outer:
            raise RuntimeError("programs do not nest: leave the `with Program()` that is open before entering another")
        self._token = _current.set(self)
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None

    @abstractmethod
    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute one instruction."""

    @property
    def saturated(self) -> bool:
        """Whether any instruction saturated: FPSR.QC, which stays set."""
        return bool(self.registers.flags[_FPSR] & QC)

    def execute(self, run: Callable[[], object]) -> None:
        """Run an instruction with QC clear, to see whether it saturates itself; then QC is set again if it was."""
        flags = self.registers.flags
        sticky = flags[_FPSR] & QC
        flags[_FPSR] ^= sticky
        try:
            run()
            self.saturations += bool(flags[_FPSR] & QC)
        finally:
            flags[_FPSR] |= sticky

    def reachable_memory(self) -> ProgramMemory:
        """The memory.  Raises RuntimeError where there is none."""
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

    def perform(self, part: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call what is a `part` of programs (see `isa.acle.part`); a program may repeat what it did before."""
        return part(*arguments)

    def vector(self, register: int) -> int:
        """The 128 bits that a vector register holds."""
        return self.registers.vector(register)

    def follow(self, registers: tuple[int, ...]) -> bool:
        """Whether vector registers follow each other."""
        return registers == tuple(range(registers[0], registers[0] + len(registers)))

    def address_register(self, pointer: ElementPointer, size: int) -> int:
        """The general register that holds a pointer's address, less its offset: one for each address."""
        address = pointer.address - pointer.offset(size)
        if address not in self._addresses:
            self._addresses[address] = self.registers.new_general(address)
        return self._addresses[address]

    def value(self, vector_type: VectorType, register: int) -> VectorValue:
        """What a register holds, as a value; it belongs to this program while the program is entered."""
        if _current.get() is self:
            return VectorValue(vector_type, None, register, self)
        return VectorValue(vector_type, self.vector(register) & (1 << vector_type.total_bits) - 1)


class Program(OpenProgram):
    """A sequence of intrinsics: `with Program(memory) as p:` records what is called inside, and runs it.

    `instructions` and `trace` grow as intrinsics are called.  An instruction that faults is not recorded.  `returned`
    are the registers of what `returns` was last told.
    """

    def __init__(self, memory: ProgramMemory | None = None) -> None:
        super().__init__(memory, VirtualRegisters())
        self.instructions: list[Instruction] = []
        self.trace: list[Occurrence] = []
        self.returned: tuple[int, ...] = ()
        self._got: set[int] = set()
        self._loaded: dict[int, bytes] = {}

    def listing(self) -> str:
        """The text of the instructions, one a line."""
        return "\n".join(instruction.text for instruction in self.instructions)

    def returns(self, *values: VectorValue) -> None:
        """Say what the sequence returns besides what it stores: `allocated` leaves them in v0 to v3, in order."""
        self.returned = tuple(self.vector_register(value) for value in values)

    def lives(self) -> Lives:
        """From where to where each value lives: what `allocated` works on, with the pressure and the dead code."""
        results = [(Place("v", register), self.registers.vector(register)) for register in self.returned]
        return lives(self.trace, results, self._got)

    def allocated(self, name: str = "program") -> Allocation:
        """What is recorded so far as a function of that name on the registers of a machine.

        Raises ValueError for more than four returned vectors, or for more spilled values than a frame can hold.
        """
        return allocate(self.lives(), name)

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Execute one instruction and record it."""
        instruction = Instruction(pattern, registers)
        places = [Place(file, registers[slot]) for file, slot in pattern.slots_read]
        before = {place: self.registers.read(place) for place in places}
        self._loaded = {}
        self.execute(bind(instruction, self.registers, self._load, self._store, 4 * len(self.instructions)))
        self.instructions.append(instruction)
        self.trace.append(Occurrence(instruction, before, self._loaded))

    def _load(self, address: int, size: int) -> bytes:
        data = self._loaded[address] = bytes(self.reachable_memory().load(address, size))
        return data

    def _store(self, address: int, data: bytes) -> None:
        self.reachable_memory().store(address, data)

    def value(self, vector_type: VectorType, register: int) -> VectorValue:
        """As that of any program; `lives` is told that the caller has it."""
        self._got.add(register)
        return super().value(vector_type, register)


_current: ContextVar[OpenProgram | None] = ContextVar("lanewise_program", default=None)


def current_program() -> OpenProgram | None:
    """The program whose `with` block is open, if there is one."""
    return _current.get()
