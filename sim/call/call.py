"""Calling one implementation of a kernel: compiled code in lockstep, or its program of intrinsics.

A compiled function gets its arguments by AAPCS64 (`sim.call.caller`) and is guarded.  In lockstep every access to
memory is checked byte by byte, and sp where memory is accessed through it.  On the machine alone and in a program of
intrinsics only the mappings guard.  Registers are checked at every return.  Whether undefined bytes reached anything is
found by repeating the call: each call in lockstep (about a tenth of its time), every eighth on the machine alone, where
it doubles the time; programs of intrinsics have no registers or stack of their own, and are not repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from isa.acle.program import OpenProgram
from isa.evaluate.exact import Occurrence
from isa.instruction import Instruction
from isa.intrinsics import ElementPointer as TypedPointer
from isa.intrinsics import Program
from isa.rows import TABLE
from isa.table import Table
from sim.call.buffers import BUFFER_SPACING, Buffers, PlacedArray, address_of
from sim.call.caller import RETURN_ADDRESS, STACK_SIZE, STACK_TOP, Call, Caller
from sim.call.capture import Capture
from sim.call.coverage import Coverage, code_coverage
from sim.call.guards.bounds import AccessBounds, StackFrame
from sim.call.guards.convention import Traits
from sim.call.guards.findings import CallError, GuardError, GuardFinding
from sim.call.guards.influence import Influence, ObservedCall
from sim.call.guards.undefined_bytes import SeededBytes
from sim.call.guards.watch import Watch
from sim.call.limits import MAX_INSTRUCTIONS, Engine
from sim.call.lockstep import Divergence, Lockstep
from sim.call.native.code import PATIENCE
from sim.call.native.follower import Follower
from sim.call.native.share import NativeShare
from sim.call.needs import Need, needs_of
from sim.emulator import Emulator
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import Signature
from sim.machine.compiled.sequence import CompiledProgram, SequenceEngine
from sim.machine.errors import MemoryFault, Unpredictable
from sim.machine.host_compiler import compile_for_host
from sim.machine.machine import Machine
from sim.machine.memory import Memory
from sim.toolchain.image import Image

__all__ = [
    "MAX_INSTRUCTIONS", "RETURN_ADDRESS", "STACK_SIZE", "STACK_TOP", "CallError", "CallResult", "CompiledKernel",
    "Engine", "Implementation", "ProgramKernel", "Recorded",
]  # fmt: skip

REPEATED_ALONE = 8
"""On the machine alone, of so many seeds one is repeated."""


@dataclass(frozen=True)
class CallResult:
    """What one call did: the output arrays by engine ("machine", "emulator" or "program"), then by name.

    `qc_events` counts the executed instructions that saturated, `unverified` by form those that
    the emulator could not check.  `findings` are what guards found in a call that came back, harmless ones among them.
    """

    outputs: Mapping[str, Mapping[str, np.ndarray[Any, Any]]]
    instructions: int
    qc_events: int
    divergence: Divergence | None = None
    unverified: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[GuardFinding] = ()


@dataclass(frozen=True)
class Recorded:
    """One executed instruction of a recorded call, and its address (None in a program of intrinsics)."""

    pc: int | None
    occurrence: Occurrence


class Implementation(Protocol):
    """One way to run a kernel.  Both methods take the arguments of its signature by name, and a seed for
    undefined bytes.
    """

    @property
    def forms(self) -> frozenset[str]: ...

    def call(self, arguments: Inputs, seed: int) -> CallResult: ...

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]: ...


class CompiledKernel:
    """One function of an image, on a machine and an emulator of its own in lockstep, or on the machine alone.

    The machine alone is some twenty times faster; it counts no QC events.  A call that has executed `max_instructions`
    is given up.  After so many instructions as `patience` says native code runs, where this computer has a compiler.
    """

    def __init__(
        self, image: Image, kernel: Kernel, table: Table = TABLE, engine: Engine = "lockstep",
        max_instructions: int = MAX_INSTRUCTIONS, patience: int = PATIENCE,
    ) -> None:  # fmt: skip
        self._machine, self._emulator = Machine(table=table), Emulator()
        self._caller = Caller(image, kernel, self._machine, [self._emulator.memory])
        self._influence = Influence(Caller(image, kernel, Machine(table=table)), patience)
        self._lockstep = Lockstep(self._machine, self._emulator, image, patience)
        self._follower = Follower(self._machine, patience)
        # the machine alone does not see that a variable is read which is mapped and was never filled
        self._image, self._engine, self._limit = image, "lockstep" if image.unfilled else engine, max_instructions
        self._traits: dict[Instruction, Traits] = {}

    @property
    def forms(self) -> frozenset[str]:
        """The instruction forms executed so far."""
        return frozenset(self._lockstep.forms) if self._engine == "lockstep" else self._machine.forms

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        """Run one call.  Raises CallError, MemoryFault, Trap, UnsupportedInstruction; KernelError for the arguments."""
        call, undefined = Call(arguments, seed), SeededBytes(seed)
        placed = self._caller.prepare(call, undefined)
        bounds = AccessBounds(placed.values(), self._image.segments, self._caller.stack, self._image.absent)
        watch = Watch(self._machine, self._image, bounds, self._traits)
        start, events = self._machine.instructions_executed, self._lockstep.qc_events
        unverified = self._lockstep.unverified.copy()
        divergence = self._run(watch)
        executed = self._machine.instructions_executed - start
        outputs = {"machine": self._caller.outputs(self._machine, self._machine.memory, placed)}
        if self._engine == "lockstep":
            outputs["emulator"] = self._caller.outputs(self._emulator, self._emulator.memory, placed)
        unverified = self._lockstep.unverified - unverified
        events = self._lockstep.qc_events - events
        findings: list[GuardFinding] = []
        if divergence is None:
            parts, seen = undefined.parts, ObservedCall(outputs["machine"], watch.branches, executed)
            findings += watch.at_return(lambda: self._influence.steps(call, parts, executed))
            if self._engine == "lockstep" or seed % REPEATED_ALONE == 0:
                findings += self._influence.findings(call, parts, seen, watch.bounds.declared)
        return CallResult(outputs, executed, events, divergence, unverified, tuple(findings))

    def _run(self, watch: Watch) -> Divergence | None:
        """Run the prepared call to its return, guarded."""
        divergence = None
        try:
            if self._engine == "lockstep":
                divergence = self._lockstep.run(RETURN_ADDRESS, self._limit, watch)
            else:
                self._follower.follow(RETURN_ADDRESS, self._limit, watch.branches)
        except MemoryFault as fault:
            if STACK_TOP - 64 * STACK_SIZE < fault.address < STACK_TOP - STACK_SIZE:
                raise CallError(f"the stack of {STACK_SIZE} bytes is too small: {fault}") from None
            finding = watch.of_fault(fault)
            if finding is None:
                raise
            raise GuardError(finding) from None
        except Unpredictable as error:
            raise GuardError(watch.of_unpredictable(error)) from None
        if divergence is None and self._machine.pc != RETURN_ADDRESS:
            raise GuardError(watch.of_limit(self._limit))
        return divergence

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        """Run one call on the machine alone; returns the buffers' addresses and all that was executed."""
        placed = self._caller.prepare(Call(arguments, seed), SeededBytes(seed))
        machine, trace = self._machine, list[Recorded]()
        while machine.pc != RETURN_ADDRESS and len(trace) < self._limit:
            instruction = machine.instruction_at(machine.pc)
            registers = {place: machine.read(place) for place in instruction.places_read}
            step = machine.step()
            trace.append(Recorded(step.pc, Occurrence(instruction, registers, dict(step.reads_memory))))
        return _addresses(self._caller.signature, placed), trace

    def capture(self, arguments: Inputs, seed: int, name: str, calls: Capture) -> None:
        """Run one call on the machine alone and add it to the captured ones.  Raises as `call`.

        All that is mapped is captured, so a kernel that has been called with larger arrays brings them along.
        """
        if self._image.unfilled:
            self.call(arguments, seed)
        placed = self._caller.prepare(Call(arguments, seed), SeededBytes(seed))
        before = calls.before(self._machine)
        executed = self._machine.run(RETURN_ADDRESS, self._limit)
        if self._machine.pc != RETURN_ADDRESS:
            raise CallError(f"the kernel did not return within {self._limit:,} instructions")
        signature = self._caller.signature
        written = [placed[p.name] for p in signature.in_memory if p.direction in ("out", "inout") and p.name in placed]
        calls.add(name, before, self._machine, executed, [(array.address, array.size) for array in written])

    @property
    def executed(self) -> int:
        """The instructions of the calls so far, of the one that runs too; another thread may ask."""
        return self._machine.instructions_executed

    @property
    def native(self) -> NativeShare:
        """What of the calls so far ran in native code."""
        return self._lockstep.native

    @property
    def needs(self) -> tuple[Need, ...]:
        """The extensions that the code of the calls so far needs."""
        return needs_of(self._machine.code.items(), self._image)

    def coverage(self) -> Coverage | None:
        """The source lines and branch outcomes of the calls so far; None on the machine alone."""
        if self._engine == "machine":
            return None
        return code_coverage(self._image, self._lockstep.went, self._machine.instruction_at)


def _addresses(signature: Signature, placed: Mapping[str, PlacedArray]) -> dict[str, int]:
    """The address of each pointer argument, 0 for a null pointer."""
    arrays = (*signature.pointers, *signature.outputs)
    return {p.name: placed[p.name].address if p.name in placed else 0 for p in arrays}


NO_STACK = StackFrame(-BUFFER_SPACING, 0)  # so far below memory that no access is near it


class ProgramKernel:
    """The kernel's program of intrinsics, run on the lane model."""

    def __init__(self, kernel: Kernel) -> None:
        if kernel.program is None:
            raise ValueError(f"the kernel {kernel.name!r} has no program of intrinsics")
        self._program = kernel.program
        self._signature = kernel.signature
        self._memory = Memory()
        self._engine = SequenceEngine(compile_for_host, self._memory)
        self._buffers = Buffers(kernel.signature, [self._memory])
        self._forms: set[str] = set()

    @property
    def forms(self) -> frozenset[str]:
        """The instruction forms executed so far."""
        return frozenset(self._forms)

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        """Run the program once.  Raises CallError, MemoryFault; KernelError for the arguments."""
        program = CompiledProgram(self._engine)
        placed = self._run(program, arguments, seed)
        self._forms.update(pattern.form.name for pattern in program.patterns)
        outputs = {"program": self._buffers.outputs(self._memory, placed)}
        return CallResult(outputs, program.instructions, program.saturations)

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        """Run the program once; returns the buffers' addresses and all that was executed."""
        program = Program(self._memory)
        placed = self._run(program, arguments, seed)
        return _addresses(self._signature, placed), [Recorded(None, occurrence) for occurrence in program.trace]

    def _run(self, program: OpenProgram, arguments: Inputs, seed: int) -> dict[str, PlacedArray]:
        call = Call(arguments, seed)
        placed = self._buffers.place(arguments, SeededBytes(seed), call.at_end)
        pointers = {
            pointer.name: TypedPointer(address_of(pointer, placed), "uint64" if pointer.indirect else pointer.dtype)
            if pointer.name in placed
            else None
            for pointer in self._signature.pointers
        }
        try:
            with program:
                self._program(**{**arguments, **pointers})
        except MemoryFault as fault:
            bounds = AccessBounds(placed.values(), (), NO_STACK)
            breach = bounds.breach(fault.address, fault.size, fault.writes, NO_STACK.sp)
            if breach is None:
                raise
            raise GuardError(
                GuardFinding(
                    kind=breach.kind, says=breach.says, where=breach.where, first=breach.first, last=breach.last
                )
            ) from None
        return placed
