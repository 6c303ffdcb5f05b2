"""What AAPCS64 asks of a function besides its arguments and its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from isa.instruction import Instruction
from isa.lane import Lane, Memory, Place, walk
from sim.machine.registers import Registers
from sim.machine.trace import Step

SP, FPCR = Place("sp"), Place("fpcr")
PLATFORM_REGISTER = Place("x", 18)
"""A temporary register on Linux, where compilers use it; others reserve it, Apple's, Windows and Android among them
(AAPCS64 6.1.1)."""
ALIGNMENT = 16
"""Of sp where memory is accessed through it, which hardware checks, and at calls (AAPCS64 6.4.5.1 and 6.4.5.2)."""
_LOW_HALF = (1 << 64) - 1
_PRESERVED = (
    *(Place("x", number) for number in range(19, 30)),
    *(Place("v", number) for number in range(8, 16)),
    SP,
    FPCR,
)
"""x19 to x28 and the frame pointer x29 (AAPCS64 6.1.1), d8 to d15 (6.1.2), sp, and the modes in FPCR (6.1.3)."""


def not_preserved(before: Registers, after: Registers) -> Iterator[tuple[Place, int, int]]:
    """The registers that a function must give back as they were and has not, with both values."""
    for place in _PRESERVED:
        was, now = (_kept_part(place, registers.read(place)) for registers in (before, after))
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


def traits_of(instruction: Instruction) -> Traits:
    """Those of one instruction: whether it accesses memory through sp or calls, and whether it writes x18."""
    return Traits(
        instruction.is_branch, _needs_aligned_sp(instruction), PLATFORM_REGISTER in instruction.places_written
    )


def _needs_aligned_sp(instruction: Instruction) -> bool:
    loads = [node.args[0] for node in walk(instruction.lanes) if node.op == "load"]
    stores = [write.place.address for write in instruction.writes if isinstance(write.place, Memory)]
    return instruction.form.mnemonic in ("bl", "blr") or _read_sp([*loads, *stores])


def _read_sp(addresses: Sequence[Lane]) -> bool:
    return any(node.op == "read" and node.detail == SP for node in walk(addresses))


def _kept_part(place: Place, value: int) -> int:
    return value & _LOW_HALF if place.file == "v" else value
