"""Lane expressions as text, in a small language that can be read back.

    saturate s32 ((s32 v1.s[2] * s32 v2.s[1] + 2^30) >> 31)

`v1.s[2]` and `w1` are elements, unsigned; `s32 e` and `u32 e` are the low 32 bits of `e` as a signed or unsigned number
(`wrap` is said where `e` is computed); `e<7:4>` are bits of `e`; `mem32[a]` is memory; N, Z, C, V are flags, 0 or 1;
`2^30` is a power; AND, OR, EOR, NOT work on two's complement of any length; `sum k=0..3 (e)` adds `e` for each k;
`table(a, b)[i] else c` is the item of that number; `quotient(a, b)` is rounded toward zero.  `add f32 (a, b)` is an
operation of `isa.floating` on the bits of numbers, rounded once.  What is used more than once has a name, `t1`.

Numbers that may follow the lane stand in holes, so that `isa.text.holes` finds one text for all lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeGuard, assert_never

from isa.lane import (
    FPCR,
    Binary,
    Constant,
    Field,
    Floating,
    FloatOperation,
    Int,
    Lane,
    Load,
    Pick,
    Place,
    Read,
    Saturate,
)
from isa.operands import ELEMENT_LETTERS
from isa.text.holes import collected, index, lane_runs, offset

_IF, _COMPARE, _BITS, _SUM, _PRODUCT, _PREFIX, _ATOM = range(7)
"""How tightly a text binds; what binds less than its place asks for stands in parentheses."""
FLAG_NAMES = "VCZN"


class Definition(NamedTuple):
    """A name for a text: `t1 = v1.s[0] < 2^16`."""

    name: str
    text: str


class Expression(NamedTuple):
    """The text of an expression, and the names that it uses, each after those that it uses itself."""

    text: str
    definitions: tuple[Definition, ...]


def expression(lane: Lane) -> Expression:
    """The text of `lane`, with holes (see `filled`)."""
    writer = _Writer(lane)
    return Expression(writer.text(lane, _IF), tuple(writer.definitions))


def number(value: int) -> str:
    """`17`, `2^30`, `-2^31`, `0xffff`."""
    sign, size = "-" if value < 0 else "", abs(value)
    if size < 1000:
        return f"{sign}{size}"
    return f"{sign}2^{size.bit_length() - 1}" if size & size - 1 == 0 else f"{sign}{size:#x}"


def place_name(place: Place, bits: int = 64) -> str:
    """The name of a register, or of its lower half: `x0`, `w0`, `xzr`, `wsp`, `v0`, `nzcv`."""
    short = bits == 32
    names = {
        "x": f"{'w' if short else 'x'}{place.index}",
        "zr": "wzr" if short else "xzr",
        "sp": "wsp" if short else "sp",
    }
    return names.get(place.file, str(place))


class _Writer:
    """The text of one expression; `definitions` are the names that it has introduced."""

    def __init__(self, root: Lane) -> None:
        self.definitions: list[Definition] = []
        self._names: dict[Lane, str] = {}
        self._uses = _uses(root)

    def text(self, lane: Lane, least: int) -> str:
        """The text of `lane`, in parentheses where it binds less than `least`."""
        text, binding = self._named(lane)
        return text if binding >= least else f"({text})"

    def _named(self, lane: Lane) -> tuple[str, int]:
        if lane in self._names:
            return self._names[lane], _ATOM
        text, binding = self._compute(lane)
        if not self._shared(lane):
            return text, binding
        self._names[lane] = name = f"t{len(self._names) + 1}"
        self.definitions.append(Definition(name, text))
        return name, _ATOM

    def _shared(self, lane: Lane) -> bool:
        return self._uses[lane] > 1 and bool(_operands(lane))

    def _compute(self, lane: Lane) -> tuple[str, int]:
        if (magnitude := _magnitude(lane)) is not None:
            return f"abs({self.text(magnitude, _IF)})", _ATOM
        match lane:
            case Constant(value):
                return number(value), _ATOM if value >= 0 else _PRODUCT
            case Read(place):
                return place_name(place), _ATOM
            case Load(address, size):
                return memory(address, size, self._address), _ATOM
            case Field():
                return self._field(lane)
            case Saturate(operand, element):
                return f"saturate {element} ({self.text(operand, _IF)})", _PREFIX
            case Pick():
                return self._pick(lane)
            case Binary():
                return self._binary(lane)
            case Floating():
                return self._floating(lane)
            case _:
                assert_never(lane)

    def _binary(self, lane: Binary) -> tuple[str, int]:
        match lane.operator:
            case "add":
                return self._sum(lane, 0)
            case "subtract":
                return self._subtract(lane)
            case "multiply":
                return f"{self.text(lane.a, _PRODUCT)} * {self.text(lane.b, _PREFIX)}", _PRODUCT
            case "divide":
                return f"quotient({self.text(lane.a, _IF)}, {self.text(lane.b, _IF)})", _ATOM
            case "shift_left":
                return self._shift(lane, "<<")
            case "shift_right":
                return self._shift(lane, ">>")
            case "and":
                return self._chain(lane, "and", " AND ")
            case "or":
                return self._chain(lane, "or", " OR ")
            case "xor":
                return self._chain(lane, "eor", " EOR ")
            case "minimum":
                return self._chain(lane, "min", ", ")
            case "maximum":
                return self._chain(lane, "max", ", ")
            case "less":
                a, b, sign = (lane.b, lane.a, ">") if isinstance(lane.a, Constant) else (lane.a, lane.b, "<")
                return f"{self.text(a, _SUM)} {sign} {self.text(b, _SUM)}", _COMPARE
            case "equal":
                return self._equal(lane)
            case _:
                assert_never(lane.operator)

    def _address(self, lane: Lane) -> str:
        return self.text(lane, _SUM)

    def _field(self, lane: Field) -> tuple[str, int]:
        operand, lsb, element = lane.operand, lane.lsb, lane.element
        if (stored := self._stored(operand, lsb, element)) is not None:
            return (f"{element} {stored}", _PREFIX) if element.signed else (stored, _ATOM)
        unsigned = Int(element.bits, False)
        if (
            lsb == 0
            and isinstance(operand, Field)
            and isinstance(operand.operand, Read)
            and operand.element == unsigned
        ):
            return f"{element} {self.text(operand, _ATOM)}", _PREFIX
        if lsb or element.bits == 1:
            bits = index(lsb) if element.bits == 1 else f"{index(lsb + element.bits - 1)}:{index(lsb)}"
            text = f"{self.text(operand, _ATOM)}<{bits}>"
            return (f"{element} {text}", _PREFIX) if element.signed else (text, _ATOM)
        return f"wrap {element} ({self._wrapped(operand, element.bits)})", _PREFIX

    def _stored(self, source: Lane, lsb: int, element: Int) -> str | None:
        """The name of an element of a register, of a flag, or of a part of loaded memory."""
        if isinstance(source, Load) and lsb % 8 == element.bits % 8 == 0:
            return memory(source.address, element.bits // 8, self._address, lsb // 8)
        if not isinstance(source, Read):
            return None
        place = source.place
        if place.file == "nzcv" and element.bits == 1:
            return FLAG_NAMES[lsb]
        if lsb == 0 and element.bits in (32 if place.file != "v" else 128, place.bits):
            return place_name(place, element.bits)
        if place.file == "v" and element.bits in ELEMENT_LETTERS and lsb % element.bits == 0:
            return f"{place}.{ELEMENT_LETTERS[element.bits]}[{index(lsb // element.bits)}]"
        return None

    def _wrapped(self, lane: Lane, bits: int) -> str:
        """What stands in a wrap to `bits`: wraps to as many bits or more make no difference in it or within a sum."""
        if _is_wrap(lane, bits) and not self._shared(lane):
            return self._wrapped(lane.operand, bits)
        if _is_sum(lane) and lane not in self._names and not self._shared(lane):
            return self._sum(lane, bits)[0]
        return self.text(lane, _IF)

    def _subtract(self, lane: Binary) -> tuple[str, int]:
        a, b = lane.a, lane.b
        if a.value == 0 and isinstance(a, Constant):
            return f"-{self.text(b, _PREFIX)}", _PRODUCT
        if a.value == -1 and isinstance(a, Constant):
            return f"NOT {self.text(b, _PREFIX)}", _PRODUCT
        if b.value == 0:
            return self._named(a)
        return f"{self.text(a, _SUM)} - {self.text(b, _PRODUCT)}", _SUM

    def _shift(self, lane: Binary, sign: str) -> tuple[str, int]:
        by = index(lane.b.low) if isinstance(lane.b, Constant) else self.text(lane.b, _PREFIX)
        return f"{self.text(lane.a, _PREFIX)} {sign} {by}", _BITS

    def _equal(self, lane: Binary) -> tuple[str, int]:
        a, b = lane.a, lane.b
        if isinstance(a, Binary) and a.operator in ("less", "equal") and b.value == 0 and not self._shared(a):
            opposite = ">=" if a.operator == "less" else "!="
            return f"{self.text(a.a, _SUM)} {opposite} {self.text(a.b, _SUM)}", _COMPARE
        return f"{self.text(a, _SUM)} == {self.text(b, _SUM)}", _COMPARE

    def _pick(self, lane: Pick) -> tuple[str, int]:
        at, items, otherwise = lane.index, lane.items, lane.otherwise
        if len(items) == 1 and at.low >= 0 and at.high <= 1:
            yes, no = self.text(otherwise, _COMPARE), self.text(items[0], _COMPARE)
            return f"if {self.text(at, _COMPARE)} then {yes} else {no}", _IF
        listed = ", ".join(lane_runs([self.text(item, _IF) for item in items]))
        return f"table({listed})[{self.text(at, _IF)}] else {self.text(otherwise, _COMPARE)}", _IF

    def _floating(self, lane: Floating) -> tuple[str, int]:
        """`add f32 (a, b)`; FPCR is named only where an instruction does not heed the register."""
        texts = [self.text(operand, _IF) for operand in lane.operands]
        if not isinstance(lane.fpcr, Read) or lane.fpcr.place != FPCR:
            texts.append(f"fpcr = {self.text(lane.fpcr, _IF)}")
        return f"{operation_name(lane.operation)} ({', '.join(texts)})", _PREFIX

    def _sum(self, lane: Binary, wrapped_bits: int) -> tuple[str, int]:
        return self._chain(lane, "sum", " + ", wrapped_bits)

    def _chain(self, lane: Binary, name: str, sign: str, wrapped_bits: int = 0) -> tuple[str, int]:
        """The operands of nested operations of one kind in a row; alike ones together, as `sum k=0..3 (...)`."""
        is_sum = _is_sum(lane)
        neutral = 0 if lane.operator in ("add", "or", "xor") else None
        flat = [
            arg.a  # what is shifted left by 0
            if is_sum and isinstance(arg, Binary) and arg.operator == "shift_left" and arg.b.value == 0
            else arg
            for arg in self._flat(lane, wrapped_bits)
        ]
        lanes = [arg for arg in flat if not isinstance(arg, Constant) or arg.low != neutral]
        in_call = sign == ", "
        least = _IF if in_call else _PRODUCT if is_sum else _PREFIX
        texts = collected(name, [self.text(arg, least) for arg in lanes], [self.text(arg, _IF) for arg in lanes])
        if len(texts) == 1:
            return texts[0], _PREFIX
        if in_call:
            return f"{name}({sign.join(texts)})", _ATOM
        return sign.join(texts).replace(" + -", " - "), _SUM if is_sum else _BITS

    def _flat(self, lane: Binary, wrapped_bits: int) -> list[Lane]:
        """The operands of nested operations of one kind, looking through wraps to at least `wrapped_bits`."""
        flat: list[Lane] = []
        for arg in lane.args:
            inner = _unwrapped(arg, wrapped_bits)
            alone = not self._shared(arg) and not self._shared(inner) and _magnitude(inner) is None
            if isinstance(inner, Binary) and inner.operator == lane.operator and alone:
                flat += self._flat(inner, wrapped_bits)
            else:
                flat.append(arg)
        return flat


def operation_name(operation: FloatOperation) -> str:
    """`add f32`, `to_integer f32->s32 to zero`: everything that a floating-point operation depends on."""
    formats = str(operation.of) if operation.of == operation.to else f"{operation.of}->{operation.to}"
    words = [operation.name, formats]
    words += [f"to {operation.rounding}"] if operation.rounding != "fpcr" else []
    words += [f"fraction {operation.fraction_bits}"] if operation.fraction_bits else []
    words += [f"within {operation.integer}"] if operation.integer else []
    words += ["silent"] if operation.silent else []
    return " ".join(words)


def memory(address: Lane, size: int, text: Callable[[Lane], str], distance: int = 0) -> str:
    """`mem32[x1 + 16]`: `size` bytes at `address` and so many further on; addresses are modulo 2^64."""
    address = _unwrapped(address, 64)
    if isinstance(address, Constant):
        return f"mem{8 * size}[{number((address.low + distance) % 2**64)}]"
    if _is_sum(address) and isinstance(address.b, Constant):
        distance += address.b.low
        address = address.a
    return f"mem{8 * size}[{text(_unwrapped(address, 64))}{offset(distance)}]"


def _unwrapped(lane: Lane, bits: int) -> Lane:
    """The sum in a wrap to at least `bits` bits; any other node as it is.  No wrap is dropped for 0 bits."""
    return lane.operand if bits and _is_wrap(lane, bits) and _is_sum(lane.operand) else lane


def _is_wrap(lane: Lane, bits: int) -> TypeGuard[Field]:
    """Whether `lane` keeps the lowest bits, at least so many, of something computed."""
    if not isinstance(lane, Field) or isinstance(lane.operand, (Read, Load)):
        return False
    return lane.lsb == 0 and lane.element.bits >= bits


def _is_sum(lane: Lane) -> TypeGuard[Binary]:
    return isinstance(lane, Binary) and lane.operator == "add"


def _magnitude(lane: Lane) -> Lane | None:
    """The `a` of max(a, 0 - a)."""
    match lane:
        case Binary("maximum", a, Binary("subtract", zero, same)) if zero.value == 0 and same is a:
            return a
    return None


def _operands(lane: Lane) -> tuple[Lane, ...]:
    """The operands that its text names; none for what is simple enough to be repeated."""
    if (magnitude := _magnitude(lane)) is not None:
        return (magnitude,)
    is_element = isinstance(lane, Field) and isinstance(lane.operand, (Read, Load))
    return lane.args[0].args if is_element else lane.args


def _uses(root: Lane) -> Counter[Lane]:
    """How often the text of `root` names each node."""
    uses: Counter[Lane] = Counter()
    pending = [root]
    while pending:
        lane = pending.pop()
        uses[lane] += 1
        if uses[lane] == 1:
            pending.extend(_operands(lane))
    return uses
