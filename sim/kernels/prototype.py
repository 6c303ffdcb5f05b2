"""A signature from the text of a C prototype.

    void scale(const int32_t values[rows:stride][length], const int32_t *_Nullable bias, ...)

The dialect is C's, with what C cannot say: every pointer has its extents in brackets, which may name later arguments,
`[extent:stride]` gives the distance of neighbours in elements, `in`, `out`, `inout` or `scratch` before a pointer says
which way it goes (else `const` is in, all else out), `_Nullable` that it may be null.  Extents may be computed, as in
`a[(k + 3) / 4 * 4]`; behind them `over_read(16)` says how many bytes more may be read, `aligned(16)` of what the
address is a multiple.  `const struct { int32_t zero; uint8_t bounds[2]; } *p` is a structure read through a pointer,
`*p[n]` an array of them; an extent may be a field, as in `a[p.n]`.  A table of pointers, `const uint8_t **rows[n][k]`,
has its own extent first.  `one_of(relu, clamp)` behind a pointer to a function names the functions of the image that it
may be, `may_be(a)` behind the extents of an output the input in whose place it may lie, `shared` behind those of a
table that its pointers may be the same, with `may_be(zero)` also that input.  Structures, unions, enumerations and
other types may be defined before the function, as in C.  A function of a stripped program has its address in the place
of its name: `int 0x10a4(int a)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from isa.errors import LanewiseError
from sim.kernels.c_types import CFunction, CMember, CNumber, CPointer, CRecord, CType, CVector, CVoid, record_of
from sim.kernels.extent import Extent, names_in, value_of
from sim.kernels.signature import (
    RETURNED,
    Argument,
    Direction,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    VectorArgument,
)

LONGEST: Final = 10_000
"""Characters of a prototype."""
_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(0[xX][0-9a-fA-F]{1,16}|\d{1,19})|(\.\.\.|[()\[\]{},;*&:+\-/%.=]))")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TYPES: Final = {
    "char": "uint8", "char signed": "int8", "char unsigned": "uint8", "bool": "bool", "_Bool": "bool",
    "size_t": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64", "intptr_t": "int64", "uintptr_t": "uint64",
    "float": "float32", "double": "float64", "__fp16": "float16", "_Float16": "float16", "float16_t": "float16",
    "float32_t": "float32", "float64_t": "float64",
    **{
        " ".join(sorted(words)): f"{'u' if sign == 'unsigned' else ''}int{bits}"
        for size, bits in (("", 32), ("short", 16), ("long", 64), ("long long", 64))
        for sign in ("", "signed", "unsigned")
        for end in ("", "int")
        if (words := f"{size} {sign} {end}".split())
    },
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"poly{bits}_t": f"uint{bits}" for bits in (8, 16, 64)},
}  # fmt: skip
"""C types of AArch64 Linux (LP64, plain char unsigned: AAPCS64 section 10), their words sorted, and their dtypes."""
_WORDS = {word for name in _TYPES for word in name.split()}
_VECTOR = re.compile(r"(int|uint|float|poly|bfloat)(8|16|32|64)x(\d{1,2})(?:x([234]))?_t")
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
_BFLOAT: Final = ("__bf16", "bfloat16_t")
_OF_LANES: Final = {"poly": "uint", "bfloat": "uint"}
_DIRECTIONS: Final[dict[str, Direction]] = {"in": "in", "out": "out", "inout": "inout", "scratch": "scratch"}


KnownTypes = Callable[[str], CType | None]
"""The type of a name such as "point", "struct point" or "enum mode"; None where there is none."""


class PrototypeError(LanewiseError, ValueError):
    """A text that is no prototype; the message is one sentence."""


class Prototype(NamedTuple):
    """A function's name and how it is called."""

    name: str
    signature: Signature


def parse_prototype(text: str, types: KnownTypes | None = None, *, with_arrays: bool = False) -> Prototype:
    """The function that a C prototype declares: its name, and the signature by which it is called.

    Arrays have their extents in brackets: `const int8_t a[rows][length]`.  `const` ones are inputs; `inout` stands
    before one that is both, `_Nullable` behind the star of one that may be null, [rows:stride] where rows lie apart,
    `over_read(16)` and `aligned(16)` behind the brackets.  Types may be defined before it; those that are not are asked
    of `types` (`sim.toolchain.declared_types`).  A caller `with_arrays` knows their extents: a pointer needs none, as
    in C's headers, and has the extent 0.  Raises PrototypeError, and what `types` raises.
    """
    reader = _Reader(text, types, with_arrays)
    try:
        returns, returned = reader.result()
        name = reader.address() or reader.word("the name of the function")
        reader.expect("(")
        arguments = tuple(reader.arguments())
    except RecursionError:
        raise PrototypeError("the structures of the prototype are too deep in each other") from None
    reader.accept(";")
    reader.end()
    try:
        return Prototype(name, Signature(arguments, returns, returned))
    except ValueError as error:
        raise PrototypeError(f"the prototype of {name!r} cannot be called: {error}") from None


def _integer(token: str) -> int:
    """The number that a token is in C, where one that begins with 0 is octal."""
    if token[:2] in ("0x", "0X"):
        return int(token, 16)
    try:
        return int(token, 8 if token[0] == "0" else 10)
    except ValueError:
        raise PrototypeError(f"{token} is no octal number, as which C reads what begins with 0") from None


class _Reader:
    """The tokens of a prototype, read from left to right."""

    def __init__(self, text: str, types: KnownTypes | None, with_arrays: bool = False) -> None:
        if len(text) > LONGEST:
            raise PrototypeError(f"a prototype has at most {LONGEST:,} characters, not {len(text):,}")
        self._tokens, at = list[str](), 0
        self._types, self._elsewhere, self._with_arrays = dict[str, CType](), types, with_arrays
        text = _COMMENT.sub(" ", text).strip()
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

    def address(self) -> str:
        """The address that stands in the place of a name, as "0x10a4"; empty where there is none."""
        if self._next[:2] not in ("0x", "0X"):
            return ""
        self._at += 1
        return f"{int(self._tokens[self._at - 1], 16):#x}"

    def end(self) -> None:
        if self._next:
            raise PrototypeError(f"expected the end of the prototype {self._place()}")

    def result(self) -> tuple[str, Struct | VectorArgument | None]:
        """The dtype of the number that is returned, empty for none, and what is returned instead.

        Definitions of types stand before it.
        """
        while True:
            is_name = bool(self.accept("typedef"))
            while self.accept(*_QUALIFIERS, "inline"):
                pass
            kind = self._type()
            if is_name:
                self._define(kind)
            if not self.accept(";"):
                break
        if self.accept("*", "&"):
            raise PrototypeError("a function may return a number or nothing, a vector or a structure, but no pointer")
        match kind:
            case CVoid():
                return "", None
            case CNumber(dtype, in_vector=False):
                return dtype, None
            case CVector(dtype, lanes, count):
                return "", VectorArgument(RETURNED, dtype, lanes, count)
            case CRecord(pointers=()):
                return "", kind.struct(RETURNED)
        raise PrototypeError("a function may return a number or nothing, a vector or a structure of numbers")

    def _define(self, kind: CType) -> None:
        """`typedef` gives a type another name."""
        if self.accept("("):
            self.expect("*")
            name, kind = self.word("the name of a type"), CFunction()
            self.expect(")")
            self._skip_parameters()
        else:
            name = self.word("the name of a type")
        if self._next in ("*", "["):
            raise PrototypeError(f"the type {name!r} is an array or a pointer: write it where it is used")
        self._types[name] = kind

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
        if not self.accept(")"):
            raise PrototypeError(f"expected ',' or ')' {self._place()}")
        return found

    def _argument(self) -> Argument:
        if self._next == "...":
            raise PrototypeError(
                "a function with variable arguments cannot be called: write a function around it that has its arguments"
            )
        seen = set[str]()
        direction = self.accept(*_DIRECTIONS)
        self._qualifiers(seen)
        kind = self._type()
        self._qualifiers(seen)
        if self._next == "(" or isinstance(kind, CFunction):
            return self._function(is_named=isinstance(kind, CFunction))
        stars = 0
        while self.accept("*", "&"):
            stars += 1
            self._qualifiers(seen)
        name = self.word("the name of an argument")
        if self._next == "[" or stars:
            return self._pointer(
                name, kind, stars, _DIRECTIONS.get(direction) or ("in" if "const" in seen else "out"), seen
            )
        if direction:
            raise PrototypeError(f"{name!r} is passed by value: only a pointer can be {direction!r}")
        match kind:
            case CNumber(dtype, choices, in_vector):
                return ScalarArgument(name, dtype, choices=choices, in_vector=in_vector)
            case CVector(dtype, lanes, count):
                return VectorArgument(name, dtype, lanes, count)
            case CRecord():
                return kind.struct(name)
        raise PrototypeError(f"the argument {name!r} has no type that can be passed")

    def _function(self, is_named: bool) -> FunctionArgument:
        """A pointer to a function, with those of the image that it may be."""
        if not is_named:
            self.expect("(")
            self.expect("*")
            self._qualifiers(set())
        name = self.word("the name of an argument")
        if not is_named:
            self.expect(")")
            self._skip_parameters()
        functions = list[str | None]()
        if self.accept("one_of"):
            self.expect("(")
            while not functions or self.accept(","):
                word = self.word("the name of a function")
                functions.append(None if word == "NULL" else word)
            self.expect(")")
        return FunctionArgument(name, tuple(functions))

    def _skip_parameters(self) -> None:
        self.expect("(")
        depth = 1
        while depth:
            if not self._next:
                self.expect(")")
            depth += {"(": 1, ")": -1}.get(self._next, 0)
            self._at += 1

    def _pointer(self, name: str, kind: CType, stars: int, direction: Direction, seen: set[str]) -> Pointer | Struct:
        shape, strides = list[Extent](), list[Extent]()
        while self.accept("["):
            shape.append(self._extent())
            if self.accept(":"):
                strides.append(self._extent())
            self.expect("]")
        allowed, may_be, shared = dict[str, int](), "", False
        while word := self.accept("over_read", "aligned", "may_be", "shared"):
            if word == "shared":
                shared = True
                continue
            self.expect("(")
            if word == "may_be":
                may_be = self.word("the name of an input")
            else:
                allowed[word] = self._number(f"the bytes of {word}")
            self.expect(")")
        over_read, alignment = allowed.get("over_read", 0), allowed.get("aligned", 1)
        if isinstance(kind, CRecord) and stars <= 1:
            if strides or may_be or shared:
                raise PrototypeError(f"the structures {name!r} lie one behind the other, and in no other's place")
            struct = kind.struct(name)
            return replace(
                struct, by_pointer=True, direction=direction, nullable="_Nullable" in seen, shape=tuple(shape),
                over_read=over_read, alignment=alignment,
            )  # fmt: skip
        if isinstance(kind, CVector):
            raise PrototypeError(f"{name!r} points to vectors: give the type of their lanes, and extents in lanes")
        if not isinstance(kind, CNumber | CVoid) or stars > 2:
            raise PrototypeError(f"{name!r} points to what no array holds: give arrays of numbers or of structures")
        if self._with_arrays:
            shape += [0] * (max(stars, 1) - len(shape))
        if len(shape) < max(stars, 1):
            wanted = f"one for each *, as in {name}[count][length]" if stars == 2 else f"one, as in {name}[length]"
            raise PrototypeError(f"the pointer {name!r} has no extent: give {wanted}")
        if strides and len(strides) == len(shape) - 1:
            strides.append(1)
        return Pointer(
            name,
            kind.dtype if isinstance(kind, CNumber) else "uint8",
            tuple(shape),
            direction=direction,
            nullable="_Nullable" in seen,
            strides=tuple(strides),
            over_read=over_read,
            alignment=alignment,
            indirect=stars == 2,
            may_be=may_be,
            shared=shared,
        )

    def _number(self, what: str) -> int:
        token = self._next
        if not token[:1].isdigit():
            raise PrototypeError(f"expected {what}, a number, {self._place()}")
        self._at += 1
        return _integer(token)

    def _extent(self) -> Extent:
        """What stands before the closing bracket, or the colon of a stride."""
        first, depth = self._at, 0
        while self._next and (depth or self._next not in ("]", ":")):
            depth += {"(": 1, ")": -1}.get(self._next, 0)
            self._at += 1
        tokens = [str(_integer(t)) if t[:1].isdigit() else t for t in self._tokens[first : self._at]]
        if len(tokens) == 1 and tokens[0].isdigit():
            return int(tokens[0])
        if not tokens and self._with_arrays:
            return 0
        if not tokens:
            raise PrototypeError(f"expected an extent: a number or the name of an argument {self._place()}")
        extent = " ".join(tokens).replace("( ", "(").replace(" )", ")").replace(" . ", ".")
        try:
            return extent if names_in(extent) else value_of(extent, {})
        except ValueError as error:
            raise PrototypeError(str(error)) from None

    def _record(self, word: str) -> CRecord:
        """A structure or union, by its members or by its name where it was defined."""
        tag = "" if self._next == "{" else self.word(f"the name of a {word}, or its fields in braces")
        if tag and self._next != "{":
            known = self._known(f"{word} {tag}")
            if not isinstance(known, CRecord):
                known_not = f"{word} {tag}, which is not defined"
                raise PrototypeError(f"expected '{{' after {known_not}: give its fields, there or before the function")
            return known
        self.expect("{")
        members = list[CMember]()
        while not self.accept("}"):
            members += self._members()
        try:
            record = record_of(members, is_union=word == "union")
        except ValueError as error:
            raise PrototypeError(str(error)) from None
        if tag:
            self._types[f"{word} {tag}"] = record
        return record

    def _members(self) -> list[CMember]:
        """The members that one declaration in a structure makes."""
        seen = set[str]()
        self._qualifiers(seen)
        kind = self._type()
        if self.accept(";"):
            if isinstance(kind, CRecord):
                return [CMember("", kind)]
            raise PrototypeError(f"expected the name of a field {self._place()}")
        found = list[CMember]()
        while not found or self.accept(","):
            self._qualifiers(seen)
            stars = 0
            while self.accept("*"):
                stars += 1
                self._qualifiers(seen)
            name = "" if self._next == ":" else self.word("the name of a field")
            if self.accept(":"):
                found.append(CMember(name, kind, bits=self._number("the bits of a field")))
                continue
            if stars and self._next != "[":
                found.append(CMember(name, CPointer(None)))
            elif stars:
                array = self._pointer(name, kind, stars, "in" if "const" in seen else "inout", seen)
                if not isinstance(array, Pointer):
                    raise PrototypeError(f"the field {name!r} points to structures: give an array of numbers")
                found.append(CMember(name, CPointer(array)))
            else:
                extents = list[int]()
                while self.accept("["):
                    extents.append(self._number("the elements of a field"))
                    self.expect("]")
                found.append(CMember(name, kind, tuple(extents)))
        self.expect(";")
        return found

    def _enumeration(self) -> CNumber:
        """Its numbers, which it is given in braces, or by its name where it was defined."""
        tag = "" if self._next == "{" else self.word("the name of an enumeration, or its names in braces")
        if not self.accept("{"):
            known = self._known(f"enum {tag}")
            if not isinstance(known, CNumber):
                raise PrototypeError(
                    f"enum {tag} is not defined: give its names in braces, there or before the function"
                )
            return known
        numbers = list[int]()
        while not self.accept("}"):
            self.word("a name of the enumeration")
            value = numbers[-1] + 1 if numbers else 0
            if self.accept("="):
                value = (-1 if self.accept("-") else 1) * self._number("the value of a name")
            numbers.append(value)
            if not self.accept(",") and self._next != "}":
                self.expect("}")
        kind = CNumber("int32" if min(numbers, default=0) < 0 else "uint32", tuple(dict.fromkeys(numbers)))
        if tag:
            self._types[f"enum {tag}"] = kind
        return kind

    def _qualifiers(self, seen: set[str]) -> None:
        while found := self.accept(*_QUALIFIERS):
            seen.add(found)

    def _type(self) -> CType:
        if self.accept("std"):
            self.expect(":")
            self.expect(":")
        first = self._next
        if vector := _VECTOR.fullmatch(first):
            self._at += 1
            return CVector(_OF_LANES.get(vector[1], vector[1]) + vector[2], int(vector[3]), int(vector[4] or 1))
        if word := self.accept("struct", "union"):
            return self._record(word)
        if self.accept("enum"):
            return self._enumeration()
        if self.accept("void"):
            return CVoid()
        if self.accept(*_BFLOAT):
            return CNumber("uint16", in_vector=True)
        words = list[str]()
        while self._next in _WORDS:
            words.append(self._next)
            self._at += 1
        if words and (dtype := _TYPES.get(" ".join(sorted(words)))) is not None:
            return CNumber(dtype)
        if words:
            raise PrototypeError(
                f"{' '.join(words)!r} is no type that can be passed: give one such as int32_t or size_t"
            )
        if first.isidentifier() and (known := self._known(first)) is not None:
            self._at += 1
            return known
        raise PrototypeError(f"expected a type such as int32_t, size_t, float or int32x4_t {self._place()}")

    def _known(self, name: str) -> CType | None:
        """The type of that name, such as "struct point", defined here or elsewhere."""
        if name not in self._types and self._elsewhere is not None and (found := self._elsewhere(name)) is not None:
            self._types[name] = found
        return self._types.get(name)

    def _place(self) -> str:
        before = " ".join(self._tokens[max(0, self._at - 3) : self._at])
        found = repr(self._next) if self._next else "its end"
        return f"after {before!r}, not {found}" if before else f"at the start, not {found}"
