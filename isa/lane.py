"""The lane expression: an integer whose exact range is known, and the element types that alone narrow it.

A register, a loaded piece of memory and the flags are plain numbers here: a vector register is a 128-bit
number of which a lane is a field.  Arithmetic on lanes is exact, so every operator says how the range of its
result grows and nothing overflows silently.  Only an element type brings a value back into a lane, in words::

    S32.saturate(a + b)      SQADD: clamps, and sets FPSR.QC where it does
    S32.wrap(a + b)          ADD: keeps the low 32 bits

An instruction is a list of `Write`s of such expressions.  What it reads is not declared: it is the leaves of
the expressions.  That it can set QC is not declared either: it has `saturate` nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Op = Literal[
    "read", "load", "constant", "field", "saturate", "pick",
    "add", "subtract", "multiply", "divide", "shift_left", "shift_right", "and", "or", "xor",
    "minimum", "maximum", "less", "equal", "floating",
]  # fmt: skip

WIDTHS = {"v": 128, "x": 64, "sp": 64, "pc": 64, "nzcv": 4, "fpsr": 32, "fpcr": 32, "monitor": 65, "zr": 64}
"""Bits of one register of each register file.

`zr` is the zero register as a destination: what it gets is lost.  `monitor` is the local exclusive monitor (Arm ARM
B2.12): bit 64 says that it is open, the bits below are the address it is open for.
"""


@dataclass(frozen=True)
class Slot:
    """A register number left open: the k-th register in an instruction's text (see `isa.instruction.Pattern`)."""

    number: int


class Place(NamedTuple):
    """Where a value lives: one register of a register file named in `WIDTHS`."""

    file: str
    index: int | Slot = 0  # type: ignore[assignment]  # hides tuple.index, which no record needs

    @property
    def bits(self) -> int:
        """Bits of the register."""
        return WIDTHS[self.file]

    def __str__(self) -> str:
        return f"{self.file}{self.index}" if self.file in ("v", "x") else self.file


class Memory(NamedTuple):
    """Where a store goes: `size` bytes from `address`."""

    address: Lane
    size: int


class Write(NamedTuple):
    """Elements of `bits` bits each, from bit 0 upwards; the bits that they do not reach become zero."""

    place: Place | Memory
    bits: int
    lanes: Sequence[Lane]


class Lane:
    """A node of an expression: an exact integer in `low`..`high` inclusive.

    `args` are its operands; `detail` says the rest: the `Place` of a read, the size in bytes of a load, the value
    of a constant, `(least significant bit, Int)` of a field, the `Int` of a saturation.
    """

    __slots__ = ("args", "detail", "high", "low", "op")

    def __init__(self, op: Op, args: tuple[Lane, ...], low: int, high: int, detail: object = None) -> None:
        self.op: Op = op
        self.args = args
        self.low = low
        self.high = high
        self.detail = detail

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        return f"{self.op}({inner})" if self.detail is None else f"{self.op}[{self.detail}]({inner})"

    def __add__(self, other: Lane | int) -> Lane:
        b = lift(other)
        return _node("add", (self, b), self.low + b.low, self.high + b.high)

    def __sub__(self, other: Lane | int) -> Lane:
        b = lift(other)
        return _node("subtract", (self, b), self.low - b.high, self.high - b.low)

    def __mul__(self, other: Lane | int) -> Lane:
        b = lift(other)
        corners = [x * y for x in (self.low, self.high) for y in (b.low, b.high)]
        return _node("multiply", (self, b), min(corners), max(corners))

    def __lshift__(self, other: Lane | int) -> Lane:
        b = _shift_count(other)
        corners = [x << n for x in (self.low, self.high) for n in (b.low, b.high)]
        return _node("shift_left", (self, b), min(corners), max(corners))

    def __rshift__(self, other: Lane | int) -> Lane:
        """Shift right and round down."""
        b = _shift_count(other)
        corners = [x >> n for x in (self.low, self.high) for n in (b.low, b.high)]
        return _node("shift_right", (self, b), min(corners), max(corners))

    def __and__(self, other: Lane | int) -> Lane:
        b = lift(other)
        if min(self.low, b.low) >= 0:
            return _node("and", (self, b), 0, min(self.high, b.high))
        return self._bitwise("and", b)

    def __or__(self, other: Lane | int) -> Lane:
        return self._bitwise("or", lift(other))

    def __xor__(self, other: Lane | int) -> Lane:
        return self._bitwise("xor", lift(other))

    def _bitwise(self, op: Op, b: Lane) -> Lane:
        bits = max(self.magnitude_bits, b.magnitude_bits)
        low = 0 if min(self.low, b.low) >= 0 else -1 << bits
        return _node(op, (self, b), low, (1 << bits) - 1)

    def __lt__(self, other: Lane | int) -> Lane:
        return _node("less", (self, lift(other)), 0, 1)

    def __gt__(self, other: Lane | int) -> Lane:
        return _node("less", (lift(other), self), 0, 1)

    def __neg__(self) -> Lane:
        return constant(0) - self

    def __invert__(self) -> Lane:
        return constant(-1) - self

    def equals(self, other: Lane | int) -> Lane:
        """1 where both are the same number, else 0.  (`==` stays identity: nodes are used as keys.)"""
        return _node("equal", (self, lift(other)), 0, 1)

    @property
    def magnitude_bits(self) -> int:
        """Bits that hold every value of the range, the sign bit not counted."""
        return max(k.bit_length() if k >= 0 else (~k).bit_length() for k in (self.low, self.high))

    @property
    def value(self) -> int | None:
        """The number that this node is if its range leaves no choice, else None."""
        return self.low if self.low == self.high else None


def _node(op: Op, args: tuple[Lane, ...], low: int, high: int) -> Lane:
    return constant(low) if low == high else Lane(op, args, low, high)


def _shift_count(count: Lane | int) -> Lane:
    lane = lift(count)
    if lane.low < 0 or lane.high > 1024:
        raise ValueError(f"a shift count must stay in 0..1024, this one ranges over {lane.low}..{lane.high}")
    return lane


def constant(value: int) -> Lane:
    """A number as an expression."""
    return Lane("constant", (), value, value, value)


def lift(value: Lane | int) -> Lane:
    """An operand of an operator: a lane as it is, an int as a constant."""
    return value if isinstance(value, Lane) else constant(value)


def read(place: Place) -> Lane:
    """The whole register, as an unsigned number."""
    return Lane("read", (), 0, (1 << place.bits) - 1, place)


def load(address: Lane, size: int) -> Lane:
    """`size` bytes of memory from `address`, little-endian, as an unsigned number."""
    return Lane("load", (address,), 0, (1 << 8 * size) - 1, size)


def pick(index: Lane, items: Iterable[Lane | int], otherwise: Lane | int) -> Lane:
    """`items[index]`, or `otherwise` when the index is past the last item or negative: a lookup in a table."""
    args = (index, *map(lift, items), lift(otherwise))
    return Lane("pick", args, min(a.low for a in args[1:]), max(a.high for a in args[1:]))


def select(condition: Lane, yes: Lane | int, no: Lane | int) -> Lane:
    """`yes` where `condition` is 1, `no` where it is 0."""
    if condition.value is not None:
        return lift(yes) if condition.value else lift(no)
    return pick(condition, (no,), yes)


def minimum(a: Lane | int, b: Lane | int) -> Lane:
    """The smaller of two numbers."""
    x, y = lift(a), lift(b)
    return _node("minimum", (x, y), min(x.low, y.low), min(x.high, y.high))


def maximum(a: Lane | int, b: Lane | int) -> Lane:
    """The larger of two numbers."""
    x, y = lift(a), lift(b)
    return _node("maximum", (x, y), max(x.low, y.low), max(x.high, y.high))


def divide(a: Lane, b: Lane) -> Lane:
    """The quotient rounded toward zero; 0 where `b` is 0 (SDIV and UDIV: Arm ARM, C6.2)."""
    bound = max(abs(a.low), abs(a.high))
    return Lane("divide", (a, b), -bound if min(a.low, b.low) < 0 else 0, bound)


def walk(lanes: Iterable[Lane]) -> Iterator[Lane]:
    """Every node that the expressions reach, each once, operands after the node that uses them first."""
    seen: set[Lane] = set()
    pending = list(lanes)
    while pending:
        lane = pending.pop()
        if lane not in seen:
            seen.add(lane)
            yield lane
            pending.extend(lane.args)


@dataclass(frozen=True)
class Int:
    """An element type: two's complement or unsigned, `bits` wide."""

    bits: int
    signed: bool

    @property
    def low(self) -> int:
        """The lowest number of the type."""
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        """The highest number of the type."""
        return self.low + (1 << self.bits) - 1

    @property
    def wide(self) -> Int:
        """The type of twice the bits and the same sign."""
        return Int(2 * self.bits, self.signed)

    def __str__(self) -> str:
        return f"{'s' if self.signed else 'u'}{self.bits}"

    def holds(self, lane: Lane) -> bool:
        """Whether every number that `lane` can be is one of the type."""
        return self.low <= lane.low and lane.high <= self.high

    def field(self, lane: Lane, lsb: int) -> Lane:
        """The element whose lowest bit is bit `lsb` of `lane`."""
        if lane.value is not None:
            return constant(self.wrapped(lane.value >> lsb))
        return Lane("field", (lane,), self.low, self.high, (lsb, self))

    def wrapped(self, value: int) -> int:
        """The number that the low bits of `value` stand for in this type."""
        low_bits = value & (1 << self.bits) - 1
        return low_bits - (1 << self.bits) if low_bits > self.high else low_bits

    def wrap(self, value: Lane | int) -> Lane:
        """Keep the low bits."""
        lane = lift(value)
        return lane if self.holds(lane) else self.field(lane, 0)

    def saturate(self, value: Lane | int) -> Lane:
        """Clamp to the range of the type; a value that was outside sets FPSR.QC."""
        lane = lift(value)
        if self.holds(lane):
            return lane
        low, high = max(min(lane.low, self.high), self.low), min(max(lane.high, self.low), self.high)
        return Lane("saturate", (lane,), low, high, self)

    def lanes(self, lane: Lane, count: int, first: int = 0) -> list[Lane]:
        """`count` adjacent elements of a register or of loaded memory, from element `first` on."""
        return [self.field(lane, self.bits * (first + i)) for i in range(count)]


S8, S16, S32, S64 = (Int(bits, True) for bits in (8, 16, 32, 64))
U1, U8, U16, U32, U64 = (Int(bits, False) for bits in (1, 8, 16, 32, 64))
