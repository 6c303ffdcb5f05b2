"""One call instruction by instruction: the lanes that each one read and wrote.

The lane machine and the emulator make the call side by side.  The lane that a check found wrong is marked on its way,
with the numbers that the golden reference has for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from isa.evaluate.exact import Occurrence
from isa.instruction import Instruction
from isa.lane import Place
from sim.call.call import Recorded
from sim.call.caller import RETURN_ADDRESS, Call, Caller
from sim.call.guards.findings import CallError
from sim.call.guards.undefined_bytes import SeededBytes
from sim.check.blame import Lineage
from sim.check.compare import Value, as_value
from sim.check.origin import LaneOrigin, Node, bits_of, origin_of
from sim.check.report import Mismatch
from sim.emulator import Emulator
from sim.kernels.kernel import Inputs, Kernel, steps_at
from sim.kernels.signature import RETURNED, steps_in_elements
from sim.machine.machine import Machine
from sim.machine.trace import Step
from sim.toolchain.image import Image
from sim.view.lane_table import LaneRow, Lanes, LaneTable, NamedLanes

LARGEST_TABLE: Final = 2_000
"""Executed instructions: nobody reads a longer table, and inputs can be shrunk."""
_OPERAND = re.compile(r"\bv(\d+)\.(\d*)([bhsd])(?:\[(\d+)\])?|\b([bhsdwx])(\d+)\b(?![^[]*\])")
"""A vector register, perhaps one lane of it, or a scalar; not those between brackets, which make an address."""
_BITS: Final = {"b": 8, "h": 16, "s": 32, "d": 64, "w": 32, "x": 64}


def step_through(kernel: Kernel, image: Image, inputs: Inputs, mismatch: Mismatch) -> LaneTable:
    """Call the kernel of an image on one input set, of which a check found `mismatch`, instruction by instruction.

    Left out are instructions that write no vector register, no memory and nothing that the wrong lane came through.
    Lanes are signed numbers; those as wide as the elements of the wrong output are numbers of its dtype.  Raises
    CallError for a call of more than `LARGEST_TABLE` instructions, KernelError for the inputs, and what `Machine.step`
    and `Emulator.run` raise.
    """
    machine, emulator = Machine(), Emulator()
    caller = Caller(image, kernel, machine, [emulator.memory])
    placed = caller.prepare(Call(kernel.arguments(inputs), 0), SeededBytes(0))
    emulator.load_registers(machine.registers)
    emulator.pc = machine.pc
    moments = list(_moments(machine, emulator))
    trace = [moment.recorded for moment in moments]
    signature = kernel.signature
    if signature.returns and mismatch.output == RETURNED:
        dtype, address = np.dtype(signature.returns), 0
        origin = origin_of(trace, 0, dtype.itemsize, signature.result)
    else:
        output = next(pointer for pointer in signature.outputs if pointer.name == mismatch.output)
        dtype, address = output.type, 0
        strides = steps_in_elements(output, kernel.arguments(inputs))
        byte = dtype.itemsize * sum(at * stride for at, stride in zip(mismatch.lane, strides, strict=True))
        register = signature.result_byte(mismatch.output, byte)
        if register is not None:
            origin = origin_of(trace, register[1], dtype.itemsize, register[0])
        else:
            address = placed[mismatch.output].address + byte
            origin = origin_of(trace, address, dtype.itemsize)
    steps = steps_at(kernel.golden_steps(inputs), mismatch.lane)
    given = {pointer.name: 0 for pointer in kernel.signature.pointers}
    values = {name: bits_of(value) for name, value in steps.items()}
    lineage = Lineage(address=address, origin=origin, steps=values, inputs=given)
    numbers = {name: as_value(value) for name, value in steps.items()}
    lane = _WrongLane(mismatch, dtype, address, origin, lineage.computed_steps, numbers)
    return LaneTable(tuple(_Telling(image, moments, lane).rows()))


class _Moment(NamedTuple):
    """One executed instruction; by register and by address, what machine and emulator hold where it wrote."""

    step: Step
    recorded: Recorded
    registers: Mapping[Place, tuple[int, int]]
    memory: Mapping[int, tuple[bytes, bytes]]


def _moments(machine: Machine, emulator: Emulator) -> Iterator[_Moment]:
    for _ in range(LARGEST_TABLE):
        if machine.pc == RETURN_ADDRESS:
            return
        instruction = machine.instruction_at(machine.pc)
        read = {place: machine.read(place) for place in instruction.places_read}
        step = machine.step()
        emulator.run(max_instructions=1)
        recorded = Recorded(step.pc, Occurrence(instruction, read, dict(step.reads_memory)))
        registers = {place: (new, emulator.read(place)) for place, _, new in step.writes if place.file in "vx"}
        memory = {address: (new, emulator.memory.read(address, len(new))) for address, _, new in step.memory}
        yield _Moment(step, recorded, registers, memory)
    raise CallError(f"the call takes more than {LARGEST_TABLE:,} instructions: shrink its inputs")


@dataclass(frozen=True)
class _WrongLane:
    """Its dtype and address (0 of a result), where it came from, and the steps it should have gone: bits, numbers."""

    mismatch: Mismatch
    dtype: np.dtype[Any]
    address: int
    origin: LaneOrigin
    steps: Mapping[str, int]
    numbers: Mapping[str, Value]

    def nodes(self, index: int, bits: int) -> list[Node]:
        """The lanes of that width through which it came at an executed instruction."""
        return [node for node in self.origin.nodes if node.index == index and node.bits == bits]

    def split(self, value: int, bits: int, count: int) -> Lanes:
        """The lowest lanes of a register or of memory as numbers."""
        data = (value & (1 << bits * count) - 1).to_bytes(bits * count // 8, "little")
        dtype = self.dtype if bits == 8 * self.dtype.itemsize else np.dtype(f"i{bits // 8}")
        return tuple(np.frombuffer(data, dtype).tolist())


class _Written(NamedTuple):
    """What an instruction wrote, up to the marked lanes as in a row, and the nodes of the wrong lane there."""

    operand: NamedLanes
    emulator: Lanes
    marked: frozenset[int]
    nodes: Sequence[Node] = ()


class NamedRegister(NamedTuple):
    """A register in an instruction's text, and which of its lanes of `bits` each."""

    name: str
    place: Place
    bits: int
    lanes: slice


def operands_in(text: str) -> Iterator[NamedRegister]:
    """The registers in the text of an instruction, in its order."""
    for found in _OPERAND.finditer(text):
        vector, count, letter, lane, scalar, number = found.groups()
        if vector is None:
            yield NamedRegister(
                found[0], Place("x" if scalar in "wx" else "v", int(number)), _BITS[scalar], slice(0, 1)
            )
        else:
            together = int(count or 1)  # of v0.4b[1], the second four bytes
            first = together * int(lane or 0)
            yield NamedRegister(found[0], Place("v", int(vector)), _BITS[letter], slice(first, first + together))


def operands_read(instruction: Instruction) -> list[NamedRegister]:
    """Each register in the text once; the destination, which comes first, only where no other operand is the same."""
    operands = list(operands_in(instruction.text))
    others = {operand.place for operand in operands[1:]}
    return list({one.name: one for n, one in enumerate(operands) if n or one.place not in others}.values())


class _Telling:
    """The rows of a call.

    Golden steps are looked for in order; of the instruction that parts from them, the first execution is taken.
    """

    def __init__(self, image: Image, moments: Sequence[_Moment], lane: _WrongLane) -> None:
        self._image, self._moments, self._lane = image, moments, lane
        self._pending = list(lane.steps.items())
        self._parting: tuple[str, str] | None = lane.mismatch.instruction, lane.mismatch.source

    def rows(self) -> Iterator[LaneRow]:
        mismatch = self._lane.mismatch
        for index, moment in enumerate(self._moments):
            source, text = self._image.place_of(moment.step.pc), moment.step.instruction.text
            registers = {} if moment.step.instruction.stores else moment.recorded.occurrence.registers
            reads = tuple(
                NamedLanes(name, self._lane.split(registers[place], bits, place.bits // bits)[lanes])
                for name, place, bits, lanes in operands_read(moment.step.instruction)
                if place in registers
            )
            for written in self._written(index):
                golden, parts = "", False
                if not written.nodes:
                    golden = f"{mismatch.output} {mismatch.expected}" if written.marked else ""
                elif mismatch.parted_at is not None and (text, source) == self._parting:
                    self._parting = None
                    golden, parts = f"{mismatch.parted_at} {mismatch.golden_step}", True
                elif self._pending and any(node.holds(self._pending[0][1]) for node in written.nodes):
                    name, _ = self._pending.pop(0)
                    golden = f"{name} {self._lane.numbers[name]}"
                yield LaneRow(
                    source=source,
                    instruction=text,
                    reads=reads,
                    written=written.operand,
                    emulator=written.emulator,
                    marked=written.marked,
                    golden=golden,
                    parts=parts,
                )

    def _written(self, index: int) -> Iterator[_Written]:
        """Registers, then memory; a loaded register has lanes of the width as which it is read next."""
        moment, element = self._moments[index], self._lane.dtype.itemsize
        for write in moment.step.instruction.writes:
            if isinstance(write.place, Place) and write.place in moment.registers:
                written, nodes = len(write.lanes) * write.bits, self._lane.nodes(index, write.bits)
                bits = write.bits
                if moment.step.reads_memory:
                    texts = (later.step.instruction.text for later in self._moments[index + 1 :])
                    read_next = (one.bits for text in texts for one in operands_in(text) if one.place == write.place)
                    bits = next(read_next, 8 * element)
                bits = min(bits, written, 64)
                mine, theirs = (self._lane.split(v, bits, written // bits) for v in moment.registers[write.place])
                if nodes or write.place.file == "v":
                    name = f"w{write.place.index}" if (write.place.file, bits) == ("x", 32) else str(write.place)
                    yield _Written(NamedLanes(name, mine), theirs, frozenset(node.lane for node in nodes), nodes)
        for address, both in moment.memory.items():
            size = min(element, len(both[0]))
            mine, theirs = (self._lane.split(int.from_bytes(d, "little"), 8 * size, len(d) // size) for d in both)
            at, rest = divmod(self._lane.address - address, size)
            is_there = not rest and 0 <= at < len(mine)
            name = self._lane.mismatch.output if is_there else "memory"
            yield _Written(NamedLanes(name, mine), theirs, frozenset([at] if is_there else []))
