"""Lane expressions as C++ functions of operands, for loops over more numbers than Python can take.

Written from the same expression that every evaluator reads.  The ranges choose the type of each step, so that nothing
overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from isa.lane import Int, Lane, Place

_OPERATORS: Final = {
    "add": "+", "subtract": "-", "multiply": "*", "shift_right": ">>", "and": "&", "or": "|", "xor": "^",
    "less": "<", "equal": "==",
}  # fmt: skip
_WORD = (-(1 << 63), (1 << 63) - 1)
_DOUBLE = (-(1 << 127), (1 << 127) - 1)


class Unwritable(Exception):
    """The expression does what this C++ cannot."""


def function(name: str, lane: Lane, operands: Sequence[Int]) -> str:
    """`static int64_t <name>(int64_t v0, int64_t v1, ..., bool& saturated)`, of operand number k in register v<k>.

    Raises Unwritable for floating point, memory, division, and what needs more than 128 bits.
    """
    parameters = ", ".join(f"int64_t v{k}" for k in range(len(operands)))
    text = _Text(operands)
    result = text.value(lane)
    lines = [f"  {line}" for line in [*text.lines, f"saturated = {text.saturated()};", f"return (int64_t){result};"]]
    return "\n".join([f"static inline int64_t {name}({parameters}, bool& saturated) {{", *lines, "}", ""])


def _type_of(*nodes: Lane) -> str:
    low, high = min(node.low for node in nodes), max(node.high for node in nodes)
    for bounds, name in ((_WORD, "int64_t"), (_DOUBLE, "__int128")):
        if bounds[0] <= low and high <= bounds[1]:
            return name
    raise Unwritable(f"a value ranges over {low}..{high}, more than 128 bits")


class _Text:
    """One constant for each node, operands before the nodes that use them."""

    def __init__(self, operands: Sequence[Int]) -> None:
        self.lines: list[str] = []
        self._operands = operands
        self._names: dict[Lane, str] = {}
        self._clamps: list[str] = []

    def saturated(self) -> str:
        return " | ".join(self._clamps) or "false"

    def value(self, lane: Lane) -> str:
        if lane.op == "constant":
            _type_of(lane)
            return f"(int64_t){lane.low}LL" if lane.low > _WORD[0] else "INT64_MIN"
        if lane not in self._names:
            text = self._computed(lane)
            self._names[lane] = f"t{len(self._names)}"
            self.lines.append(f"const {_type_of(lane)} {self._names[lane]} = {text};")
        return self._names[lane]

    def _computed(self, lane: Lane) -> str:
        if lane.op in _OPERATORS:
            kind = _type_of(lane, *lane.args)
            left, right = (f"({kind}){self.value(arg)}" for arg in lane.args)
            return f"{left} {_OPERATORS[lane.op]} {right}"
        if lane.op == "shift_left":
            kind = _type_of(lane, *lane.args)
            return f"({kind}){self.value(lane.args[0])} * (({kind})1 << {self.value(lane.args[1])})"
        if lane.op in ("minimum", "maximum"):
            a, b = (self.value(arg) for arg in lane.args)
            return f"{a} {'<' if lane.op == 'minimum' else '>'} {b} ? {a} : {b}"
        rest = {"field": self._field, "saturate": self._saturate, "pick": self._pick}
        if lane.op not in rest:
            raise Unwritable(f"{lane.op} has no C++ here")
        return rest[lane.op](lane)

    def _field(self, lane: Lane) -> str:
        lsb, element = cast(tuple[int, Int], lane.detail)
        source = lane.args[0]
        if source.op == "read":
            return self._operand(cast(Place, source.detail), lsb, element)
        kept = f"((unsigned __int128){self.value(source)} >> {lsb})"
        return f"({_c_type(element)}){kept}"

    def _operand(self, place: Place, lsb: int, element: Int) -> str:
        """The whole operand, or a part of it."""
        return f"({_c_type(element)})((uint64_t)v{place.index} >> {lsb})"

    def _saturate(self, lane: Lane) -> str:
        element, value = cast(Int, lane.detail), self.value(lane.args[0])
        low, high = f"({value} < {element.low}LL)", f"({value} > {element.high}LL)"
        self._clamps.append(f"({low} | {high})")
        return f"{low} ? {element.low}LL : {high} ? {element.high}LL : {value}"

    def _pick(self, lane: Lane) -> str:
        index, *items, otherwise = lane.args
        at, kind = self.value(index), _type_of(lane)
        text = f"({kind}){self.value(otherwise)}"
        for number, item in reversed(list(enumerate(items))):
            text = f"{at} == {number} ? ({kind}){self.value(item)} : {text}"
        return text


def _c_type(element: Int) -> str:
    if element.bits not in (8, 16, 32, 64):
        raise Unwritable(f"C++ has no type of {element.bits} bits")
    return f"{'' if element.signed else 'u'}int{element.bits}_t"
