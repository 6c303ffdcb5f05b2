"""Lane expressions as text, in a small language that can be read back.

    saturate s32 ((s32 v1.s[2] * s32 v2.s[1] + 2^30) >> 31)

`v1.s[2]` and `w1` are elements, unsigned; `s32 e` and `u32 e` are the low 32 bits of `e` as a signed or unsigned number
(`wrap` is said where `e` is computed); `e<7:4>` are bits of `e`; `mem32[a]` is memory; N, Z, C, V are flags, 0 or 1;
`2^30` is a power; AND, OR, EOR, NOT work on two's complement of any length; `sum k=0..3 (e)` adds `e` for each k;
`table(a, b)[i] else c` is the item of that number; `quotient(a, b)` is rounded toward zero.  `add f32 (a, b)` is an
operation of `isa.floating` on the bits of numbers, rounded once.  What is used more than once has a name, `t1`.

Numbers that may follow the lane stand in holes, so that `isa.holes` finds one text for all lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, cast

from isa.floating import FPCR, FloatOperation
from isa.holes import collected, index, lane_runs, offset
from isa.lane import Int, Lane, Place
from isa.operands import ELEMENT_LETTERS

_IF, _COMPARE, _BITS, _SUM, _PRODUCT, _PREFIX, _ATOM = range(7)
"""How tightly a text binds; what binds less than its place asks for stands in parentheses."""
_FLAG_NAMES = "VCZN"
_CHAINS = {"add": ("sum", " + "), "or": ("or", " OR "), "xor": ("eor", " EOR "), "and": ("and", " AND "),
           "minimum": ("min", ", "), "maximum": ("max", ", ")}  # fmt: skip


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
        if lane.op in _CHAINS:
            return self._chain(lane, 0)
        return _RULES[lane.op](self, lane)

    def _constant(self, lane: Lane) -> tuple[str, int]:
        return number(lane.low), _ATOM if lane.low >= 0 else _PRODUCT

    def _read(self, lane: Lane) -> tuple[str, int]:
        return place_name(cast(Place, lane.detail)), _ATOM

    def _load(self, lane: Lane) -> tuple[str, int]:
        return memory(lane.args[0], cast(int, lane.detail), self._address), _ATOM

    def _address(self, lane: Lane) -> str:
        return self.text(lane, _SUM)

    def _field(self, lane: Lane) -> tuple[str, int]:
        lsb, element = cast(tuple[int, Int], lane.detail)
        if (stored := self._stored(lane.args[0], lsb, element)) is not None:
            return (f"{element} {stored}", _PREFIX) if element.signed else (stored, _ATOM)
        if lsb == 0 and _is_element(lane.args[0], element.bits):
            return f"{element} {self.text(lane.args[0], _ATOM)}", _PREFIX
        if lsb or element.bits == 1:
            bits = index(lsb) if element.bits == 1 else f"{index(lsb + element.bits - 1)}:{index(lsb)}"
            text = f"{self.text(lane.args[0], _ATOM)}<{bits}>"
            return (f"{element} {text}", _PREFIX) if element.signed else (text, _ATOM)
        return f"wrap {element} ({self._wrapped(lane.args[0], element.bits)})", _PREFIX

    def _stored(self, source: Lane, lsb: int, element: Int) -> str | None:
        """The name of an element of a register, of a flag, or of a part of loaded memory."""
        if source.op == "load" and lsb % 8 == element.bits % 8 == 0:
            return memory(source.args[0], element.bits // 8, self._address, lsb // 8)
        if source.op != "read":
            return None
        place = cast(Place, source.detail)
        if place.file == "nzcv" and element.bits == 1:
            return _FLAG_NAMES[lsb]
        if lsb == 0 and element.bits in (32 if place.file != "v" else 128, place.bits):
            return place_name(place, element.bits)
        if place.file == "v" and element.bits in ELEMENT_LETTERS and lsb % element.bits == 0:
            return f"{place}.{ELEMENT_LETTERS[element.bits]}[{index(lsb // element.bits)}]"
        return None

    def _wrapped(self, lane: Lane, bits: int) -> str:
        """What stands in a wrap to `bits`: wraps to as many bits or more make no difference in it or within a sum."""
        if _is_wrap(lane, bits) and not self._shared(lane):
            return self._wrapped(lane.args[0], bits)
        if lane.op == "add" and lane not in self._names and not self._shared(lane):
            return self._chain(lane, bits)[0]
        return self.text(lane, _IF)

    def _saturate(self, lane: Lane) -> tuple[str, int]:
        return f"saturate {lane.detail} ({self.text(lane.args[0], _IF)})", _PREFIX

    def _subtract(self, lane: Lane) -> tuple[str, int]:
        a, b = lane.args
        if a.value == 0 and a.op == "constant":
            return f"-{self.text(b, _PREFIX)}", _PRODUCT
        if a.value == -1 and a.op == "constant":
            return f"NOT {self.text(b, _PREFIX)}", _PRODUCT
        if b.value == 0:
            return self._named(a)
        return f"{self.text(a, _SUM)} - {self.text(b, _PRODUCT)}", _SUM

    def _multiply(self, lane: Lane) -> tuple[str, int]:
        a, b = lane.args
        return f"{self.text(a, _PRODUCT)} * {self.text(b, _PREFIX)}", _PRODUCT

    def _divide(self, lane: Lane) -> tuple[str, int]:
        return f"quotient({', '.join(self.text(arg, _IF) for arg in lane.args)})", _ATOM

    def _shift(self, lane: Lane) -> tuple[str, int]:
        a, count = lane.args
        by = index(count.low) if count.op == "constant" else self.text(count, _PREFIX)
        return f"{self.text(a, _PREFIX)} {'<<' if lane.op == 'shift_left' else '>>'} {by}", _BITS

    def _less(self, lane: Lane) -> tuple[str, int]:
        a, b = lane.args
        if a.op == "constant":
            return f"{self.text(b, _SUM)} > {self.text(a, _SUM)}", _COMPARE
        return f"{self.text(a, _SUM)} < {self.text(b, _SUM)}", _COMPARE

    def _equal(self, lane: Lane) -> tuple[str, int]:
        a, b = lane.args
        opposite = {"less": ">=", "equal": "!="}.get(a.op)
        if opposite and b.value == 0 and not self._shared(a):
            return f"{self.text(a.args[0], _SUM)} {opposite} {self.text(a.args[1], _SUM)}", _COMPARE
        return f"{self.text(a, _SUM)} == {self.text(b, _SUM)}", _COMPARE

    def _pick(self, lane: Lane) -> tuple[str, int]:
        at, *items, otherwise = lane.args
        if len(items) == 1 and at.low >= 0 and at.high <= 1:
            yes, no = self.text(otherwise, _COMPARE), self.text(items[0], _COMPARE)
            return f"if {self.text(at, _COMPARE)} then {yes} else {no}", _IF
        listed = ", ".join(lane_runs([self.text(item, _IF) for item in items]))
        return f"table({listed})[{self.text(at, _IF)}] else {self.text(otherwise, _COMPARE)}", _IF

    def _floating(self, lane: Lane) -> tuple[str, int]:
        """`add f32 (a, b)`; FPCR is named only where an instruction does not heed the register."""
        *operands, control = lane.args
        texts = [self.text(operand, _IF) for operand in operands]
        if control.op != "read" or control.detail != FPCR:
            texts.append(f"fpcr = {self.text(control, _IF)}")
        return f"{operation_name(cast(FloatOperation, lane.detail))} ({', '.join(texts)})", _PREFIX

    def _chain(self, lane: Lane, wrapped_bits: int) -> tuple[str, int]:
        """The operands of nested operations of one kind in a row; alike ones together, as `sum k=0..3 (...)`."""
        name, sign = _CHAINS[lane.op]
        neutral = 0 if lane.op in ("add", "or", "xor") else None
        flat = [_unshifted(arg) if lane.op == "add" else arg for arg in self._flat(lane, lane.op, wrapped_bits)]
        lanes = [arg for arg in flat if arg.op != "constant" or arg.low != neutral]
        in_call = sign == ", "
        least = _IF if in_call else _PRODUCT if lane.op == "add" else _PREFIX
        texts = collected(name, [self.text(arg, least) for arg in lanes], [self.text(arg, _IF) for arg in lanes])
        if len(texts) == 1:
            return texts[0], _PREFIX
        if in_call:
            return f"{name}({sign.join(texts)})", _ATOM
        return sign.join(texts).replace(" + -", " - "), _SUM if lane.op == "add" else _BITS

    def _flat(self, lane: Lane, op: str, wrapped_bits: int) -> list[Lane]:
        """The operands of nested operations `op`, looking through wraps to at least `wrapped_bits`."""
        flat: list[Lane] = []
        for arg in lane.args:
            inner = _unwrapped(arg, wrapped_bits)
            nested = inner.op == op and _magnitude(inner) is None and not self._shared(arg) and not self._shared(inner)
            flat += self._flat(inner, op, wrapped_bits) if nested else [arg]
        return flat


_RULES: dict[str, Callable[[_Writer, Lane], tuple[str, int]]] = {
    "constant": _Writer._constant, "read": _Writer._read, "load": _Writer._load, "field": _Writer._field,
    "saturate": _Writer._saturate, "subtract": _Writer._subtract, "multiply": _Writer._multiply,
    "divide": _Writer._divide, "shift_left": _Writer._shift, "shift_right": _Writer._shift,
    "less": _Writer._less, "equal": _Writer._equal, "pick": _Writer._pick, "floating": _Writer._floating,
}  # fmt: skip


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
    if address.op == "constant":
        return f"mem{8 * size}[{number((address.low + distance) % 2**64)}]"
    if address.op == "add" and address.args[1].op == "constant":
        address, distance = address.args[0], distance + address.args[1].low
    return f"mem{8 * size}[{text(_unwrapped(address, 64))}{offset(distance)}]"


def _unwrapped(lane: Lane, bits: int) -> Lane:
    """The sum in a wrap to at least `bits` bits; any other node as it is.  No wrap is dropped for 0 bits."""
    return lane.args[0] if bits and _is_wrap(lane, bits) and lane.args[0].op == "add" else lane


def _is_wrap(lane: Lane, bits: int) -> bool:
    """Whether `lane` keeps the lowest bits, at least so many, of something computed."""
    if lane.op != "field" or lane.args[0].op in ("read", "load"):
        return False
    lsb, element = cast(tuple[int, Int], lane.detail)
    return lsb == 0 and element.bits >= bits


def _unshifted(lane: Lane) -> Lane:
    """What is shifted left by 0; any other node as it is."""
    return lane.args[0] if lane.op == "shift_left" and lane.args[1].value == 0 else lane


def _is_element(lane: Lane, bits: int) -> bool:
    """Whether the text of `lane` is the name of an unsigned element of so many bits."""
    if lane.op != "field" or lane.args[0].op != "read":
        return False
    return cast(tuple[int, Int], lane.detail)[1] == Int(bits, False)


def _magnitude(lane: Lane) -> Lane | None:
    """The `a` of max(a, 0 - a)."""
    if lane.op != "maximum":
        return None
    a, b = lane.args
    return a if b.op == "subtract" and b.args[0].value == 0 and b.args[1] is a else None


def _operands(lane: Lane) -> tuple[Lane, ...]:
    """The operands that its text names; none for what is simple enough to be repeated."""
    if (magnitude := _magnitude(lane)) is not None:
        return (magnitude,)
    is_element = lane.op == "field" and lane.args[0].op in ("read", "load")
    return lane.args[0].args if is_element and lane.args[0].op == "load" else () if is_element else lane.args


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
