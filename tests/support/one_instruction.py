"""One instruction by the exact evaluator, on registers and bytes that a test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from isa.evaluate.exact import Evaluation
from isa.instruction import Instruction
from isa.lane import Memory, Place
from isa.rows import TABLE


@dataclass(frozen=True)
class Given:
    """Registers by their names, all others 0, and bytes by their addresses."""

    registers: Mapping[str, int]
    memory: Mapping[int, bytes] = field(default_factory=dict)

    def read(self, place: Place) -> int:
        return self.registers.get(str(place), 0) % (1 << place.bits)

    def load(self, address: int, size: int) -> bytes:
        for start, data in self.memory.items():
            if start <= address <= start + len(data) - size:
                return data[address - start :][:size]
        raise AssertionError(f"{size} bytes are loaded at {address:#x}")


def named(text: str) -> Instruction:
    """The instruction of a text such as "add w0, w1, w2"."""
    mnemonic, _, operands = text.partition(" ")
    return TABLE.instruction(mnemonic, operands)


def left_by(instruction: Instruction, given: Given) -> dict[str | int, int]:
    """The numbers that an instruction leaves, by the name of the register, or by the address."""
    evaluation = Evaluation(given)
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
