"""ACLE's Neon intrinsics, derived by rule from the instruction table.

A `Rule`, tried at every type, gives an intrinsic wherever the table has the instruction.  So::

    from isa.intrinsics import vqrdmulhq_s32

works, and the function runs (and inside a `Program` records) SQRDMULH.  The rules: `isa.acle.families`.  All types
(`int32x4_t`, `uint8_t`, `int8x8x2_t`) are attributes too.

Source: ACLE, "Advanced SIMD (Neon) intrinsics"; Arm Neon Intrinsics Reference for the instruction of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from isa.acle.calls import Intrinsic, Reinterpretation
from isa.acle.elements import ELEMENTS, FloatNumber
from isa.acle.families import RULES
from isa.acle.parameters import VectorParameter
from isa.acle.part import part
from isa.acle.program import Program, ProgramMemory
from isa.acle.results import VectorResult
from isa.acle.rules import Base, Rule, marks, parameters_of, result_of
from isa.acle.values import (
    SCALAR_TYPES,
    VECTOR_TYPES,
    ElementPointer,
    ScalarType,
    StructureType,
    StructureValue,
    VectorType,
    VectorValue,
    bfloat16x4_t,
    bfloat16x8_t,
    float16_t,
    float16x4_t,
    float16x8_t,
    float32_t,
    float32x2_t,
    float32x4_t,
    float64_t,
    float64x1_t,
    float64x2_t,
    int8x8_t,
    int8x16_t,
    int16x4_t,
    int16x8_t,
    int32x2_t,
    int32x4_t,
    int64x1_t,
    int64x2_t,
    poly8x8_t,
    poly8x16_t,
    poly16x4_t,
    poly16x8_t,
    poly64x1_t,
    poly64x2_t,
    types_by_name,
    uint8x8_t,
    uint8x16_t,
    uint16x4_t,
    uint16x8_t,
    uint32x2_t,
    uint32x4_t,
    uint64x1_t,
    uint64x2_t,
)
from isa.errors import LanewiseError
from isa.refusals import extension_of_intrinsic

__all__ = [
    "ElementPointer",
    "FloatNumber",
    "Intrinsic",
    "Program",
    "ProgramMemory",
    "ScalarType",
    "StructureType",
    "StructureValue",
    "UnknownIntrinsic",
    "VectorType",
    "VectorValue",
    "bfloat16x4_t",
    "bfloat16x8_t",
    "float16_t",
    "float16x4_t",
    "float16x8_t",
    "float32_t",
    "float32x2_t",
    "float32x4_t",
    "float64_t",
    "float64x1_t",
    "float64x2_t",
    "int8x8_t",
    "int8x16_t",
    "int16x4_t",
    "int16x8_t",
    "int32x2_t",
    "int32x4_t",
    "int64x1_t",
    "int64x2_t",
    "intrinsic",
    "intrinsic_names",
    "intrinsics_matching",
    "part",
    "poly8x8_t",
    "poly8x16_t",
    "poly16x4_t",
    "poly16x8_t",
    "poly64x1_t",
    "poly64x2_t",
    "uint8x8_t",
    "uint8x16_t",
    "uint16x4_t",
    "uint16x8_t",
    "uint32x2_t",
    "uint32x4_t",
    "uint64x1_t",
    "uint64x2_t",
]


class UnknownIntrinsic(LanewiseError, AttributeError):
    """There is no intrinsic of a name; the message gives names like it, or the extension that it belongs to."""


class _Reading(NamedTuple):
    """One way to read a name: a rule, one of its ops, the type at the end and the mark between them."""

    rule: Rule
    op: str
    base: Base
    mark: str

    @property
    def name(self) -> str:
        """The name of the intrinsic: `vqmovn_high_s32`."""
        if self.op.startswith("__"):
            return self.op
        suffixes = _suffixes(self.base)
        head, *rest = self.op.split("_", 1)
        name = "_".join([f"v{head}{self.mark}", *rest])
        return name.format(**suffixes) if "{t}" in name else f"{name.format(**suffixes)}_{suffixes['t']}"

    @property
    def signature(self) -> str:
        """The rule's; where it narrows onto a given lower half, with that half before the arguments."""
        if self.rule.form != "narrow" or not self.mark:
            return self.rule.signature
        half, arguments = self.rule.signature.split(" = ")
        return f"{half}Q = +{half}, {arguments}"

    @property
    def mnemonics(self) -> Iterator[str]:
        """The mnemonics that the rule gives at this type, in the order in which they are tried."""
        sign = "s" if self.base.element.kind == "s" else "u"
        for choice in self.rule.mnemonic.format(op=self.op.split("_")[0], s=sign).split("|"):
            by_sign = choice.split("/")
            yield self.of_half(by_sign[-1 if sign == "u" else 0])

    def of_half(self, mnemonic: str) -> str:
        """A mnemonic, or that of its form on upper halves where the name is marked so."""
        return f"{mnemonic}2" if mnemonic and self.mark == "_high" else mnemonic


@cache
def _suffixes(base: Base) -> dict[str, str]:
    """What the placeholders of an op stand for at a type; one of no type is left out of every name."""
    element = base.element
    found = {"t": str(element), **{kind: f"{kind}{element.bits}" for kind in "suf"}}
    kind = "f" if element.kind == "b" else element.kind
    return found | {"w": f"{kind}{2 * element.bits}", "n": f"{element.kind}{element.bits // 2}"}


_TYPE = re.compile(r"_(bf16|[supf]\d+)(?=_|$)")


@cache
def _readings_at(suffix: str) -> dict[str, list[_Reading]]:
    """Every name that the rules give at the types of a suffix, whether the table has the instruction or not."""
    found: dict[str, list[_Reading]] = {}
    types: list[Base] = [*SCALAR_TYPES, *VECTOR_TYPES]
    bases = [base for base in types if str(base.element) == suffix]
    rules = [rule for rule in RULES if rule.takes(ELEMENTS[suffix])]
    for rule, base in product(rules, bases):
        for op, mark in product(rule.ops.split(), marks(rule.form, base)):
            reading = _Reading(rule, op, base, mark)
            found.setdefault(reading.name, []).append(reading)
    return found


def _derived(reading: _Reading) -> Iterator[Intrinsic]:
    """The intrinsics that a reading gives and the table has."""
    result_word, _, words = reading.signature.partition(" = ")
    try:
        parameters, result = parameters_of(words.split(", "), reading.base), result_of(result_word, reading.base)
    except ValueError:  # the rule leads to a type that does not exist, such as half of an 8-bit element
        return
    # Else the result and the arguments in order; a tied argument is in the result already.
    untied = [k for k, parameter in enumerate(parameters, 1) if not parameter.tied]
    text = reading.rule.text or ", ".join(f"{{{k}}}" for k in (0, *untied))
    between = reading.base if isinstance(reading.base, VectorType) else None
    for mnemonic in reading.mnemonics:
        candidate = Intrinsic(
            name=reading.name,
            result=result,
            parameters=parameters,
            mnemonic=mnemonic,
            text=text,
            between=between,
            at_highest=reading.of_half(reading.rule.at_highest),
        )
        if candidate.exists:
            yield candidate


@cache
def _reinterpretations() -> dict[str, Intrinsic]:
    found: dict[str, Intrinsic] = {}
    for to, of in product(VECTOR_TYPES, VECTOR_TYPES):
        if to.total_bits == of.total_bits and to != of:
            name = f"vreinterpret{'q' if to.total_bits == 128 else ''}_{to.element}_{of.element}"
            found[name] = Reinterpretation(
                name=name, result=VectorResult(to), parameters=(VectorParameter(of),), mnemonic="", text=""
            )
    return found


@cache
def intrinsic(name: str) -> Intrinsic:
    """The intrinsic of that name.  Raises UnknownIntrinsic."""
    if name.startswith("vreinterpret") and name in _reinterpretations():
        return _reinterpretations()[name]
    suffixes = _TYPE.findall(name)[-1:] or ELEMENTS  # a name without a type may be of any
    for reading in (r for suffix in suffixes if suffix in ELEMENTS for r in _readings_at(suffix).get(name, [])):
        for found in _derived(reading):
            return found
    raise UnknownIntrinsic(_unknown(name))


@cache
def intrinsic_names() -> tuple[str, ...]:
    """The names of all intrinsics, sorted."""
    readings = [item for suffix in ELEMENTS for item in _readings_at(suffix).items()]
    derived = [name for name, found in readings if any(True for reading in found for _ in _derived(reading))]
    return tuple(sorted([*derived, *_reinterpretations()]))


def intrinsics_matching(pattern: str) -> list[Intrinsic]:
    """Those whose name contains the pattern, or of which the name or a mnemonic matches it as a glob; all for "".

    Raises UnknownIntrinsic where there is none.
    """
    found, glob = [], pattern.lower()
    for function in map(intrinsic, intrinsic_names()):
        names = (function.name, *function.mnemonic.split("; "), function.at_highest)
        if glob in function.name or any(fnmatchcase(name, glob) for name in names):
            found.append(function)
    if not found:
        raise UnknownIntrinsic(_unknown(pattern))
    return found


def _unknown(name: str) -> str:
    extension = extension_of_intrinsic(name)
    if extension is not None:
        return f"{name}: {extension.reason}"
    near = get_close_matches(name, intrinsic_names(), n=3)
    hint = f"near it are {', '.join(near)}" if near else "`lanewise isa intrinsics` names them all"
    return f"there is no intrinsic {name!r}; {hint}"


def __getattr__(name: str) -> Any:
    if name.endswith("_t") and name in types_by_name():
        return types_by_name()[name]
    if not name.startswith(("v", "__crc32")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = intrinsic(name)  # which is not asked for again
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *types_by_name(), *intrinsic_names()})
