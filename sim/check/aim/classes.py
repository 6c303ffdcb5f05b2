"""Which classes of operands the vector arithmetic of a build met, and of the others, which no input can bring about.

What no lane met is put to the solver: the executed expressions, with the numbers that registers can hold there
(`ranges`).  A class that these allow may still be out of reach, so all that is said then is that it was not found.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from isa.evaluate.exact import Evaluation, Occurrence
from isa.evaluate.smt import Impossible, Solver, SolverMissing
from isa.instruction import Instruction
from isa.lane import Binary, Int, Lane, Place, Read, walk
from sim.check.aim.power import OperandsMet
from sim.check.aim.ranges import Ranges, Registers, held, narrowed
from sim.check.operand_classes import OperandClass, class_conditions, vector_arithmetic
from sim.kernels.kernel import Kernel
from sim.prove.claim import any_of
from sim.toolchain.image import Image

LOOKED_FOR: Final[tuple[OperandClass, ...]] = ("tie", "saturated low", "saturated high", "wrapped")
EXECUTIONS: Final = 48
"""Executions of one instruction, with different operands, that are looked at for a class that none has met."""
SECONDS: Final = 10
"""For a question that takes the solver some milliseconds, so that a slow computer answers as a fast one does."""
PRODUCT: Final = 24
"""Bits of a product of two unknown numbers up to which the solver is asked."""


class ClassesMet:
    """The classes that the lanes of some instructions, by address, have and meet.

    `wanted` are the addresses of those that are still to be looked at.
    """

    def __init__(self, instructions: Mapping[int, Instruction]) -> None:
        self._instructions = instructions
        self._conditions: dict[int, dict[OperandClass, Lane]] = {}
        for pc, instruction in sorted(instructions.items()):
            conditions = defaultdict[OperandClass, list[Lane]](list)
            for lane in (lane for write in vector_arithmetic(instruction) for lane in write.lanes):
                for name, condition in class_conditions(lane).items():
                    conditions[name].append(condition)
            self._conditions[pc] = {name: any_of(conditions[name]) for name in LOOKED_FOR if name in conditions}
        self._open = {pc: set(conditions) for pc, conditions in self._conditions.items()}
        self._seen = defaultdict[int, set[int]](set)
        self.wanted = {pc for pc, names in self._open.items() if names}

    def look(self, executions: Iterable[tuple[int, Occurrence]]) -> None:
        """Take executed instructions into account."""
        for pc, occurrence in executions:
            operands = hash(tuple(occurrence.registers.items()))
            if operands in self._seen[pc]:
                continue
            self._seen[pc].add(operands)
            evaluation = Evaluation(occurrence)
            self._open[pc] = {name for name in self._open[pc] if not evaluation.value(self._conditions[pc][name])}
            if not self._open[pc] or len(self._seen[pc]) == EXECUTIONS:
                self.wanted.discard(pc)

    def told(self, build: str, image: Image, kernel: Kernel) -> list[OperandsMet]:
        """Every class with what there is to say of it, by address."""
        ranges, found = Ranges(image, kernel), []
        for pc, conditions in self._conditions.items():
            instruction = self._instructions[pc]
            for name, condition in conditions.items():
                met = name not in self._open[pc]
                why = "" if met else _why_never(condition, ranges.before(pc))
                found.append(OperandsMet(build, image.place_of(pc), instruction.text, name, met, why))
        return found


def _why_never(condition: Lane, registers: Registers) -> str:
    """Why a condition holds for no numbers that the registers can hold; "" where it may, or where that is not known."""
    over_ranges = narrowed(condition, registers)
    if over_ranges.value != 0 and not _is_impossible(over_ranges):
        return ""
    known = [_known(place, registers) for place in sorted(_places(condition), key=str)]
    return " and ".join(filter(None, known)) or "no operands bring it about"


def _is_impossible(condition: Lane) -> bool:
    """Whether the solver knows that no inputs fulfil a condition; long products of unknown numbers are not asked."""
    for node in walk([condition]):
        is_product = isinstance(node, Binary) and node.operator == "multiply"
        if is_product and node.magnitude_bits > PRODUCT and all(arg.value is None for arg in node.args):
            return False
    try:
        return isinstance(Solver(time.monotonic() + SECONDS).check(condition), Impossible)
    except SolverMissing:
        return False


def _places(condition: Lane) -> set[Place]:
    return {node.place for node in walk([condition]) if isinstance(node, Read)}


def _known(place: Place, registers: Registers) -> str:
    """What is known of a register, in words; "" for nothing."""
    elements = registers.get(place)
    if elements is None:
        return ""
    signed = Int(elements.bits, signed=True)
    lows, highs = zip(*(held(elements, at * elements.bits, signed) for at in range(len(elements.bounds))), strict=True)
    low, high = min(lows), max(highs)
    if low == high:
        return f"{place} is always {low}"
    return f"{place} holds {low}..{high}" if (low, high) != (signed.low, signed.high) else ""
