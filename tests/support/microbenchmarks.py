"""Endless loops that measure an instruction class: independent instructions, a chain of results, one of accumulators.

A chain whose result is no operand of its own class (a compare, a load into a vector register) goes back through a
partner: FMOV between the register files, CSEL and FCSEL for the flags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from isa.acle.register_slots import slots_of
from isa.decode import decode
from isa.encodings import recorded_words
from isa.instruction import Instruction, Pattern
from isa.rows import TABLE
from sim.timing.classes.all_classes import timing_class
from sim.timing.loops.loop import Loop
from sim.timing.loops.steady import time_loop
from sim.timing.model.core import Core
from sim.timing.model.stream import Executed

RINGS: Mapping[str, tuple[int, ...]] = {"v": (*range(12), *range(16, 32)), "x": tuple(range(24))}
"""Registers that results go to in turn."""
CONSTANT = {"v": 12, "x": 24}
"""The first of four registers that nothing writes."""
PARTNERS = {
    ("v", "x"): ("fmov", "x0, d0"),
    ("x", "v"): ("fmov", "d0, x0"),
    ("nzcv", "x"): ("csel", "x0, x27, x27, eq"),
    ("nzcv", "v"): ("fcsel", "d0, d15, d15, eq"),
}
"""Instructions that carry a result from one register file to the other."""
UNROLLED = 12
LINKS = 4
"""Of a chain, so that no instruction reads the register that it writes; as each waits, more would show no more."""
MANY = 1000
"""Iterations; every pipeline is full after fewer."""
ALWAYS_TAKEN = ("b", "bl", "br", "blr", "ret", "retaa", "retab")


@dataclass(frozen=True)
class Probe:
    """A pattern of a class with what a measurement needs of its slots."""

    pattern: Pattern

    @cached_property
    def reads(self) -> Mapping[int, str]:
        return slots_of(self.pattern).reads

    @cached_property
    def writes(self) -> Mapping[int, str]:
        return slots_of(self.pattern).writes

    @cached_property
    def result(self) -> tuple[int | None, str] | None:
        """The slot (None: the flags) and register file of the result: rather not a base that moves on, nor a lane."""
        if self.writes:
            slot = min(self.writes, key=lambda slot: (slot in self.reads, slot))
            return slot, self.writes[slot]
        return (None, "nzcv") if self._writes_flags else None

    @cached_property
    def _writes_flags(self) -> bool:
        return any(place.file == "nzcv" for place in Instruction(self.pattern, self.registers(0, {})).places_written)

    def operand(self, file: str) -> int | None:
        """The slot to hang a chain on: a source of that register file that is no accumulator, if there is one."""
        listed = {slot for numbers in slots_of(self.pattern).lists for slot in numbers}
        slots = [slot for slot, of in self.reads.items() if of == file]
        result = self.result[0] if self.result else None
        if result in self.reads and self.is_access:
            return result
        return min(slots, key=lambda s: (s == result, s in self.writes, s in listed, s), default=None)

    @cached_property
    def accumulator(self) -> int | None:
        """The slot of the operand that a product is added to."""
        slot = min(self.writes, default=None)
        if slot in self.reads:
            return slot
        return 3 if self.pattern.register_count == 4 and self.reads.keys() == {1, 2, 3} else None

    @cached_property
    def is_access(self) -> bool:
        """Whether its general source registers make an address."""
        return "[x" in self.pattern.operand_text

    @cached_property
    def moves_base(self) -> bool:
        """Whether its result is nothing but an updated base register."""
        indexed = self.pattern.form.shape.endswith(("!", "post"))
        return indexed and self.result is not None and self.result[0] in self.reads

    def copies(self) -> int:
        """How many of it write different registers."""
        files = list(self.writes.values())
        return min((len(RINGS[file]) // files.count(file) for file in set(files)), default=UNROLLED)

    def registers(self, number: int, fixed: Mapping[int, int]) -> tuple[int, ...]:
        """Registers of the copy with this number: results in turn, sources constant, but for those that are fixed."""
        return tuple(fixed.get(slot, self._register(slot, number)) for slot in range(self.pattern.register_count))

    def _register(self, slot: int, number: int) -> int:
        if slot in self.writes:
            file = self.writes[slot]
            slots = [other for other, of in self.writes.items() if of == file]
            return RINGS[file][number % self.copies() * len(slots) + slots.index(slot)]
        listed = next((numbers for numbers in slots_of(self.pattern).lists if slot in numbers), (slot,))
        return CONSTANT[self.reads.get(slot, "x")] + listed.index(slot)


@cache
def probes() -> Mapping[str, list[Probe]]:
    """Probes of every class, one for each form; of its recorded words one that uses most registers."""
    found: dict[str, list[Probe]] = {}
    for words in recorded_words().values():
        patterns = [decode(word.to_bytes(4, "little")).pattern for word in words]
        for name in dict.fromkeys(map(timing_class, patterns)):
            alike = [Probe(pattern) for pattern in patterns if timing_class(pattern) == name]
            found.setdefault(name, []).append(max(alike, key=_registers_used))
    return found


def _registers_used(probe: Probe) -> int:
    return len(probe.reads.keys() | probe.writes.keys())


def stream_of(body: Sequence[Instruction]) -> tuple[Executed, ...]:
    """The instructions as if executed: without addresses, and branches taken if they always are."""
    return tuple(Executed(None, one, (), (), one.form.mnemonic in ALWAYS_TAKEN, None) for one in body)


def cycles_each(body: Sequence[Instruction], core: Core) -> Fraction:
    """Cycles of an iteration of an endless loop of these instructions, as `in_the_long_run`."""
    stream = stream_of(body)
    return in_the_long_run(Loop(stream, ((),) * len(stream)), core)


def in_the_long_run(loop: Loop, core: Core) -> Fraction:
    """Cycles of an iteration: exact where the loop soon repeats itself, else what a thousand take after a thousand.

    Fractions of a cycle that meet choices of pipes can need ten thousands of iterations for the exact number.
    """
    both = time_loop(loop, core, 2 * MANY)
    if both.period:
        return both.per_iteration
    return Fraction(both.cycles - time_loop(loop, core, MANY).cycles, MANY)


@cache
def independent(probe: Probe) -> list[Instruction]:
    """Instructions of which none waits for another."""
    return [Instruction(probe.pattern, probe.registers(number, {})) for number in range(probe.copies())]


@cache
def accumulating(name: str) -> list[Instruction]:
    """An instruction of that class that adds to its own result; none where the class has no accumulator."""
    for probe in probes()[name]:
        if (slot := probe.accumulator) is not None:
            target = RINGS[probe.reads[slot]][0]
            return [Instruction(probe.pattern, probe.registers(0, {slot: target, min(probe.writes): target}))]
    return []


@dataclass(frozen=True)
class Chain:
    """Instructions of which each needs the result of the one before; `classes` are those of one link of it.

    `through_address`: from a result in a general register to an address.  `of_bases`: of updated base registers.
    """

    body: list[Instruction]
    classes: tuple[str, ...]
    through_address: bool
    of_bases: bool


@cache
def chain(probe: Probe) -> Chain | None:
    """The chain of a probe, through a partner where it needs one; None where there can be none."""
    if probe.result is None:
        return None
    slot, file = probe.result
    if slot is not None and (operand := probe.operand(file)) is not None:
        return _direct(probe, slot, operand)
    for (source, target), (mnemonic, operands) in PARTNERS.items():
        if source == file and (operand := probe.operand(target)) is not None:
            return _through(probe, slot, operand, TABLE.instruction(mnemonic, operands))
    return None


def _direct(probe: Probe, slot: int, operand: int) -> Chain:
    copies = 1 if operand == slot else min(probe.copies(), LINKS)

    def link(number: int) -> Instruction:
        before = probe.registers((number - 1) % copies, {})[slot]
        return Instruction(probe.pattern, probe.registers(number, {operand: before}))

    body = [link(number) for number in range(copies)]
    through_address = probe.is_access and probe.reads[operand] == "x"
    return Chain(body, (timing_class(probe.pattern),), through_address, probe.moves_base)


def _through(probe: Probe, slot: int | None, operand: int, partner: Instruction) -> Chain:
    carried = partner.registers[0]
    one = Instruction(probe.pattern, probe.registers(0, {operand: carried}))
    back = partner if slot is None else Instruction(partner.pattern, (carried, one.registers[slot]))
    scalar = partner.text.startswith("fmov x")
    classes = timing_class(probe.pattern), timing_class(partner.pattern)
    return Chain([one, back], classes, scalar and probe.is_access, False)


@cache
def shortest(name: str) -> Probe:
    """The probe of a class whose chain needs no partner, if there is one."""
    return min(probes()[name], key=_detours)


def _detours(probe: Probe) -> int:
    found = chain(probe)
    return len(found.classes) if found else 9
