"""The language of `isa.text.expressions` read back: statements parsed and evaluated on a state, without `isa.lane`.

A floating-point operation is rebuilt from its words and computed by the exact evaluator's arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import get_args

from isa.evaluate.exact import QC, State
from isa.evaluate.floating import compute
from isa.floating import BF16, FLOATS, Float, FloatOperation, Operation
from isa.lane import Int, Place

_TOKEN = re.compile(
    r"\s*(->|0x[0-9a-f]+|\d+|<<|>>|<[\w+*\- ]+(?::[\w+*\- ]+)?>(?![>=])"
    r"|<|>=|>|==|!=|=|\.\.|[A-Za-z_][\w.]*|[-+*^(){}\[\],])"
)
_BITS_OF = {"b": 8, "h": 16, "s": 32, "d": 64}
_TYPE = re.compile(r"([su])(\d+)")
_CHAINS: dict[str, Callable[[Sequence[int]], int]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "or": lambda values: sum(1 << b for b in range(200) if any(value >> b & 1 for value in values)),
    "eor": lambda values: sum(1 << b for b in range(200) if sum(value >> b & 1 for value in values) % 2),
    "and": lambda values: sum(1 << b for b in range(200) if prod(value >> b & 1 for value in values)),
}
"""What `sum k=0..3 (...)` and its like do; the bitwise ones of numbers that are not negative."""
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__,
}  # fmt: skip


_FORMATS = {"bf16": BF16, **{f"f{bits}": float_format for bits, float_format in FLOATS.items()}}


def format_or_type(name: str) -> Float | Int:
    """`f32`, `bf16`, `s64`, `u33`."""
    return _FORMATS.get(name) or Int(int(name[1:]), name[0] == "s")


def tokens(text: str) -> list[str]:
    """The tokens of a text; ValueError where there is something else in it."""
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at:]!r} is not understood")
        found.append(match[1])
        at = match.end()
    return found


class Reader:
    """Evaluates while it parses, so every part of a text is evaluated, also the branch that is not taken."""

    def __init__(self, text: str, state: State, names: Mapping[str, int]) -> None:
        self.tokens, self.at, self.state, self.names = tokens(text), 0, state, dict(names)
        self.noted = 0
        """Bits of FPSR that the text sets."""

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if expected and token not in expected:
            raise ValueError(f"{token!r} where {expected} is expected: {' '.join(self.tokens)}")
        self.at += 1
        return token

    def accepts(self, *choices: str) -> str:
        return self.take() if self.peek() in choices and self.peek() else ""

    def whole(self) -> int:
        value = self.choice()
        if self.peek():
            raise ValueError(f"{self.peek()!r} is left over: {' '.join(self.tokens)}")
        return value

    def choice(self) -> int:
        if self.accepts("if"):
            condition = self.comparison()
            self.take("then")
            yes = self.comparison()
            self.take("else")
            no = self.comparison()
            return yes if condition else no
        if self.accepts("table"):
            return self.table()
        return self.comparison()

    def table(self) -> int:
        items = self.arguments()
        self.take("[")
        at = self.choice()
        self.take("]")
        self.take("else")
        otherwise = self.comparison()
        return items[at] if 0 <= at < len(items) else otherwise

    def arguments(self) -> list[int]:
        self.take("(")
        items = [*self.items()]
        while self.take(",", ")") == ",":
            items += self.items()
        return items

    def items(self) -> list[int]:
        run = re.fullmatch(r"v\d+\.[bhsd]", self.peek()) and self.tokens[self.at + 3 : self.at + 4] == [".."]
        if not run:
            return [self.choice()]
        register, _, first, _, last, _ = (self.take() for _ in range(6))
        return [self.element(register, number) for number in range(int(first), int(last) + 1)]

    def comparison(self) -> int:
        value = self.bits()
        while operator := self.accepts(*_COMPARISONS):
            value = int(_COMPARISONS[operator](value, self.bits()))
        return value

    def bits(self) -> int:
        value = self.sum()
        while operator := self.accepts("AND", "OR", "EOR", "<<", ">>"):
            other = self.sum()
            value = {"AND": value & other, "OR": value | other, "EOR": value ^ other}.get(operator, value)
            value = value << other if operator == "<<" else value >> other if operator == ">>" else value
        return value

    def sum(self) -> int:
        value = self.product()
        while operator := self.accepts("+", "-"):
            value += self.product() if operator == "+" else -self.product()
        return value

    def product(self) -> int:
        value = self.prefixed()
        while self.accepts("*"):
            value *= self.prefixed()
        return value

    def prefixed(self) -> int:
        if self.accepts("-"):
            return -self.prefixed()
        if self.accepts("NOT"):
            return ~self.prefixed()
        saturates = bool(self.accepts("saturate"))
        self.accepts("wrap")
        kind = _TYPE.fullmatch(self.peek())
        if kind is None:
            return self.postfixed()
        self.take()
        return self.narrowed(kind[1] == "s", int(kind[2]), self.prefixed(), saturates)

    def narrowed(self, signed: bool, bits: int, value: int, saturates: bool) -> int:
        low = -(1 << bits - 1) if signed else 0
        high = low + (1 << bits) - 1
        if saturates:
            self.noted |= 0 if low <= value <= high else QC
            return min(max(value, low), high)
        return (value - low) % (1 << bits) + low

    def postfixed(self) -> int:
        value = self.atom()
        while self.peek().startswith("<") and len(self.peek()) > 2:
            high, _, low = self.take()[1:-1].partition(":")
            top, bottom = (Reader(text or high, self.state, self.names).whole() for text in (high, low))
            value = value >> bottom & (1 << top - bottom + 1) - 1
        return value

    def atom(self) -> int:
        token = self.take()
        if token == "(":
            value = self.choice()
            self.take(")")
            return value
        if token[0].isdigit():
            return self.number(token)
        if token in _CHAINS:
            return self.over_k(_CHAINS[token]) if self.peek() == "k" else _CHAINS[token](self.arguments())
        if token == "abs":
            return abs(*self.arguments())
        if token == "quotient":
            a, b = self.arguments()
            return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return self.floating(token) if token in get_args(Operation) else self.named(token)

    def floating(self, name: str) -> int:
        of = to = format_or_type(self.take())
        if self.accepts("->"):
            to = format_or_type(self.take())
        rounding = self.take() if self.accepts("to") else "fpcr"
        fraction = int(self.take()) if self.accepts("fraction") else 0
        integer = format_or_type(self.take()) if self.accepts("within") else None
        operation = FloatOperation(name, of, to, rounding, fraction, integer, bool(self.accepts("silent")))  # type: ignore[arg-type]
        result, raised = compute(operation, *self.operands())
        self.noted |= raised
        return result

    def operands(self) -> tuple[tuple[int, ...], int]:
        """The operands of a floating-point operation, and the FPCR that it heeds."""
        values, control = [], self.state.read(Place("fpcr"))
        self.take("(")
        while self.peek() != ")":
            if self.accepts("fpcr"):
                self.take("=")
                control = self.choice()
            else:
                values.append(self.choice())
            self.accepts(",")
        self.take(")")
        return tuple(values), control

    def number(self, token: str) -> int:
        value = int(token, 0)
        return value ** int(self.take()) if self.accepts("^") else value

    def over_k(self, fold: Callable[[Sequence[int]], int]) -> int:
        self.take("k"), self.take("="), self.take("0"), self.take("..")
        count, start, values = int(self.take()) + 1, self.at, []
        for self.names["k"] in range(count):
            self.at = start
            self.take("(")
            values.append(self.choice())
            self.take(")")
        del self.names["k"]
        return fold(values)

    def named(self, token: str) -> int:
        if token in self.names:
            return self.names[token]
        if self.peek() == "[":
            self.take()
            inside = self.choice()
            self.take("]")
            return self.element(token, inside)
        if token in "NZCV":
            return self.state.read(Place("nzcv")) >> "VCZN".index(token) & 1
        place, bits = register(token)
        return self.state.read(place) % (1 << bits)

    def element(self, name: str, number: int) -> int:
        if name.startswith("mem"):
            size = int(name[3:]) // 8
            return int.from_bytes(self.state.load(number % 2**64, size), "little")
        bits = _BITS_OF[name[-1]]
        return self.state.read(register(name[:-2])[0]) >> bits * number & (1 << bits) - 1


def register(name: str) -> tuple[Place, int]:
    """The register of a name, and how many bits of it the name means."""
    if match := re.fullmatch(r"([vxw])(\d+)", name):
        file = "v" if match[1] == "v" else "x"
        return Place(file, int(match[2])), {"v": 128, "x": 64, "w": 32}[match[1]]
    short = {"wsp": "sp", "wzr": "zr", "xzr": "zr"}.get(name, name)
    return Place(short), 32 if name in ("wsp", "wzr") else Place(short).bits


def assigned(text: str, state: State, names: Mapping[str, int]) -> tuple[str, int, int, int, int]:
    """What a statement assigns: the place (or "mem"), the lowest bit or address, the bits, the value; bits of FPSR."""
    destination, _, value_text = text.partition(" = ")
    reader = Reader(value_text, state, names)
    value = reader.whole()
    if match := re.fullmatch(r"(v\d+)<127:(\d+)>", destination):
        return match[1], int(match[2]), 128 - int(match[2]), value, 0
    if destination in tuple("NZCV"):
        return "nzcv", "VCZN".index(destination), 1, value, reader.noted
    if match := re.fullmatch(r"(v\d+)\.([bhsd])\[(.*)\]", destination):
        bits = _BITS_OF[match[2]]
        return match[1], bits * Reader(match[3], state, names).whole(), bits, value, reader.noted
    if match := re.fullmatch(r"mem(\d+)\[(.*)\]", destination):
        return "mem", Reader(match[2], state, names).whole() % 2**64, int(match[1]), value, reader.noted
    place, bits = register(destination)
    return destination, 0, place.bits, value % (1 << bits), reader.noted


def execute(lines: Sequence[tuple[str, Sequence[str], int]], state: State) -> None:
    """Run statements (text, definitions, lanes) as one instruction: everything is read before anything is written."""
    done, noted = [], 0
    for text, where, lanes in lines:
        for i in range(lanes):
            names = {"i": i}
            for definition in where:
                name, _, meaning = definition.partition(" = ")
                reader = Reader(meaning, state, names)
                names[name] = reader.whole()
                noted |= reader.noted
            done.append(assigned(text, state, names))
            noted |= done[-1][4]
    next_pc = (state.read(Place("pc")) + 4) % 2**64
    if all(name != "pc" for name, *_ in done):
        done.append(("pc", 0, 64, next_pc, 0))
    for name, low, bits, value, _ in done:
        _write(state, name, low, bits, value % (1 << bits))
    state.write(Place("fpsr"), state.read(Place("fpsr")) | noted)


def _write(state: State, name: str, low: int, bits: int, value: int) -> None:
    if name == "mem":
        state.store(low, value.to_bytes(bits // 8, "little"))
        return
    place = register(name)[0]
    kept = state.read(place) & ~((1 << bits) - 1 << low)
    state.write(place, kept | value << low)
