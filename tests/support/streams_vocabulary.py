"""The words that random streams are made of, sorted by how an instruction can stand in a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Protocol, TypeVar

from isa.decode import decode
from isa.encodings import recorded_words
from isa.instruction import Form, Instruction
from isa.lane import Load, Place, walk
from isa.operands import Address, General
from isa.parse import parse
from isa.refusals import TRAPS
from isa.table import UnknownInstruction

SCRATCH, LINK, POOL_BASE, COUNTER = 25, 26, 27, 28
"""General registers that streams need: for setting SP, for the return address, for constants, for counting loops."""
FREE = (*range(SCRATCH), 29, 30)
"""The general registers that streams leave to their instructions alone."""
RESERVED = frozenset(Place("x", number) for number in (SCRATCH, LINK, POOL_BASE, COUNTER))
NOP = 0xD503201F
SKIPS = ("b", "b.cond", "bl", "cbz", "cbnz", "tbz", "tbnz")
JUMPS = ("br", "blr", "ret")
_FIELDS = (0x003FFFFF, 0x001FFFFF, 0x001F7FFF, 0x001F03FF, 0x000703FF, 0x3FF, 0x1F)
"""What is randomised of a word, the most that leaves it the same form: immediates, then Rm, Ra, Rn and Rd."""
_REGISTER_FIELDS = (0, 5, 10, 16)


T = TypeVar("T")


class Chance(Protocol):
    """What streams are drawn from: `random.Random`, or Hypothesis in its place."""

    def randrange(self, stop: int, /) -> int: ...

    def getrandbits(self, bits: int, /) -> int: ...

    def choice(self, items: Sequence[T], /) -> T: ...


@dataclass
class Vocabulary:
    """Words by form name: `plain` ones stand anywhere, `accesses` need their address registers set, `literals` a
    place that they load from; `skips` branch to an immediate, `jumps` to a register.  `left_out` says why a form is in
    none of them."""

    plain: dict[str, tuple[int, ...]] = field(default_factory=dict)
    accesses: dict[str, tuple[int, ...]] = field(default_factory=dict)
    literals: dict[str, tuple[int, ...]] = field(default_factory=dict)
    skips: dict[str, tuple[int, ...]] = field(default_factory=dict)
    jumps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, words: tuple[int, ...]) -> None:
        """Sort one form in."""
        if reason := reason_to_leave_out(decoded(words[0])):
            self.left_out[name] = reason
        else:
            self._class_of(decoded(words[0]))[name] = words

    def _class_of(self, instruction: Instruction) -> dict[str, tuple[int, ...]]:
        if instruction.is_branch:
            return self.skips if instruction.form.mnemonic in SKIPS else self.jumps
        if address_of(instruction) is not None:
            return self.accesses
        return self.literals if reads_memory(instruction) else self.plain

    @cached_property
    def of(self) -> dict[str, tuple[int, ...]]:
        """The words of every form that takes part."""
        return self.plain | self.accesses | self.literals | self.skips | self.jumps

    @cached_property
    def instructions(self) -> list[str]:
        """The forms that are no branches."""
        return [*self.plain, *self.accesses, *self.literals]


@cache
def vocabulary() -> Vocabulary:
    """All forms that have recorded words."""
    made = Vocabulary()
    for name, words in recorded_words().items():
        made.add(name, words)
    return made


def reason_to_leave_out(instruction: Instruction) -> str:
    """Why no stream has instructions of this form; "" if they take part."""
    if instruction.form.mnemonic in TRAPS:
        return "it ends the run"
    if instruction.is_branch and instruction.form.mnemonic not in (*SKIPS, *JUMPS):
        return "streams know no target for such a branch"
    if instruction.stores and address_of(instruction) is None:
        return "its address is no operand"
    return ""


@lru_cache(1 << 16)
def decoded(word: int) -> Instruction:
    """The instruction of a word at address 0.  Raises UnknownInstruction."""
    return decode(word.to_bytes(4, "little"))


def address_of(instruction: Instruction) -> Address | None:
    """Its memory operand."""
    operands = parse(instruction.pattern.operand_text, instruction.registers)
    return next((operand for operand in operands if isinstance(operand, Address)), None)


def reads_memory(instruction: Instruction) -> bool:
    """Whether it loads anything."""
    return any(isinstance(node, Load) for node in walk(instruction.lanes))


def varied(word: int, rng: Chance) -> int:
    """Another word of the same form that may stand in a stream: other registers, where possible other immediates.

    A NOP where chance finds none.
    """
    form = decoded(word).form
    bits = _field_bits(rng)
    for mask in _FIELDS:
        candidate = word & ~mask | bits & mask
        if _is_form(candidate, form) and may_stand(decoded(candidate)):
            return candidate
    return word if may_stand(decoded(word)) else NOP


def _field_bits(rng: Chance) -> int:
    """Random bits; often several register fields hold the same number, and zeros are as likely as anything."""
    bits = rng.getrandbits(32)
    if rng.randrange(3):
        return bits
    register = rng.randrange(32)
    for position in (rng.choice(_REGISTER_FIELDS) for _ in range(4)):
        bits = bits & ~(31 << position) | register << position
    return bits


def _is_form(word: int, form: Form) -> bool:
    try:
        return decoded(word).form is form
    except UnknownInstruction:
        return False


def may_stand(instruction: Instruction) -> bool:
    """Whether it leaves the reserved registers alone."""
    if RESERVED.intersection(instruction.places_written):
        return False
    address = address_of(instruction)
    if address is None:
        return True
    used = [address.base, *_index(address)]
    return not RESERVED.intersection(register.place for register in used)


def _index(address: Address) -> list[General]:
    offset = address.offset
    base = getattr(offset, "base", offset)
    return [base] if isinstance(base, General) else []
