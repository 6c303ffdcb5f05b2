"""Calling one implementation of a kernel: compiled code in lockstep, or its program of intrinsics.

A compiled function gets its arguments by AAPCS64.  Everything that its caller does not define is seeded junk: other
registers, the stack, the upper bits of narrow arguments, the flags, the old content of outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from isa.evaluate.exact import Occurrence
from isa.intrinsics import Pointer as TypedPointer
from isa.intrinsics import Program
from isa.lane import Place
from isa.rows import TABLE
from isa.table import Table
from sim.check.buffers import Buffers, whole_pages
from sim.check.lockstep import Divergence, Lockstep
from sim.emulator import Emulator
from sim.image import Image
from sim.kernels.kernel import Inputs, Kernel
from sim.kernels.signature import Location, Pointer, Scalar
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.machine.memory import PAGE, Memory

RETURN_ADDRESS = 0x7FFF_0000_0000
STACK_TOP, STACK_SIZE = 0x7FFE_0000_0000, 16 * PAGE
Engine = Literal["lockstep", "machine"]
MAX_INSTRUCTIONS = 20_000_000
"""Of one call: minutes in lockstep, far above any kernel on a row of test vectors."""


class CallError(Exception):
    """A call that does not come back or needs too much stack; the message is one sentence."""


@dataclass(frozen=True)
class CallResult:
    """What one call did: the output arrays by engine ("machine", "emulator" or "program"), then by name.

    `qc_events` counts the executed instructions that saturated, `unverified` by form those that
    the emulator could not check.
    """

    outputs: Mapping[str, Mapping[str, np.ndarray]]
    instructions: int
    qc_events: int
    divergence: Divergence | None = None
    unverified: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """One executed instruction of a recorded call, and its address (None in a program of intrinsics)."""

    pc: int | None
    occurrence: Occurrence


class Implementation(Protocol):
    """One way to run a kernel.  Both methods take the arguments of its signature by name, and a seed for junk."""

    @property
    def forms(self) -> frozenset[str]: ...

    def call(self, arguments: Inputs, seed: int) -> CallResult: ...

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]: ...


class Mappable(Protocol):
    """Memory that a program can be put into: of one machine or of a batch."""

    def map(self, address: int, size: int, permissions: str, /) -> object: ...

    def write(self, address: int, data: bytes, /) -> None: ...


def map_image(memory: Mappable, image: Image) -> None:
    """Map the segments of an image, whole pages each."""
    for segment in image.segments:
        start = segment.address // PAGE * PAGE
        memory.map(start, whole_pages(segment.address + segment.size - start), segment.permissions)
        memory.write(segment.address, segment.data)


class CompiledKernel:
    """One function of an image, on a machine and an emulator of its own in lockstep, or on the machine alone.

    The machine alone is some twenty times faster; it counts no QC events.
    """

    def __init__(self, image: Image, kernel: Kernel, table: Table = TABLE, engine: Engine = "lockstep") -> None:
        self._entry = image.symbol(kernel.symbol).address
        self._image, self._signature = image, kernel.signature
        self._locations = kernel.signature.locations()
        self._machine, self._emulator = Machine(table=table), Emulator()
        self._memories = {"machine": self._machine.memory, "emulator": self._emulator.memory}
        for memory in self._memories.values():
            map_image(memory, image)
            memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE, "rw")
        self._buffers = Buffers(kernel.signature, list(self._memories.values()))
        self._lockstep = Lockstep(self._machine, self._emulator, image)
        self._engine = engine

    @property
    def forms(self) -> frozenset[str]:
        """The instruction forms executed so far."""
        return frozenset(self._lockstep.forms) if self._engine == "lockstep" else self._machine.forms

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        """Run one call.  Raises CallError, MemoryFault, Trap, UnsupportedInstruction."""
        addresses = self._prepare(arguments, seed)
        start, events = self._machine.instructions_executed, self._lockstep.qc_events
        unverified = self._lockstep.unverified.copy()
        try:
            divergence = self._run()
        except MemoryFault as fault:
            if STACK_TOP - 64 * STACK_SIZE < fault.address < STACK_TOP - STACK_SIZE:
                raise CallError(f"the stack of {STACK_SIZE} bytes is too small: {fault}") from None
            raise
        if divergence is None and self._machine.pc != RETURN_ADDRESS:
            raise CallError(f"the kernel did not return within {MAX_INSTRUCTIONS} instructions")
        outputs = {
            engine: self._buffers.outputs(self._memories[engine], arguments, addresses)
            for engine in (self._memories if self._engine == "lockstep" else ("machine",))
        }
        executed = self._machine.instructions_executed - start
        unverified = self._lockstep.unverified - unverified
        return CallResult(outputs, executed, self._lockstep.qc_events - events, divergence, unverified)

    def _run(self) -> Divergence | None:
        if self._engine == "lockstep":
            return self._lockstep.run(RETURN_ADDRESS, MAX_INSTRUCTIONS)
        self._machine.run(RETURN_ADDRESS, MAX_INSTRUCTIONS)
        return None

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        """Run one call on the machine alone; returns the buffers' addresses and all that was executed."""
        addresses = self._prepare(arguments, seed)
        trace: list[Recorded] = []
        while self._machine.pc != RETURN_ADDRESS and len(trace) < MAX_INSTRUCTIONS:
            trace.append(self._record_one())
        return addresses, trace

    def _record_one(self) -> Recorded:
        machine = self._machine
        instruction = machine.instruction_at(machine.pc)
        registers = {place: machine.read(place) for place in instruction.places_read}
        step = machine.step()
        return Recorded(step.pc, Occurrence(instruction, registers, dict(step.reads_memory)))

    def _prepare(self, arguments: Inputs, seed: int) -> dict[str, int]:
        """Set registers and memory for a call as if it were the first; returns the address of each pointer argument."""
        rng = np.random.default_rng(seed)
        self._scramble(rng)
        addresses = self._buffers.place(arguments, rng)
        sp = STACK_TOP - self._signature.stack_bytes
        for argument in self._signature.arguments:
            if isinstance(argument, Pointer):
                value = addresses[argument.name]
            else:
                value = _passed(argument, arguments[argument.name], rng)
            self._set(self._locations[argument.name], value, sp)
        self._machine.sp, self._machine.x[30], self._machine.pc = sp, RETURN_ADDRESS, self._entry
        return addresses

    def _scramble(self, rng: np.random.Generator) -> None:
        registers = self._machine.registers
        registers.vectors[:] = rng.bytes(512)
        registers.general[:] = [int(value) for value in rng.integers(0, 2**64, 32, dtype=np.uint64)]
        registers.flags[:] = [int(rng.integers(16)), 0, 0, 0]
        stack = rng.bytes(STACK_SIZE)
        for memory in self._memories.values():
            memory.write(STACK_TOP - STACK_SIZE, stack)
            for segment in self._image.segments:
                if "w" in segment.permissions:
                    memory.write(segment.address, segment.data.ljust(segment.size, b"\0"))

    def _set(self, location: Location, value: int, sp: int) -> None:
        if isinstance(location, Place):
            self._machine.write(location, value)
            return
        for memory in self._memories.values():
            memory.write(sp + location.offset, value.to_bytes(8, "little"))


def _passed(scalar: Scalar, value: Any, rng: np.random.Generator) -> int:
    """The 64 bits of a scalar argument: its own, and junk above them."""
    own = np.array(value, scalar.dtype).tobytes()
    return int.from_bytes(own + rng.bytes(8 - len(own)), "little")


class ProgramKernel:
    """The kernel's program of intrinsics, run on the lane model."""

    def __init__(self, kernel: Kernel) -> None:
        if kernel.program is None:
            raise ValueError(f"the kernel {kernel.name!r} has no program of intrinsics")
        self._program = kernel.program
        self._signature = kernel.signature
        self._memory = Memory()
        self._buffers = Buffers(kernel.signature, [self._memory])
        self._forms: set[str] = set()

    @property
    def forms(self) -> frozenset[str]:
        """The instruction forms executed so far."""
        return frozenset(self._forms)

    def call(self, arguments: Inputs, seed: int) -> CallResult:
        """Run the program once.  Raises MemoryFault."""
        addresses, program = self._run(arguments, seed)
        self._forms.update(instruction.form.name for instruction in program.instructions)
        outputs = {"program": self._buffers.outputs(self._memory, arguments, addresses)}
        return CallResult(outputs, len(program.instructions), program.saturations)

    def record(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], list[Recorded]]:
        """Run the program once; returns the buffers' addresses and all that was executed."""
        addresses, program = self._run(arguments, seed)
        return addresses, [Recorded(None, occurrence) for occurrence in program.trace]

    def _run(self, arguments: Inputs, seed: int) -> tuple[dict[str, int], Program]:
        addresses = self._buffers.place(arguments, np.random.default_rng(seed))
        pointers = {
            pointer.name: TypedPointer(address, pointer.dtype) if address else None
            for pointer, address in zip(self._signature.pointers, addresses.values(), strict=True)
        }
        with Program(self._memory) as program:
            self._program(**{**arguments, **pointers})
        return addresses, program
