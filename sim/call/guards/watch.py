"""Watching one call: every step in lockstep, and the registers when it returns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from isa.instruction import Instruction
from sim.call.guards.bounds import NOT_THERE, AccessBounds, Breach
from sim.call.guards.convention import ALIGNMENT, Traits, last_writes, name_of, not_preserved, traits_of
from sim.call.guards.findings import IN_FRONT, GuardFinding
from sim.machine.errors import AlignmentFault, ExecutionError, MemoryFault, Unpredictable
from sim.machine.machine import Machine
from sim.machine.registers import RegisterStorage
from sim.machine.trace import Step
from sim.toolchain.branches import is_before_loop
from sim.toolchain.image import Image

Repeat = Callable[[], Iterable[Step]]
"""Makes the call once more, step by step."""
_CALLS = re.compile(r"blr?a?[ab]?z? ")
_LOOP = 2000
"""Steps in which an endless loop shows its lines."""
_LINES = 8


class Watch:
    """Guards one call of a machine that is ready for it; `branches` is where each branch led, in order.

    `platform_register` is the first instruction that wrote x18, and its address.  `seen`, `seen_at` and
    `changed_memory` are the registers and the place behind a branch with which later ones are compared, and whether
    memory has changed since.
    """

    def __init__(self, machine: Machine, image: Image, bounds: AccessBounds, known: dict[Instruction, Traits]) -> None:
        self.branches = array("Q")
        self.bounds = bounds
        self._machine, self._image = machine, image
        self._entry = RegisterStorage()
        self._entry.copy(machine.registers)
        self._traits = known
        self.platform_register: tuple[Instruction, int] | None = None
        self.seen, self.seen_at, self.changed_memory = RegisterStorage(), -1, False
        self._exclusive: tuple[int, int] | None = None

    def check(self, step: Step, sp: int) -> GuardFinding | None:
        """What a step did wrong; `sp` is that before it."""
        traits = self._traits.get(step.instruction)
        if traits is None:
            traits = self._traits[step.instruction] = traits_of(step.instruction)
        self.changed_memory |= any(old != new for _, old, new in step.memory)
        if traits.is_branch:
            self.branches.append(step.next_pc)
            if self._is_again():
                return self._of_loop(self._next_steps(), "registers and memory are again as they were")
        if traits.writes_platform_register:
            self.platform_register = self.platform_register or (step.instruction, step.pc)
        if traits.exclusive and (mismatch := self._mismatched(step, traits)) is not None:
            return self._placed(step, mismatch)
        if sp % ALIGNMENT and traits.needs_aligned_sp:
            said = f"uses sp = {sp:#x}, which is no multiple of {ALIGNMENT}"
            return self._placed(step, Breach("misaligned sp", said, "sp"))
        if step.reads_memory or step.memory:
            found = self.bounds.check(step, min(sp, self._machine.sp))
            return None if found is None else self._placed(step, found)
        return None

    def _mismatched(self, step: Step, traits: Traits) -> Breach | None:
        """What is wrong with a store exclusive of another address or size than the load exclusive before it.

        Whether it stores, and what status it gives, is left open then, and of another size, also what memory holds
        (Arm ARM B2.12, usage restrictions of Load-Exclusive and Store-Exclusive).
        """
        opened, self._exclusive = self._exclusive, None
        if traits.exclusive == "load":
            ((address, data),) = step.reads_memory
            self._exclusive = address, len(data)
        elif traits.exclusive == "store" and opened is not None:
            ((address, _, data),) = step.memory
            stored = address, len(data)
            if stored != opened:
                of_store, of_load = (f"{size} bytes at {address:#x}" for address, size in (stored, opened))
                said = f"stores {of_store}, the load exclusive before was of {of_load}: Arm leaves open if it passes"
                return Breach("mismatched exclusive", said, "")
        return None

    def _is_again(self) -> bool:
        """Whether the machine is behind a branch in a state in which it was before: then it goes round for ever.

        The state is compared with that behind the latest branch whose number is a power of two (Brent's algorithm).
        """
        machine, count = self._machine, len(self.branches)
        if machine.pc == self.seen_at and not self.changed_memory and machine.registers.equal(self.seen):
            return True
        if not count & (count - 1):
            self.seen.copy(machine.registers)
            self.seen_at, self.changed_memory = machine.pc, False
        return False

    def of_fault(self, fault: MemoryFault) -> GuardFinding | None:
        """The finding that a fault is; None for a fetch of what is no missing symbol."""
        if fault.pc is None:
            return None
        if not fault.disassembly:
            return self._of_missing_function(fault.address)
        if isinstance(fault, AlignmentFault):
            return self._finding(Breach("misaligned access", fault.reason, ""), fault.disassembly, fault.pc)
        sp = self._machine.sp
        return self.of_access(fault.address, fault.size, fault.writes, sp, fault.disassembly, fault.pc)

    def of_access(
        self, address: int, size: int, writes: bool, sp: int, instruction: str, pc: int
    ) -> GuardFinding | None:
        """The finding that an access of `size` bytes is; None where it is allowed, as a declared over-read is."""
        found = self.bounds.breach(address, size, writes, sp)
        return None if found is None or found.allowed else self._finding(found, instruction, pc)

    def _of_missing_function(self, address: int) -> GuardFinding | None:
        """The call of a function that nothing defines, with the instruction that made it where the link register tells.

        A function that is jumped to, at the end of another, leaves no trace of where it was.
        """
        name = self._image.missing_at(address)
        if name is None:
            return None
        back = self._machine.x[30] - 4
        with suppress(ExecutionError):
            if _CALLS.match(text := self._machine.disassembly_at(back)):
                return self._finding(Breach("missing symbol", f"calls {name!r}, {NOT_THERE}", name), text, back)
        return GuardFinding(kind="missing symbol", says=f"{name!r} is jumped to, {NOT_THERE}", where=name)

    def of_unpredictable(self, error: Unpredictable) -> GuardFinding:
        """The finding that an instruction is of which Arm leaves open what it does."""
        breach = Breach("unpredictable instruction", f"has no one meaning: {error.reason}", "")
        return self._finding(breach, error.disassembly, error.address)

    def of_limit(self, limit: int) -> GuardFinding:
        """The finding that a call is which has not returned."""
        return self._of_loop(self._next_steps(), f"the kernel did not return within {limit:,} instructions")

    def _next_steps(self) -> list[Step]:
        """The machine goes on for a while, and back again."""
        steps: list[Step] = []
        with suppress(ExecutionError):
            steps.extend(self._machine.step() for _ in range(_LOOP))
        for step in reversed(steps):
            for address, old, _ in reversed(step.memory):
                self._machine.memory.write(address, old)
        return steps

    def _of_loop(self, steps: list[Step], reason: str) -> GuardFinding:
        places = [self._image.source_line(pc) for pc in sorted({step.pc for step in steps})]
        lines = list(dict.fromkeys(str(place) for place in places if place is not None)) or ["no source line"]
        shown = ", ".join(lines[:_LINES]) + (", ..." if len(lines) > _LINES else "")
        said = f"is executed still: {reason}, and it goes round {shown}"
        pc = steps[0].pc if steps else self._machine.pc
        return self._finding(Breach("instruction limit", said, ""), self._machine.disassembly_at(pc), pc)

    def at_return(self, repeat: Repeat) -> Iterator[GuardFinding]:
        """What the function did not preserve, with the instructions that wrote it last; its use of x18 as a note."""
        broken = list(not_preserved(self._entry, self._machine.registers))
        writes = last_writes(repeat()) if broken else {}
        for place, was, now in broken:
            name = name_of(place)
            values = f"{name}: {was:#x} at the call, {now:#x} at return (AAPCS64 6.1)"
            if place in writes:
                said = f"is the last to write {values}"
                yield self._placed(writes[place], Breach("register not preserved", said, name))
            else:
                yield GuardFinding(kind="register not preserved", says=values, where=name)
        if self.platform_register is not None:
            said = "writes x18, a temporary register on Linux, which other platforms reserve (AAPCS64 6.1.1)"
            instruction, pc = self.platform_register
            yield self._finding(Breach("platform register", said, "x18"), instruction.text, pc, harmless=True)

    def _placed(self, step: Step, breach: Breach) -> GuardFinding:
        return self._finding(breach, step.instruction.text, step.pc)

    def _finding(self, breach: Breach, instruction: str, pc: int, harmless: bool = False) -> GuardFinding:
        once = "" if harmless or not is_before_loop(pc, self._image) else f"; it stands {IN_FRONT}"
        return GuardFinding(
            kind=breach.kind,
            says=f"{breach.says}{once}",
            instruction=instruction,
            pc=pc,
            source=self._image.place_of(pc),
            inlined=self._image.inlined_at(pc),
            where=breach.where,
            first=breach.first,
            last=breach.last,
            harmless=harmless,
        )
