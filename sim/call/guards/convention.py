"""What AAPCS64 asks of a function besides its arguments and its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from isa.instruction import Instruction, Pattern, lanes_of
from isa.lane import Load, Memory, Place, Read, walk
from isa.semantics.base.exclusive import MONITOR
from sim.machine.registers import RegisterStorage
from sim.machine.trace import Step

SP, FPCR = Place("sp"), Place("fpcr")
PLATFORM_REGISTER = Place("x", 18)
"""A temporary register on Linux, where compilers use it; others reserve it, Apple's, Windows and Android among them
(AAPCS64 6.1.1)."""
ALIGNMENT = 16
"""Of sp where memory is accessed through it, which hardware checks, and at calls (AAPCS64 6.4.5.1 and 6.4.5.2)."""
PATTERNS_KEPT: Final = 4096
"""Patterns of instructions whose traits are not found again."""
Exclusive = Literal["", "load", "store", "clear"]
_LOW_HALF = (1 << 64) - 1
PRESERVED = (
    *(Place("x", number) for number in range(19, 30)),
    *(Place("v", number) for number in range(8, 16)),
    SP,
    FPCR,
    Place("tpidr"),
)
"""x19 to x28 and the frame pointer x29 (AAPCS64 6.1.1), d8 to d15 (6.1.2), sp, the modes in FPCR (6.1.3), and
the thread pointer, by which the whole thread finds its variables (AAELF64, TLS variant 1)."""


def not_preserved(before: RegisterStorage, after: RegisterStorage) -> Iterator[tuple[Place, int, int]]:
    """The registers that a function must give back as they were and has not, with both values."""
    for place in PRESERVED:
        kept = _LOW_HALF if place.file == "v" else -1
        was, now = before.read(place) & kept, after.read(place) & kept
        if was != now:
            yield place, was, now


def name_of(place: Place) -> str:
    """The register as the rule names it, d8 to d15 where only the low half counts."""
    return f"d{place.index}" if place.file == "v" else str(place)


def last_writes(steps: Iterable[Step]) -> dict[Place, Step]:
    """The last step that wrote each register."""
    return {place: step for step in steps for place, _, _ in step.writes}


class Traits(NamedTuple):
    """What of an instruction guards ask at every step."""

    is_branch: bool
    needs_aligned_sp: bool
    writes_platform_register: bool
    exclusive: Exclusive


def traits_of(instruction: Instruction) -> Traits:
    """Those of one instruction: whether it accesses memory through sp or calls, writes x18, or is exclusive."""
    needs_aligned_sp, exclusive = _traits_of_pattern(instruction.pattern)
    writes_platform_register = PLATFORM_REGISTER in instruction.places_written
    return Traits(instruction.is_branch, needs_aligned_sp, writes_platform_register, exclusive)


@lru_cache(PATTERNS_KEPT)
def _traits_of_pattern(pattern: Pattern) -> tuple[bool, Exclusive]:
    """Whether it needs an aligned sp, and whether it is exclusive: that is so whatever the registers' numbers are."""
    writes = pattern.open_writes()
    loads = [node.address for node in walk(lanes_of(writes)) if isinstance(node, Load)]
    stores = [write.place.address for write in writes if isinstance(write.place, Memory)]
    through_sp = any(isinstance(node, Read) and node.place == SP for node in walk([*loads, *stores]))
    exclusive: Exclusive = ""
    if MONITOR in pattern.places_written:
        exclusive = "store" if stores else "load" if loads else "clear"
    return through_sp or pattern.form.mnemonic in ("bl", "blr"), exclusive
