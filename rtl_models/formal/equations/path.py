"""Expressions without what does not matter on given inputs: what is constant, branches not taken, operands overruled.

if write_i then (u32 data_i) else (0 + offset_q)        where write_i is 0:    if write_i then 7 else offset_q
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from isa.evaluate.exact import Evaluation
from isa.lane import Binary, Constant, Field, Floating, Lane, Load, Operator, Pick, Read, Saturate, constant, rebuilt
from sim.prove.claim import ClaimInputs


def on_path(results: Mapping[str, Lane], values: Mapping[str, int]) -> dict[str, Lane]:
    """Expressions of the same values on these inputs; what was left out of one is a constant in it."""
    path = _Path(values)
    return {name: path.of(lane) for name, lane in results.items()}


class _Path:
    """The shortened nodes, each made once."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._evaluation = Evaluation(ClaimInputs(values))
        self._known: dict[Lane, Lane] = {}

    def of(self, lane: Lane) -> Lane:
        """The node without what does not matter: of that, what has a name is left, else the number."""
        if not lane.args:
            return lane
        if lane not in self._known:
            matters, args = self._matters(lane), list(lane.args)
            for k, arg in enumerate(lane.args):
                if k in matters:
                    args[k] = self.of(arg)
                elif not isinstance(arg, Read):
                    args[k] = constant(self._evaluation.value(arg))
            if all(isinstance(arg, Constant) for arg in args):
                self._known[lane] = constant(self._evaluation.value(lane))
            else:
                self._known[lane] = _without_neutral(lane, args) or rebuilt(lane, args)
        return self._known[lane]

    def _matters(self, lane: Lane) -> set[int]:
        """The operands on which the value depends, by their positions."""
        match lane:
            case Pick(index, items):
                number, last = self._evaluation.value(index), 1 + len(items)
                return {0, 1 + number if 0 <= number < len(items) else last}
            case Binary(operator, a, b):
                overruled = _overruling(operator) if _is_truth(lane) else None
                overruling = [k for k, arg in enumerate((a, b)) if self._evaluation.value(arg) == overruled]
                return set(overruling[:1]) or {0, 1}
            case Constant() | Read() | Load() | Field() | Saturate() | Floating():
                return set(range(len(lane.args)))
            case _:
                assert_never(lane)


def _without_neutral(lane: Lane, args: Sequence[Lane]) -> Lane | None:
    """The operand that an operation leaves as it is, if it does."""
    if not isinstance(lane, Binary):
        return None
    first: int | None
    second: int | None
    match lane.operator:  # the numbers that leave the other operand as it is, as the first one and as the second
        case "and":
            first, second = (1, 1) if _is_truth(lane) else (None, None)
        case "or" | "add":
            first, second = 0, 0
        case "subtract" | "shift_left" | "shift_right":
            first, second = None, 0
        case "multiply" | "divide" | "xor" | "minimum" | "maximum" | "less" | "equal":
            first, second = None, None
        case _:
            assert_never(lane.operator)
    if first is not None and args[0].value == first:
        return args[1]
    return args[0] if second is not None and args[1].value == second else None


def _is_truth(lane: Lane) -> bool:
    return all((arg.low, arg.high) in ((0, 1), (0, 0), (1, 1)) for arg in lane.args)


def _overruling(operator: Operator) -> int | None:
    """The truth value that decides the result whatever the other one is."""
    match operator:
        case "and":
            return 0
        case "or":
            return 1
        case "add" | "subtract" | "multiply" | "divide" | "shift_left" | "shift_right" | "xor":
            return None
        case "minimum" | "maximum" | "less" | "equal":
            return None
        case _:
            assert_never(operator)
