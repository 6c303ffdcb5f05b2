"""Expressions as Python text.

The text works on these names: `V` (all vector registers, one bytearray of 512 bytes), `X` (general registers, then
sp), `F` (nzcv, fpsr, fpcr, monitor), `load`, `store`, `pc`, and `r0`, `r1`, ... for open register numbers.  Lanes are
unpacked once, masks that the ranges make needless are left out, and a value used once is written where it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple, cast

from isa.evaluate.exact import divided
from isa.evaluate.floating import noting
from isa.floating import FloatOperation
from isa.lane import Int, Lane, Place, Slot, walk

STRUCT_LETTERS = {8: "b", 16: "h", 32: "i", 64: "q"}
"""The `struct` letter of a signed element of so many bits; the upper case one is unsigned."""
_FLAG_FILES = {"nzcv": "F[0]", "fpsr": "F[1]", "fpcr": "F[2]", "monitor": "F[3]"}
_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "shift_left": "<<", "shift_right": ">>",
    "and": "&", "or": "|", "xor": "^", "less": "<", "equal": "==",
}  # fmt: skip


def register_text(place: Place) -> str:
    """The Python text of a register that is not a vector register."""
    if place.file == "x":
        return f"X[{_index(place.index)}]"
    return {"sp": "X[31]", "pc": "pc", "zr": "_"}.get(place.file) or _FLAG_FILES[place.file]


def _index(index: int | Slot) -> str:
    return f"r{index.number}" if isinstance(index, Slot) else str(index)


def offset_text(place: Place, byte: int = 0) -> str:
    """Where byte `byte` of a vector register lies in `V`."""
    start = f"o{place.index.number}" if isinstance(place.index, Slot) else str(16 * place.index)
    return f"{start} + {byte}" if byte else start


class Piece(NamedTuple):
    """Whole bytes of a vector register or of loaded memory."""

    source: Lane
    first: int
    size: int


def piece_of(lane: Lane, bits: int) -> Piece | None:
    """The bytes that `lane` is a plain copy of, if it is one."""
    if lane.op == "load" and cast(int, lane.detail) * 8 == bits:
        return Piece(lane, 0, bits // 8)
    if lane.op != "field":
        return None
    lsb, element = cast(tuple[int, Int], lane.detail)
    source = lane.args[0]
    if element.bits == bits and lsb % 8 == 0 and bits % 8 == 0 and is_bytes(source):
        return Piece(source, lsb // 8, bits // 8)
    return None


def is_bytes(lane: Lane) -> bool:
    """Whether a node is kept as bytes: a vector register or loaded memory."""
    return lane.op == "load" or (lane.op == "read" and cast(Place, lane.detail).file == "v")


def byte_key(lane: Lane) -> object:
    """Equal for nodes that are the same bytes: reads of one register are many nodes."""
    return lane.detail if lane.op == "read" else lane


class Source:
    """The lines that compute a set of expressions, and the constants they name."""

    def __init__(self, roots: Sequence[Lane]) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, object] = {"divided": divided, "from_bytes": int.from_bytes}
        self.saturations: list[str] = []
        self._names: dict[object, str] = {}
        self._temporaries: dict[str, str] = {}
        self._unpacked: dict[tuple[object, Int], tuple[str, int]] = {}
        nodes = list(walk(roots))
        self._uses = Counter(arg for node in nodes for arg in node.args) + Counter(roots)
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
        if lane.op == "constant":
            return f"({lane.low})" if lane.low < 0 else str(lane.low)
        if lane not in self._names:
            text = self._compute(lane)
            if self._uses[lane] < 2 and lane.op not in ("load", "floating"):
                return text
            self._names[lane] = text if text.isidentifier() else self.temporary(text)
        return self._names[lane]

    def atom(self, lane: Lane) -> str:
        """A constant or local variable with the value of `lane`, for text that names it more than once."""
        text = self.text(lane)
        return text if lane.op == "constant" or text.isidentifier() else self.temporary(text)

    def low_bits(self, lane: Lane, bits: int) -> str:
        """The low `bits` bits of `lane` as an unsigned number."""
        if lane.op == "field" and lane not in self._names:
            lsb, element = cast(tuple[int, Int], lane.detail)
            if lsb == 0 and element.bits == bits and not is_bytes(lane.args[0]):
                return self.low_bits(lane.args[0], bits)
        if lane.low >= 0 and lane.high < 1 << bits:
            return self.text(lane)
        return f"{self.text(lane)} & {(1 << bits) - 1}"

    def float_layout(self, lanes: Sequence[Lane]) -> tuple[str, list[str]] | None:
        """The `struct` letter and the text of lanes that are held as floats, which none are here."""
        return None

    def bytes_of(self, lane: Lane) -> str:
        """A local variable with the bytes of loaded memory."""
        key = ("bytes", lane)
        if key not in self._names:
            self._names[key] = self.temporary(f"load({self.text(lane.args[0])}, {lane.detail})")
        return self._names[key]

    def _compute(self, lane: Lane) -> str:
        if lane.op in _OPERATORS:
            left, right = (self.text(arg) for arg in lane.args)
            return f"({left} {_OPERATORS[lane.op]} {right})"
        if lane.op == "read":
            return self._read(cast(Place, lane.detail))
        if lane.op == "load":
            return f"from_bytes({self.bytes_of(lane)}, 'little')"
        if lane.op == "field":
            return self._field(lane)
        if lane.op == "saturate":
            return self._saturate(lane)
        if lane.op == "pick":
            return self._pick(lane)
        if lane.op == "floating":
            return self._floating(lane)
        a, b = (self.atom(arg) for arg in lane.args)
        if lane.op == "divide":
            return f"divided({a}, {b})"
        return f"({a} if {a} {'<' if lane.op == 'minimum' else '>'} {b} else {b})"

    def _floating(self, lane: Lane) -> str:
        """A call, which notes exceptions in `F`."""
        operation, (*operands, fpcr) = cast(FloatOperation, lane.detail), lane.args
        name = f"operation{len(self.constants)}"
        self.constants[name] = noting(operation)
        flags = "F" if fpcr.op == "read" else f"(0, 0, {fpcr.low})"
        return f"{name}({', '.join(self.text(operand) for operand in operands)}, {flags})"

    def _read(self, place: Place) -> str:
        if place.file == "v":
            return f"from_bytes(V[{offset_text(place)}:{offset_text(place, 16)}], 'little')"
        return register_text(place)

    def _field(self, lane: Lane) -> str:
        lsb, element = cast(tuple[int, Int], lane.detail)
        source = lane.args[0]
        if is_bytes(source) and element.bits in STRUCT_LETTERS and lsb % element.bits == 0:
            return self._unpacked_lane(source, element, lsb // element.bits)
        mask, half = (1 << element.bits) - 1, 1 << element.bits - 1
        text = f"({self.text(source)} >> {lsb})" if lsb else self.text(source)
        if source.low < 0 or source.high >> lsb > mask:
            text = f"({text} & {mask})"
        return f"(({text} ^ {half}) - {half})" if element.signed else text

    def _unpacked_lane(self, source: Lane, element: Int, number: int) -> str:
        """One of the lanes of a register or of loaded memory; those that are needed are unpacked together."""
        key = (byte_key(source), element)
        if key not in self._unpacked:
            self._unpacked[key] = self._unpack(source, element, self._needed[key])
        prefix, first = self._unpacked[key]
        return f"{prefix}{number - first}"

    def _unpack(self, source: Lane, element: Int, needed: set[int]) -> tuple[str, int]:
        first, count = min(needed), max(needed) - min(needed) + 1
        letter = STRUCT_LETTERS[element.bits] if element.signed else STRUCT_LETTERS[element.bits].upper()
        prefix = f"u{len(self._unpacked)}_"
        names = ", ".join(f"{prefix}{i}" for i in range(count))
        start = first * element.bits // 8
        unpack = self.struct(f"{count}{letter}", "unpack_from")
        if source.op == "read":
            where = f"V, {offset_text(cast(Place, source.detail), start)}"
        else:
            where = f"{self.bytes_of(source)}, {start}"
        self.lines.append(f"{names}, = {unpack}({where})")
        return prefix, first

    def _saturate(self, lane: Lane) -> str:
        element, value = cast(Int, lane.detail), self.atom(lane.args[0])
        clamped = value
        if lane.args[0].low < element.low:
            clamped = f"{element.low} if {value} < {element.low} else {clamped}"
        if lane.args[0].high > element.high:
            clamped = f"{element.high} if {value} > {element.high} else {clamped}"
        name = self.temporary(f"({clamped})")
        self.saturations.append(f"{name} != {value}")
        return name

    def _pick(self, lane: Lane) -> str:
        index, *items, otherwise = lane.args
        if len(items) == 1 and index.low >= 0 and index.high <= 1:
            return f"({self.text(otherwise)} if {self.text(index)} else {self.text(items[0])})"
        choices = self.temporary("(" + "".join(f"{self.text(item)}, " for item in items) + ")")
        at = self.atom(index)
        return f"({choices}[{at}] if 0 <= {at} < {len(items)} else {self.text(otherwise)})"


def _lanes_needed(nodes: Sequence[Lane]) -> dict[tuple[object, Int], set[int]]:
    """For each register or load and element type, the numbers of the lanes that are fields of it."""
    needed: dict[tuple[object, Int], set[int]] = {}
    for node in nodes:
        if node.op == "field" and is_bytes(node.args[0]):
            lsb, element = cast(tuple[int, Int], node.detail)
            if lsb % element.bits == 0:
                needed.setdefault((byte_key(node.args[0]), element), set()).add(lsb // element.bits)
    return needed
