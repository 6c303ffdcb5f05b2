"""The text of rolled expressions in numpy, over arrays of members by lanes.

Names in the text: `V` (arrays of 16 bytes), `X` (columns of 64-bit numbers: general registers, then sp), `F` (columns:
nzcv, fpsr, fpcr, monitor), `S` (the `Frame`), `members` (their number), and `r0`, `r1`, ... for open register numbers.
Every step is computed in one integer type that holds its operands and its result, or by `wide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from isa.evaluate.batch import arithmetic
from isa.evaluate.batch.floating import computed
from isa.evaluate.batch.rolling import VIEWED, Rolled, carrier
from isa.floating import FloatOperation
from isa.lane import Int, Place, Slot

_FLAGS = {"nzcv": "F[0]", "fpsr": "F[1]", "fpcr": "F[2]", "monitor": "F[3]"}
_OPERATORS = {
    "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "shift_left": "({} << {})",
    "shift_right": "({} >> {})", "and": "({} & {})", "or": "({} | {})", "xor": "({} ^ {})",
    "minimum": "minimum({}, {})", "maximum": "maximum({}, {})", "divide": "divided({}, {})",
    "less": "({} < {}).view('u1')", "equal": "({} == {}).view('u1')",
}  # fmt: skip
_RING = ("add", "subtract", "multiply", "and", "or", "xor", "shift_left")
"""The low 64 bits of their results need no more than the low 64 bits of what they work on."""
_MASK = (1 << 64) - 1


def register_text(place: Place) -> str:
    """The Python text of a register."""
    number = f"r{place.index.number}" if isinstance(place.index, Slot) else str(place.index)
    if place.file in ("v", "x"):
        return f"{place.file.upper()}[{number}]"
    return {"sp": "X[31]", "pc": "S.pc"}.get(place.file) or _FLAGS[place.file]


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
            self._names[node] = text if node.op == "constant" and node.width == 1 else self.name(text)
        return self._names[node]

    def data(self, node: Rolled) -> str:
        """The bytes of a vector register or of loaded memory."""
        if node.op == "read":
            return register_text(cast(Place, node.detail))
        return self.name(f"S.load({self.column(node.args[0], 'u8')}, {node.detail})")

    def column(self, node: Rolled, kind: str) -> str:
        """A node of width 1 as an array of one column of that type."""
        if node.op != "constant" and node.carrier == kind:
            return self.value(node)
        return f"column({self.value(node)}, {kind!r}, members)"

    def operand(self, node: Rolled, width: int, kind: str | None) -> str:
        """A node as an operand: a number, or an array of `width` columns; of type `kind` where that is given."""
        if node.op == "constant" and node.width == 1:
            return f"({node.low})" if node.low < 0 else str(node.low)
        text = self.value(node)
        if node.width < width:
            text = self.name(f"repeat({text}, {width}, axis=1)")
        return text if kind is None or node.carrier == kind else self.name(f"{text}.astype({kind!r})")

    def _compute(self, node: Rolled) -> str:
        if node.op in _OPERATORS:
            return self._binary(node)
        if node.op == "constant":
            return self._constant(node)
        if node.op == "read":
            place = cast(Place, node.detail)
            return f"whole({register_text(place)})" if place.file == "v" else register_text(place)
        if node.op == "load":
            size = cast(int, node.detail)
            return f"{self.data(node)}.view('u{size}')" if size in (1, 2, 4, 8) else f"whole({self.data(node)})"
        if node.op == "view":
            return self.view(node)
        if node.op == "field":
            return self._field(node)
        if node.op == "saturate":
            return self._saturate(node)
        return self._pick(node) if node.op == "pick" else self._floating(node)

    def _constant(self, node: Rolled) -> str:
        if node.width == 1:
            return f"({node.low})" if node.low < 0 else str(node.low)
        row = arithmetic.Row(cast("tuple[int, ...]", node.detail), node.carrier or "O")
        return f"{self.constant(row)}(members)"

    def _binary(self, node: Rolled) -> str:
        of = (node, *node.args)
        kind = carrier(min(n.low for n in of), max(n.high for n in of))
        if kind is None:
            a, b = (self.operand(arg, node.width, None) for arg in node.args)
            self.exact_steps += 1
            computed_wide = f"wide({node.op!r}, {a}, {b})"
            return computed_wide if node.carrier is None else f"{computed_wide}.astype({node.carrier!r})"
        text = _OPERATORS[node.op].format(*(self.operand(arg, node.width, kind) for arg in node.args))
        return text if node.op in ("less", "equal") or node.carrier == kind else f"{text}.astype({node.carrier!r})"

    def view(self, node: Rolled) -> str:
        """Elements of bytes: not a copy."""
        numbers, element = cast("tuple[tuple[int, ...], Int]", node.detail)
        viewed = f"{self.data(node.args[0])}.view('{'i' if element.signed else 'u'}{element.bits // 8}')"
        return f"{viewed}{columns(numbers)}"

    def _field(self, node: Rolled) -> str:
        lsb, element = cast("tuple[int, Int]", node.detail)
        source = node.args[0]
        if source.carrier is not None and element.bits in VIEWED:
            shifted = f"({self.value(source)} >> {lsb})" if lsb else self.value(source)
            return f"{shifted}.astype({node.carrier!r})"
        if lsb == 0 and element.bits in VIEWED and self._is_ring(source):
            return f"{self._ring(source, node.width)}.astype({node.carrier!r})"
        self.exact_steps += source.carrier is None
        return f"field({self.value(source)}, {lsb}, {element.bits}, {element.signed})"

    def _is_ring(self, node: Rolled) -> bool:
        if node.carrier is not None or node.op == "constant":
            return True
        return node.op in _RING and all(self._is_ring(arg) for arg in node.args)

    def _ring(self, node: Rolled, width: int) -> str:
        """A node modulo 2^64."""
        if node.op == "constant" and node.width == 1:
            return str(node.low & _MASK)
        if node.carrier is not None:
            return self.operand(node, width, "u8")
        a, b = (self._ring(arg, width) for arg in node.args)
        return self.name(_OPERATORS[node.op].format(a, b))

    def _saturate(self, node: Rolled) -> str:
        element, value = cast(Int, node.detail), self.value(node.args[0])
        text, note = self.name(f"saturated({value}, {element.low}, {element.high}, {node.carrier!r})"), ""
        note = self.name(f"{text}[1]")
        self.notes.append(note)
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
        if all(item.op == "constant" and item.width == 1 for item in items):
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

    def _floating(self, node: Rolled) -> str:
        operation, (*operands, fpcr) = cast(FloatOperation, node.detail), node.args
        values = "".join(f"{self._floating_operand(operand, node.width)}, " for operand in operands)
        control = self.column(fpcr, "u4")
        pair = self.name(f"computed({self.constant(operation)}, ({values}), {control}, F[1])")
        self.notes.append(self.name(f"{pair}[1]"))
        return f"{pair}[0]"

    def _floating_operand(self, node: Rolled, width: int) -> str:
        if node.op == "constant" and node.width == 1:
            return self.name(f"repeat({self.column(node, node.carrier or 'O')}, {width}, axis=1)")
        return self.operand(node, width, None)
