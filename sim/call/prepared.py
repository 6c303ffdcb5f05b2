"""Calls of one compiled function that are repeated many times over, on the machine alone and without guards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from isa.evaluate.exact import Occurrence
from isa.evaluate.python import Load, Run, Store
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.call.caller import RETURN_ADDRESS, STACK_SIZE, STACK_TOP, Call, Caller
from sim.call.guards.undefined_bytes import SeededBytes
from sim.kernels.kernel import Inputs, Kernel
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.registers import RegisterStorage
from sim.machine.trace import Step
from sim.toolchain.image import Image

PER_CALL: Final = 300
"""What it costs to begin a call that is ready, in instructions."""


@dataclass(frozen=True)
class PreparedCall:
    """The state in which a call begins: registers, memory by address, and where its arrays lie."""

    registers: RegisterStorage
    memory: tuple[tuple[int, bytes], ...]
    placed: Mapping[str, PlacedArray]


class NotingMachine(Machine):
    """Runs as another machine does, on its registers and in its memory, and notes what instructions begin with.

    `noted` has, by the address of each instruction that has `places`, the numbers that these registers held, in their
    order: all that were different, once, those first that came first.
    """

    def __init__(self, other: Machine) -> None:
        super().__init__(other.features, other.table, "interpreted")
        self.registers, self.memory = other.registers, other.memory
        self.places: Mapping[int, Sequence[Place]] = {}
        self.noted: dict[int, dict[tuple[int, ...], None]] = {}

    def note(self, places: Mapping[int, Sequence[Place]]) -> None:
        """Note these registers from now on, by address, and forget what was noted."""
        self.noted = {pc: {} for pc in places}
        if places != self.places:
            self.places = places
            self._blocks.clear()
            self._bound.clear()

    def _bind(self, instruction: Instruction, load: Load, store: Store, pc: int) -> Run:
        run, places = super()._bind(instruction, load, store, pc), self.places.get(pc)
        if places is None:
            return run
        read = self.registers.read

        def noting() -> int | None:
            self.noted[pc][tuple([pc if place.file == "pc" else read(place) for place in places])] = None
            return run()

        return noting


class Repeater:
    """Makes calls ready once and runs them as often as wanted, with instructions replaced by others."""

    def __init__(self, image: Image, kernel: Kernel) -> None:
        self._machine = Machine()
        self._caller = Caller(image, kernel, self._machine)
        self._entry = image.symbol(kernel.symbol).address
        self._kernel, self._image = kernel, image

    def prepare(self, inputs: Inputs, seed: int) -> PreparedCall:
        """A call of the kernel on an input set.  Raises KernelError for arguments that are none of the signature's."""
        placed = self._caller.prepare(Call(self._kernel.arguments(inputs), seed), SeededBytes(seed))
        ranges = [(array.address, array.size) for array in placed.values()]
        ranges += [(s.address, s.size) for s in self._image.segments if "w" in s.permissions]
        ranges.append((STACK_TOP - STACK_SIZE, STACK_SIZE))
        registers, memory = RegisterStorage(), self._machine.memory
        registers.copy(self._machine.registers)
        return PreparedCall(registers, tuple((at, memory.read(at, size)) for at, size in ranges), placed)

    def patch(self, patches: Mapping[int, Instruction]) -> None:
        """Run these instructions, by address, in the place of what was compiled; {} for none."""
        self._machine.patch(patches)

    def run(self, call: PreparedCall, limit: int) -> tuple[dict[str, np.ndarray[Any, Any]] | None, int]:
        """The outputs, None where the call faults or does not return; the instructions that it took."""
        machine = self._machine
        self._begin(call)
        before = machine.instructions_executed
        try:
            machine.run(RETURN_ADDRESS, limit)
        except ExecutionError:
            return None, machine.instructions_executed - before
        executed = machine.instructions_executed - before
        if machine.pc != RETURN_ADDRESS:
            return None, executed
        return self._caller.outputs(machine, machine.memory, call.placed), executed

    def noted(
        self, call: PreparedCall, limit: int, places: Mapping[int, Sequence[Place]]
    ) -> dict[int, list[tuple[int, ...]]]:
        """What registers hold, by address, before instructions as compiled, up to a fault: all different ones, once."""
        machine = self._noting
        machine.note(places)
        self._begin(call)
        machine.pc = self._entry
        with suppress(ExecutionError):
            machine.run(RETURN_ADDRESS, limit)
        return {pc: list(found) for pc, found in machine.noted.items() if found}

    def executions(self, call: PreparedCall, limit: int, wanted: Collection[int]) -> Iterator[tuple[int, Occurrence]]:
        """What is executed as compiled at the wanted addresses, up to a fault, with the registers that it reads.

        Each comes once with each operands, address by address.  Nothing there reads memory.
        """
        instructions = {pc: self._noting.instruction_at(pc) for pc in wanted}
        places = {pc: instruction.places_read for pc, instruction in instructions.items()}
        for pc, found in self.noted(call, limit, places).items():
            for values in found:
                yield pc, Occurrence(instructions[pc], dict(zip(places[pc], values, strict=True)), {})

    def path(self, call: PreparedCall, limit: int) -> Iterator[int]:
        """The addresses of what is executed, one after the other, up to a fault."""
        return (step.pc for _, step in self._steps(call, limit))

    def slots(self, call: PreparedCall, limit: int) -> Iterator[tuple[int, int]]:
        """What is read and written of the stack: the instruction's address, and the bytes up from the stack pointer."""
        for sp, step in self._steps(call, limit):
            for address in (*(store[0] for store in step.memory), *(read[0] for read in step.reads_memory)):
                if STACK_TOP - STACK_SIZE <= address < STACK_TOP:
                    yield step.pc, address - sp

    def loads_of_data(self, call: PreparedCall, limit: int) -> Iterator[tuple[int, int, int]]:
        """What is read of the program's own data: the instruction's address, that of the data, and how many bytes."""
        ranges = [range(s.address, s.address + s.size) for s in self._image.segments]
        for _, step in self._steps(call, limit):
            for address, data in step.reads_memory:
                if any(address in each for each in ranges):
                    yield step.pc, address, len(data)

    def _steps(self, call: PreparedCall, limit: int) -> Iterator[tuple[int, Step]]:
        """What is executed, with the stack pointer before it, up to a fault."""
        machine = self._machine
        self._begin(call)
        with suppress(ExecutionError):
            for _ in range(limit):
                if machine.pc == RETURN_ADDRESS:
                    return
                yield machine.sp, machine.step()

    def _begin(self, call: PreparedCall) -> None:
        self._machine.registers.copy(call.registers)
        for address, data in call.memory:
            self._machine.memory.write(address, data)
        self._machine.pc = self._entry

    @cached_property
    def _noting(self) -> NotingMachine:
        return NotingMachine(self._machine)

    @property
    def instructions(self) -> dict[int, Instruction]:
        """The instructions of the code that was run so far, by address."""
        return dict(self._machine.code)
