"""The text of rolled expressions in C.

Names in the text: `S` (the `State` of the machine), `M` (its `Memory`), `r0`, `r1`, ... for open register numbers,
`load_bytes`, `i` (the lane of a loop), and `saturated`, which becomes 1 where a saturation clamps.  What all lanes
share is computed once, before the loop.  Every step is computed in the smallest type that holds its operands and its
result, so that nothing overflows; what only goes into the low bits of a lane is computed in an unsigned type of that
width.

The standard leaves two things to the compiler, which gcc and clang define and this text relies on: a signed number is
shifted right arithmetically, and a conversion to a signed type keeps the low bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from isa.evaluate.c.types import SIZES, NotInC, cast, literal, name, smallest, type_of, unsigned, unsigned_literal
from isa.evaluate.rolling import Rolled, Values, View, needs_low_bits_only
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


def register_text(place: Place) -> str:
    """Where `State` has a register: vector registers and the monitor as 16 bytes."""
    if place.file in ("v", "x"):
        number = f"r{place.index.number}" if isinstance(place.index, Slot) else str(place.index)
        return f"S->{place.file}[{number}]"
    return "S->x[31]" if place.file == "sp" else f"S->{place.file}"


def is_modular(node: Rolled, bits: int) -> bool:
    """Whether a node does not fit a type of so many bits, but its low bits can be computed in it, unsigned."""
    kind = smallest(node.low, node.high)
    wider = kind is None or kind.bits > bits
    return wider and isinstance(node.node, Binary) and needs_low_bits_only(node.node.operator)


def kind_of(node: Rolled) -> Int:
    """The smallest type that holds the range of a node.  Raises NotInC."""
    return type_of(node.low, node.high)


class Source:
    """The lines that compute rolled expressions."""

    def __init__(self, accessed: str = "bytes") -> None:
        self.lines: list[str] = []
        self._accessed = accessed
        self.saturates = False
        self._loop: list[str] = []
        self._names: dict[object, str] = {}
        self._loop_names: dict[object, str] = {}
        self._count = 0
        self._accesses = 0

    def new(self, letter: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{letter}{self._count - 1}"

    def next_access(self) -> int:
        """The number of one more access to memory."""
        self._accesses += 1
        return self._accesses - 1

    def repeat(self, count: int, statement: str) -> None:
        """The statement for every lane `i`, after what it needs of nodes that differ from lane to lane."""
        body = "".join(f"  {line}\n" for line in (*self._loop, statement))
        self.lines += [f"for (int i = 0; i < {count}; ++i) {{", *body.splitlines(), "}"]
        self._loop, self._loop_names = [], {}

    def table(self, numbers: Sequence[int]) -> str:
        """The number of lane `i`: by a rule where they are evenly spaced, else looked up."""
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
        if all(b - a == step for a, b in pairwise(numbers)):
            product = "i" if step == 1 else f"{step} * i"
            return (f"{numbers[0]} + {product}" if numbers[0] else product) if step else str(numbers[0])
        return f"{self._constants(numbers)}[i]"

    def _constants(self, numbers: Sequence[int]) -> str:
        key = ("constants", tuple(numbers))
        if key not in self._names:
            self._names[key] = self.new("k")
            kind = name(type_of(min(numbers), max(numbers)))
            listed = ", ".join(map(literal, numbers))
            self.lines.append(f"static const {kind} {self._names[key]}[{len(numbers)}] = {{{listed}}};")
        return self._names[key]

    def named(self, key: object, node: Rolled, type_name: str, text: str) -> str:
        """A constant with that value: in the loop where it differs from lane to lane."""
        names = self._names if node.width == 1 else self._loop_names
        if text.isidentifier():
            names[key] = text
        else:
            names[key] = self.new("t")
            self.append(node, f"const {type_name} {names[key]} = {text};")
        return names[key]

    def append(self, node: Rolled, line: str) -> None:
        """Add a line where the node is computed."""
        (self.lines if node.width == 1 else self._loop).append(line)

    def known(self, key: object) -> str | None:
        """The constant that was named under the key, in the function or in this loop."""
        return self._names.get(key) or self._loop_names.get(key)

    def value(self, node: Rolled) -> str:
        """The value of a node, of the smallest type that holds its range; of lane `i` where the lanes differ.

        Raises NotInC.
        """
        if node.number is not None:
            return literal(node.number)
        match node.node:
            case Values(numbers):
                return f"{self._constants(numbers)}[i]"
            case View(numbers, element):
                return cast(self.view(node.args[0], numbers, element), element, kind_of(node))
        return self.known(node) or self.named(node, node, name(kind_of(node)), self._compute(node))

    def operand(self, node: Rolled, kind: Int) -> str:
        """A node as a number of a type that holds it."""
        return self.value(node) if node.number is not None else cast(self.value(node), kind_of(node), kind)

    def low_bits(self, node: Rolled, bits: int) -> str:
        """The lowest bits of a node, as an unsigned number."""
        mask = (1 << bits) - 1
        if node.number is not None:
            return literal(node.number & mask)
        if bits in SIZES:
            return cast(*self._wrapped(node, bits), unsigned(bits))
        text = self.value(node)
        return text if node.low >= 0 and node.high <= mask else f"({self._as_unsigned(node, bits)} & {literal(mask)})"

    def _as_unsigned(self, node: Rolled, bits: int) -> str:
        """A node modulo a power of two that has at least so many bits."""
        kind = kind_of(node)
        return cast(self.value(node), kind, unsigned(max(kind.bits, type_of(0, (1 << bits) - 1).bits)))

    def _wrapped(self, node: Rolled, bits: int) -> tuple[str, Int]:
        """A number that has at least as many low bits in common with a node, and its type."""
        ring = max(bits, 32)
        if is_modular(node, ring):
            return self._ring(node, ring), unsigned(ring)
        return self.value(node), kind_of(node)

    def _ring(self, node: Rolled, bits: int) -> str:
        """A node modulo a power of two."""
        if node.number is not None:
            return unsigned_literal(node.number & (1 << bits) - 1, bits)
        if not is_modular(node, bits):
            return cast(self.value(node), kind_of(node), unsigned(bits))
        key = (node, bits)
        known = self.known(key)
        if known is not None:
            return known
        assert isinstance(node.node, Binary)
        a, b = node.args
        if node.node.operator == "shift_left":
            text = f"{self._ring(a, bits)} << {self.value(b)}"
            text = text if b.high < bits else f"{self.value(b)} < {bits} ? {text} : 0"
        else:
            text = f"{self._ring(a, bits)} {sign(node.node.operator)} {self._ring(b, bits)}"
        return self.named(key, node, name(unsigned(bits)), text)

    def _compute(self, node: Rolled) -> str:
        match node.node:
            case Values() | View() | Constant():
                return self.value(node)
            case Read(place):
                return self._read(place)
            case Load():
                return self._whole(self.bytes_of(node), node.node.size)
            case Field(Read(Place("v")) | Load(), lsb, Int(128, False)) if lsb % 8 == 0:
                return self._whole(f"{self.bytes_of(node.args[0])} + {lsb // 8}", 16)
            case Field(_, lsb, element):
                return self._field(node.args[0], lsb, element)
            case Saturate(_, element):
                return self._saturate(node, element)
            case Pick():
                return self._pick(node)
            case Binary(operator):
                return self._binary(node, operator)
            case Floating(operation):
                return self.floating(node, operation)
            case _:
                assert_never(node.node)

    def floating(self, node: Rolled, operation: FloatOperation) -> str:
        """The text of a floating-point operation: see `isa.evaluate.c.host_floating`."""
        raise NotInC(f"floating point has no C yet: {operation}")

    def _read(self, place: Place) -> str:
        return self._whole(register_text(place), 16) if place.file in ("v", "monitor") else register_text(place)

    def _whole(self, data: str, size: int) -> str:
        """Bytes as one number."""
        bits = next((bits for bits in SIZES if bits >= 8 * size), None)
        if bits is None:
            raise NotInC(f"a number of {size} bytes does not fit a type of C")
        whole = self.new("w")
        self.lines += [f"{name(unsigned(bits))} {whole} = 0;", f"memcpy(&{whole}, {data}, {size});"]
        return whole

    def bytes_of(self, node: Rolled) -> str:
        """The name of an array with the bytes of a vector register or of loaded memory."""
        if isinstance(node.node, Read):
            return register_text(node.node.place)
        assert isinstance(node.node, Load)
        key = ("bytes", node)
        if key not in self._names:
            at, size = cast(self.value(node.args[0]), kind_of(node.args[0]), unsigned(64)), node.node.size
            self._names[key] = loaded = self.new("m")
            allowed = f"load_{self._accessed}(M, {self.next_access()}, {at}, {loaded}, {size})"
            self.lines += [f"uint8_t {loaded}[{size}];", f"if (!{allowed}) return 1;"]
        return self._names[key]

    def view(self, data: Rolled, numbers: Sequence[int], element: Int) -> str:
        """An element of the bytes of a vector register or of loaded memory."""
        source = data.node
        assert isinstance(source, (Read, Load))
        size = 16 if isinstance(source, Read) else source.size
        if (max(numbers) + 1) * element.bits > 8 * size:
            raise NotInC(f"an element past the end of {size} bytes")
        key = ("view", data, element)
        if key not in self._names:
            held, count = self.bytes_of(data), 8 * size // element.bits
            self._names[key] = viewed = f"{self.new('a')}_{element}"
            self.lines += [
                f"{name(element)} {viewed}[{count}];",
                f"memcpy({viewed}, {held}, {count * element.bits // 8});",
            ]
        return f"{self._names[key]}[{self.table(numbers)}]"

    def _field(self, source: Rolled, lsb: int, element: Int) -> str:
        if element.bits in SIZES and lsb == 0:
            return cast(*self._wrapped(source, element.bits), element)
        kind = kind_of(source)
        shifted = f"({_shifted_right(self.value(source), kind, lsb)})" if lsb else self.value(source)
        if element.bits in SIZES:
            return f"({name(element)}){shifted}"
        mask, half = literal((1 << element.bits) - 1), literal(1 << element.bits - 1)
        wide = unsigned(max(kind.bits, type_of(0, element.high).bits))
        text = f"(({name(wide)}){shifted} & {mask})"
        if not element.signed:
            return text
        return f"((({name(type_of(-(1 << element.bits), 1 << element.bits))}){text} ^ {half}) - {half})"

    def _saturate(self, node: Rolled, element: Int) -> str:
        operand = node.args[0]
        value = text = self.value(operand)
        if operand.low < element.low:
            text = f"{value} < {literal(element.low)} ? {literal(element.low)} : {text}"
        if operand.high > element.high:
            text = f"{value} > {literal(element.high)} ? {literal(element.high)} : {text}"
        clamped = self.named(("clamped", node), operand, name(kind_of(operand)), text)
        self.saturates = True
        self.append(operand, f"saturated |= {clamped} != {value};")
        return cast(clamped, kind_of(operand), kind_of(node))

    def _pick(self, node: Rolled) -> str:
        index, *items, otherwise = node.args
        kind, at = kind_of(node), self.value(index)
        if len(items) == 1 and index.low >= 0 and index.high <= 1:
            return f"{at} ? {self.operand(otherwise, kind)} : {self.operand(items[0], kind)}"
        choices, width = self.new("c"), max(item.width for item in items)
        constant = "static const " if all(item.number is not None for item in items) else "const "
        listed = ", ".join(self.operand(item, kind) for item in items)
        (self.lines if width == 1 else self._loop).append(
            f"{constant}{name(kind)} {choices}[{len(items)}] = {{{listed}}};"
        )
        tests = [f"{at} >= 0"] if index.low < 0 else []
        tests += [f"{at} < {len(items)}"] if index.high >= len(items) else []
        looked_up = f"{choices}[{at}]"
        return f"{' && '.join(tests)} ? {looked_up} : {self.operand(otherwise, kind)}" if tests else looked_up

    def _binary(self, node: Rolled, operator: Operator) -> str:
        a, b = node.args
        match operator:
            case "add" | "subtract" | "multiply" | "and" | "or" | "xor":
                return self._infix(operator, a, b, common_kind(a, b, node))
            case "less" | "equal":
                return self._infix(operator, a, b, common_kind(a, b))
            case "minimum" | "maximum":
                kind = common_kind(a, b, node)
                return f"{self._infix(operator, a, b, kind)} ? {self.operand(a, kind)} : {self.operand(b, kind)}"
            case "shift_left":
                kind = common_kind(a, node)
                return f"({name(kind)})({self._ring(a, max(kind.bits, 32))} << {self.value(b)})"
            case "shift_right":
                return self._shift_right(a, b)
            case "divide":
                return self._divide(node, a, b)
            case _:
                assert_never(operator)

    def _infix(self, operator: Operator, a: Rolled, b: Rolled, kind: Int) -> str:
        return f"{self.operand(a, kind)} {sign(operator)} {self.operand(b, kind)}"

    def _shift_right(self, a: Rolled, b: Rolled) -> str:
        """Counts past the width of the type leave the sign."""
        value, count, kind = self.value(a), self.value(b), type_of(a.low, a.high)
        if b.number is not None:
            return _shifted_right(value, kind, b.number)
        if b.high < kind.bits:
            return f"{value} >> {count}"
        return f"{count} < {kind.bits} ? {value} >> {count} : {f'{value} >> {kind.bits - 1}' if kind.signed else '0'}"

    def _divide(self, node: Rolled, a: Rolled, b: Rolled) -> str:
        """The quotient of the magnitudes, with its sign; 0 where the divisor is 0."""
        if a.low >= 0 and b.low >= 0:
            kind = common_kind(a, b)
            return f"{self.value(b)} == 0 ? 0 : {self._infix('divide', a, b, kind)}"
        width = max(32, type_of(0, max(abs(n) for lane in (a, b) for n in (lane.low, lane.high))).bits)
        x, y = (self._magnitude(each, node, unsigned(width)) for each in (a, b))
        text = self.named(("quotient", node), node, name(unsigned(width)), f"{y} == 0 ? 0 : {x} / {y}")
        quotient = f"({name(kind_of(node))}){text}"
        return f"({self.value(a)} < 0) != ({self.value(b)} < 0) ? -{quotient} : {quotient}"

    def _magnitude(self, node: Rolled, of: Rolled, kind: Int) -> str:
        text = self._ring(node, kind.bits)
        return self.named(("magnitude", node, of), node, name(kind), f"{self.value(node)} < 0 ? -{text} : {text}")


def _shifted_right(text: str, kind: Int, count: int) -> str:
    if count >= kind.bits and not kind.signed:
        return "0"
    return f"{text} >> {min(count, kind.bits - 1)}"


def common_kind(*nodes: Rolled) -> Int:
    """The smallest type that holds the ranges of all nodes.  Raises NotInC."""
    return type_of(min(node.low for node in nodes), max(node.high for node in nodes))


def sign(operator: Operator) -> str:
    """What C calls it; of a minimum and a maximum, which order takes the first operand."""
    match operator:
        case "add":
            return "+"
        case "subtract":
            return "-"
        case "multiply":
            return "*"
        case "divide":
            return "/"
        case "shift_left":
            return "<<"
        case "shift_right":
            return ">>"
        case "and":
            return "&"
        case "or":
            return "|"
        case "xor":
            return "^"
        case "less" | "minimum":
            return "<"
        case "maximum":
            return ">"
        case "equal":
            return "=="
        case _:
            assert_never(operator)
