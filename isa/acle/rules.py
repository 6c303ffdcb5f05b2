"""The form of the rules that ACLE's Neon intrinsics follow, and the types that their words stand for.

A `Rule` says, for a family of names, the mnemonic and how result and arguments follow from the type that the name
ends with.  In a signature each argument is one word:

    T           a vector (in the scalar forms: a number in a vector register) of the type in the name; letters after
                it change it, in turn: S signed, U unsigned, F floating point, H a vector of 64 bits, Q of 128 bits,
                W wide, N narrow, P pairs, B bytes, R bfloat16 (see `VectorType`)
    T*2         a structure of two such vectors
    +T          the same, and the instruction's destination begins as a copy of it
    general     a number of the element type, in a general register; `signed32`, `unsigned64`, ... of that type;
                `bits64` any 64 bits
    number      a number of the element type, the lowest element of a vector register; as results also `wide`, one
                of twice the bits, `half`, a float16_t, `brain`, a bfloat16_t, and `low_s32`, ... of that type
    broadcast   a number of the element type: an integer in every lane of a vector register, a float in its lane 0
    lane        the number of a lane of the vector before it; `group` of 32 bits of it, `couple` of two lanes of it
    left, lengthening, right, narrowing   a shift: 0..bits-1, 0..bits, 1..bits, 1..bits/2; `right16` 1..16
    first       a number of elements, in bytes in the instruction
    pointer     an address that may have an offset; `base` one that may not

Source: ACLE, "Advanced SIMD (Neon) intrinsics"; Arm Neon Intrinsics Reference for the instruction of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

from isa.acle.elements import ELEMENTS, ElementType
from isa.acle.parameters import (
    AddressParameter,
    BroadcastParameter,
    LiteralParameter,
    Parameter,
    ScalarParameter,
    StructureParameter,
    VectorParameter,
    VectorScalarParameter,
)
from isa.acle.results import ElementResult, GeneralResult, IntrinsicResult, NoResult, StructureResult, VectorResult
from isa.acle.values import ScalarType, StructureType, VectorType, shared

Base = ScalarType | VectorType
"""The type that a name ends with, which the rest of a signature follows."""

ALL, INTEGERS, FLOATS = "supfb", "sup", "f"


@dataclass(frozen=True)
class Rule:
    """A family of intrinsics.

    `ops` are the names after the `v`; `_n`, `_lane`, ... follow the mark that `form` calls for (see `MARKS`), and the
    suffix of the type comes last.  An op may hold suffixes itself: `{t}` the one of the type, which is then not at the
    end too, `{s}`, `{u}`, `{f}`, `{w}`, `{n}` those of the signed, unsigned, floating, wide and narrow type.  An op
    that begins with two underscores is the whole name.

    `mnemonic` may hold `{op}` and `{s}` (s or u by the type), `signed/unsigned` choices and `first|second` ones of
    which the first that the table has is taken.  `text` is the operands, 0 the result, if not all in order.  Where
    both are several, apart by `; `, they are several instructions; `{t}`, `{u}`, `{w}` are registers in between.
    With its highest immediate the instruction is `at_highest`, if given.  Only types of these `kinds`, with elements of
    these `widths`, are tried.
    """

    ops: str
    mnemonic: str
    signature: str
    text: str = ""
    _: KW_ONLY
    form: str = "each"
    kinds: str = "su"
    widths: tuple[int, ...] = (8, 16, 32, 64)
    at_highest: str = ""

    def takes(self, element: ElementType) -> bool:
        """Whether types of this element are tried."""
        return element.kind in self.kinds and element.bits in self.widths


MARKS: dict[str, dict[int, tuple[str, ...]]] = {
    "each": {64: ("",), 128: ("q",)},
    "long": {64: ("",), 128: ("_high",)},
    "narrow": {128: ("", "_high")},
    "d": {64: ("",)},
    "q": {128: ("q",)},
    "128": {128: ("",)},
    "scalar": {0: ("{letter}",)},
    "number": {0: ("",)},
}
"""By form and size of the type (0 a scalar), the marks in a name after the op.

`each` marks 128-bit types q; `long` marks them _high and takes the mnemonic's `2` form, as does `narrow`, which then
fills the upper half onto a given lower one; `d` and `q` are one size of `each`, `128` is not marked; `scalar` is marked
with the letter of the type's width, `number` not.
"""


def marks(form: str, base: Base) -> tuple[str, ...]:
    """The marks that a form calls for at a type."""
    if isinstance(base, ScalarType):
        return tuple(mark.format(letter=base.element.letter) for mark in MARKS[form].get(0, ()))
    return MARKS[form].get(base.total_bits, ())


def by_element(ops: str, mnemonic: str, result: str, form: str = "each", kinds: str = "su") -> Iterator[Rule]:
    """The `_lane` and `_laneq` intrinsics of an op; `result` is the signature up to the last two vectors."""
    for suffix, vector in (("_lane", "TH"), ("_laneq", "TQ")):
        text = "{0}, {2}, {3.e}[{4}]" if "+" in result else "{0}, {1}, {2.e}[{3}]"
        yield Rule(suffixed(ops, suffix), mnemonic, f"{result}T, {vector}, lane", text, form=form, kinds=kinds)


def by_number(ops: str, mnemonic: str, result: str, form: str = "each", **rest: Any) -> Rule:
    """The `_n` intrinsics of an op; `result` is the signature up to the last two vectors."""
    text = "{0}, {2}, {3.e}[0]" if "+" in result else "{0}, {1}, {2.e}[0]"
    return Rule(suffixed(ops, "_n"), mnemonic, f"{result}T, broadcast", text, form=form, **rest)


def suffixed(ops: str, suffix: str) -> str:
    """Every op with a suffix."""
    return " ".join(op + suffix for op in ops.split())


_CHANGES: dict[str, Callable[[Any], Any]] = {
    "T": lambda t: t,
    "S": lambda t: t.of_kind("s"),
    "U": lambda t: t.of_kind("u"),
    "F": lambda t: t.of_kind("f"),
    "H": lambda t: t.half,
    "Q": lambda t: t.full,
    "W": lambda t: t.wide,
    "N": lambda t: t.narrow,
    "P": lambda t: t.pairs,
    "B": lambda t: t.bytes,
    "R": lambda t: t.brains,
}

_GENERAL: dict[str, Callable[[Base], ElementType]] = {
    "general": lambda t: t.element,
    "bits64": lambda t: ELEMENTS["u64"],
    "signed32": lambda t: ELEMENTS["s32"],
    "signed64": lambda t: ELEMENTS["s64"],
    "unsigned32": lambda t: ELEMENTS["u32"],
    "unsigned64": lambda t: ELEMENTS["u64"],
}

_NUMBERS: dict[str, Callable[[Base], ElementType]] = {
    "number": lambda t: t.element,
    "wide": lambda t: t.element.wide,
    "half": lambda t: ELEMENTS["f16"],
    "brain": lambda t: ELEMENTS["bf16"],
    "low_s32": lambda t: ELEMENTS["s32"],
    "low_s64": lambda t: ELEMENTS["s64"],
    "low_u32": lambda t: ELEMENTS["u32"],
    "low_u64": lambda t: ELEMENTS["u64"],
}

_PARAMETERS: dict[str, Callable[[Any], Parameter]] = {
    "number": lambda t: VectorScalarParameter(t.element),
    "broadcast": lambda t: BroadcastParameter(t.element, t),
    "left": lambda t: LiteralParameter("an immediate", 0, t.bits - 1),
    "lengthening": lambda t: LiteralParameter("an immediate", 0, t.bits),
    "right": lambda t: LiteralParameter("an immediate", 1, t.bits),
    "right16": lambda t: LiteralParameter("an immediate", 1, 16),
    "narrowing": lambda t: LiteralParameter("an immediate", 1, t.bits // 2),
    "first": lambda t: LiteralParameter("an immediate", 0, t.lanes - 1, t.bits // 8),
    "pointer": lambda t: AddressParameter(t.element.c_name, t.total_bits // 8),
    "base": lambda t: AddressParameter(t.element.c_name, 0),
}

_LANE_BITS: dict[str, Callable[[VectorType], int]] = {
    "lane": lambda t: t.bits,
    "group": lambda t: 32,
    "couple": lambda t: 2 * t.bits,
}


def _type(word: str, base: Base) -> ScalarType | VectorType | StructureType:
    letters, _, count = word.removeprefix("+").partition("*")
    for letter in letters:
        base = _CHANGES[letter](base)
    if isinstance(base, VectorType):
        return StructureType(shared(base), int(count)) if count else shared(base)
    if count:
        raise ValueError(f"{base} is no vector")
    return base


def _parameter(word: str, base: Base) -> Parameter:
    if word in _GENERAL:
        return ScalarParameter(_GENERAL[word](base))
    if word in _PARAMETERS:
        return _PARAMETERS[word](base)
    found, tied = _type(word, base), word.startswith("+")
    if isinstance(found, ScalarType):
        return VectorScalarParameter(found.element, tied)
    return VectorParameter(found, tied) if isinstance(found, VectorType) else StructureParameter(found, tied)


def parameters_of(words: list[str], base: Base) -> tuple[Parameter, ...]:
    """The parameters that a signature's words are at a type.  Raises ValueError for a type that does not exist."""
    parameters: list[Parameter] = []
    for word in words:
        parameters.append(_lane(word, parameters[-1]) if word in _LANE_BITS else _parameter(word, base))
    return tuple(parameters)


def _lane(word: str, of: Parameter) -> LiteralParameter:
    """The number of a lane of the vector, or of each vector of the structure, before it."""
    if not isinstance(of, VectorParameter | StructureParameter):
        raise ValueError(f"{of.c_type} has no lanes")
    vector = of.type if isinstance(of, VectorParameter) else of.type.vector
    return LiteralParameter("a lane", 0, vector.total_bits // _LANE_BITS[word](vector) - 1)


def result_of(word: str, base: Base) -> IntrinsicResult:
    """The result that a signature's word is at a type.  Raises ValueError for a type that does not exist."""
    if word == "void":
        return NoResult()
    if word in _GENERAL:
        return GeneralResult(_GENERAL[word](base))
    if word in _NUMBERS:
        return ElementResult(_NUMBERS[word](base))
    found = _type(word, base)
    if isinstance(found, ScalarType):
        return ElementResult(found.element)
    return VectorResult(found) if isinstance(found, VectorType) else StructureResult(found)
