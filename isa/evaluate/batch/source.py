"""The text of rolled expressions in numpy, over arrays of members by lanes.

Names in the text: `V` (arrays of 16 bytes), `X` (columns of 64-bit numbers: general registers, then sp), `F` (columns:
nzcv, fpsr, fpcr, monitor, tpidr), `S` (the `Frame`), `members` (their number), and `r0`, `r1`, ... for open register
numbers.
Every step is computed in one integer type that holds its operands and its result, or by `wide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from isa.evaluate.batch import arithmetic
from isa.evaluate.batch.floating import computed
from isa.evaluate.rolling import VIEWED, Rolled, Values, View, carrier, needs_low_bits_only
from isa.evaluate.source import FLAG_TEXTS
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    FloatOperation,
    Int,
    Load,
    Operator,
    Pick,
    Place,
    Read,
    Saturate,
    Slot,
)

_MASK = (1 << 64) - 1


def _template(operator: Operator) -> str:
    """The text of an operation on arrays of one type, which the result fits."""
    match operator:
        case "add":
            return "({} + {})"
        case "subtract":
            return "({} - {})"
        case "multiply":
            return "({} * {})"
        case "divide":
            return "divided({}, {})"
        case "shift_left":
            return "({} << {})"
        case "shift_right":
            return "({} >> {})"
        case "and":
            return "({} & {})"
        case "or":
            return "({} | {})"
        case "xor":
            return "({} ^ {})"
        case "minimum":
            return "minimum({}, {})"
        case "maximum":
            return "maximum({}, {})"
        case "less":
            return "({} < {}).view('u1')"
        case "equal":
            return "({} == {}).view('u1')"
        case _:
            assert_never(operator)


def register_text(place: Place) -> str:
    """The Python text of a register."""
    number = f"r{place.index.number}" if isinstance(place.index, Slot) else str(place.index)
    if place.file in ("v", "x"):
        return f"{place.file.upper()}[{number}]"
    return {"sp": "X[31]", "pc": "S.pc"}.get(place.file) or FLAG_TEXTS[place.file]


def _number(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def columns(numbers: Sequence[int]) -> str:
    """The text that takes these columns of an array: a slice where they are evenly spaced."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if step > 0 and list(numbers) == list(range(numbers[0], numbers[-1] + 1, step)):
        return f"[:, {numbers[0]}:{numbers[-1] + 1}:{step}]"
    return f"[:, {list(numbers)}]"


class Source:
    """The lines that compute rolled expressions, the constants they name, and the FPSR bits they note."""

    def __init__(self, prefix: str = "k") -> None:
        self.exact_steps = 0
        """How many steps look at their numbers, since their ranges need more than 64 bits."""
        self._prefix = prefix
        self.lines: list[str] = []
        self.notes: list[str] = []
        self.constants: dict[str, object] = {
            name: getattr(arithmetic, name)
            for name in ("divided", "wide", "field", "saturated", "looked_up", "whole", "joined", "halves", "below")
        } | {"computed": computed}
        self._names: dict[object, str] = {}

    def name(self, text: str) -> str:
        """A local variable with the value of `text`."""
        if text not in self._names:
            self._names[text] = f"t{len(self._names)}"
            self.lines.append(f"{self._names[text]} = {text}")
        return self._names[text]

    def constant(self, value: object) -> str:
        """A name for an object."""
        name = f"{self._prefix}{len(self.constants)}"
        self.constants[name] = value
        return name

    def value(self, node: Rolled) -> str:
        """The value of a node: a number, or a local variable of `node.width` columns."""
        if node not in self._names:
            text = self._compute(node)
            self._names[node] = text if node.number is not None else self.name(text)
        return self._names[node]

    def data(self, node: Rolled) -> str:
        """The bytes of a vector register or of loaded memory."""
        if isinstance(node.node, Read):
            return register_text(node.node.place)
        assert isinstance(node.node, Load)
        return self.name(f"S.load({self.column(node.args[0], 'u8')}, {node.node.size})")

    def column(self, node: Rolled, kind: str) -> str:
        """A node of width 1 as an array of one column of that type."""
        if not isinstance(node.node, Values) and node.carrier == kind:
            return self.value(node)
        return f"column({self.value(node)}, {kind!r}, members)"

    def operand(self, node: Rolled, width: int, kind: str | None) -> str:
        """A node as an operand: a number, or an array of `width` columns; of type `kind` where that is given."""
        if node.number is not None:
            return _number(node.number)
        text = self.value(node)
        if node.width < width:
            text = self.name(f"repeat({text}, {width}, axis=1)")
        return text if kind is None or node.carrier == kind else self.name(f"{text}.astype({kind!r})")

    def _compute(self, node: Rolled) -> str:
        match node.node:
            case Values(numbers):
                if node.number is not None:
                    return _number(node.number)
                return f"{self.constant(arithmetic.Row(numbers, node.carrier or 'O'))}(members)"
            case View(numbers, element):  # not a copy
                viewed = f"{self.data(node.args[0])}.view('{'i' if element.signed else 'u'}{element.bits // 8}')"
                return f"{viewed}{columns(numbers)}"
            case Constant(number):
                return _number(number)
            case Read(place):
                return f"whole({register_text(place)})" if place.file == "v" else register_text(place)
            case Load(_, size):
                return f"{self.data(node)}.view('u{size}')" if size in (1, 2, 4, 8) else f"whole({self.data(node)})"
            case Field(_, lsb, element):
                return self._field(node, lsb, element)
            case Saturate(_, element):
                return self._saturate(node, element)
            case Pick():
                return self._pick(node)
            case Binary(operator):
                return self._binary(node, operator)
            case Floating(operation):
                return self._floating(node, operation)
            case _:
                assert_never(node.node)

    def _binary(self, node: Rolled, operator: Operator) -> str:
        of = (node, *node.args)
        kind = carrier(min(n.low for n in of), max(n.high for n in of))
        if kind is None:
            a, b = (self.operand(arg, node.width, None) for arg in node.args)
            self.exact_steps += 1
            computed_wide = f"wide({operator!r}, {a}, {b})"
            return computed_wide if node.carrier is None else f"{computed_wide}.astype({node.carrier!r})"
        text = _template(operator).format(*(self.operand(arg, node.width, kind) for arg in node.args))
        return text if operator in ("less", "equal") or node.carrier == kind else f"{text}.astype({node.carrier!r})"

    def _field(self, node: Rolled, lsb: int, element: Int) -> str:
        source = node.args[0]
        if source.carrier is not None and element.bits in VIEWED:
            shifted = f"({self.value(source)} >> {lsb})" if lsb else self.value(source)
            return f"{shifted}.astype({node.carrier!r})"
        if lsb == 0 and element.bits in VIEWED and self._is_ring(source):
            return f"{self._ring(source, node.width)}.astype({node.carrier!r})"
        self.exact_steps += source.carrier is None
        return f"field({self.value(source)}, {lsb}, {element.bits}, {element.signed})"

    def _is_ring(self, node: Rolled) -> bool:
        if node.carrier is not None or isinstance(node.node, Values):
            return True
        is_low = isinstance(node.node, Binary) and needs_low_bits_only(node.node.operator)
        return is_low and all(self._is_ring(arg) for arg in node.args)

    def _ring(self, node: Rolled, width: int) -> str:
        """A node for which `_is_ring`, modulo 2^64."""
        if node.number is not None:
            return str(node.number & _MASK)
        if node.carrier is not None:
            return self.operand(node, width, "u8")
        assert isinstance(node.node, Binary)
        a, b = (self._ring(arg, width) for arg in node.args)
        return self.name(_template(node.node.operator).format(a, b))

    def _saturate(self, node: Rolled, element: Int) -> str:
        value = self.value(node.args[0])
        text = self.name(f"saturated({value}, {element.low}, {element.high}, {node.carrier!r})")
        self.notes.append(self.name(f"{text}[1]"))
        return f"{text}[0]"

    def _pick(self, node: Rolled) -> str:
        index, *items, otherwise = node.args
        kind = node.carrier or "O"
        if len(items) == 1 and index.low >= 0 and index.high <= 1:
            chosen = self.operand(index, node.width, None)
            yes, no = (self.operand(item, node.width, kind) for item in (otherwise, items[0]))
            return f"where({chosen}.astype('?'), {yes}, {no}).astype({kind!r}, copy=False)"
        chosen = self.operand(index, node.width, None)
        return f"looked_up({chosen}, {self._items([*items, otherwise], kind)}, {len(items)})"

    def _items(self, items: list[Rolled], kind: str) -> str:
        """The table that a pick looks up, with `otherwise` at its end."""
        if all(item.number is not None for item in items):
            return self.name(f"{self.constant(arithmetic.Row(tuple(item.low for item in items), kind))}(1)")
        width = max(item.width for item in items)
        if width == 1:
            parts = ", ".join(self._filled(item, kind) for item in items)
            return self.name(f"concatenate([{parts}], axis=1)")
        parts = ", ".join(f"repeat({self._filled(item, kind)}, {width // item.width}, axis=1)" for item in items)
        return self.name(f"stack([{parts}], axis=2)")

    def _filled(self, node: Rolled, kind: str) -> str:
        """A node as an array, a constant too."""
        return self.column(node, kind) if node.width == 1 else self.operand(node, node.width, kind)

    def _floating(self, node: Rolled, operation: FloatOperation) -> str:
        *operands, fpcr = node.args
        values = "".join(f"{self._floating_operand(operand, node.width)}, " for operand in operands)
        control = self.column(fpcr, "u4")
        pair = self.name(f"computed({self.constant(operation)}, ({values}), {control}, F[1])")
        self.notes.append(self.name(f"{pair}[1]"))
        return f"{pair}[0]"

    def _floating_operand(self, node: Rolled, width: int) -> str:
        if node.number is not None:
            return self.name(f"repeat({self.column(node, node.carrier or 'O')}, {width}, axis=1)")
        return self.operand(node, width, None)
