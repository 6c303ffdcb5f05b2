"""Functional coverage of an operator: classes of its operands crossed, and what can happen on the way to its result.

What can happen is read off the lane expression: a `saturate` that clamps at either end, a wrap that loses bits, a
rounding that meets a tie.  Each is a condition, itself a lane expression, so it is counted on every row compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, assert_never

import numpy as np

from isa.evaluate.smt import Answer, Found, Impossible, Solver
from isa.lane import U8, Binary, Constant, Field, Floating, Int, Lane, Load, Pick, Read, Saturate, constant, walk
from rtl_models.expected import Column, Expressions
from rtl_models.operators import Operator

_SECONDS: Final = 20.0
"""That the solver may take to show that a coverpoint cannot be met."""


class OperatorCoverage:
    """How often each coverpoint of an operator at one width was met."""

    def __init__(self, operator: Operator, width: int) -> None:
        self._types = operator.operand_types(width)
        crossed = product(*(operand_classes(kind) for kind in self._types))
        self.operands = {" x ".join(names): 0 for names in crossed}
        self._conditions = conditions(operator.expression(width))
        self._met = Expressions([(condition, U8) for condition in self._conditions.values()])
        self.events = dict.fromkeys(self._conditions, 0)
        self._answers: dict[str, Answer] = {}

    def look(self, operands: Sequence[Column]) -> None:
        """Take compared rows into account."""
        names = list(self.operands)
        numbers, counts = np.unique(_class_numbers(self._types, operands), return_counts=True)
        for number, count in zip(numbers, counts, strict=True):
            self.operands[names[number]] += int(count)
        for name, column in zip(self.events, self._met.on(operands), strict=True):
            self.events[name] += int(column.sum())

    def hits(self) -> dict[str, int]:
        """By coverpoint how often it was met; what the solver proves impossible is no coverpoint."""
        due = (name for name, times in self.events.items() if times or not isinstance(self._answer(name), Impossible))
        return self.operands | {name: self.events[name] for name in due}

    def unmet(self) -> list[str]:
        """The coverpoints never met, the events with what would meet them."""
        found = []
        for name in (name for name, times in self.hits().items() if not times):
            advice = ""
            if name in self.events:
                advice, answer = ", undecided whether possible", self._answer(name)
                if isinstance(answer, Found):
                    values = (f"{place} = {value:#x}" for place, value in answer.values.items())
                    advice = f", such as with {', '.join(values)}"
            found.append(name + advice)
        return found

    def _answer(self, event: str) -> Answer:
        """Whether some operands meet it; asked once."""
        if event not in self._answers:
            self._answers[event] = Solver(time.monotonic() + _SECONDS).check(self._conditions[event])
        return self._answers[event]


def operand_classes(kind: Int) -> tuple[str, ...]:
    """Every number of the type is in one of these classes, in the order that `_class_numbers` numbers them."""
    if kind.signed:
        return ("least", "negative", "-1", "0", "1", "positive", "greatest")
    return ("0", "1", "lower half", "upper half", "greatest")


def _class_numbers(types: Sequence[Int], operands: Sequence[Column]) -> Column:
    """The position of each row's classes in their product."""
    number = np.zeros(len(operands[0]), np.int64)
    for kind, column in zip(types, operands, strict=True):
        if kind.signed:
            tests = [column == kind.low, column < -1, column == -1, column == 0, column == 1, column < kind.high]
        else:
            tests = [column == 0, column == 1, column <= kind.high // 2, column < kind.high]
        number = number * len(operand_classes(kind)) + np.select(tests, range(len(tests)), len(tests))
    return number


def conditions(lane: Lane) -> dict[str, Lane]:
    """By name, conditions that are 1 where something happens in the expression."""
    found: dict[str, Lane] = {}
    for node in walk((lane,)):
        for name, condition in _of_node(node):
            number = sum(known.startswith(name) for known in found)
            found[f"{name} ({number + 1})" if number else name] = condition
    return found


def _of_node(node: Lane) -> Iterator[tuple[str, Lane]]:
    match node:
        case Saturate(value, element):
            yield from (("saturated low", value < element.low),) if value.low < element.low else ()
            yield from (("saturated high", value > element.high),) if value.high > element.high else ()
        case Field(operand):
            if not isinstance(operand, (Read, Field)):
                yield "wrapped", constant(1) - node.equals(operand)
        case Binary("shift_right", Binary("add") as total, count):
            # half of the divisor is added already: it was a tie where nothing remains
            divisor = constant(1) << count
            yield "tie", (total & divisor - 1).equals(0) & (count > 0)
        case Constant() | Read() | Load() | Pick() | Binary() | Floating():
            return
        case _:
            assert_never(node)
