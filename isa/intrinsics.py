"""ACLE's Neon intrinsics, derived by rule from the instruction table.

A `Rule`, tried at every vector type, gives an intrinsic wherever the table has the instruction.  So::

    from isa.intrinsics import vqrdmulhq_s32

works, and the function runs (and inside a `Program` records) SQRDMULH.  The rules: `isa.intrinsic_rules`.

Source: ACLE, "Advanced SIMD (Neon) intrinsics"; Arm Neon Intrinsics Reference for the instruction of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

from isa.instruction import Pattern
from isa.intrinsic_rules import MARKS, RULES, Rule, parameters_of, result_of
from isa.parameters import Parameter, Result, Vector, VectorResult
from isa.program import Program, ProgramMemory, current_program
from isa.rows import TABLE
from isa.table import UnknownInstruction
from isa.values import (
    VECTOR_TYPES,
    Pointer,
    VectorType,
    VectorValue,
    int8x8_t,
    int8x16_t,
    int16x4_t,
    int16x8_t,
    int32x2_t,
    int32x4_t,
    int64x1_t,
    int64x2_t,
    uint8x8_t,
    uint8x16_t,
    uint16x4_t,
    uint16x8_t,
    uint32x2_t,
    uint32x4_t,
    uint64x1_t,
    uint64x2_t,
)

__all__ = [
    "Intrinsic",
    "Pointer",
    "Program",
    "ProgramMemory",
    "UnknownIntrinsic",
    "VectorType",
    "VectorValue",
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
    "uint8x8_t",
    "uint8x16_t",
    "uint16x4_t",
    "uint16x8_t",
    "uint32x2_t",
    "uint32x4_t",
    "uint64x1_t",
    "uint64x2_t",
]


class _Code(NamedTuple):
    """An instruction's pattern, and which operand (0 the result) each of its registers is."""

    pattern: Pattern
    order: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Intrinsic:
    """A function of ACLE on `VectorValue`s, Python ints and `Pointer`s; `str()` gives its C prototype.

    Inside of a `Program` a call is recorded there.  Raises TypeError for arguments of the wrong number or type,
    ValueError for a number, immediate or lane out of range, RuntimeError for a load or store without memory.
    """

    name: str
    result: Result
    parameters: tuple[Parameter, ...]
    mnemonic: str
    text: str
    _codes: dict[tuple[int, ...], _Code] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.result.c_type} {self.name}({', '.join(p.c_type for p in self.parameters)})"

    def __call__(self, *arguments: Any) -> Any:
        """Run it on these arguments, in the open `Program` or else in one of its own; returns the result."""
        values = self._checked(arguments)
        program = current_program() or Program()
        return self._run(program, values)

    def _checked(self, arguments: tuple[Any, ...]) -> list[Any]:
        wanted = len(self.parameters)
        if len(arguments) != wanted:
            noun = "argument" if wanted == 1 else "arguments"
            raise TypeError(f"{self.name} takes {wanted} {noun}, not {len(arguments)}")
        pairs = enumerate(zip(self.parameters, arguments, strict=True), 1)
        return [parameter.checked(value, self.name, position) for position, (parameter, value) in pairs]

    def _run(self, program: Program, values: list[Any]) -> Any:
        code = self._code(tuple([p.literal(v) for p, v in zip(self.parameters, values, strict=True)]))
        placed = [p.place(program, v) for p, v in zip(self.parameters, values, strict=True)]
        destination = self.result.destination(program) if self._tied is None else placed[self._tied]
        registers = (destination, *placed)
        program.run(code.pattern, tuple([registers[k] for k in code.order]))
        return self.result.value(program, destination)

    @cached_property
    def _tied(self) -> int | None:
        tied = [k for k, p in enumerate(self.parameters) if isinstance(p, Vector) and p.tied]
        return tied[0] if tied else None

    def _code(self, literals: tuple[int, ...]) -> _Code:
        if literals not in self._codes:
            texts = [p.text(k, n) for k, (p, n) in enumerate(zip(self.parameters, literals, strict=True), 1)]
            instruction = TABLE.instruction(self.mnemonic, self.text.format(self.result.text(), *texts))
            self._codes[literals] = _Code(instruction.pattern, instruction.registers)
        return self._codes[literals]

    @property
    def exists(self) -> bool:
        """Whether the instruction table has its instruction."""
        try:
            self._code(tuple(parameter.lowest_literal for parameter in self.parameters))
        except UnknownInstruction:
            return False
        return True


class Reinterpretation(Intrinsic):
    """`vreinterpret`: the same bits and the same register as another type; no instruction."""

    def _run(self, program: Program, values: list[Any]) -> Any:
        return self.result.value(program, program.vector_register(values[0]))


class UnknownIntrinsic(AttributeError):
    """There is no intrinsic of a name; the message gives names like it."""


class _Reading(NamedTuple):
    """One way to read a name: a rule, one of its ops, the type at the end and the mark between them."""

    rule: Rule
    op: str
    base: VectorType
    mark: str

    @property
    def name(self) -> str:
        """The name of the intrinsic: `vqmovn_high_s32`."""
        head, *rest = self.op.split("_", 1)
        return "_".join([f"v{head}{self.mark}", *rest, self.base.suffix])

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
        sign = "us"[self.base.signed]
        for choice in self.rule.mnemonic.format(op=self.op.split("_")[0], s=sign).split("|"):
            by_sign = choice.split("/")
            yield by_sign[-1 if sign == "u" else 0] + ("2" if self.mark == "_high" else "")


@cache
def _readings() -> dict[str, list[_Reading]]:
    """Every name that the rules give, whether the table has the instruction or not."""
    found: dict[str, list[_Reading]] = {}
    for rule in RULES:
        for op, base in product(rule.ops.split(), VECTOR_TYPES):
            if "us"[base.signed] in rule.signs and base.bits <= rule.widest:
                for mark in MARKS[rule.form][base.total_bits]:
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
    text = reading.rule.text or _in_order(parameters)
    for mnemonic in reading.mnemonics:
        candidate = Intrinsic(reading.name, result, parameters, mnemonic, text)
        if candidate.exists:
            yield candidate


def _in_order(parameters: tuple[Parameter, ...]) -> str:
    """The result and the arguments as operands; a tied argument is in the result already."""
    untied = [k for k, p in enumerate(parameters, 1) if not (isinstance(p, Vector) and p.tied)]
    return ", ".join(f"{{{k}}}" for k in (0, *untied))


@cache
def _reinterpretations() -> dict[str, Intrinsic]:
    found: dict[str, Intrinsic] = {}
    for to, of in product(VECTOR_TYPES, VECTOR_TYPES):
        if to.total_bits == of.total_bits and to != of:
            name = f"vreinterpret{'q' if to.total_bits == 128 else ''}_{to.suffix}_{of.suffix}"
            found[name] = Reinterpretation(name, VectorResult(to), (Vector(of),), "", "")
    return found


@cache
def intrinsic(name: str) -> Intrinsic:
    """The intrinsic of that name.  Raises UnknownIntrinsic."""
    if name in _reinterpretations():
        return _reinterpretations()[name]
    for reading in _readings().get(name, ()):
        for found in _derived(reading):
            return found
    near = get_close_matches(name, intrinsic_names(), n=3)
    raise UnknownIntrinsic(f"there is no intrinsic {name!r}" + (f"; near it are {', '.join(near)}" if near else ""))


@cache
def intrinsic_names() -> tuple[str, ...]:
    """The names of all intrinsics, sorted."""
    derived = [name for name, readings in _readings().items() if any(True for r in readings for _ in _derived(r))]
    return tuple(sorted([*derived, *_reinterpretations()]))


def __getattr__(name: str) -> Intrinsic:
    if not name.startswith("v"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return intrinsic(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *intrinsic_names()])
