"""A machine recorded: which instructions it executed, what they accessed and what they wrote to registers.

The recording is numbers in arrays, so that a million instructions are searched by numpy.  It is made in native code
where this computer has a compiler, by `Machine.step` where it has none and of what native code leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import Any, Final

import numpy as np

from isa.errors import LanewiseError
from isa.evaluate.exact import QC
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.native.alone import MachineAlone
from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.registers import register_number
from sim.machine.trace import Step

Array = np.ndarray[Any, Any]
ACCESS: Final = np.dtype(
    [("instruction", "<u8"), ("address", "<u8"), ("size", "<u4"), ("writes", "<u4"), ("bytes", "u1", 64)]
)
"""`Access` of log.c; `instruction` is the number in the recording."""
_ACCESS: Final = Struct("<QQII64s")
SATURATED: Final = 16
"""The bit of a status that says that the instruction saturated."""
_SLICE: Final = 1 << 14
_ROOM: Final = 1 << 15
"""Accesses, and values of registers, that a slice has room for."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Instructions that were executed one after the other, the first of them number `start` of the call.

    `pcs` has their addresses, `status` NZCV after each and the bit `SATURATED`; `accesses` has the loads and stores of
    all (`ACCESS`), `values` the registers that they wrote, 16 bytes each: of an instruction those of v before those of
    x and sp, in order of number.  `instructions` are theirs, by address.
    """

    start: int
    pcs: Array
    status: Array
    accesses: Array
    values: Array
    instructions: Mapping[int, Instruction]

    def __len__(self) -> int:
        return len(self.pcs)

    @property
    def end(self) -> int:
        """The number of the instruction behind the last one."""
        return self.start + len(self.pcs)

    @cached_property
    def _numbered(self) -> tuple[Array, Array]:
        return np.unique(self.pcs, return_inverse=True)

    @property
    def code(self) -> list[Instruction]:
        """The different instructions, by address."""
        return [self.instructions[int(pc)] for pc in self._numbered[0]]

    @property
    def numbers(self) -> Array:
        """Of each executed instruction, which one of `code` it is."""
        return self._numbered[1]

    @cached_property
    def first_values(self) -> Array:
        """Of each executed instruction, where in `values` its own begin; and where the last ones end."""
        counts = np.array([len(registers_written(each)) for each in self.code], np.int64)
        return np.concatenate([[0], np.cumsum(counts[self.numbers])])


def registers_written(instruction: Instruction) -> tuple[tuple[str, int], ...]:
    """Those of v, x and sp that it writes, in the order of `Recording.values`: "v" or "x", and the number."""
    places = {_kind_and_number(place) for place in instruction.places_written if place.file in ("v", "x", "sp")}
    return tuple(sorted(places))


class MachineRecorder:
    """Records one machine."""

    def __init__(self, machine: Machine, patience: int) -> None:
        """The first instructions, so many as `patience` says, are executed in Python."""
        self._machine, self._patience = machine, patience
        self._native: _NativeRecorder | None = None
        self._has_none = False

    def record(self, until: int, most: int) -> Recording:
        """Let the machine run up to `until`, or for so many instructions, or up to a fault, and say what it did.

        It ends too behind a store that changes code.
        """
        machine, parts = self._machine, _Parts(self._machine)
        start, version = machine.instructions_executed, machine.memory.code_version
        while machine.pc != until and (left := start + most - machine.instructions_executed) > 0:
            native = self._native_recorder()
            if native is not None:
                if not native.run(until, left, parts):
                    break
                left = min(start + most - machine.instructions_executed, native.code.stretch)
            elif not self._has_none:
                left = min(left, self._patience - machine.instructions_executed)
            try:
                parts.take_steps(until, left)
            except ExecutionError:
                break
            if machine.memory.code_version != version:
                break
        return parts.recording()

    def _native_recorder(self) -> _NativeRecorder | None:
        if self._native is None and not self._has_none and self._machine.instructions_executed >= self._patience:
            try:
                self._native = _NativeRecorder(self._machine)
            except LanewiseError:
                self._has_none = True
        return self._native


class _Parts:
    """Arrays of one recording, to be put together."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._start = machine, machine.instructions_executed
        self._arrays = [(np.zeros(0, np.uint64), np.zeros(0, np.uint8), np.zeros(0, ACCESS), _values(b""))]
        self._instructions: dict[int, Instruction] = {}
        self._count = 0

    def take(self, pcs: Array, status: Array, accesses: Array, values: Array) -> None:
        """Add what was executed next, with accesses numbered from 0."""
        accesses["instruction"] += np.uint64(self._count)
        self._arrays.append((pcs, status, accesses, values))
        self._instructions |= {int(pc): self._machine.instruction_at(int(pc)) for pc in np.unique(pcs)}
        self._count += len(pcs)

    def take_steps(self, until: int, most: int) -> None:
        """Execute so many instructions in Python, fewer up to `until` or behind a store to code, and add them.

        Raises as `Machine.step`.
        """
        machine, version = self._machine, self._machine.memory.code_version
        steps, status = list[Step](), bytearray()
        try:
            while machine.pc != until and len(steps) < most and machine.memory.code_version == version:
                can_saturate = machine.instruction_at(machine.pc).can_saturate
                sticky = machine.fpsr & QC if can_saturate else 0
                machine.fpsr ^= sticky
                try:
                    steps.append(machine.step())
                finally:
                    saturated = can_saturate and machine.fpsr & QC
                    machine.fpsr |= sticky
                status.append(machine.nzcv | (SATURATED if saturated else 0))
        finally:
            self._take_these(steps, status)

    def _take_these(self, steps: Sequence[Step], status: bytes | bytearray) -> None:
        accesses, values, written = bytearray(), bytearray(), dict[int, tuple[tuple[str, int], ...]]()
        for number, step in enumerate(steps, self._count):
            for at, data in step.reads_memory:
                accesses += _ACCESS.pack(number, at, len(data), 0, data)
            for at, _, data in step.memory:
                accesses += _ACCESS.pack(number, at, len(data), 1, data)
            new = {_kind_and_number(place): value for place, _, value in step.writes}
            if step.pc not in written:
                written[step.pc] = registers_written(step.instruction)
            for place in written[step.pc]:
                values += new[place].to_bytes(16, "little")
            self._instructions[step.pc] = step.instruction
        pcs = np.array([step.pc for step in steps], np.uint64)
        self._arrays.append((pcs, np.frombuffer(status, np.uint8), np.frombuffer(accesses, ACCESS), _values(values)))
        self._count += len(steps)

    def recording(self) -> Recording:
        """All of it."""
        pcs, status, accesses, values = (np.concatenate(arrays) for arrays in zip(*self._arrays, strict=True))
        return Recording(self._start, pcs, status, accesses, values, self._instructions)


def _kind_and_number(place: Place) -> tuple[str, int]:
    return ("x" if place.file == "sp" else place.file), register_number(place)


def _values(data: bytes | bytearray) -> Array:
    return np.frombuffer(data, np.uint8).reshape(-1, 16)


class _NativeRecorder:
    """The driver on one machine, and where it records."""

    def __init__(self, machine: Machine) -> None:
        """Raises LanewiseError where there is no compiler for this computer."""
        self._alone = MachineAlone(machine, "record")
        self.code = self._alone.code
        self._pcs, self._status = np.zeros(_SLICE, np.uint64), np.zeros(_SLICE, np.uint8)
        self._accesses, self._values = np.zeros(_ROOM, ACCESS), np.zeros((_ROOM, 16), np.uint8)
        control = self._alone.control
        control.path, control.status = self._pcs.ctypes.data, self._status.ctypes.data
        control.mine.access, control.most_accesses = self._accesses.ctypes.data, _ROOM
        control.value, control.most_values = self._values.ctypes.data, _ROOM

    def run(self, until: int, most: int, parts: _Parts) -> bool:
        """As `MachineRecorder.record`, up to what Python has to execute; whether there is that."""
        control = self._alone.control
        control.values = control.mine.accesses = 0

        def take() -> None:
            done, accesses, values = control.done, control.mine.accesses, control.values
            parts.take(
                self._pcs[:done].copy(), self._status[:done].copy(),
                self._accesses[:accesses].copy(), self._values[:values].copy(),
            )  # fmt: skip
            control.values = control.mine.accesses = 0

        return self._alone.run(until, most, _SLICE, take)
