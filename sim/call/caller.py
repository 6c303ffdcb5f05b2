"""The state in which a compiled function is called, by AAPCS64.

What a caller does not define is undefined bytes: other registers, the stack, the upper bits of narrow arguments,
the flags, the old content of outputs, what lies around arrays and between their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isa.lane import Place
from sim.call.buffers import BUFFER_SPACING, FIRST_BUFFER, Buffers, PlacedArray, address_of
from sim.call.guards.bounds import StackFrame
from sim.call.guards.undefined_bytes import UndefinedBytes
from sim.kernels.c_types import as_bytes, read_fields
from sim.kernels.kernel import Inputs, Kernel, KernelError
from sim.kernels.signature import (
    RETURNED,
    ArgumentPiece,
    ByValue,
    FunctionArgument,
    Pointer,
    Struct,
)
from sim.machine.machine import Machine
from sim.machine.memory import PAGE, Memory
from sim.toolchain.image import Image, ImageError
from sim.toolchain.starting import map_image

RETURN_ADDRESS = 0x7FFF_0000_0000
STACK_TOP, STACK_SIZE = 0x7FFE_0000_0000, 16 * PAGE
_TAKEN = (
    range(FIRST_BUFFER, FIRST_BUFFER + 256 * BUFFER_SPACING),
    range(STACK_TOP - STACK_SIZE, STACK_TOP),
    range(RETURN_ADDRESS, RETURN_ADDRESS + PAGE),
)
"""Where calls have arrays, their stack, and where they return to."""
Arrays = dict[str, np.ndarray[Any, Any]]


class RegisterReader(Protocol):
    def read(self, place: Place, /) -> int: ...


@dataclass(frozen=True)
class Call:
    """One call: its arguments; the seed of its undefined bytes and of the sides at which arrays touch mappings."""

    arguments: Inputs
    seed: int

    @property
    def at_end(self) -> bool:
        """Whether arrays end where their mappings end; else they begin where those begin."""
        return self.seed % 2 == 0


class Caller:
    """Makes calls of one kernel ready on a machine, in its memory and in others that must be alike."""

    def __init__(self, image: Image, kernel: Kernel, machine: Machine, others: Sequence[Memory] = ()) -> None:
        """Raises ImageError where a segment of the image lies where calls have their own."""
        _require_room(image)
        self.machine, self.image, self.signature = machine, image, kernel.signature
        self._entry = image.symbol(kernel.symbol).address
        self._passed = kernel.signature.passed()
        self._memories = [machine.memory, *others]
        for memory in self._memories:
            map_image(memory, image)
            memory.map(STACK_TOP - STACK_SIZE, STACK_SIZE, "rw")
        self.buffers = Buffers(kernel.signature, self._memories)
        self.stack = StackFrame(STACK_TOP - self.signature.stack_bytes, self.signature.stack_bytes)

    def prepare(self, call: Call, undefined: UndefinedBytes) -> dict[str, PlacedArray]:
        """Set registers and memory for a call as if it were the first; returns where the arrays lie.

        Raises KernelError for arguments that are none of the signature's.
        """
        registers = self.machine.registers
        registers.vectors[:] = undefined.draw(512)
        registers.general[:] = np.frombuffer(undefined.draw_words(32), "<u8").tolist()
        registers.flags[:] = [undefined.draw(1)[0] % 16, 0, 0, 0, self.image.thread_pointer]
        self._write(STACK_TOP - STACK_SIZE, undefined.draw(STACK_SIZE))
        for segment in self.image.segments:
            if "w" in segment.permissions:
                self._write(segment.address, segment.data.ljust(segment.size, b"\0"))
        placed = self.buffers.place(call.arguments, undefined, call.at_end)
        for argument in self.signature.arguments:
            if isinstance(argument, Pointer) or (isinstance(argument, Struct) and argument.by_pointer):
                value = address_of(argument, placed).to_bytes(8, "little")
            elif argument.name not in call.arguments:
                raise KernelError(f"the argument {argument.name!r} is missing")
            else:
                value = self._value(argument, call.arguments[argument.name], placed)
            self._pass(argument.name, value, undefined)
        if self.signature.result_pieces is None:
            self.machine.x[8] = placed[RETURNED].address
        self.machine.sp, self.machine.x[30], self.machine.pc = self.stack.sp, RETURN_ADDRESS, self._entry
        return placed

    def outputs(self, cpu: RegisterReader, memory: Memory, placed: Mapping[str, PlacedArray]) -> Arrays:
        """The output arrays and the result, as they are now."""
        outputs = self.buffers.outputs(memory, placed)
        if self.signature.returns:
            content = cpu.read(self.signature.result).to_bytes(16, "little")
            outputs[RETURNED] = np.frombuffer(content, self.signature.returns, 1).reshape(()).copy()
        if self.signature.result_pieces:
            outputs |= self._returned(cpu, self.signature.result_pieces)
        return outputs

    def _returned(self, cpu: RegisterReader, pieces: Sequence[ArgumentPiece]) -> Arrays:
        """The structure or vector that is in registers now, a structure's fields by their names."""
        result = self.signature.returned
        assert result is not None
        data = bytearray()
        for piece in pieces:  # one behind the other
            assert isinstance(piece.location, Place)
            data += cpu.read(piece.location).to_bytes(16, "little")[: piece.size]
        if not isinstance(result, Struct):
            return {RETURNED: np.frombuffer(data, result.type.base).reshape(result.type.shape).copy()}
        return {f"{RETURNED}.{name}": value for name, value in read_fields(result, data).items()}

    def _value(self, argument: ByValue, value: Any, placed: Mapping[str, PlacedArray]) -> bytes:
        """The bytes of an argument by value.  Raises KernelError for what it cannot be."""
        if isinstance(argument, FunctionArgument):
            if value not in argument.functions:
                raise KernelError(f"the argument {argument.name!r} is none of its functions: {value!r:.60}")
            return (0 if value is None else self.image.symbol(value).address).to_bytes(8, "little")
        data = bytearray(bytes_of(argument, value))
        for offset, pointer in argument.pointers if isinstance(argument, Struct) else ():
            data[offset : offset + 8] = address_of(pointer, placed).to_bytes(8, "little")
        return bytes(data)

    def _pass(self, name: str, value: bytes, undefined: UndefinedBytes) -> None:
        """Put an argument where it travels, with undefined bits above it."""
        passed, sp = self._passed[name], self.stack.sp
        if passed.copy is not None:
            self._write(sp + passed.copy.offset, value)
            value = (sp + passed.copy.offset).to_bytes(8, "little")
        for piece in passed.pieces:
            part = value[piece.start : piece.start + piece.size]
            if isinstance(piece.location, Place):
                room = 16 if piece.location.file == "v" else 8
                whole = part + undefined.draw(room - len(part))
                self.machine.write(piece.location, int.from_bytes(whole, "little"))
            else:
                self._write(sp + piece.location.offset, part)

    def _write(self, address: int, data: bytes) -> None:
        for memory in self._memories:
            memory.write(address, data)


def bytes_of(argument: ByValue, value: Any) -> bytes:
    """The bytes of a number, vector or structure by value, `as_bytes`.  Raises KernelError for what it cannot be."""
    try:
        return as_bytes(argument, value)
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        kind = "such structure" if isinstance(argument, Struct) else argument.type
        raise KernelError(f"the argument {argument.name!r} is no {kind}: {error}") from None


def _require_room(image: Image) -> None:
    for segment in image.segments:
        first, end = segment.address // PAGE * PAGE, segment.address + segment.size
        for taken in _TAKEN:
            if first < taken.stop and taken.start < end:
                raise ImageError(
                    f"the program has memory at {segment.address:#x}, but calls have their own at "
                    f"{taken.start:#x}..{taken.stop:#x}: link it elsewhere"
                )
