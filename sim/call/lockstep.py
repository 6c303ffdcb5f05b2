"""Machine and emulator run the same program from the same state, compared after every instruction.

Registers, flags, the sticky bits of FPSR and the modes of FPCR are compared as a whole after each instruction.  Of
memory, each side's writes are noted, the emulator's by a hook: after each instruction both must have written the same
bytes, and bytes of the same value.  At the end of a run all writable memory that was ever touched is compared, for what
no note says.  The first divergence stops the run.

This is said twice: here in Python, which also makes the reports, and for long runs in C (`sim.call.native`).

An instruction that the emulator lacks is executed by the machine alone: its result is copied into the emulator, and it
is counted as unverified.  So is one that the emulator is known to get wrong (`sim.call.definitions`).
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from isa.errors import LanewiseError
from isa.evaluate.exact import QC
from isa.evaluate.floating.formats import EXCEPTIONS, MODES
from isa.instruction import Instruction
from isa.lane import Memory as MemoryPlace
from isa.semantics.base.exclusive import MONITOR
from sim.call.definitions import is_emulated_wrongly
from sim.call.guards.findings import GuardError, GuardFinding
from sim.call.guards.watch import Watch
from sim.call.native.code import PATIENCE
from sim.call.native.lockstep import CompiledFault, NativeLockstep
from sim.call.native.share import NativeShare
from sim.emulator import Emulator
from sim.machine.errors import AlignmentFault, ExecutionError, MemoryFault, Unpredictable, UnsupportedInstruction
from sim.machine.machine import Machine
from sim.machine.memory import merged
from sim.machine.registers import SP, VISIBLE_PLACES, RegisterStorage
from sim.machine.trace import Step
from sim.toolchain.image import Image

FPSR_STICKY = QC | EXCEPTIONS
"""The bits of FPSR that instructions set (Arm ARM C5.2.9)."""
_COMPARED = {"fpsr": FPSR_STICKY, "fpcr": MODES}


class Input(NamedTuple):
    """A register that the divergent instruction read, before it ran."""

    place: str
    value: int


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The first instruction after which the two machines differ.

    `where` is the register, memory byte, "pc" or "fault" that differs and `lane` the number of the first lane that
    does (None where there are no lanes); `machine` and `emulator` are the two values of that lane, as text.  `form` is
    empty where no instruction was seen to do it: where the machine has none, and at the end of a run.
    """

    index: int
    pc: int
    disassembly: str
    form: str
    source: str
    where: str
    lane: int | None
    machine: str
    emulator: str
    inputs: tuple[Input, ...]

    def __str__(self) -> str:
        lane = "" if self.lane is None else f" lane {self.lane}"
        lines = [
            f"instruction {self.index} diverges: {self.pc:#x} {self.disassembly}  ({self.source})",
            f"  {self.where}{lane}: machine {self.machine}, emulator {self.emulator}",
            *(f"  input {item.place} = {item.value:#x}" for item in self.inputs),
        ]
        return "\n".join(lines)


class Lockstep:
    """One machine and one emulator, prepared alike by the caller (memory mapped and filled, registers set).

    `forms` are the instruction forms executed so far, `went` the addresses of instructions, each with where it went on,
    `unverified` counts by form the executions that the emulator could not check: it lacks them, or is known to get them
    wrong.  After so many instructions as `patience` says, native code runs and compares both (`sim.call.native`), where
    this computer has a compiler: `without_native` says why not.  `fallbacks` counts the instructions that it left to
    Python, by form of the first one and reason.
    """

    def __init__(
        self, machine: Machine, emulator: Emulator, image: Image | None = None, patience: int = PATIENCE
    ) -> None:
        self.machine = machine
        self.emulator = emulator
        self.forms: set[str] = set()
        self.went: set[tuple[int, int]] = set()
        self.unverified: Counter[str] = Counter()
        self.qc_events = 0
        self.without_native = ""
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self._native: NativeLockstep | None = None
        self._patience = patience
        self._image = image
        self._before = RegisterStorage()
        self._last: Step | None = None
        self._handed_over: bool
        self._written: list[tuple[int, int]] = []
        self._fault: ExecutionError | None = None
        self._divergence: Divergence | None = None
        self._watch: Watch | None = None
        self._finding: GuardFinding | None = None

    @property
    def native(self) -> NativeShare:
        """What ran in native code until now."""
        executed = self._native.executed if self._native is not None else 0
        left = {f"{form or 'no instruction'}: {reason}": count for (form, reason), count in self.fallbacks.items()}
        return NativeShare(executed, left, self.without_native)

    def run(self, until: int, max_instructions: int, watch: Watch | None = None) -> Divergence | None:
        """Run both from the machine's state until `until`; returns the first divergence, if there is one.

        Where both stop on the same fault or trap, that is raised.  An instruction that the machine does not have is
        raised as UnsupportedInstruction; one that only the emulator does not have is counted in `unverified`.  What
        `watch` finds is raised as GuardError; memory is then as before the step that it was found in.  An access that
        is not aligned is raised as the machine's AlignmentFault, an instruction of which Arm leaves open what it does
        as Unpredictable: the emulator lets some of them pass.
        """
        mine, theirs = (
            [(region.start, region.end, region.permissions) for region in memory.regions]
            for memory in (self.machine.memory, self.emulator.memory)
        )
        if mine != theirs:
            raise ValueError("machine and emulator must have the same regions of memory mapped")
        self._load_emulator()
        self._fault = self._divergence = self._finding = None
        self._watch = watch
        emulator_fault = None
        try:
            self._run_both(until % 2**64, max_instructions)
        except ExecutionError as error:
            emulator_fault = error
        if self._finding is not None:
            raise GuardError(self._finding)
        for fault in (self._fault, emulator_fault):
            if isinstance(fault, UnsupportedInstruction | AlignmentFault | Unpredictable):
                raise fault
        if self._divergence is None:
            self._compare_ends(emulator_fault)
        return self._divergence

    def _load_emulator(self) -> None:
        """Let the emulator begin where the machine is."""
        self.emulator.load_registers(self.machine.registers)
        self.emulator.pc = self.machine.pc
        self._last = None
        self._written.clear()

    def _run_both(self, until: int, max_instructions: int) -> None:
        """In native code as far as that goes, in Python where it does not, or where it is not worth a compiler."""
        machine, reason = self.machine, ""
        end = machine.instructions_executed + max_instructions
        while machine.pc != until and (left := end - machine.instructions_executed) > 0:
            native = self._native_lockstep()
            if native is not None:
                done = native.run(until, left, self._watch)
                self._take_notes(native)
                if done.differs:
                    self._repeat(native)
                    return
                self.emulator.load_registers(native.emulator.registers())
                self.emulator.pc = machine.pc
                left, reason = left - done.executed, done.reason
                if not reason:
                    return
                left = min(left, native.stretch)
            elif not self.without_native:
                left = min(left, self._patience - machine.instructions_executed)
            form = self._form_at(machine.pc) if reason else ""
            begun = machine.instructions_executed
            self._run_in_python(until, left)
            if reason:
                self.fallbacks[form, reason] += machine.instructions_executed - begun
            if self._is_over():
                return

    def _run_in_python(self, until: int, left: int) -> None:
        """So many instructions, compared one by one, the last one too."""
        self.emulator.run(until, left, self._advance, self._stand_in, self._note_write)
        if not self._is_over():
            self._compare(self.emulator.pc)
            self._last = None

    def _is_over(self) -> bool:
        """Whether something was found that ends the run."""
        return self._finding is not None or self._fault is not None or self._divergence is not None

    def _native_lockstep(self) -> NativeLockstep | None:
        """What runs in native code, if there is a compiler and there has been enough to run."""
        if self._native is None and not self.without_native and self.machine.instructions_executed >= self._patience:
            try:
                self._native = NativeLockstep(self.machine, self.emulator, FPSR_STICKY, MODES)
            except LanewiseError as error:
                self.without_native = str(error).splitlines()[0]
        return self._native

    def _take_notes(self, native: NativeLockstep) -> None:
        """What the native run has met."""
        self.qc_events += native.take_qc_events()
        for pc, next_pc in native.take_went():
            self.went.add((pc, next_pc))
            self.forms.add(self.machine.instruction_at(pc).form.name)

    def _repeat(self, native: NativeLockstep) -> None:
        """Make the report of the instruction after which native code saw a difference: by what Python executes."""
        machine, emulator, at = self.machine, self.emulator, native.emulator.pc
        native.undo_mine()
        self._written = native.written
        self.emulator = native.emulator
        try:
            self._last, self._handed_over = self._step(machine.pc), False
            self._compare(at)
        except ExecutionError:  # of the machine, which has executed it before
            self._divergence = None
        finally:
            self.emulator = emulator
        if self._divergence is None:
            pc = self._last.pc if self._last is not None else machine.pc
            raise CompiledFault(
                f"at {pc:#x}, {machine.disassembly_at(pc)}: lockstep in native code sees a difference where the "
                "interpreter sees none, so its code is wrong; this is a fault of lanewise"
            )

    def _form_at(self, pc: int) -> str:
        try:
            return self.machine.decoded_at(pc).form.name
        except ExecutionError:
            return ""

    def _advance(self, pc: int) -> bool:
        """Before the emulator executes the instruction at `pc`: compare, then let the machine execute it."""
        self._compare(pc)
        if self._divergence is not None or self._fault is not None:
            return False
        try:
            step = self._step(pc)
        except ExecutionError as fault:
            self._fault = fault
            return not isinstance(fault, AlignmentFault | Unpredictable)
        self._last, self._handed_over = step, False
        if self._watch is None:
            return True
        self._finding = self._watch.check(step, self._before.general[SP])
        if self._finding is None:
            return True
        for address, old, _ in reversed(step.memory):  # of a step in which something is found
            self.machine.memory.write(address, old)
        return False

    def _step(self, pc: int) -> Step:
        """Let the machine execute the instruction at `pc`, and note what it was."""
        machine = self.machine
        self._before.copy(machine.registers)
        if machine.instruction_at(machine.pc).can_saturate:  # counted whether QC was set before or not
            sticky = machine.fpsr & QC
            machine.fpsr &= ~QC
            try:
                step = machine.step()
            finally:
                self.qc_events += bool(machine.fpsr & QC)
                machine.fpsr |= sticky
        else:
            step = machine.step()
        self.forms.add(step.instruction.form.name)
        self.went.add((pc, step.next_pc))
        return step

    def _note_write(self, address: int, size: int) -> None:
        self._written.append((address, address + size))

    def _stand_in(self, pc: int) -> bool:
        """Give the emulator the machine's result of an instruction that it lacks; False if the machine has none."""
        step = self._last
        if step is None or self._fault is not None or step.pc != pc:
            return False
        self._hand_over(step)
        self.emulator.pc = step.next_pc
        return True

    def _hand_over(self, step: Step) -> None:
        """Copy the machine's registers, and the memory that this step wrote, into the emulator; unverified."""
        self.emulator.load_registers(self.machine.registers)
        for address, _, new in step.memory:
            self.emulator.memory.write(address, new)
        self.unverified[step.instruction.form.name] += 1
        self._handed_over = True

    def _compare(self, emulator_pc: int) -> None:
        """Compare everything the last instruction could have changed; finds `self._divergence`."""
        step = self._last
        if step is None or self._fault is not None:
            return
        if is_emulated_wrongly(step.instruction.form.name):
            self._hand_over(step)
        if emulator_pc != self.machine.pc:
            self._diverge(step, "pc", None, hex(self.machine.pc), hex(emulator_pc))
        elif not self.emulator.agrees(self.machine.registers, FPSR_STICKY, MODES):
            self._find_register(step)
        elif step.memory or self._written:
            self._compare_memory(step)

    def _compare_memory(self, step: Step) -> None:
        """Compare the bytes that both wrote, and which they wrote."""
        for address, _, new in step.memory:
            other = self.emulator.memory.read(address, len(new))
            if other != new:
                at = next(i for i, (a, b) in enumerate(zip(new, other, strict=True)) if a != b)
                self._diverge(step, f"memory byte {address + at:#x}", None, f"{new[at]:#04x}", f"{other[at]:#04x}")
                return
        mine = merged((address, address + len(new)) for address, _, new in step.memory)
        theirs = merged(self._written)
        self._written.clear()
        if mine != theirs and not self._handed_over and not (_stored_nothing(step) and not theirs):
            bytes_of = [{at for start, end in ranges for at in range(start, end)} for ranges in (mine, theirs)]
            at = min(bytes_of[0] ^ bytes_of[1])
            said = ["written" if at in written else "not written" for written in bytes_of]
            self._diverge(step, f"memory byte {at:#x}", None, *said)

    def _find_register(self, step: Step) -> None:
        theirs = self.emulator.registers()
        written = (place for place in step.instruction.places_written if place.file != "pc")
        for place in (*written, *VISIBLE_PLACES):
            mask = _COMPARED.get(place.file, -1)
            mine, other = self.machine.read(place) & mask, theirs.read(place) & mask
            if mine != other:
                writes = step.instruction.writes
                widths = (w.bits for w in writes if not isinstance(w.place, MemoryPlace) and w.place == place)
                bits = next(widths, place.bits)
                lane = next(i for i in range(place.bits // bits) if (mine ^ other) >> i * bits & (1 << bits) - 1)
                values = (f"{value >> lane * bits & (1 << bits) - 1:#x}" for value in (mine, other))
                self._diverge(step, str(place), lane if place.bits > bits else None, *values)
                return

    def _compare_ends(self, theirs: ExecutionError | None) -> None:
        """Compare how both stopped; raises the fault that both stopped on.

        Class, instruction and place must agree; the emulator names the part of an access that failed first.
        """
        if isinstance(theirs, MemoryFault) and self._fault is None and theirs.pc == self.machine.pc:
            self._advance(self.machine.pc)
        mine = self._fault
        if mine is None and theirs is None:
            self._compare(self.emulator.pc)
            self._compare_all()
            return
        if mine is not None and theirs is not None:
            inside = (theirs.address - mine.address) % 2**64 < mine.size
            if type(mine) is type(theirs) and mine.pc == theirs.pc and inside:
                self._undo_part(mine)
                self._compare_all()
                if self._divergence is None:
                    raise mine
                return
        pc = self.machine.pc if mine is not None or self._last is None else self._last.pc
        index, text, source = self.machine.instructions_executed, self.machine.disassembly_at(pc), self._source(pc)
        try:
            instruction = self.machine.instruction_at(pc)
            form, inputs = instruction.form.name, self._inputs(instruction, pc)
        except ExecutionError:  # the machine has no instruction there
            form, inputs = "", ()
        self._divergence = Divergence(
            index=index, pc=pc, disassembly=text, form=form, source=source, where="fault", lane=None,
            machine=str(mine or "no fault"), emulator=str(theirs or "no fault"), inputs=inputs,
        )  # fmt: skip

    def _undo_part(self, fault: ExecutionError) -> None:
        """Put back what the emulator did of a store that faulted."""
        for start, end in self._written:
            for at in range(start, end):
                if (at - fault.address) % 2**64 < fault.size:
                    with suppress(MemoryFault):  # the part that faulted
                        self.emulator.memory.write(at, self.machine.memory.read(at, 1))

    def _compare_all(self) -> None:
        """Compare all that is writable, for what was written and not noted."""
        at = None if self._divergence else self.machine.memory.first_difference(self.emulator.memory)
        if at is not None:
            mine, theirs = (engine.memory.read(at, 1)[0] for engine in (self.machine, self.emulator))
            self._divergence = Divergence(
                index=self.machine.instructions_executed, pc=self.machine.pc,
                disassembly="the end of the run: no instruction was seen to write it", form="",
                source=self._source(self.machine.pc), where=f"memory byte {at:#x}", lane=None,
                machine=f"{mine:#04x}", emulator=f"{theirs:#04x}", inputs=(),
            )  # fmt: skip

    def _diverge(self, step: Step, where: str, lane: int | None, machine: str, emulator: str) -> None:
        instruction = step.instruction
        inputs = self._inputs(instruction, step.pc)
        loaded = tuple(Input(f"memory {a:#x}", int.from_bytes(data, "little")) for a, data in step.reads_memory)
        self._divergence = Divergence(
            index=step.index, pc=step.pc, disassembly=instruction.text, form=instruction.form.name,
            source=self._source(step.pc),
            where=where, lane=lane, machine=machine, emulator=emulator, inputs=inputs + loaded,
        )  # fmt: skip

    def _inputs(self, instruction: Instruction, pc: int) -> tuple[Input, ...]:
        """What the registers that an instruction reads held before it ran."""
        places = instruction.places_read
        return tuple(Input(str(p), pc if p.file == "pc" else self._before.read(p)) for p in places)

    def _source(self, pc: int) -> str:
        return self._image.full_place_of(pc) if self._image is not None else "no source line"


def _stored_nothing(step: Step) -> bool:
    """Whether this may be a store exclusive that failed: the machine then stores what was there, Arm leaves it open."""
    is_exclusive = MONITOR in step.instruction.places_written
    return is_exclusive and all(old == new for _, old, new in step.memory)
