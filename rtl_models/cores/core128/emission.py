"""Lane expressions as SystemVerilog: each node a signed vector exactly as wide as its range, so nothing overflows.

The text of a function has the same shape as the terms of the solver (`isa.evaluate.smt_terms`).
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from typing import assert_never

from isa.evaluate.smt_terms import width
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Pick,
    Place,
    Read,
    Saturate,
    head,
    operands_first,
    walk,
)

INFIX: Mapping[str, str] = {"add": "+", "subtract": "-", "multiply": "*", "and": "&", "or": "|", "xor": "^"}


class LaneFunctions:
    """Functions of one lane, each written once for all rows and lanes that compute the same of other operands."""

    def __init__(self) -> None:
        self._names: dict[Hashable, str] = {}
        self.texts: list[str] = []

    def call(self, lane: Lane, caller: Emission) -> tuple[str, bool]:
        """The text of a call for a lane, whose leaves the caller computes, and whether its highest bit is QC."""
        leaves: dict[str, Lane] = {}
        numbers: dict[Lane, int] = {}
        key: list[Hashable] = []
        nodes = list(operands_first([lane]))
        direct = {lane, *(arg for node in nodes if not _is_leaf(node) for arg in node.args)}
        inside = [node for node in nodes if node in direct]
        for node in inside:
            if _is_leaf(node):
                name = caller.name(node)
                leaves.setdefault(name, node)
                key.append(("leaf", list(leaves).index(name), node.low, node.high))
            else:
                key.append((head(node), tuple(numbers[arg] for arg in node.args), node.low, node.high))
            numbers[node] = len(numbers)
        saturates = any(isinstance(node, Saturate) for node in inside)
        arguments = [f"{width(leaf)}'({name})" if leaf.value is not None else name for name, leaf in leaves.items()]
        if tuple(key) not in self._names:
            self._names[tuple(key)] = self._written(lane, direct, leaves, caller, saturates)
        return f"{self._names[tuple(key)]}({', '.join(arguments)})", saturates

    def _written(
        self, lane: Lane, direct: Container[Lane], leaves: Mapping[str, Lane], caller: Emission, saturates: bool
    ) -> str:
        name, bits = f"lane_{len(self._names)}", width(lane)
        given = {f"p{k}": leaf for k, leaf in enumerate(leaves.values())}
        parameters = {caller.name(leaf): parameter for parameter, leaf in given.items()}
        inside = Emission({})
        inside.give({node: parameters[caller.name(node)] for node in walk([lane]) if _is_leaf(node) and node in direct})
        result = inside.name(lane)
        clamps = f"{' | '.join(f'({each})' for each in inside.saturations)}, " if saturates else ""
        ports = ", ".join(f"input logic signed [{width(leaf) - 1}:0] {parameter}" for parameter, leaf in given.items())
        self.texts.append("\n".join([
            f"  function automatic logic [{bits + saturates - 1}:0] {name}({ports});",
            "    // verilator no_inline_task",
            *(f"    {line}" for line in (*inside.declarations, *inside.statements)),
            f"    {name} = {{{clamps}{result}}};", "  endfunction", "",
        ]))  # fmt: skip
        return name


def _is_leaf(lane: Lane) -> bool:
    """An element of a register, or the whole of one."""
    return isinstance(lane, Read) or (isinstance(lane, Field) and isinstance(lane.operand, Read))


class Emission:
    """The declarations and statements of one function; `port` names the vector that holds a place.

    `saturations` are the conditions under which QC is set.
    """

    def __init__(self, port: Mapping[Place, str]) -> None:
        self._port = port
        self._names: dict[Lane, str] = {}
        self._alike: dict[Hashable, str] = {}
        self._widths: dict[str, int] = {}
        self.statements: list[str] = []
        self.saturations: list[str] = []

    def give(self, names: Mapping[Lane, str]) -> None:
        """Nodes that variables have already."""
        self._names.update(names)

    def call(self, lane: Lane, functions: LaneFunctions) -> None:
        """Compute a lane by a function of it."""
        if lane.value is None and not _is_leaf(lane) and lane not in self._names:
            text, saturates = functions.call(lane, self)
            result, bits = self._variable(width(lane) + saturates, text), width(lane)
            if saturates:
                self.saturations.append(f"{result}[{bits}]")
            self._names[lane] = self._cut(result, bits + saturates, bits)

    @property
    def declarations(self) -> list[str]:
        """Of the variables."""
        return [f"logic signed [{bits - 1}:0] {name};" for name, bits in self._widths.items()]

    def name(self, lane: Lane) -> str:
        """The variable, or the literal, that an expression is: signed, of `width(lane)` bits."""
        for load in walk([lane]):
            if isinstance(load, Load) and load not in self._names:
                if ("load", load.size) not in self._alike:  # where its bytes came from is no matter of this function
                    text = f"$signed({{1'b0, loaded[{8 * load.size - 1}:0]}})"
                    self._alike["load", load.size] = self._variable(8 * load.size + 1, text)
                self._names[load] = self._alike["load", load.size]
        for node in operands_first([lane], self._names):
            key = (head(node), tuple(self._names[arg] for arg in node.args), node.low, node.high)
            if key not in self._alike:
                self._alike[key] = self._emitted(node)
            self._names[node] = self._alike[key]
        return self._names[lane]

    def bits(self, lanes: Iterable[Lane], bits: int, total: int) -> str:
        """Elements side by side, the first in the low bits, zeros above them: unsigned text of `total` bits."""
        parts = [self._low_bits(lane, bits) for lane in lanes]
        above = total - bits * len(parts)
        return "{" + ", ".join(([f"{above}'b0"] if above else []) + parts[::-1]) + "}"

    def _low_bits(self, lane: Lane, bits: int) -> str:
        if lane.value is not None:
            return f"{bits}'h{lane.value & (1 << bits) - 1:x}"
        name = self._extended(lane, bits)
        return f"{name}[{bits - 1}:0]"

    def _variable(self, bits: int, text: str) -> str:
        name = f"t{len(self._widths)}"
        self._widths[name] = bits
        self.statements.append(f"{name} = {text};")
        return name

    def _extended(self, lane: Lane, bits: int) -> str:
        """A variable of at least so many bits."""
        name = self.name(lane)
        return name if width(lane) >= bits and lane.value is None else self._variable(bits, f"{bits}'({name})")

    def _cut(self, name: str, have: int, bits: int) -> str:
        return name if have == bits else self._variable(bits, f"$signed({name}[{bits - 1}:0])")

    def _emitted(self, lane: Lane) -> str:
        bits = width(lane)
        match lane:
            case Constant(number):
                return f"{bits}'sh{number & (1 << bits) - 1:x}"
            case Read(place):
                port = self._port[place]
                low = f"$signed({port}[{bits - 1}:0])" if lane.low < 0 else f"$signed({{1'b0, {port}[{bits - 2}:0]}})"
                return self._variable(bits, low)
            case Load():
                raise ValueError("a load is given before what is made of it")
            case Field(operand, lsb, element):
                whole = self._extended(operand, lsb + element.bits)
                part = f"{whole}[{lsb + element.bits - 1}:{lsb}]"
                return self._variable(bits, f"$signed({part})" if element.signed else f"$signed({{1'b0, {part}}})")
            case Saturate():
                return self._saturated(lane)
            case Pick():
                return self._picked(lane)
            case Binary():
                return self._binary(lane)
            case Floating():
                raise ValueError("core128 has no floating point")
            case _:
                assert_never(lane)

    def _saturated(self, lane: Saturate) -> str:
        element, operand = lane.element, lane.operand
        bits = max(width(operand), element.bits + 1)
        value = self._extended(operand, bits)
        low, high = (f"{bits}'sh{end & (1 << bits) - 1:x}" for end in (element.low, element.high))
        text = value
        if operand.high > element.high:
            text = f"({value} > {high}) ? {high} : {text}"
            self.saturations.append(f"{value} > {high}")
        if operand.low < element.low:
            text = f"({value} < {low}) ? {low} : {text}"
            self.saturations.append(f"{value} < {low}")
        return self._cut(self._variable(bits, text), bits, width(lane))

    def _picked(self, lane: Pick) -> str:
        bits, index = width(lane), self.name(lane.index)
        by_item: dict[str, list[int]] = {}
        for number, item in enumerate(lane.items):
            if lane.index.low <= number <= lane.index.high:
                by_item.setdefault(f"{bits}'({self._names[item]})", []).append(number)
        otherwise = f"{bits}'({self._names[lane.otherwise]})"
        result = f"t{len(self._widths)}"
        self._widths[result] = bits
        self.statements.append(f"case ({index})")
        for text, numbers in by_item.items():
            if text != otherwise:
                labels = ", ".join(f"{width(lane.index)}'sd{number}" for number in numbers)
                self.statements.append(f"  {labels}: {result} = {text};")
        self.statements += [f"  default: {result} = {otherwise};", "endcase"]
        return result

    def _binary(self, lane: Binary) -> str:
        bits = max(width(node) for node in (lane, lane.a, lane.b))
        a, b = (f"{bits}'({self._names[node]})" for node in (lane.a, lane.b))
        count = f"$unsigned({self._names[lane.b]})"
        match lane.operator:
            case "add" | "subtract" | "multiply" | "and" | "or" | "xor":
                text = f"{a} {INFIX[lane.operator]} {b}"
            case "shift_left":
                text = f"{a} << {count}"
            case "shift_right":
                text = f"{a} >>> {count}"
            case "minimum":
                text = f"({a} < {b}) ? {a} : {b}"
            case "maximum":
                text = f"({b} < {a}) ? {a} : {b}"
            case "divide":
                text = f"({b} == {bits}'sd0) ? {bits}'sd0 : {a} / {b}"
            case "less":
                return self._variable(width(lane), f"$signed({{1'b0, {a} < {b}}})")
            case "equal":
                return self._variable(width(lane), f"$signed({{1'b0, {a} == {b}}})")
            case _:
                assert_never(lane.operator)
        return self._cut(self._variable(bits, text), bits, width(lane))
