"""The operands of an instruction, read from its text, as things that have lanes and can be written.

Every operand names its own shape (`.4s`, `.s[i]`, `x`, `#`, `[x,#]`, ...); a mnemonic with the shapes of its
operands is the key of the instruction table.  Register numbers may be left open as `Slot`s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from struct import pack
from typing import ClassVar

from isa.lane import (
    U64,
    Int,
    Lane,
    Memory,
    Place,
    Slot,
    Write,
    constant,
    read,
)

Index = int | Slot
ELEMENT_BITS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}
"""Bits of an element by its letter in assembly text."""
ELEMENT_LETTERS = {bits: letter for letter, bits in ELEMENT_BITS.items()}
"""The reverse: the letter of an element of so many bits."""
CONDITIONS = ("eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv")


class _InVectorRegister:
    """What the operands that lie in a vector register share: `register`, and elements of the size of `letter`."""

    register: Index
    letter: str

    @property
    def place(self) -> Place:
        """The vector register."""
        return Place("v", self.register)

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return ELEMENT_BITS[self.letter]

    def element(self, signed: bool) -> Int:
        """The type of one element, read as signed or not."""
        return Int(self.bits, signed)


@dataclass(frozen=True)
class Vector(_InVectorRegister):
    """`v3.4s`: the lanes of a vector register; a 64-bit arrangement is its lower half."""

    register: Index
    count: int
    letter: str

    @property
    def shape(self) -> str:
        """Lanes and letter: `.4s`."""
        return f".{self.count}{self.letter}"

    def lanes(self, signed: bool, count: int | None = None) -> list[Lane]:
        """Its lanes; its upper half where half as many are asked for (the sources of `smull2`)."""
        upper_half = count is not None and 2 * count == self.count
        element = self.element(signed)
        if upper_half:
            return element.lanes(read(self.place), self.count // 2, self.count // 2)
        return element.lanes(read(self.place), self.count)

    def write(self, lanes: list[Lane]) -> tuple[Write, ...]:
        """The register with these lanes; half as many become its upper half and keep the lower (`sqxtn2`)."""
        if 2 * len(lanes) == self.count:
            lanes = self.element(False).lanes(read(self.place), len(lanes)) + lanes
        return (Write(self.place, self.bits, lanes),)


@dataclass(frozen=True)
class Scalar(_InVectorRegister):
    """`s3`: the lowest element of a vector register."""

    register: Index
    letter: str
    count: ClassVar[int] = 1

    @property
    def shape(self) -> str:
        """The letter: `s`."""
        return self.letter

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """The element, and those above it where more are asked for."""
        return self.element(signed).lanes(read(self.place), count)

    def write(self, lanes: list[Lane]) -> tuple[Write, ...]:
        """The register with this element; the bits above it become zero."""
        return (Write(self.place, self.bits, lanes),)


@dataclass(frozen=True)
class Element(_InVectorRegister):
    """`v3.s[1]`: one lane of a vector register; `v3.4b[1]` (dot product) is a group of four bytes."""

    register: Index
    letter: str
    number: int
    group: int = 1

    @property
    def shape(self) -> str:
        """The letter, after the number of bytes in a group: `.s[i]`, `.4b[i]`."""
        return f".{self.group if self.group > 1 else ''}{self.letter}[i]"

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """The element repeated, so that it serves as one operand of every lane."""
        first = self.number * self.group
        return self.element(signed).lanes(read(self.place), self.group, first) * (count // self.group or 1)

    def write(self, lanes: list[Lane]) -> tuple[Write, ...]:
        """The register with this one element replaced."""
        element = self.element(False)
        kept = element.lanes(read(self.place), 128 // element.bits)
        kept[self.number] = lanes[0]
        return (Write(self.place, element.bits, kept),)


@dataclass(frozen=True)
class RegisterList:
    """`{v0.16b, v1.16b}`, or one lane of each as `{v0.s, v1.s}[1]`."""

    registers: tuple[Vector, ...] | tuple[Element, ...]

    @property
    def shape(self) -> str:
        """The number of registers and the shape of each: `{2}.16b`, `{2}.s[i]`."""
        return f"{{{len(self.registers)}}}{self.registers[0].shape}"


@dataclass(frozen=True)
class General:
    """A general register: `x3`, `w3`, `xzr`, `wzr`, `sp`, `wsp`.  The zero register reads 0 and drops writes."""

    register: Index | None
    bits: int
    kind: str = "x"  # "x", "sp" or "zero"

    @property
    def shape(self) -> str:
        """`x` or `w`; the stack pointer and the zero register are like the others."""
        return "x" if self.bits == 64 else "w"

    @property
    def place(self) -> Place:
        """The register; `zr` for the zero register."""
        return Place({"sp": "sp", "zero": "zr"}.get(self.kind, "x"), self.register or 0)

    @property
    def type(self) -> Int:
        """The unsigned type of its width."""
        return Int(self.bits, False)

    @property
    def value(self) -> Lane:
        """The register as an unsigned number of its width."""
        return constant(0) if self.kind == "zero" else self.type.wrap(read(self.place))

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """The value, unsigned, in each of `count` lanes."""
        return [self.value] * count

    def write(self, value: Lane | int) -> tuple[Write, ...]:
        """The low bits of `value`; a 32-bit write clears the upper half."""
        return () if self.kind == "zero" else self.receive(value)

    def receive(self, value: Lane | int) -> tuple[Write, ...]:
        """As `write`, but the value is computed even for the zero register: a load can fault."""
        return (Write(self.place, self.bits, [self.type.wrap(value)]),)


@dataclass(frozen=True)
class Shifted:
    """`x2, lsl #3`: a register operand that is shifted first."""

    base: General
    kind: str
    amount: int

    @property
    def shape(self) -> str:
        """Register and shift, without the amount: `x lsl`."""
        return f"{self.base.shape} {self.kind}"

    @property
    def value(self) -> Lane:
        """The shifted register, unsigned, of its width."""
        kind, value, element = self.kind, self.base.value, self.base.type
        if kind == "lsl":
            return element.wrap(value << self.amount)
        if kind == "lsr":
            return value >> self.amount
        if kind == "asr":
            return element.wrap(Int(element.bits, True).wrap(value) >> self.amount)
        return element.wrap((value >> self.amount) | (value << (element.bits - self.amount)))


@dataclass(frozen=True)
class Extended:
    """`w2, sxtw #2`: a register operand of which a part is widened, then shifted left."""

    base: General
    kind: str
    amount: int

    @property
    def shape(self) -> str:
        """Register and extension, without the amount: `w sxtw`."""
        return f"{self.base.shape} {self.kind}"

    @property
    def value(self) -> Lane:
        """The extended and shifted number; it may be negative or longer than a register."""
        part = Int({"b": 8, "h": 16, "w": 32, "x": 64}[self.kind[3]], self.kind[0] == "s")
        return part.wrap(self.base.value) << self.amount


@dataclass(frozen=True)
class Immediate:
    """`#5`, or with its shift `#0x10, lsl #8` and `#0x7f, msl #16` (which shifts ones in)."""

    number: int
    kind: str = ""
    amount: int = 0

    @property
    def shape(self) -> str:
        """`#`, with its shift: `# lsl`, `# msl`."""
        return f"# {self.kind}" if self.kind else "#"

    @property
    def value(self) -> Lane:
        """The number after its shift, as it is written: not cut to a register."""
        ones = (1 << self.amount) - 1 if self.kind == "msl" else 0
        return constant(self.number << self.amount | ones)

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """The value in each of `count` lanes."""
        return [self.value] * count


@dataclass(frozen=True)
class FloatImmediate:
    """`#1.5`: a floating-point number."""

    number: float
    shape: ClassVar[str] = "#fp"

    def bits_in(self, bits: int) -> int:
        """Its bits in the format of that width."""
        return int.from_bytes(pack({16: "<e", 32: "<f", 64: "<d"}[bits], self.number), "little")

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        """Zero, which has the same bits in every format, in each of `count` lanes.  Raises ValueError for another."""
        if self.number != 0:
            raise ValueError(f"only zero has the same bits in every format, not {self.number}")
        return [constant(0)] * count


@dataclass(frozen=True)
class Condition:
    """`eq`, `ge`, ...: a condition on the flags."""

    name: str
    shape: ClassVar[str] = "cond"


@dataclass(frozen=True)
class Name:
    """A word that is no register: a system register, the scope of a barrier, a prefetch operation."""

    name: str

    @property
    def shape(self) -> str:
        """`prfop` or `scope` for the names of these kinds, else the name itself."""
        if re.fullmatch(r"p(ld|st|li)l[123](keep|strm)", self.name):
            return "prfop"
        return "scope" if re.fullmatch(r"sy|st|ld|(ish|nsh|osh)(st|ld)?", self.name) else self.name


Offset = Immediate | General | Shifted | Extended


@dataclass(frozen=True)
class Address:
    """`[x0]`, `[x0, #16]`, `[x0, x1, lsl #2]`, `[x0, #16]!`, `[x0], #16`, `[x0], x1`."""

    base: General
    offset: Offset | None = None
    mode: str = "offset"  # "offset", "pre" or "post"

    @property
    def shape(self) -> str:
        """The form of the address: `[x,#]`, `[x,#]!`, `[x],# post`, ..."""
        inner = "" if self.offset is None else self.offset.shape
        if self.mode == "post":
            return f"[x],{inner} post"
        return f"[x{',' if inner else ''}{inner}]{'!' if self.mode == 'pre' else ''}"

    @property
    def moved(self) -> Lane:
        """The base with the offset added, as a 64-bit address."""
        return U64.wrap(self.base.value + (self.offset.value if self.offset is not None else 0))

    @property
    def value(self) -> Lane:
        """The address that is accessed."""
        return self.base.value if self.mode == "post" else self.moved

    def memory(self, size: int) -> Memory:
        """Where a store of `size` bytes goes."""
        return Memory(self.value, size)

    def update(self) -> tuple[Write, ...]:
        """The write to the base register that pre- and post-index forms make."""
        return () if self.mode == "offset" else self.base.write(self.moved)

    def post_indexed(self, offset: Offset) -> Address:
        """This address with an offset that is added to the base after the access."""
        return replace(self, offset=offset, mode="post")


Operand = (
    Vector | Scalar | Element | RegisterList | General | Shifted | Extended | Immediate | FloatImmediate
    | Condition | Name | Address
)  # fmt: skip
