"""Which classes of operands the lanes of a build have met: the least and the largest, ties, saturation, wrapping."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

from isa.evaluate.exact import Evaluation, Occurrence
from isa.instruction import Instruction
from isa.lane import Int, Lane, Write, walk
from sim.check.call import CompiledKernel
from sim.check.vectors import Vectors, call_seed
from sim.image import Image
from sim.kernels.kernel import Kernel

_ARITHMETIC: Final = ("add", "subtract", "multiply", "shift_left", "shift_right", "saturate", "minimum", "maximum")
EXECUTIONS: Final = 256
"""Executions of one instruction whose operands are looked at; the sentence of what was never hit says how many."""
OperandClass = Literal["min", "max", "zero", "tie", "saturated low", "saturated high", "wrapped"]


def operand_classes(image: Image, kernel: Kernel, vectors: Vectors) -> dict[str, bool]:
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

    `met` has, by address and class, the lanes as bits; `seen` counts the executions that were looked at, the first
    `EXECUTIONS` with different operands; `instructions` are their instructions.
    """

    met: dict[tuple[int, OperandClass], int] = field(default_factory=lambda: defaultdict(int))
    seen: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    instructions: dict[int, Instruction] = field(default_factory=dict)

    def look(self, pc: int, occurrence: Occurrence) -> None:
        """Take an executed instruction into account."""
        instruction = occurrence.instruction
        writes = vector_arithmetic(instruction)
        seen = self.seen[pc] if writes else set[int]()
        operands = hash(tuple(occurrence.registers.items()))
        if not writes or len(seen) >= EXECUTIONS or operands in seen:
            return
        seen.add(operands)
        self.instructions[pc] = instruction
        evaluation = Evaluation(occurrence)
        for write in writes:
            for number, lane in enumerate(write.lanes):
                for found in _classes(lane, evaluation):
                    self.met[pc, found] |= 1 << number

    def classes(self, image: Image) -> dict[str, bool]:
        """Every class that an instruction's expression has, and whether some lane met it."""
        return {
            f"{image.place_of(pc)} {instruction.text} at {pc:#x}: {name}": bool(self.met[pc, name])
            for pc, instruction in sorted(self.instructions.items())
            for name in _possible(instruction)
        }


def _possible(instruction: Instruction) -> list[OperandClass]:
    lanes = [lane for write in vector_arithmetic(instruction) for lane in write.lanes]
    return sorted(frozenset[OperandClass]().union(*(possible_classes(lane) for lane in lanes)))


@cache
def vector_arithmetic(instruction: Instruction) -> tuple[Write, ...]:
    """The writes of vector registers that an instruction computes with integer arithmetic; none for moves and loads."""
    writes = [write for write in instruction.writes if getattr(write.place, "file", "") == "v"]
    return tuple(write for write in writes if _is_arithmetic({node.op for node in walk(write.lanes)}))


def _is_arithmetic(operations: set[str]) -> bool:
    """A load computes its address too."""
    return bool(operations & set(_ARITHMETIC)) and "load" not in operations


@cache
def possible_classes(lane: Lane) -> frozenset[OperandClass]:
    """The classes that an expression can meet at all."""
    found = set[OperandClass]()
    for node in walk((lane,)):
        if _is_operand(node):
            found |= {"min", "max", "zero"}
        elif node.op == "saturate":
            found |= _outside(node, "saturated low", "saturated high")
        elif _wraps(node):
            found.add("wrapped")
        elif _rounds(node):
            found.add("tie")
    return frozenset(found)


def _outside(node: Lane, low: OperandClass, high: OperandClass) -> set[OperandClass]:
    (value,), element = node.args, node.detail
    assert isinstance(element, Int)
    return {
        name for name, is_possible in ((low, value.low < element.low), (high, value.high > element.high)) if is_possible
    }


def _classes(lane: Lane, evaluation: Evaluation) -> Iterator[OperandClass]:
    """The classes that a lane meets in one execution."""
    for node in walk((lane,)):
        if _is_operand(node):
            value = evaluation.value(node)
            yield from (name for name, edge in _edges(node) if value == edge)
        elif node.op == "saturate":
            value, result = evaluation.value(node.args[0]), evaluation.value(node)
            if value != result:
                yield "saturated low" if value < result else "saturated high"
        elif _wraps(node) and evaluation.value(node) != evaluation.value(node.args[0]):
            yield "wrapped"
        elif _rounds(node) and _is_tie(node, evaluation):
            yield "tie"


def _edges(node: Lane) -> tuple[tuple[OperandClass, int], ...]:
    return ("min", node.low), ("max", node.high), ("zero", 0)


def _is_operand(node: Lane) -> bool:
    """A lane of a register, of more than one bit."""
    return node.op == "field" and node.args[0].op == "read" and node.high - node.low > 1


def _wraps(node: Lane) -> bool:
    """The low bits of a computed number, which may not be all of it."""
    return node.op == "field" and node.args[0].op not in ("read", "load", "field")


def _rounds(node: Lane) -> bool:
    """A sum with half of what it is then divided by."""
    return node.op == "shift_right" and node.args[0].op == "add"


def _is_tie(node: Lane, evaluation: Evaluation) -> bool:
    total, count = node.args
    half = (1 << evaluation.value(count)) >> 1
    rests = [evaluation.value(arg) for arg in total.args]
    return half > 0 and half in rests and sum(rests) % (2 * half) == 0
