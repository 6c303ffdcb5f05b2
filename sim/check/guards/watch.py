"""Watching one call: every step in lockstep, and the registers when it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from isa.instruction import Instruction
from sim.check.guards.bounds import Bounds, Breach
from sim.check.guards.convention import ALIGNMENT, Traits, last_writes, name_of, not_preserved, traits_of
from sim.check.guards.findings import GuardFinding
from sim.image import Image
from sim.machine.errors import AlignmentFault, ExecutionError, MemoryFault
from sim.machine.machine import Machine
from sim.machine.registers import Registers
from sim.machine.trace import Step

Repeat = Callable[[], Iterable[Step]]
"""Makes the call once more, step by step."""
_LOOP = 2000
"""Steps in which an endless loop shows its lines."""
_LINES = 8


class Watch:
    """Guards one call of a machine that is ready for it; `branches` is where each branch led, in order."""

    def __init__(self, machine: Machine, image: Image, bounds: Bounds, known: dict[Instruction, Traits]) -> None:
        self.branches: list[int] = []
        self.bounds = bounds
        self._machine, self._image = machine, image
        self._entry = Registers()
        self._entry.copy(machine.registers)
        self._traits = known
        self._platform_register: Step | None = None

    def check(self, step: Step, sp: int) -> GuardFinding | None:
        """What a step did wrong; `sp` is that before it."""
        traits = self._traits.get(step.instruction) or self._learn(step.instruction)
        if traits.is_branch:
            self.branches.append(step.next_pc)
        if traits.writes_platform_register:
            self._platform_register = self._platform_register or step
        if sp % ALIGNMENT and traits.needs_aligned_sp:
            said = f"uses sp = {sp:#x}, which is no multiple of {ALIGNMENT}"
            return self._placed(step, Breach("misaligned sp", said, "sp"))
        if step.reads_memory or step.memory:
            found = self.bounds.check(step, min(sp, self._machine.sp))
            return None if found is None else self._placed(step, found)
        return None

    def of_fault(self, fault: MemoryFault) -> GuardFinding | None:
        """The finding that a fault is; None for a fetch, and for the stack when it is too small."""
        if fault.pc is None or not fault.disassembly:
            return None
        if isinstance(fault, AlignmentFault):
            found: Breach | None = Breach("misaligned access", fault.reason, "")
        else:
            found = self.bounds.breach(fault.address, fault.size, fault.writes, self._machine.sp)
        return None if found is None else self._finding(found, fault.disassembly, fault.pc)

    def of_limit(self, limit: int) -> GuardFinding:
        """The finding that a call is which has not returned; the machine goes on for a while, and back again."""
        steps: list[Step] = []
        with suppress(ExecutionError):
            steps.extend(self._machine.step() for _ in range(_LOOP))
        for step in reversed(steps):
            for address, old, _ in reversed(step.memory):
                self._machine.memory.write(address, old)
        return self._of_loop(steps, limit)

    def _of_loop(self, steps: list[Step], limit: int) -> GuardFinding:
        places = [self._image.source_line(pc) for pc in sorted({step.pc for step in steps})]
        lines = list(dict.fromkeys(str(place) for place in places if place is not None)) or ["no source line"]
        shown = ", ".join(lines[:_LINES]) + (", ..." if len(lines) > _LINES else "")
        said = f"is executed still: the kernel did not return within {limit:,} instructions, and goes round {shown}"
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
                yield GuardFinding("register not preserved", values, where=name)
        if self._platform_register is not None:
            said = "writes x18, a temporary register on Linux, which other platforms reserve (AAPCS64 6.1.1)"
            note = self._placed(self._platform_register, Breach("platform register", said, "x18"))
            yield replace(note, harmless=True)

    def _learn(self, instruction: Instruction) -> Traits:
        traits = self._traits[instruction] = traits_of(instruction)
        return traits

    def _placed(self, step: Step, breach: Breach) -> GuardFinding:
        return self._finding(breach, step.instruction.text, step.pc)

    def _finding(self, breach: Breach, instruction: str, pc: int) -> GuardFinding:
        return GuardFinding(
            breach.kind, breach.says, instruction, pc, self._image.place_of(pc), breach.where, breach.first, breach.last
        )
