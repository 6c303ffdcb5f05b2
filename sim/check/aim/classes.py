"""Which classes of operands the vector arithmetic of a build met, and of the others, which no input can bring about.

What no lane met is put to the solver: the executed expressions, with the numbers that registers can hold there
(`ranges`).  A class that these allow may still be out of reach: it is a goal for `demand`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from isa.evaluate.exact import Evaluation, Occurrence
from isa.evaluate.smt import Impossible, Solver, SolverMissing
from isa.instruction import Instruction
from isa.lane import Binary, Int, Lane, Place, Read, walk
from sim.check.aim.directions import EDGES, Direction, direction_conditions, edge_conditions
from sim.check.aim.power import OperandsMet
from sim.check.aim.ranges import Ranges, Registers, held, narrowed
from sim.check.operand_classes import OperandClass, class_conditions, vector_arithmetic
from sim.prove.claim import any_of
from sim.symbolic.equality import asked
from sim.symbolic.following.lookout import Goal
from sim.toolchain.branches import with_targets
from sim.toolchain.image import Image

LOOKED_FOR: Final[tuple[OperandClass, ...]] = ("tie", "saturated low", "saturated high", "wrapped")
"""The classes of the operands of vector arithmetic; of all instructions their directions are looked for besides."""
EXECUTIONS: Final = 48
"""Executions of one instruction, with different operands, that are looked at for a class that none has met."""
SECONDS: Final = 10
"""For a question that takes the solver some milliseconds, so that a slow computer answers as a fast one does."""
PRODUCT: Final = 24
"""Bits of a product of two unknown numbers up to which the solver is asked."""
_impossible: dict[bytes, bool] = {}
"""What the solver said of a condition, whatever its registers are called: builds have much in common."""


def goals_of(
    pc: int, instruction: Instruction, looked_for: Collection[OperandClass] = LOOKED_FOR
) -> Mapping[str, Goal]:
    """The classes of operands that an instruction has, those that are looked for, and the ways that it can go."""
    conditions = defaultdict[OperandClass | Direction, list[Lane]](list)
    for lane in (lane for write in vector_arithmetic(instruction) for lane in write.lanes):
        for name, condition in class_conditions(lane).items():
            if name in looked_for:
                conditions[name].append(condition)
    directions = direction_conditions(instruction)
    return {name: Goal(pc, tuple(lanes)) for name, lanes in (*conditions.items(), *directions.items())}


def edges_of(pc: int, instruction: Instruction) -> Mapping[str, Goal]:
    """The edges of a comparison."""
    return {name: Goal(pc, lanes) for name, lanes in edge_conditions(instruction).items()}


class ClassesMet:
    """The classes that the lanes of some instructions, by address, have and meet.

    So it is of the edges of their comparisons, of which nothing is told.  `wanted` are the addresses of those that are
    still to be looked at.
    """

    def __init__(self, instructions: Mapping[int, Instruction]) -> None:
        self._instructions = instructions
        self._goals: dict[int, dict[str, Goal]] = {
            pc: {**goals_of(pc, instruction), **edges_of(pc, instruction)}
            for pc, instruction in sorted(instructions.items())
        }
        self._conditions = {pc: {n: any_of(g.lanes) for n, g in of.items()} for pc, of in self._goals.items()}
        self._open = {pc: set(conditions) for pc, conditions in self._conditions.items()}
        self._seen = defaultdict[int, set[tuple[int, ...]]](set)
        self._never: dict[Goal, str] = {}
        self.wanted = {pc for pc, names in self._open.items() if names}

    def look(self, executions: Iterable[tuple[int, Occurrence]]) -> bool:
        """Take executed instructions into account; whether they met what none had met before."""
        before = sum(map(len, self._open.values()))
        for pc, occurrence in executions:
            operands = tuple(occurrence.registers.values())
            if operands in self._seen[pc]:
                continue
            self._seen[pc].add(operands)
            evaluation = Evaluation(occurrence)
            self._open[pc] = {name for name in self._open[pc] if not evaluation.value(self._conditions[pc][name])}
            if not self._open[pc] or len(self._seen[pc]) == EXECUTIONS:
                self.wanted.discard(pc)
        return sum(map(len, self._open.values())) < before

    def settle(self, ranges: Ranges) -> None:
        """Find those that are open and that the numbers which registers can hold do not allow."""
        for _, goal, condition in self._left():
            if why := _why_never(condition, ranges.before(goal.pc)):
                self._never[goal] = why

    def exclude(self, goals: Iterable[Goal]) -> None:
        """Take note that no input meets these."""
        self._never.update((goal, "no input brings it about") for goal in goals)

    def open_goals(self) -> list[Goal]:
        """The classes that nothing is known of: not met, and not excluded."""
        return [goal for name, goal, _ in self._left() if name not in EDGES]

    def open_edges(self) -> list[Goal]:
        """So of the edges of comparisons."""
        return [goal for name, goal, _ in self._left() if name in EDGES]

    def _left(self) -> list[tuple[str, Goal, Lane]]:
        return [
            (name, goal, self._conditions[pc][name])
            for pc, goals in self._goals.items()
            for name, goal in goals.items()
            if name in self._open[pc] and goal not in self._never
        ]

    def told(self, build: str, image: Image) -> list[OperandsMet]:
        """Every class with what there is to say of it, by address."""
        return [
            OperandsMet(
                build, image.place_of(pc), with_targets(self._instructions[pc].text, image), name,
                name not in self._open[pc], self._never.get(goal, ""),
            )
            for pc, goals in self._goals.items()
            for name, goal in goals.items()
            if name not in EDGES
        ]  # fmt: skip


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
    key = asked([condition]).key
    if key not in _impossible:
        try:
            _impossible[key] = isinstance(Solver(time.monotonic() + SECONDS).check(condition), Impossible)
        except SolverMissing:
            return False
    return _impossible[key]


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
