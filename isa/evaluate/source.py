"""Expressions as Python text.

The text works on these names: `V` (all vector registers, one bytearray of 512 bytes), `X` (general registers, then
sp), `F` (nzcv, fpsr, fpcr, monitor, tpidr), `load`, `store`, `pc`, and `r0`, `r1`, ... for open register numbers.
Lanes are unpacked once, masks that the ranges make needless are left out, and a value used once is written where it is
used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple, TypeAlias, TypeGuard, assert_never

from isa.evaluate.exact import divided
from isa.evaluate.floating import noting
from isa.lane import (
    Binary,
    Constant,
    Field,
    Float,
    Floating,
    Int,
    Lane,
    Load,
    Pick,
    Place,
    Read,
    Saturate,
    Slot,
    walk,
)

STRUCT_LETTERS = {8: "b", 16: "h", 32: "i", 64: "q"}
"""The `struct` letter of a signed element of so many bits; the upper case one is unsigned."""
FLAG_TEXTS = {"nzcv": "F[0]", "fpsr": "F[1]", "fpcr": "F[2]", "monitor": "F[3]", "tpidr": "F[4]"}
"""The text of the registers that lie in `F`."""


def register_text(place: Place) -> str:
    """The Python text of a register that is not a vector register."""
    if place.file == "x":
        return f"X[r{place.index.number}]" if isinstance(place.index, Slot) else f"X[{place.index}]"
    return {"sp": "X[31]", "pc": "pc", "zr": "_"}.get(place.file) or FLAG_TEXTS[place.file]


def offset_text(place: Place, byte: int = 0) -> str:
    """Where byte `byte` of a vector register lies in `V`."""
    start = f"o{place.index.number}" if isinstance(place.index, Slot) else str(16 * place.index)
    return f"{start} + {byte}" if byte else start


Bytes: TypeAlias = Read | Load
"""A node that is kept as bytes: a vector register or loaded memory."""


class Piece(NamedTuple):
    """Whole bytes of a vector register or of loaded memory."""

    source: Bytes
    first: int
    size: int


def piece_of(lane: Lane, bits: int) -> Piece | None:
    """The bytes that `lane` is a plain copy of, if it is one."""
    if isinstance(lane, Load) and lane.size * 8 == bits:
        return Piece(lane, 0, bits // 8)
    if not isinstance(lane, Field) or not is_bytes(lane.operand):
        return None
    if lane.element.bits == bits and lane.lsb % 8 == 0 and bits % 8 == 0:
        return Piece(lane.operand, lane.lsb // 8, bits // 8)
    return None


def is_bytes(lane: Lane) -> TypeGuard[Bytes]:
    """Whether a node is kept as bytes: a vector register or loaded memory."""
    return isinstance(lane, Load) or (isinstance(lane, Read) and lane.place.file == "v")


def byte_key(lane: Bytes) -> Place | Load:
    """Equal for nodes that are the same bytes: reads of one register are many nodes."""
    return lane.place if isinstance(lane, Read) else lane


class Source:
    """The lines that compute a set of expressions, and the constants they name."""

    def __init__(self, roots: Sequence[Lane]) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, object] = {"divided": divided, "from_bytes": int.from_bytes}
        self.saturations: list[str] = []
        self._names: dict[object, str] = {}
        self._temporaries: dict[str, str] = {}
        self._unpacked: dict[tuple[Place | Load, Int | Float], tuple[str, int]] = {}
        nodes = list(walk(roots))
        self._uses = Counter([*roots, *(arg for node in nodes for arg in node.args)])
        self._needed = _lanes_needed(nodes)

    def struct(self, layout: str, method: str) -> str:
        """The name of a bound method of a precompiled struct."""
        name = f"{method}_{layout}"
        self.constants[name] = getattr(Struct(f"<{layout}"), method)
        return name

    def temporary(self, text: str) -> str:
        """A local variable that holds the value of `text`."""
        if text not in self._temporaries:
            self._temporaries[text] = name = f"t{len(self._temporaries)}"
            self.lines.append(f"{name} = {text}")
        return self._temporaries[text]

    def text(self, lane: Lane) -> str:
        """An expression for the value of `lane`, in parentheses where it needs them."""
        if isinstance(lane, Constant):
            return f"({lane.low})" if lane.low < 0 else str(lane.low)
        if lane not in self._names:
            text = self._compute(lane)
            if self._uses[lane] < 2 and not isinstance(lane, (Load, Floating)):
                return text
            self._names[lane] = text if text.isidentifier() else self.temporary(text)
        return self._names[lane]

    def atom(self, lane: Lane) -> str:
        """A constant or local variable with the value of `lane`, for text that names it more than once."""
        text = self.text(lane)
        return text if isinstance(lane, Constant) or text.isidentifier() else self.temporary(text)

    def low_bits(self, lane: Lane, bits: int) -> str:
        """The low `bits` bits of `lane` as an unsigned number."""
        match lane:
            case Field(operand, 0, element) if element.bits == bits and lane not in self._names:
                if not is_bytes(operand):
                    return self.low_bits(operand, bits)
        if lane.low >= 0 and lane.high < 1 << bits:
            return self.text(lane)
        return f"{self.text(lane)} & {(1 << bits) - 1}"

    def float_layout(self, lanes: Sequence[Lane]) -> tuple[str, list[str]] | None:
        """The `struct` letter and the text of lanes that are held as floats, which none are here."""
        return None

    def bytes_of(self, lane: Load) -> str:
        """A local variable with the bytes of loaded memory."""
        key = ("bytes", lane)
        if key not in self._names:
            self._names[key] = self.temporary(f"load({self.text(lane.address)}, {lane.size})")
        return self._names[key]

    def _compute(self, lane: Lane) -> str:
        match lane:
            case Field():
                return self._field(lane)
            case Binary():
                return self._binary(lane)
            case Read(place):
                if place.file == "v":
                    return f"from_bytes(V[{offset_text(place)}:{offset_text(place, 16)}], 'little')"
                return register_text(place)
            case Constant():
                return self.text(lane)
            case Load():
                return f"from_bytes({self.bytes_of(lane)}, 'little')"
            case Saturate():
                return self._saturate(lane)
            case Pick():
                return self._pick(lane)
            case Floating():
                return self._floating(lane)
            case _:
                assert_never(lane)

    def _binary(self, lane: Binary) -> str:
        match lane.operator:
            case "add":
                return self._infix(lane, "+")
            case "subtract":
                return self._infix(lane, "-")
            case "multiply":
                return self._infix(lane, "*")
            case "shift_left":
                return self._infix(lane, "<<")
            case "shift_right":
                return self._infix(lane, ">>")
            case "and":
                return self._infix(lane, "&")
            case "or":
                return self._infix(lane, "|")
            case "xor":
                return self._infix(lane, "^")
            case "less":
                return self._infix(lane, "<")
            case "equal":
                return self._infix(lane, "==")
            case "minimum":
                return self._extreme(lane, "<")
            case "maximum":
                return self._extreme(lane, ">")
            case "divide":
                return f"divided({self.atom(lane.a)}, {self.atom(lane.b)})"
            case _:
                assert_never(lane.operator)

    def _infix(self, lane: Binary, sign: str) -> str:
        return f"({self.text(lane.a)} {sign} {self.text(lane.b)})"

    def _extreme(self, lane: Binary, order: str) -> str:
        a, b = self.atom(lane.a), self.atom(lane.b)
        return f"({a} if {a} {order} {b} else {b})"

    def _floating(self, lane: Floating) -> str:
        """A call, which notes exceptions in `F`."""
        name = f"operation{len(self.constants)}"
        self.constants[name] = noting(lane.operation)
        flags = "F" if isinstance(lane.fpcr, Read) else f"(0, 0, {lane.fpcr.low})"
        return f"{name}({', '.join(self.text(operand) for operand in lane.operands)}, {flags})"

    def _field(self, lane: Field) -> str:
        source, lsb, element = lane.operand, lane.lsb, lane.element
        if is_bytes(source) and element.bits in STRUCT_LETTERS and lsb % element.bits == 0:
            return self._unpacked_lane(source, element, lsb // element.bits)
        mask, half = (1 << element.bits) - 1, 1 << element.bits - 1
        text = f"({self.text(source)} >> {lsb})" if lsb else self.text(source)
        if source.low < 0 or source.high >> lsb > mask:
            text = f"({text} & {mask})"
        return f"(({text} ^ {half}) - {half})" if element.signed else text

    def _unpacked_lane(self, source: Bytes, element: Int, number: int) -> str:
        """One of the lanes of a register or of loaded memory; those that are needed are unpacked together."""
        key = (byte_key(source), element)
        if key not in self._unpacked:
            needed = self._needed[key]
            first, count = min(needed), max(needed) - min(needed) + 1
            letter = STRUCT_LETTERS[element.bits] if element.signed else STRUCT_LETTERS[element.bits].upper()
            prefix = f"u{len(self._unpacked)}_"
            names = ", ".join(f"{prefix}{i}" for i in range(count))
            unpack = self.struct(f"{count}{letter}", "unpack_from")
            self.lines.append(f"{names}, = {unpack}({self.where(source, first * element.bits // 8)})")
            self._unpacked[key] = prefix, first
        prefix, first = self._unpacked[key]
        return f"{prefix}{number - first}"

    def where(self, source: Bytes, start: int) -> str:
        """The arguments of `unpack_from` for what lies from byte `start` on."""
        if isinstance(source, Read):
            return f"V, {offset_text(source.place, start)}"
        return f"{self.bytes_of(source)}, {start}"

    def _saturate(self, lane: Saturate) -> str:
        element, value = lane.element, self.atom(lane.operand)
        clamped = value
        if lane.operand.low < element.low:
            clamped = f"{element.low} if {value} < {element.low} else {clamped}"
        if lane.operand.high > element.high:
            clamped = f"{element.high} if {value} > {element.high} else {clamped}"
        name = self.temporary(f"({clamped})")
        self.saturations.append(f"{name} != {value}")
        return name

    def _pick(self, lane: Pick) -> str:
        index, items, otherwise = lane.index, lane.items, lane.otherwise
        if len(items) == 1 and index.low >= 0 and index.high <= 1:
            return f"({self.text(otherwise)} if {self.text(index)} else {self.text(items[0])})"
        choices = self.temporary("(" + "".join(f"{self.text(item)}, " for item in items) + ")")
        at = self.atom(index)
        return f"({choices}[{at}] if 0 <= {at} < {len(items)} else {self.text(otherwise)})"


def _lanes_needed(nodes: Sequence[Lane]) -> dict[tuple[Place | Load, Int], set[int]]:
    """For each register or load and element type, the numbers of the lanes that are fields of it."""
    needed: dict[tuple[Place | Load, Int], set[int]] = {}
    for node in nodes:
        if isinstance(node, Field) and is_bytes(node.operand) and node.lsb % node.element.bits == 0:
            needed.setdefault((byte_key(node.operand), node.element), set()).add(node.lsb // node.element.bits)
    return needed
