"""The arbiter: expressions evaluated by walking them with Python integers, too simple to be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, assert_never

from isa.evaluate.floating import compute
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Memory,
    Operator,
    Pick,
    Place,
    Read,
    Saturate,
    Write,
    head,
)

QC = 1 << 27
FPSR, PC = Place("fpsr"), Place("pc")


class Inputs(Protocol):
    """What expressions read."""

    def read(self, place: Place) -> int:
        """The whole register, unsigned."""

    def load(self, address: int, size: int) -> bytes | memoryview:
        """`size` bytes of memory from `address` on."""


class State(Inputs, Protocol):
    """What an instruction runs on.  Memory is bytes; an access that is not allowed raises."""

    def write(self, place: Place, value: int) -> None:
        """Set the whole register."""

    def store(self, address: int, data: bytes) -> None:
        """Set the bytes from `address` on."""


def divided(a: int, b: int) -> int:
    """The quotient rounded toward zero; 0 where `b` is 0."""
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def arithmetic(operator: Operator, a: int, b: int) -> int:
    """What a `Binary` node makes of two numbers."""
    match operator:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            return divided(a, b)
        case "shift_left":
            return a << b
        case "shift_right":
            return a >> b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "minimum":
            return min(a, b)
        case "maximum":
            return max(a, b)
        case "less":
            return int(a < b)
        case "equal":
            return int(a == b)
        case _:
            assert_never(operator)


class Evaluation:
    """The values of expressions on one state.

    `saturated` says whether any saturation clamped, `raised` has the exception bits of FPSR that operations raised.

    Raises AssertionError where a value leaves the range that its node claims: that is a fault of `isa.lane`.
    """

    def __init__(self, state: Inputs) -> None:
        self.saturated = False
        self.raised = 0
        self._state = state
        self._values: dict[Lane, int] = {}

    def value(self, lane: Lane) -> int:
        """The number that an expression is on this state."""
        if lane not in self._values:
            result = self._compute(lane)
            if not lane.low <= result <= lane.high:
                raise AssertionError(f"{head(lane)[0]} gave {result}, outside of its range {lane.low}..{lane.high}")
            self._values[lane] = result
        return self._values[lane]

    def _compute(self, lane: Lane) -> int:
        match lane:
            case Field():
                return lane.element.wrapped(self.value(lane.operand) >> lane.lsb)
            case Binary():
                return arithmetic(lane.operator, self.value(lane.a), self.value(lane.b))
            case Constant():
                return lane.low
            case Read():
                return self._state.read(lane.place)
            case Load():
                return int.from_bytes(self._state.load(self.value(lane.address), lane.size), "little")
            case Saturate():
                value, element = self.value(lane.operand), lane.element
                clamped = min(max(value, element.low), element.high)
                self.saturated |= clamped != value
                return clamped
            case Pick():  # items that are not taken are computed too: what they saturate and raise counts
                index, *items = (arg.low if type(arg) is Constant else self.value(arg) for arg in lane.args)
                return items[index if 0 <= index < len(items) - 1 else -1]
            case Floating():
                return self._floating(lane)
            case _:
                assert_never(lane)

    def _floating(self, lane: Floating) -> int:
        operands = tuple(self.value(operand) for operand in lane.operands)
        result, raised = compute(lane.operation, operands, self.value(lane.fpcr))
        self.raised |= raised
        return result

    def whole(self, write: Write) -> int:
        """The lanes of a write put together to one number."""
        mask = (1 << write.bits) - 1
        return sum((self.value(lane) & mask) << write.bits * i for i, lane in enumerate(write.lanes))


@dataclass(frozen=True)
class Occurrence:
    """One execution of an instruction: the registers and the memory that it read, as they were before it."""

    instruction: Instruction
    registers: Mapping[Place, int]
    memory: Mapping[int, bytes]

    def read(self, place: Place) -> int:
        """A register as it was before.  Raises KeyError for one that the instruction does not read."""
        return self.registers[place]

    def load(self, address: int, size: int) -> bytes:
        """Memory as it was before.  Raises KeyError for an address that the instruction does not read."""
        return self.memory[address][:size]


def execute(instruction: Instruction, state: State) -> None:
    """Run one instruction.  Everything is computed, then memory is written, then registers: a fault changes nothing."""
    evaluation = Evaluation(state)
    results = [(write.place, evaluation.whole(write)) for write in instruction.writes]
    stores = [(evaluation.value(p.address), p.size, value) for p, value in results if isinstance(p, Memory)]
    next_pc = (state.read(PC) + 4) % 2**64
    for address, size, value in stores:
        state.store(address, value.to_bytes(size, "little"))
    for place, value in results:
        if isinstance(place, Place):
            state.write(place, value)
    noted = evaluation.raised | (QC if evaluation.saturated else 0)
    if noted:
        state.write(FPSR, state.read(FPSR) | noted)
    if PC not in instruction.places_written:
        state.write(PC, next_pc)
