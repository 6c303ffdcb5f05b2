"""Instructions by the exact evaluator, on registers and bytes that a test says."""

from __future__ import annotations

from collections.abc import Mapping

from isa.evaluate.exact import Evaluation, execute
from isa.instruction import Instruction
from isa.lane import Lane, Memory, Place, Write
from isa.rows import TABLE


class State:
    """Registers by their names, all others 0, and 64 KiB of memory from address 0 on, of zeros but for some bytes."""

    def __init__(self, registers: Mapping[str, int], memory: Mapping[int, bytes] | None = None) -> None:
        self.registers = dict(registers)
        self.memory = bytearray(1 << 16)
        for address, data in (memory or {}).items():
            self.store(address, data)

    def read(self, place: Place) -> int:
        return self.registers.get(str(place), 0) % (1 << place.bits)

    def load(self, address: int, size: int) -> bytes:
        assert 0 <= address <= len(self.memory) - size
        return bytes(self.memory[address : address + size])

    def write(self, place: Place, value: int) -> None:
        self.registers[str(place)] = value

    def store(self, address: int, data: bytes) -> None:
        assert 0 <= address <= len(self.memory) - len(data)
        self.memory[address : address + len(data)] = data

    def value(self, lane: Lane) -> int:
        """What an expression is."""
        return Evaluation(self).value(lane)

    def run(self, *instructions: Instruction) -> State:
        """After these, one behind the other."""
        for instruction in instructions:
            execute(instruction, self)
        return self


class Known(State):
    """A state whose instructions read no byte that is neither given nor stored, and write numbers that fit."""

    def __init__(self, registers: Mapping[str, int], memory: Mapping[int, bytes] | None = None) -> None:
        self._known = set[int]()
        super().__init__(registers, memory)

    def load(self, address: int, size: int) -> bytes:
        assert self._known.issuperset(range(address, address + size))
        return super().load(address, size)

    def store(self, address: int, data: bytes) -> None:
        self._known.update(range(address, address + len(data)))
        super().store(address, data)

    def run(self, *instructions: Instruction) -> State:
        """After these, one behind the other."""
        for instruction in instructions:
            assert all(map(fits, instruction.writes))
        return super().run(*instructions)


def fits(write: Write) -> bool:
    """Whether elements are numbers of so many bits, with a sign or without, and fill what is stored."""
    bits = write.bits * len(write.lanes)
    is_filled = bits == 8 * write.place.size if isinstance(write.place, Memory) else bits <= write.place.bits
    low, high = -(1 << write.bits - 1), (1 << write.bits) - 1
    return is_filled and all(low <= lane.low and lane.high <= high for lane in write.lanes)


def named(text: str) -> Instruction:
    """The instruction of a text such as "add w0, w1, w2"."""
    mnemonic, _, operands = text.partition(" ")
    return TABLE.instruction(mnemonic, operands)


def left_by(instruction: Instruction, state: State) -> dict[str | int, int]:
    """The numbers that an instruction leaves, by the name of the register, or by the address."""
    evaluation = Evaluation(state)
    return {
        evaluation.value(write.place.address) if isinstance(write.place, Memory) else str(write.place): (
            evaluation.whole(write)
        )
        for write in instruction.writes
    }


def elements(number: int, bits: int, count: int) -> list[int]:
    """The elements of a register, as signed numbers."""
    found = [number >> bits * at & (1 << bits) - 1 for at in range(count)]
    return [each - (each >> bits - 1 << bits) for each in found]


def register_of(numbers: list[int], bits: int) -> int:
    """A register with these elements."""
    return sum(number % (1 << bits) << bits * at for at, number in enumerate(numbers))
