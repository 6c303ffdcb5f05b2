"""Lanes that are computed alike as vectors: the vector types that gcc and clang have, instead of a loop over lanes.

A vector is computed as a lane is (`isa.evaluate.c.source`), each step in the smallest elements that hold it.  A
comparison gives a mask, all bits of a lane or none of them, and what depends on it is chosen with it.  What vectors do
not have stays a loop: numbers of more than 64 bits, quotients, tables, floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from isa.evaluate.c.source import Source, common_kind, is_modular, kind_of, sign
from isa.evaluate.c.types import NotInC, literal, name, smallest, type_of, unsigned
from isa.evaluate.rolling import Rolled, Values, View, needs_low_bits_only
from isa.lane import Binary, Constant, Field, Floating, Int, Load, Operator, Pick, Read, Saturate

ELEMENTS = (8, 16, 32, 64)
"""The bits of an element of a vector."""
_WIDTHS = (2, 4, 8, 16, 32, 64)
_WHOLE = (8, 16, 32, 64)
"""The sizes in bytes of registers and loaded memory that are taken as one vector."""

TYPES = """\
#ifdef __clang__
#define ANY(mask) (__builtin_reduce_or(mask) != 0)
#else
#define ANY(mask) __extension__({ \\
    const __auto_type lanes = (mask); \\
    unsigned any = 0; \\
    for (unsigned i = 0; i < sizeof lanes / sizeof lanes[0]; ++i) any |= lanes[i] != 0; \\
    any; })
#endif
""" + "\n".join(
    f"typedef {name(kind)} {kind}x{width} __attribute__((vector_size({bits // 8 * width})));"
    for bits in ELEMENTS
    for kind in (Int(bits, False), Int(bits, True))
    for width in _WIDTHS
)
"""The definitions of the types, such as `s16x8`; `ANY` is whether a lane of a mask is set."""


def is_consecutive(numbers: Sequence[int]) -> bool:
    """Whether each number is the next of the one before it."""
    return all(b - a == 1 for a, b in pairwise(numbers))


def copied_bytes(node: Rolled, bits: int) -> tuple[Rolled, int] | None:
    """Of lanes that are consecutive elements of a register or of loaded memory: what holds them, from which byte on."""
    match node.node:
        case View(numbers, element) if element.bits == bits and node.width > 1 and is_consecutive(numbers):
            return node.args[0], numbers[0] * bits // 8
    return None


def is_vector(node: Rolled) -> bool:
    """Whether `LaneVectors` can compute the lanes of a node, which differ."""
    seen, pending = {node}, [node]
    while pending:
        at = pending.pop()
        if not _has_operation(at):
            return False
        if not isinstance(at.node, View):
            more = {arg for arg in at.args if arg.width > 1} - seen
            seen |= more
            pending += more
    return node.width in _WIDTHS


def _fits(*nodes: Rolled) -> bool:
    kind = smallest(min(node.low for node in nodes), max(node.high for node in nodes))
    return kind is not None and kind.bits in ELEMENTS


def _has_operation(node: Rolled) -> bool:
    match node.node:
        case Values():
            return _fits(node)
        case View(_, element):
            return element.bits in ELEMENTS
        case Field(_, lsb, element):
            modular = lsb == 0 and element.bits in ELEMENTS and is_modular(node.args[0], element.bits)
            return modular or (_fits(node.args[0]) and element.bits <= ELEMENTS[-1])
        case Saturate():
            return _fits(node.args[0])
        case Pick():
            return len(node.args) == 3 and node.args[0].low >= 0 and node.args[0].high <= 1 and _fits(node)
        case Binary(operator):
            in_ring = needs_low_bits_only(operator) and (operator != "shift_left" or _fits(node.args[1]))
            return in_ring or (operator != "divide" and _fits(node, *node.args))
        case Constant() | Read() | Load() | Floating():
            return False
        case _:
            assert_never(node.node)


class LaneVectors:
    """The lines that compute vectors, which go to those of a `Source`: it computes what is the same in all lanes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[object, str] = {}

    def low_bits(self, node: Rolled, bits: int) -> str:
        """The name of a vector of unsigned elements: the lowest bits, 8 to 64 of them, of a node that `is_vector`."""
        if is_modular(node, bits):
            return self._ring(node, bits)
        return self._named(
            unsigned(bits), node.width, _converted(self._value(node), kind_of(node), unsigned(bits), node.width)
        )

    def _value(self, node: Rolled) -> str:
        """The name of a vector of the smallest type that holds the range of a node."""
        if node not in self._names:
            self._names[node] = self._named(kind_of(node), node.width, self._compute(node))
        return self._names[node]

    def _named(self, kind: Int, width: int, text: str) -> str:
        if text.isidentifier():
            return text
        made = self._source.new("t")
        self._source.lines.append(f"const {_type(kind, width)} {made} = {text};")
        return made

    def _operand(self, node: Rolled, kind: Int, width: int) -> str:
        """A node as a vector of a type that holds it."""
        if node.width == 1:
            return _same_in_all(self._source.value(node), kind, width)
        return _converted(self._value(node), kind_of(node), kind, width)

    def _compute(self, node: Rolled) -> str:
        kind, width = kind_of(node), node.width
        match node.node:
            case Values(numbers):
                return f"{{{', '.join(map(literal, numbers))}}}"
            case View(numbers, element):
                return self._view(node, numbers, element)
            case Field(_, lsb, element):
                return self._field(node.args[0], lsb, element)
            case Saturate(_, element):
                return self._saturate(node, element)
            case Pick():
                at, *items = node.args
                chosen = f"-{self._operand(at, Int(kind.bits, True), width)}"
                first, second = (self._operand(item, kind, width) for item in items)
                return self._choice(chosen, second, first, kind, width)
            case Binary(operator):
                return self._binary(node, operator)
            case Constant() | Read() | Load() | Floating():
                raise NotInC(f"no vector: {node.node}")
            case _:
                assert_never(node.node)

    def _choice(self, mask: str, a: str, b: str, kind: Int, width: int) -> str:
        """`a` where all bits of the mask are set, `b` where none is."""
        chosen = self._named(kind, width, f"({_type(kind, width)})({mask})")
        return f"({chosen} & {a}) | (~{chosen} & {b})"

    def _view(self, node: Rolled, numbers: Sequence[int], element: Int) -> str:
        """Elements of a vector register or of loaded memory."""
        data = node.args[0]
        size = data.node.size if isinstance(data.node, Load) else 16
        count = 8 * size // element.bits
        if size not in _WHOLE:
            listed = [self._source.view(data, [number], element) for number in numbers]
            return f"{{{', '.join(listed)}}}"
        if (max(numbers) + 1) * element.bits > 8 * size:
            raise NotInC(f"an element past the end of {size} bytes")
        key = (data, element)
        if key not in self._names:
            held, whole = self._source.bytes_of(data), self._source.new("a")
            self._source.lines += [f"{_type(element, count)} {whole};", f"memcpy(&{whole}, {held}, {size});"]
            self._names[key] = whole
        whole = self._names[key]
        return (
            whole
            if len(numbers) == count and is_consecutive(numbers)
            else f"{{{', '.join(f'{whole}[{n}]' for n in numbers)}}}"
        )

    def _field(self, source: Rolled, lsb: int, element: Int) -> str:
        width, sized = source.width, element.bits in ELEMENTS
        if lsb == 0 and sized and is_modular(source, element.bits):
            return _converted(self._ring(source, element.bits), unsigned(element.bits), element, width)
        kind = kind_of(source)
        if lsb == 0 and sized:
            return _converted(self._value(source), kind, element, width)
        wide = Int(max(kind.bits, type_of(0, (1 << element.bits) - 1).bits), kind.signed)
        shifted = _shifted_right(self._operand(source, wide, width), wide, lsb, width)
        if sized:
            return _converted(shifted, wide, element, width)
        bits = unsigned(wide.bits)
        mask = _same_in_all(literal((1 << element.bits) - 1), bits, width)
        text = f"({_converted(shifted, wide, bits, width)} & {mask})"
        if element.signed:
            half = _same_in_all(literal(1 << element.bits - 1), bits, width)
            text = f"(({text} ^ {half}) - {half})"
        exact = Int(bits.bits, element.signed)
        return _converted(f"(({_type(exact, width)}){text})", exact, type_of(element.low, element.high), width)

    def _saturate(self, node: Rolled, element: Int) -> str:
        operand, width = node.args[0], node.width
        kind, value = kind_of(operand), self._operand(operand, kind_of(operand), width)
        clamped = value
        if operand.low < element.low:
            edge = _same_in_all(literal(element.low), kind, width)
            clamped = self._named(kind, width, self._choice(f"{clamped} < {edge}", edge, clamped, kind, width))
        if operand.high > element.high:
            edge = _same_in_all(literal(element.high), kind, width)
            clamped = self._named(kind, width, self._choice(f"{clamped} > {edge}", edge, clamped, kind, width))
        self._source.saturates = True
        self._source.lines.append(f"saturated |= ANY({clamped} != {value});")
        return _converted(clamped, kind, kind_of(node), width)

    def _binary(self, node: Rolled, operator: Operator) -> str:
        a, b = node.args
        width = node.width
        match operator:
            case "add" | "subtract" | "multiply" | "and" | "or" | "xor":
                kind = common_kind(a, b, node)
                text = f"{self._operand(a, kind, width)} {sign(operator)} {self._operand(b, kind, width)}"
                return _converted(f"({text})", kind, kind_of(node), width)
            case "less" | "equal":
                kind = common_kind(a, b)
                text = f"{self._operand(a, kind, width)} {sign(operator)} {self._operand(b, kind, width)}"
                truth = Int(kind.bits, True)
                return _converted(f"(-(({_type(truth, width)})({text})))", truth, kind_of(node), width)
            case "minimum" | "maximum":
                kind = common_kind(a, b, node)
                x, y = (self._named(kind, width, self._operand(each, kind, width)) for each in (a, b))
                chosen = self._named(kind, width, self._choice(f"{x} {sign(operator)} {y}", x, y, kind, width))
                return _converted(chosen, kind, kind_of(node), width)
            case "shift_left":
                kind = common_kind(a, node)
                bits = unsigned(kind.bits)
                x = _converted(self._operand(a, kind, width), kind, bits, width)
                shifted = f"({x} << {self._operand(b, bits, width)})"
                return _converted(_converted(shifted, bits, kind, width), kind, kind_of(node), width)
            case "shift_right":
                return self._shift_right(node, a, b)
            case "divide":
                raise NotInC("no vector: a quotient")
            case _:
                assert_never(operator)

    def _shift_right(self, node: Rolled, a: Rolled, b: Rolled) -> str:
        """Counts past the width of the type leave the sign."""
        kind, width = kind_of(a), node.width
        x = self._operand(a, kind, width)
        if b.number is not None:
            return _converted(f"({_shifted_right(x, kind, b.number, width)})", kind, kind_of(node), width)
        if b.high < kind.bits:
            return _converted(f"({x} >> {self._operand(b, kind, width)})", kind, kind_of(node), width)
        counts = common_kind(b)
        count, last = self._operand(b, counts, width), _same_in_all(str(kind.bits - 1), counts, width)
        inside = self._named(Int(counts.bits, True), width, f"{count} <= {last}")
        within = self._named(counts, width, self._choice(inside, count, last, counts, width))
        shifted = f"({x} >> {_converted(within, counts, kind, width)})"
        if not kind.signed:
            shifted = f"({shifted} & {_converted(inside, Int(counts.bits, True), kind, width)})"
        return _converted(shifted, kind, kind_of(node), width)

    def _ring(self, node: Rolled, bits: int) -> str:
        """A node modulo a power of two, as a vector of unsigned elements."""
        kind, width = unsigned(bits), node.width
        if node.width == 1 or not is_modular(node, bits):
            raise AssertionError(node)
        key = (node, bits)
        if key not in self._names:
            assert isinstance(node.node, Binary)
            a, b = node.args
            x = self._ring_operand(a, bits, width)
            if node.node.operator == "shift_left":
                text = self._shifted_left(x, b, kind, width)
            else:
                text = f"{x} {sign(node.node.operator)} {self._ring_operand(b, bits, width)}"
            self._names[key] = self._named(kind, width, text)
        return self._names[key]

    def _shifted_left(self, x: str, b: Rolled, kind: Int, width: int) -> str:
        """Modulo a power of two: counts past the width of the type leave nothing."""
        if b.high < kind.bits:
            return f"{x} << {self._operand(b, kind, width)}"
        counts = common_kind(b)
        count, last = self._operand(b, counts, width), _same_in_all(str(kind.bits - 1), counts, width)
        inside = self._named(Int(counts.bits, True), width, f"{count} <= {last}")
        within = self._named(counts, width, self._choice(inside, count, last, counts, width))
        left = _converted(inside, Int(counts.bits, True), kind, width)
        return f"({x} << {_converted(within, counts, kind, width)}) & {left}"

    def _ring_operand(self, node: Rolled, bits: int, width: int) -> str:
        kind = unsigned(bits)
        if node.width > 1 and is_modular(node, bits):
            return self._ring(node, bits)
        if node.width > 1:
            return _converted(self._value(node), kind_of(node), kind, width)
        return _same_in_all(self._source.low_bits(node, bits), kind, width)


def _type(kind: Int, width: int) -> str:
    return f"{kind}x{width}"


def _converted(text: str, of: Int, to: Int, width: int) -> str:
    """A vector with every element converted: the same number where it fits, else that with the same low bits."""
    if of == to:
        return text
    if of.bits == to.bits:
        return f"(({_type(to, width)}){text})"
    return f"__builtin_convertvector({text}, {_type(to, width)})"


def _same_in_all(text: str, kind: Int, width: int) -> str:
    return f"(({_type(kind, width)}){{0}} + ({name(kind)}){text})"


def _shifted_right(text: str, kind: Int, count: int, width: int) -> str:
    if count >= kind.bits and not kind.signed:
        return _same_in_all("0", kind, width)
    return f"{text} >> {_same_in_all(str(min(count, kind.bits - 1)), kind, width)}"
