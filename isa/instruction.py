"""The instruction record: a form of the table together with the registers of one instruction.

Instructions that differ in register numbers only share a `Pattern`; what is worked out once for a pattern (parsed
operands, generated code) serves them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Memory,
    Pick,
    Place,
    Read,
    Saturate,
    Slot,
    Write,
    walk,
)
from isa.operands import Index
from isa.parse import fill_registers, parse
from isa.refusals import TRAPS
from isa.semantics.elementwise import Body, Writes

FEATURES = (
    "rdm", "dotprod", "fp16", "fhm", "fcma", "i8mm", "bf16", "aes", "sha2", "sha3", "sha512", "sm4", "lse",
    "crc", "pmull", "jscvt", "frintts", "rcpc", "rcpc2", "flagm", "flagm2", "lor", "sb", "pauth",
)  # fmt: skip
"""Extensions that a machine can have or lack, by Arm's names (FEAT_...) in lower case; the rest is base Armv8-A."""
BEHAVIOURS = ("lse2",)
"""Extensions that bring no instruction, and allow more to those that there are.

A machine has them only where they are named, or come with a processor: code that relies on one fails elsewhere.
"""


def lanes_of(writes: Iterable[Write]) -> tuple[Lane, ...]:
    """Every expression of some writes: the written lanes, then the addresses of the stores."""
    writes = tuple(writes)
    addresses = [w.place.address for w in writes if isinstance(w.place, Memory)]
    return (*(lane for w in writes for lane in w.lanes), *addresses)


def is_kept(write: Write, number: int) -> bool:
    """Whether an element of a write is what the register held there before."""
    lane = write.lanes[number]
    if not isinstance(lane, Field) or not isinstance(lane.operand, Read) or lane.operand.place != write.place:
        return False
    return (lane.lsb, lane.element.bits) == (number * write.bits, write.bits)


def _places_read(lanes: Iterable[Lane]) -> frozenset[Place]:
    found = set()
    for node in walk(lanes):
        match node:
            case Read(place):
                found.add(place)
            case Constant() | Load() | Field() | Saturate() | Pick() | Binary() | Floating():
                pass
            case _:
                assert_never(node)
    return frozenset(found)


@dataclass(frozen=True, eq=False)
class Form:
    """One row of the expanded table: a mnemonic with the shapes of its operands, and what it does.

    `body` takes the operands and returns the writes; `features` are those of `FEATURES` that it needs, all of them;
    none for the base.
    """

    mnemonic: str
    shape: str
    body: Body
    features: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Mnemonic and shapes, unique in a table: `add .4s,.4s,.4s`."""
        return f"{self.mnemonic} {self.shape}".rstrip()

    @property
    def extension(self) -> str:
        """What it belongs to, in words: `base`, `fcma`, `fcma+fp16`."""
        return "+".join(self.features) or "base"


@dataclass(frozen=True, eq=False)
class Pattern:
    """A form with everything but the register numbers, which stand as `_` in `text` and `operand_text`."""

    form: Form
    text: str
    operand_text: str
    register_count: int

    def writes(self, registers: Sequence[Index]) -> Writes:
        """What it writes with these registers, `register_count` of them in the order of the text."""
        return self.form.body(*parse(self.operand_text, registers))

    def open_writes(self) -> Writes:
        """The writes with every register number left open as a `Slot`."""
        return self.writes([Slot(k) for k in range(self.register_count)])

    @property
    def traps(self) -> bool:
        """Whether it raises an exception on purpose: see `isa.refusals.TRAP_REASONS`."""
        return self.form.mnemonic in TRAPS

    @cached_property
    def places_written(self) -> tuple[Place, ...]:
        """The registers that it writes, left open."""
        return tuple(w.place for w in self.open_writes() if isinstance(w.place, Place))

    @cached_property
    def places_read(self) -> frozenset[Place]:
        """The registers that it reads, left open."""
        return _places_read(lanes_of(self.open_writes()))

    @cached_property
    def slots_read(self) -> tuple[tuple[str, int], ...]:
        """The open registers that it reads: their file, and their number in the text; sorted."""
        return tuple(sorted((p.file, p.index.number) for p in self.places_read if isinstance(p.index, Slot)))

    @cached_property
    def is_branch(self) -> bool:
        """Whether it writes the program counter."""
        return any(isinstance(w.place, Place) and w.place.file == "pc" for w in self.open_writes())

    @cached_property
    def stores(self) -> bool:
        """Whether it writes memory."""
        return any(isinstance(w.place, Memory) for w in self.open_writes())

    @cached_property
    def can_saturate(self) -> bool:
        """Whether it can set FPSR.QC: whether its expressions have `Saturate` nodes."""
        for node in walk(lanes_of(self.open_writes())):
            match node:
                case Saturate():
                    return True
                case Constant() | Read() | Load() | Field() | Pick() | Binary() | Floating():
                    pass
                case _:
                    assert_never(node)
        return False


@dataclass(frozen=True, eq=False)
class Instruction:
    """One instruction: what it writes, as expressions whose leaves are what it reads."""

    pattern: Pattern
    registers: tuple[int, ...]

    @property
    def form(self) -> Form:
        """The row of the table that it is an instance of."""
        return self.pattern.form

    @cached_property
    def text(self) -> str:
        """Its assembly text, with its registers."""
        return fill_registers(self.pattern.text, self.registers)

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """What it writes; all of it is computed before any of it is written."""
        return self.pattern.writes(self.registers)

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Every expression of the instruction: the written lanes, then the addresses of its stores."""
        return lanes_of(self.writes)

    @cached_property
    def places_written(self) -> tuple[Place, ...]:
        """The registers it writes; a QC that it may set is not among them (see `can_saturate`)."""
        return tuple(self._filled(place) for place in self.pattern.places_written)

    @property
    def stores(self) -> bool:
        """Whether it writes memory."""
        return self.pattern.stores

    @cached_property
    def places_read(self) -> tuple[Place, ...]:
        """The registers it reads, sorted by name: the leaves of its expressions.  Memory is not among them."""
        return tuple(sorted({self._filled(place) for place in self.pattern.places_read}, key=str))

    def _filled(self, place: Place) -> Place:
        return Place(place.file, self.registers[place.index.number]) if isinstance(place.index, Slot) else place

    @property
    def can_saturate(self) -> bool:
        """Whether it can set FPSR.QC: whether its expressions have `Saturate` nodes."""
        return self.pattern.can_saturate

    @property
    def is_branch(self) -> bool:
        """Whether it writes the program counter."""
        return self.pattern.is_branch

    @property
    def is_call(self) -> bool:
        """Whether it is a branch that leaves in x30 where to come back to."""
        return self.is_branch and Place("x", 30) in self.places_written

    @property
    def traps(self) -> bool:
        """Whether it raises an exception on purpose and so ends a run."""
        return self.pattern.traps
