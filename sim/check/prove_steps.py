"""How a side of a claim comes to its results on given inputs: one line a step, computed by the exact evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from isa.evaluate.exact import Evaluation
from isa.lane import Int, Lane, Place
from sim.check.prove import Inputs

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "shift_left": "<<", "shift_right": ">>",
    "and": "AND", "or": "OR", "xor": "EOR", "less": "<", "equal": "==",
}  # fmt: skip
_CALLS = {"minimum": "min", "maximum": "max", "divide": "quotient"}


def steps(results: Mapping[str, Lane], values: Mapping[str, int]) -> tuple[str, ...]:
    """The steps of one side, then its results by name: `t1 = x + 1 = 128`, ..., `value = t1 = 128`."""
    return tuple(_Steps(values).lines(results))


class _Steps:
    """The names of the nodes that were computed already."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self._evaluation = Evaluation(Inputs(values))
        self._names: dict[Lane, str] = {}

    def lines(self, results: Mapping[str, Lane]) -> Iterator[str]:
        """The lines of all results, no step twice."""
        for name, lane in results.items():
            for node in _operands_first(lane):
                if node not in self._names:
                    yield from self._step(node)
            yield f"{name} = {self._names[lane]} = {self._evaluation.value(lane)}"

    def _step(self, node: Lane) -> Iterator[str]:
        if node.op == "constant":
            self._names[node] = _number(node.low)
        elif node.op == "read":
            self._names[node] = cast(Place, node.detail).file
        else:
            name = f"t{1 + sum(known.startswith('t') and known[1:].isdigit() for known in self._names.values())}"
            yield f"{name} = {self._text(node)} = {self._evaluation.value(node)}"
            self._names[node] = name

    def _text(self, node: Lane) -> str:
        args = [self._names[arg] for arg in node.args]
        if node.op == "subtract" and args[0] == "0":
            return f"-{args[1]}"
        if node.op in _INFIX:
            return f"{args[0]} {_INFIX[node.op]} {args[1]}"
        if node.op in _CALLS:
            return f"{_CALLS[node.op]}({args[0]}, {args[1]})"
        if node.op == "saturate":
            return f"saturate {node.detail} {args[0]}"
        return _field(node, args[0]) if node.op == "field" else _choice(args)


def _field(node: Lane, of: str) -> str:
    lsb, element = cast(tuple[int, Int], node.detail)
    return f"{element} {of}" if lsb == 0 else f"{element} {of}<{lsb + element.bits - 1}:{lsb}>"


def _choice(args: list[str]) -> str:
    index, *items, otherwise = args
    if len(items) == 1:
        return f"if {index} then {otherwise} else {items[0]}"
    return f"table({', '.join(items)})[{index}] else {otherwise}"


def _number(value: int) -> str:
    """A number, as a power of two where it is a large one."""
    power = value.bit_length() - 1
    return f"2^{power}" if value == 1 << max(power, 0) and power > 9 else str(value)


def _operands_first(lane: Lane) -> Iterator[Lane]:
    """The nodes of an expression, each after its operands; each once."""
    seen: set[Lane] = set()
    pending = [(lane, iter(lane.args))]
    while pending:
        node, rest = pending[-1]
        below = next((arg for arg in rest if arg not in seen), None)
        if below is not None:
            pending.append((below, iter(below.args)))
        else:
            pending.pop()
            if node not in seen:
                seen.add(node)
                yield node
