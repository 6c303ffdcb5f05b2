"""The lane expression: an integer whose exact range is known, and the element types that alone narrow it.

A register, a loaded piece of memory and the flags are plain numbers here: a vector register is a 128-bit
number of which a lane is a field.  Arithmetic on lanes is exact, so every operator says how the range of its
result grows and nothing overflows silently.  Only an element type brings a value back into a lane, in words::

    S32.saturate(a + b)      SQADD: clamps, and sets FPSR.QC where it does
    S32.wrap(a + b)          ADD: keeps the low 32 bits

An instruction is a list of `Write`s of such expressions.  What it reads is not declared: it is the leaves of
the expressions.  That it can set QC is not declared either: it has `Saturate` nodes.

The nodes are a closed union, `Lane`, and so are the operators of a `Binary`.  Whoever evaluates expressions matches on
both and ends in `assert_never`: mypy names every evaluator that lacks a node, and none takes one for another.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, assert_never

WIDTHS = {
    "v": 128,
    "x": 64,
    "sp": 64,
    "pc": 64,
    "nzcv": 4,
    "fpsr": 32,
    "fpcr": 32,
    "monitor": 65,
    "tpidr": 64,
    "zr": 64,
}
"""Bits of one register of each register file.

`zr` is the zero register as a destination: what it gets is lost.  `monitor` is the local exclusive monitor (Arm ARM
B2.12): bit 64 says that it is open, the bits below are the address it is open for.  `tpidr` is the
thread pointer, TPIDR_EL0.
"""

LONGEST_SHIFT: Final = 1024
"""More than any instruction shifts by; a count that may be more has lost its range."""


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


Operator = Literal[
    "add", "subtract", "multiply", "divide", "shift_left", "shift_right", "and", "or", "xor",
    "minimum", "maximum", "less", "equal",
]  # fmt: skip
"""What a `Binary` computes of its two operands: of `less` and `equal` it is 1 or 0."""


def _add(a: Lane, b: Lane | int) -> Lane:
    b = lift(b)
    return _binary("add", a, b, a.low + b.low, a.high + b.high)


def _subtract(a: Lane, b: Lane | int) -> Lane:
    b = lift(b)
    return _binary("subtract", a, b, a.low - b.high, a.high - b.low)


def _multiply(a: Lane, b: Lane | int) -> Lane:
    b = lift(b)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _binary("multiply", a, b, min(corners), max(corners))


def _shift_left(a: Lane, count: Lane | int) -> Lane:
    count = _shift_count(count)
    corners = [x << n for x in (a.low, a.high) for n in (count.low, count.high)]
    return _binary("shift_left", a, count, min(corners), max(corners))


def _shift_right(a: Lane, count: Lane | int) -> Lane:
    """Shift right and round down."""
    count = _shift_count(count)
    corners = [x >> n for x in (a.low, a.high) for n in (count.low, count.high)]
    return _binary("shift_right", a, count, min(corners), max(corners))


def _shift_count(count: Lane | int) -> Lane:
    lane = lift(count)
    if lane.low < 0 or lane.high > LONGEST_SHIFT:
        raise ValueError(f"a shift count must stay in 0..{LONGEST_SHIFT}, this one ranges over {lane.low}..{lane.high}")
    return lane


def _and(a: Lane, b: Lane | int) -> Lane:
    b = lift(b)
    if min(a.low, b.low) >= 0:
        return _binary("and", a, b, 0, min(a.high, b.high))
    return _bitwise("and", a, b)


def _or(a: Lane, b: Lane | int) -> Lane:
    return _bitwise("or", a, lift(b))


def _xor(a: Lane, b: Lane | int) -> Lane:
    return _bitwise("xor", a, lift(b))


def _bitwise(operator: Operator, a: Lane, b: Lane) -> Lane:
    bits = max(a.magnitude_bits, b.magnitude_bits)
    low = 0 if min(a.low, b.low) >= 0 else -1 << bits
    return _binary(operator, a, b, low, (1 << bits) - 1)


def _less(a: Lane, b: Lane | int) -> Lane:
    return _binary("less", a, lift(b), 0, 1)


def _greater(a: Lane, b: Lane | int) -> Lane:
    return _binary("less", lift(b), a, 0, 1)


def _equal(a: Lane, b: Lane | int) -> Lane:
    """1 where both are the same number, else 0.  (`==` stays identity: nodes are used as keys.)"""
    return _binary("equal", a, lift(b), 0, 1)


def _negative(a: Lane) -> Lane:
    return constant(0) - a


def _complement(a: Lane) -> Lane:
    return constant(-1) - a


def _binary(operator: Operator, a: Lane, b: Lane, low: int, high: int) -> Lane:
    return constant(low) if low == high else Binary(operator, a, b, low, high)


class _Ranged(Protocol):
    """What has a range."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...


class _Node:
    """What nodes have in common: the operators, and identity for `==` and as a key.

    Nodes do not change.  That is left to the type checker (`Final`): a frozen dataclass is four times as slow to make.
    The operators are functions of lanes, since `self` in a method would be this class and not the union.
    """

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    __add__ = _add
    __sub__ = _subtract
    __mul__ = _multiply
    __lshift__ = _shift_left
    __rshift__ = _shift_right
    __and__ = _and
    __or__ = _or
    __xor__ = _xor
    __lt__ = _less
    __gt__ = _greater
    __neg__ = _negative
    __invert__ = _complement
    equals = _equal

    def __repr__(self) -> str:
        """Without the operands, which may be shared many times over: see `isa.text.expressions`."""
        own = [getattr(self, name) for name in self.__match_args__]
        shown = ("..." if isinstance(each, _Node) or type(each) is tuple else repr(each) for each in own)
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def magnitude_bits(self: _Ranged) -> int:
        """Bits that hold every value of the range, the sign bit not counted."""
        return max(k.bit_length() if k >= 0 else (~k).bit_length() for k in (self.low, self.high))

    @property
    def value(self: _Ranged) -> int | None:
        """The number that this node is if its range leaves no choice, else None."""
        return self.low if self.low == self.high else None


class Constant(_Node):
    """A number."""

    __slots__ = ("args", "high", "low")
    __match_args__ = ("low",)

    def __init__(self, value: int) -> None:
        self.args: Final = ()
        self.low: Final = value
        self.high: Final = value


class Read(_Node):
    """What a register holds, or an input of a claim, which has a range of its own."""

    __slots__ = ("args", "high", "low", "place")
    __match_args__ = ("place",)

    def __init__(self, place: Place, low: int, high: int) -> None:
        self.args: Final = ()
        self.low: Final = low
        self.high: Final = high
        self.place: Final = place


class Load(_Node):
    """`size` bytes of memory from `address`, little-endian, as an unsigned number."""

    __slots__ = ("address", "args", "high", "low", "size")
    __match_args__ = ("address", "size")

    def __init__(self, address: Lane, size: int) -> None:
        self.args: Final = (address,)
        self.low: Final = 0
        self.high: Final = (1 << 8 * size) - 1
        self.address: Final = address
        self.size: Final = size


class Field(_Node):
    """The bits of `operand` from number `lsb` on, as a number of the type `element`."""

    __slots__ = ("args", "element", "high", "low", "lsb", "operand")
    __match_args__ = ("operand", "lsb", "element")

    def __init__(self, operand: Lane, lsb: int, element: Int, low: int, high: int) -> None:
        self.args: Final = (operand,)
        self.low: Final = low
        self.high: Final = high
        self.operand: Final = operand
        self.lsb: Final = lsb
        self.element: Final = element


class Saturate(_Node):
    """`operand` clamped to the range of `element`; an operand that is outside sets FPSR.QC."""

    __slots__ = ("args", "element", "high", "low", "operand")
    __match_args__ = ("operand", "element")

    def __init__(self, operand: Lane, element: Int, low: int, high: int) -> None:
        self.args: Final = (operand,)
        self.low: Final = low
        self.high: Final = high
        self.operand: Final = operand
        self.element: Final = element


class Pick(_Node):
    """`items[index]`, or `otherwise` when the index is past the last item or negative."""

    __slots__ = ("args", "high", "index", "items", "low", "otherwise")
    __match_args__ = ("index", "items", "otherwise")

    def __init__(self, index: Lane, items: tuple[Lane, ...], otherwise: Lane, low: int, high: int) -> None:
        self.args: Final = (index, *items, otherwise)
        self.low: Final = low
        self.high: Final = high
        self.index: Final = index
        self.items: Final = items
        self.otherwise: Final = otherwise


class Binary(_Node):
    """The arithmetic of two operands: one class, since they are handled alike but for the operator."""

    __slots__ = ("a", "args", "b", "high", "low", "operator")
    __match_args__ = ("operator", "a", "b")

    def __init__(self, operator: Operator, a: Lane, b: Lane, low: int, high: int) -> None:
        self.args: Final = (a, b)
        self.low: Final = low
        self.high: Final = high
        self.operator: Final = operator
        self.a: Final = a
        self.b: Final = b


class Floating(_Node):
    """An operation on the bits of floating-point numbers, rounded once by the rules of `fpcr`."""

    __slots__ = ("args", "fpcr", "high", "low", "operands", "operation")
    __match_args__ = ("operation", "operands", "fpcr")

    def __init__(self, operation: FloatOperation, operands: tuple[Lane, ...], fpcr: Lane, low: int, high: int) -> None:
        self.args: Final = (*operands, fpcr)
        self.low: Final = low
        self.high: Final = high
        self.operation: Final = operation
        self.operands: Final = operands
        self.fpcr: Final = fpcr


Lane: TypeAlias = Constant | Read | Load | Field | Saturate | Pick | Binary | Floating
"""A node of an expression: an exact integer in `low`..`high` inclusive; `args` are its operands, in order."""


def head(lane: Lane) -> tuple[object, ...]:
    """What a node is besides operands and range, its name first: nodes of one head do the same with equal operands."""
    match lane:
        case Field():
            return "field", lane.lsb, lane.element
        case Binary():
            return (lane.operator,)
        case Constant():
            return "constant", lane.low
        case Read():
            return "read", lane.place
        case Pick():
            return ("pick",)
        case Saturate():
            return "saturate", lane.element
        case Load():
            return "load", lane.size
        case Floating():
            return "floating", lane.operation
        case _:
            assert_never(lane)


def rebuilt(lane: Lane, args: Sequence[Lane]) -> Lane:
    """The same node over other operands.  Its range stays what it was."""
    match lane:
        case Constant() | Read():
            return lane
        case Load(_, size):
            (address,) = args
            return Load(address, size)
        case Field(_, lsb, element):
            (operand,) = args
            return Field(operand, lsb, element, lane.low, lane.high)
        case Saturate(_, element):
            (operand,) = args
            return Saturate(operand, element, lane.low, lane.high)
        case Pick():
            index, *items, otherwise = args
            return Pick(index, tuple(items), otherwise, lane.low, lane.high)
        case Binary(operator):
            a, b = args
            return Binary(operator, a, b, lane.low, lane.high)
        case Floating(operation):
            *operands, fpcr = args
            return Floating(operation, tuple(operands), fpcr, lane.low, lane.high)
        case _:
            assert_never(lane)


def constant(value: int) -> Lane:
    """A number as an expression."""
    return Constant(value)


def lift(value: Lane | int) -> Lane:
    """An operand of an operator: a lane as it is, an int as a constant."""
    return value if isinstance(value, _Node) else Constant(value)


def read(place: Place) -> Lane:
    """The whole register, as an unsigned number."""
    return Read(place, 0, (1 << place.bits) - 1)


def load(address: Lane, size: int) -> Lane:
    """`size` bytes of memory from `address`, little-endian, as an unsigned number."""
    return Load(address, size)


def pick(index: Lane, items: Iterable[Lane | int], otherwise: Lane | int) -> Lane:
    """`items[index]`, or `otherwise` when the index is past the last item or negative: a lookup in a table."""
    among, rest = tuple(map(lift, items)), lift(otherwise)
    low, high = min(lane.low for lane in (*among, rest)), max(lane.high for lane in (*among, rest))
    return Pick(index, among, rest, low, high)


def select(condition: Lane, yes: Lane | int, no: Lane | int) -> Lane:
    """`yes` where `condition` is 1, `no` where it is 0."""
    if condition.value is not None:
        return lift(yes) if condition.value else lift(no)
    return pick(condition, (no,), yes)


def minimum(a: Lane | int, b: Lane | int) -> Lane:
    """The smaller of two numbers."""
    x, y = lift(a), lift(b)
    return _binary("minimum", x, y, min(x.low, y.low), min(x.high, y.high))


def maximum(a: Lane | int, b: Lane | int) -> Lane:
    """The larger of two numbers."""
    x, y = lift(a), lift(b)
    return _binary("maximum", x, y, max(x.low, y.low), max(x.high, y.high))


def divide(a: Lane, b: Lane) -> Lane:
    """The quotient rounded toward zero; 0 where `b` is 0 (SDIV and UDIV: Arm ARM, C6.2)."""
    bound = max(abs(a.low), abs(a.high))
    return Binary("divide", a, b, -bound if min(a.low, b.low) < 0 else 0, bound)


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


def operands_first(lanes: Iterable[Lane], known: Container[Lane] = ()) -> Iterator[Lane]:
    """The nodes of expressions, each after its operands, each once; what is known, and below it, is left out.

    A caller may add what it has got to the known while it goes on.
    """
    seen: set[Lane] = set()
    pending = [(lane, iter(lane.args)) for lane in lanes if lane not in known]
    while pending:
        node, rest = pending[-1]
        below = next((arg for arg in rest if arg not in seen and arg not in known), None)
        if below is not None:
            pending.append((below, iter(below.args)))
        else:
            pending.pop()
            if node not in seen:
                seen.add(node)
                yield node


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
        return Field(lane, lsb, self, self.low, self.high)

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
        return Saturate(lane, self, low, high)

    def lanes(self, lane: Lane, count: int, first: int = 0) -> list[Lane]:
        """`count` adjacent elements of a register or of loaded memory, from element `first` on."""
        return [self.field(lane, self.bits * (first + i)) for i in range(count)]


S8, S16, S32, S64 = (Int(bits, True) for bits in (8, 16, 32, 64))
U1, U8, U16, U32, U64 = (Int(bits, False) for bits in (1, 8, 16, 32, 64))


FPCR = Place("fpcr")

Operation = Literal[
    "add", "subtract", "multiply", "divide", "square_root", "multiply_add", "multiply_extended",
    "maximum", "minimum", "maximum_number", "minimum_number",
    "reciprocal_estimate", "reciprocal_root_estimate", "reciprocal_exponent", "reciprocal_step", "reciprocal_root_step",
    "from_integer", "to_integer", "to_integer_modulo", "to_integral", "to_integral_exact", "to_integral_bounded",
    "convert", "compare", "compare_signalling", "equal", "greater", "greater_or_equal",
]  # fmt: skip

Rounding = Literal["fpcr", "even", "up", "down", "zero", "away", "odd", "odd_or_infinity"]
"""How a result is rounded: by the mode in FPCR, or always to nearest even, up, down, toward zero, to nearest with
ties away from zero, to odd (Arm ARM, shared pseudocode: FPRounding), to odd but to infinity where out of range
(BFRound)."""


@dataclass(frozen=True)
class Float:
    """An IEEE 754 binary format, or bfloat16."""

    bits: int
    fraction_bits: int

    @property
    def exponent_bits(self) -> int:
        """Bits of the exponent field."""
        return self.bits - 1 - self.fraction_bits

    @property
    def highest_exponent(self) -> int:
        """The unbiased exponent of the largest numbers, which is also the bias."""
        return (1 << self.exponent_bits - 1) - 1

    @property
    def lowest_exponent(self) -> int:
        """The unbiased exponent of the smallest normal number."""
        return 1 - self.highest_exponent

    @property
    def sign_bit(self) -> int:
        """The number of the sign bit alone: minus zero."""
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        """The bits of plus infinity."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def quiet_bit(self) -> int:
        """The highest fraction bit, which tells a quiet NaN from a signalling one."""
        return 1 << self.fraction_bits - 1

    def negated(self, lane: Lane) -> Lane:
        """The lane with its sign bit flipped, whatever the number is (Arm ARM: FPNeg)."""
        return lane ^ self.sign_bit

    def magnitude(self, lane: Lane) -> Lane:
        """The lane with its sign bit cleared, whatever the number is (Arm ARM: FPAbs)."""
        return lane & (self.sign_bit - 1)

    def __str__(self) -> str:
        return "bf16" if self.fraction_bits == 7 else f"f{self.bits}"


def _float(kind: Float | Int) -> Float:
    if isinstance(kind, Int):
        raise TypeError(f"{kind} is no floating-point format")
    return kind


@dataclass(frozen=True)
class FloatOperation:
    """What a floating-point node computes.

    `of` is the format of its operands and `to` that of its result; where one side is an integer, its type.  The
    addend of a `multiply_add` has the format `to`.  `fraction_bits` scales fixed-point conversions; `integer` is the
    type whose range bounds `to_integral_bounded`.  A `silent` operation raises no exceptions.
    """

    name: Operation
    of: Float | Int
    to: Float | Int
    rounding: Rounding = "fpcr"
    fraction_bits: int = 0
    integer: Int | None = None
    silent: bool = False

    @property
    def operand_format(self) -> Float:
        """`of`, of an operation on floating-point numbers."""
        return _float(self.of)

    @property
    def result_format(self) -> Float:
        """`to`, of an operation whose result is a floating-point number."""
        return _float(self.to)

    @property
    def result_integer(self) -> Int:
        """`to`, of an operation whose result is an integer."""
        if isinstance(self.to, Float):
            raise TypeError(f"the result of {self} is no integer")
        return self.to

    def __call__(self, *operands: Lane | int, fpcr: Lane | int | None = None) -> Lane:
        """The node with these operands; `fpcr` replaces the register where an instruction does not heed it."""
        control = read(FPCR) if fpcr is None else lift(fpcr)
        low, high = (self.to.low, self.to.high) if isinstance(self.to, Int) else (0, 2 * self.to.sign_bit - 1)
        return Floating(self, tuple(map(lift, operands)), control, low, high)

    def __str__(self) -> str:
        rounding = "" if self.rounding == "fpcr" else f" to {self.rounding}"
        return f"{self.name} {self.of}->{self.to}{rounding}"
