"""A signature from the text of a C prototype.

    void scale(const int32_t values[rows:stride][length], const int32_t *_Nullable bias, ...)

The dialect is C's, with what C cannot say: every pointer has its extents in brackets, which may name later arguments,
`[extent:stride]` gives the distance of neighbours in elements, `in`, `out`, `inout` or `scratch` before a pointer says
which way it goes (else `const` is in, all else out), `_Nullable` that it may be null.  Extents may be computed, as in
`a[(k + 3) / 4 * 4]`; behind them `over_read(16)` says how many bytes more may be read, `aligned(16)` of what the
address is a multiple.  `const struct { int32_t zero; uint8_t bounds[2]; } *p` is a structure read through a pointer.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from sim.kernels.extent import Extent, names_in, value_of
from sim.kernels.signature import (
    Argument,
    Direction,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    VectorArgument,
)

LONGEST: Final = 10_000
"""Characters of a prototype."""
_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(0[xX][0-9a-fA-F]{1,16}|\d{1,19})|([()\[\]{},;*:+\-/%]))")
_TYPES: Final = {
    "char": "uint8", "signed char": "int8", "unsigned char": "uint8", "bool": "bool", "_Bool": "bool",
    "short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "signed": "int32", "signed int": "int32", "long": "int64", "unsigned long": "uint64", "long long": "int64",
    "unsigned long long": "uint64", "size_t": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64",
    "intptr_t": "int64", "uintptr_t": "uint64", "float": "float32", "double": "float64", "__fp16": "float16",
    "_Float16": "float16", "float16_t": "float16", "float32_t": "float32", "float64_t": "float64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""C types of AArch64 Linux (LP64, plain char unsigned: AAPCS64 section 10) and their dtypes."""
_WORDS = {word for name in _TYPES for word in name.split()}
_VECTOR = re.compile(r"(int|uint|float)(8|16|32|64)x(\d{1,2})_t")
_QUALIFIERS = (
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "_Nullable",
    "_Nonnull",
    "static",
    "extern",
)
_DIRECTIONS: Final[dict[str, Direction]] = {"in": "in", "out": "out", "inout": "inout", "scratch": "scratch"}


class PrototypeError(LanewiseError, ValueError):
    """A text that is no prototype; the message is one sentence."""


class Prototype(NamedTuple):
    """A function's name and how it is called."""

    name: str
    signature: Signature


def parse_prototype(text: str) -> Prototype:
    """The function that a C prototype declares: its name, and the signature by which it is called.

    Arrays have their extents in brackets: `const int8_t a[rows][length]`.  `const` ones are inputs; `inout` stands
    before one that is both, `_Nullable` behind the star of one that may be null, [rows:stride] where rows lie apart,
    `over_read(16)` and `aligned(16)` behind the brackets.  Raises PrototypeError.
    """
    reader = _Reader(text)
    returns = reader.result()
    name = reader.word("the name of the function")
    reader.expect("(")
    arguments = tuple(reader.arguments())
    reader.accept(";")
    reader.end()
    try:
        return Prototype(name, Signature(arguments, returns))
    except ValueError as error:
        raise PrototypeError(f"the prototype of {name!r} cannot be called: {error}") from None


class _Reader:
    """The tokens of a prototype, read from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise PrototypeError(f"a prototype has at most {LONGEST:,} characters, not {len(text):,}")
        self._tokens, at = list[str](), 0
        text = text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise PrototypeError(f"a prototype cannot have {text[at:].strip()[:1]!r}")
            self._tokens.append(found[0].strip())
            at = found.end()
        self._at = 0

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def accept(self, *tokens: str) -> str:
        """The next token if it is one of these, else nothing is taken and the result is empty."""
        if self._next not in tokens:
            return ""
        self._at += 1
        return self._tokens[self._at - 1]

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise PrototypeError(f"expected {token!r} {self._place()}")

    def word(self, what: str) -> str:
        word = self._next
        if not word.isidentifier() or word in _WORDS or word in _QUALIFIERS:
            raise PrototypeError(f"expected {what} {self._place()}")
        self._at += 1
        return word

    def end(self) -> None:
        if self._next:
            raise PrototypeError(f"expected the end of the prototype {self._place()}")

    def result(self) -> str:
        """The dtype of the result, empty for void."""
        while self.accept(*_QUALIFIERS, "inline"):
            pass
        if self.accept("void"):
            return ""
        dtype = self._type()
        if not isinstance(dtype, str) or self._next == "*":
            raise PrototypeError("a function may return a number or nothing, no pointer, vector or structure")
        return dtype

    def arguments(self) -> list[Argument]:
        """All arguments, the closing parenthesis included."""
        if self.accept(")"):
            return []
        if self.accept("void") and self._next == ")":
            self.expect(")")
            return []
        found = [self._argument()]
        while self.accept(","):
            found.append(self._argument())
        self.expect(")")
        return found

    def _argument(self) -> Argument:
        seen = set[str]()
        direction = self.accept(*_DIRECTIONS)
        self._qualifiers(seen)
        if self._next == "struct":
            return self._struct(seen)
        kind = self._type()
        self._qualifiers(seen)
        is_pointer = bool(self.accept("*"))
        self._qualifiers(seen)
        name = self.word("the name of an argument")
        if self._next == "[" or is_pointer:
            return self._pointer(name, kind, _DIRECTIONS.get(direction) or ("in" if "const" in seen else "out"), seen)
        if direction:
            raise PrototypeError(f"{name!r} is passed by value: only a pointer can be {direction!r}")
        return ScalarArgument(name, kind) if isinstance(kind, str) else VectorArgument(name, *kind)

    def _pointer(self, name: str, kind: str | tuple[str, int], direction: Direction, seen: set[str]) -> Pointer:
        if not isinstance(kind, str):
            raise PrototypeError(f"{name!r} points to vectors: give the type of their lanes, and extents in lanes")
        shape, strides = list[Extent](), list[Extent]()
        while self.accept("["):
            shape.append(self._extent())
            if self.accept(":"):
                strides.append(self._extent())
            self.expect("]")
        allowed = dict[str, int]()
        while word := self.accept("over_read", "aligned"):
            self.expect("(")
            allowed[word] = self._number(f"the bytes of {word}")
            self.expect(")")
        if not shape:
            raise PrototypeError(f"the pointer {name!r} has no extent: give one, as in {name}[length]")
        if strides and len(strides) == len(shape) - 1:
            strides.append(1)
        return Pointer(
            name,
            kind,
            tuple(shape),
            direction=direction,
            nullable="_Nullable" in seen,
            strides=tuple(strides),
            over_read=allowed.get("over_read", 0),
            alignment=allowed.get("aligned", 1),
        )

    def _number(self, what: str) -> int:
        token = self._next
        if not token[:1].isdigit():
            raise PrototypeError(f"expected {what}, a number, {self._place()}")
        self._at += 1
        return int(token, 16 if token[:2] in ("0x", "0X") else 10)

    def _extent(self) -> Extent:
        """What stands before the closing bracket, or the colon of a stride."""
        first, depth = self._at, 0
        while self._next and (depth or self._next not in ("]", ":")):
            depth += {"(": 1, ")": -1}.get(self._next, 0)
            self._at += 1
        tokens = [str(int(t, 16)) if t[:2] in ("0x", "0X") else t for t in self._tokens[first : self._at]]
        if len(tokens) == 1 and tokens[0].isdigit():
            return int(tokens[0])
        if not tokens:
            raise PrototypeError(f"expected an extent: a number or the name of an argument {self._place()}")
        extent = " ".join(tokens).replace("( ", "(").replace(" )", ")")
        try:
            return extent if names_in(extent) else value_of(extent, {})
        except ValueError as error:
            raise PrototypeError(str(error)) from None

    def _struct(self, seen: set[str]) -> Struct:
        self.expect("struct")
        if self._next != "{":
            self.word("the name of a structure, or its fields in braces")
        self.expect("{")
        fields = list[tuple[str, str]]()
        while not self.accept("}"):
            kind, name = self._type(), self.word("the name of a field")
            if not isinstance(kind, str):
                raise PrototypeError(f"the field {name!r} is a vector: give an array of its lanes' type")
            if self.accept("["):
                kind = f"({self._number('the elements of a field')},){kind}"
                self.expect("]")
            self.expect(";")
            fields.append((name, kind))
        by_pointer = bool(self.accept("*"))
        self._qualifiers(seen)
        if by_pointer and "const" not in seen:
            raise PrototypeError("a structure by pointer is only read: write const before it; outputs are arrays")
        return Struct(self.word("the name of an argument"), tuple(fields), by_pointer)

    def _qualifiers(self, seen: set[str]) -> None:
        while found := self.accept(*_QUALIFIERS):
            seen.add(found)

    def _type(self) -> str | tuple[str, int]:
        """The dtype of a type; with the lanes of a vector type."""
        first = self._next
        if vector := _VECTOR.fullmatch(first):
            self._at += 1
            return vector[1] + vector[2], int(vector[3])
        words = list[str]()
        while self._next in _WORDS and " ".join([*words, self._next]) in _TYPES:
            words.append(self._next)
            self._at += 1
        if not words:
            raise PrototypeError(f"expected a type such as int32_t, size_t, float or int32x4_t {self._place()}")
        return _TYPES[" ".join(words)]

    def _place(self) -> str:
        before = " ".join(self._tokens[max(0, self._at - 3) : self._at])
        found = repr(self._next) if self._next else "its end"
        return f"after {before!r}, not {found}" if before else f"at the start, not {found}"
