"""Which classes of operands the lanes of a build have met: the least and the largest, ties, saturation, wrapping."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, assert_never

from isa.evaluate.exact import Evaluation, Occurrence
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Pick,
    Read,
    Saturate,
    Write,
    constant,
    walk,
)
from sim.call.call import CompiledKernel
from sim.check.vectors import Vectors, call_seed
from sim.kernels.kernel import Kernel
from sim.prove.claim import any_of
from sim.toolchain.image import Image

EXECUTIONS: Final = 256
"""Executions of one instruction whose operands are looked at; the sentence of what was never hit says how many."""
OperandClass = Literal["min", "max", "zero", "tie", "saturated low", "saturated high", "wrapped"]


def collect_operand_classes(image: Image, kernel: Kernel, vectors: Vectors) -> dict[str, bool]:
    """The classes that the arithmetic vector instructions of a build have, and whether some lane met them.

    The calls are repeated on the machine.  Raises what `CompiledKernel.call` raises.
    """
    implementation, covered = CompiledKernel(image, kernel, engine="machine"), OperandCoverage()
    for number, inputs in enumerate(vectors.inputs):
        _, trace = implementation.record(kernel.arguments(inputs), call_seed(vectors, number))
        for recorded in trace:
            if recorded.pc is not None:
                covered.look(recorded.pc, recorded.occurrence)
    return covered.classes(image)


@dataclass
class OperandCoverage:
    """Which classes of operands the lanes of each arithmetic vector instruction have met.

    `met` has addresses with classes; `seen` has the executions that were looked at, the first `EXECUTIONS` with
    different operands; `instructions` are their instructions.
    """

    met: set[tuple[int, OperandClass]] = field(default_factory=set)
    seen: dict[int, set[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(set))
    instructions: dict[int, Instruction] = field(default_factory=dict)

    def look(self, pc: int, occurrence: Occurrence) -> None:
        """Take an executed instruction into account."""
        instruction = occurrence.instruction
        writes = vector_arithmetic(instruction)
        seen = self.seen[pc] if writes else set[tuple[int, ...]]()
        operands = tuple(occurrence.registers.values())
        if not writes or len(seen) >= EXECUTIONS or operands in seen:
            return
        seen.add(operands)
        self.instructions[pc] = instruction
        evaluation = Evaluation(occurrence)
        for write in writes:
            for lane in write.lanes:
                self.met |= {(pc, name) for name, met in class_conditions(lane).items() if evaluation.value(met)}

    def classes(self, image: Image) -> dict[str, bool]:
        """Every class that an instruction's expression has, and whether some lane met it."""
        return {
            f"{image.place_of(pc)} {instruction.text} at {pc:#x}: {name}": (pc, name) in self.met
            for pc, instruction in sorted(self.instructions.items())
            for name in sorted(
                {c for w in vector_arithmetic(instruction) for e in w.lanes for c in class_conditions(e)}
            )
        }


@cache
def vector_arithmetic(instruction: Instruction) -> tuple[Write, ...]:
    """The writes of vector registers that an instruction computes with integer arithmetic; none for moves and loads."""
    found = []
    for write in instruction.writes:
        nodes = list(walk(write.lanes)) if getattr(write.place, "file", "") == "v" else []
        if any(map(_is_arithmetic, nodes)) and not any(isinstance(node, Load) for node in nodes):
            found.append(write)
    return tuple(found)


def _is_arithmetic(node: Lane) -> bool:
    match node:
        case Saturate():
            return True
        case Binary(operator):
            match operator:
                case "add" | "subtract" | "multiply" | "shift_left" | "shift_right" | "minimum" | "maximum":
                    return True
                case "divide" | "and" | "or" | "xor" | "less" | "equal":
                    return False
                case _:
                    assert_never(operator)
        case Constant() | Read() | Load() | Field() | Pick() | Floating():
            return False
        case _:
            assert_never(node)


@cache
def class_conditions(lane: Lane) -> Mapping[OperandClass, Lane]:
    """The classes that an expression can meet at all, each with what is 1 where it does."""
    found: dict[OperandClass, list[Lane]] = defaultdict(list)
    for node in walk((lane,)):
        match node:
            case Field():
                if _is_operand(node):
                    found["min"].append(node.equals(node.low))
                    found["max"].append(node.equals(node.high))
                    found["zero"].append(node.equals(0))
                elif _wraps(node):
                    found["wrapped"].append(node.equals(node.operand).equals(0))
            case Saturate(operand, element):
                if operand.low < element.low:
                    found["saturated low"].append(operand < element.low)
                if operand.high > element.high:
                    found["saturated high"].append(operand > element.high)
            case Binary("shift_right", Binary("add", one, other) as total, count):  # by half of what it is divided by
                half = (constant(1) << count) >> 1
                rounds = (one.equals(half) | other.equals(half)) & half.equals(0).equals(0)
                found["tie"].append(rounds & ((total >> count) << count).equals(total))
            case Binary() | Constant() | Read() | Load() | Pick() | Floating():
                pass
            case _:
                assert_never(node)
    return {name: any_of(conditions) for name, conditions in found.items()}


def _is_operand(node: Field) -> bool:
    """A lane of a register, of more than one bit."""
    return isinstance(node.operand, Read) and node.high - node.low > 1


def _wraps(node: Field) -> bool:
    """The low bits of a computed number, which may not be all of it."""
    return not isinstance(node.operand, (Read, Load, Field))
