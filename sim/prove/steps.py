"""How a side of a claim comes to its results on given inputs: one line a step, computed by the exact evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from isa.evaluate.exact import Evaluation
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Operator,
    Pick,
    Read,
    Saturate,
    head,
    operands_first,
)
from sim.prove.claim import ClaimInputs


def steps(results: Mapping[str, Lane], values: Mapping[str, int]) -> tuple[str, ...]:
    """The steps of one side, then its results by name: `t1 = x + 1 = 128`, ..., `value = t1 = 128`."""
    return tuple(_Steps(values).lines(results))


class _Steps:
    """The names of the nodes that were computed already."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._evaluation = Evaluation(ClaimInputs(values))
        self._names: dict[Lane, str] = {}

    def lines(self, results: Mapping[str, Lane]) -> Iterator[str]:
        """The lines of all results, no step twice."""
        for name, lane in results.items():
            for node in operands_first([lane]):
                if node in self._names:
                    continue
                if isinstance(node, Constant):  # a large power of two as that
                    power = node.low.bit_length() - 1
                    large = power > 9 and node.low == 1 << power
                    self._names[node] = f"2^{power}" if large else str(node.low)
                elif isinstance(node, Read):
                    self._names[node] = node.place.file
                else:
                    step = (
                        f"t{1 + sum(known.startswith('t') and known[1:].isdigit() for known in self._names.values())}"
                    )
                    yield f"{step} = {self._text(node)} = {self._evaluation.value(node)}"
                    self._names[node] = step
            yield f"{name} = {self._names[lane]} = {self._evaluation.value(lane)}"

    def _text(self, node: Lane) -> str:
        args = [self._names[arg] for arg in node.args]
        match node:
            case Field(_, lsb, element):
                return f"{element} {args[0]}" if lsb == 0 else f"{element} {args[0]}<{lsb + element.bits - 1}:{lsb}>"
            case Saturate(_, element):
                return f"saturate {element} {args[0]}"
            case Pick():
                index, *items, otherwise = args
                if len(items) == 1:
                    return f"if {index} then {otherwise} else {items[0]}"
                return f"table({', '.join(items)})[{index}] else {otherwise}"
            case Binary(operator):
                return _binary(operator, *args)
            case Constant() | Read():
                return self._names[node]
            case Load() | Floating():
                raise AssertionError(f"a claim has a node that no proof knows: {head(node)[0]}")
            case _:
                assert_never(node)


def _binary(operator: Operator, a: str, b: str) -> str:
    match operator:
        case "add":
            return f"{a} + {b}"
        case "subtract":
            return f"{a} - {b}" if a != "0" else f"-{b}"
        case "multiply":
            return f"{a} * {b}"
        case "divide":
            return f"quotient({a}, {b})"
        case "shift_left":
            return f"{a} << {b}"
        case "shift_right":
            return f"{a} >> {b}"
        case "and":
            return f"{a} AND {b}"
        case "or":
            return f"{a} OR {b}"
        case "xor":
            return f"{a} EOR {b}"
        case "minimum":
            return f"min({a}, {b})"
        case "maximum":
            return f"max({a}, {b})"
        case "less":
            return f"{a} < {b}"
        case "equal":
            return f"{a} == {b}"
        case _:
            assert_never(operator)
