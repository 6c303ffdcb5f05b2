"""A recorded program, allocated to real registers, assembled, and run in lockstep: does it still do what was recorded?

The assembled code starts from the memory that the recorded run found and from seeded undefined bytes in every
register.  Machine and emulator are compared after every instruction.  Then the machine runs it once more, beside the
record: what each recorded instruction reads, loads and finally leaves must be the recorded values, and so must memory,
results and QC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

from isa.acle.allocation import Allocation
from isa.acle.assembly import CodeLine
from isa.acle.program import Program
from isa.acle.register_slots import slots_of
from isa.evaluate.exact import QC, Evaluation, Occurrence
from isa.lane import Memory as MemoryPlace
from isa.lane import Place
from sim.call.lockstep import Divergence, Lockstep
from sim.emulator import Emulator
from sim.machine.errors import MemoryFault
from sim.machine.machine import Machine
from sim.machine.memory import PAGE, Memory
from sim.machine.registers import RegisterStorage
from sim.toolchain.compilers import build_text
from sim.toolchain.image import Image
from sim.toolchain.starting import map_image

_REGION = 0x1_0000_0000
"""The assembled code has a region of this size and alignment for itself: code and constants from its start on, the
stack under its middle, and the address it returns to near its end."""
_RETURN = _REGION - PAGE
_STACK = 32 * PAGE
_LOW_HALF = 0xFFFF_FFFF_FFFF_FFFF
_KEPT = (Place("sp"), *(Place("x", i) for i in range(19, 31)), *(Place("v", i) for i in range(8, 16)))
"""What a function leaves as it was; of vectors the lower half (AAPCS64 6.1)."""


@dataclass(frozen=True)
class TouchedMemory:
    """The bytes that a recorded run loaded or stored: what memory held before it, and what it held after it."""

    before: Mapping[int, int]
    after: Mapping[int, int]

    @classmethod
    def by(cls, trace: Sequence[Occurrence]) -> TouchedMemory:
        """Worked out from the record; bytes that are stored before they are loaded are 0 before."""
        before: dict[int, int] = {}
        after: dict[int, int] = {}
        for occurrence in trace:
            for address, data in occurrence.memory.items():
                for byte, value in enumerate(data, address):
                    before.setdefault(byte, value)
            for address, data in _stores(occurrence):
                for byte, value in enumerate(data, address):
                    before.setdefault(byte, 0)
                    after[byte] = value
        return cls(before, {**before, **after})

    @property
    def pages(self) -> list[int]:
        """The addresses of the pages in which the bytes lie."""
        return sorted({byte // PAGE * PAGE for byte in self.before})

    @property
    def free_region(self) -> int:
        """The start of the first region, but that of null pointers, in which none of the bytes lies."""
        taken = {byte // _REGION for byte in self.before}
        return _REGION * next(number for number in count(1) if number not in taken)


def _stores(occurrence: Occurrence) -> Iterator[tuple[int, bytes]]:
    """The address and the bytes of each store of an instruction, from the exact evaluator."""
    if occurrence.instruction.stores:
        evaluation = Evaluation(occurrence)
        for write in occurrence.instruction.writes:
            if isinstance(write.place, MemoryPlace):
                data = evaluation.whole(write).to_bytes(write.place.size, "little")
                yield evaluation.value(write.place.address), data


@dataclass(frozen=True)
class AssembledRun:
    """What came of it: `divergence` of machine and emulator, and the first of the `differences` from the record.

    `compared` are the registers and bytes of memory that were compared with the record, `instructions` were executed
    in lockstep, `unverified` of them by the machine alone because the emulator lacks them.
    """

    allocation: Allocation
    instructions: int
    unverified: int
    compared: int
    divergence: Divergence | None
    differences: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether both machines and the record agree in all that was compared, and something was."""
        return self.divergence is None and not self.differences and self.compared > 0

    def __str__(self) -> str:
        wrong = [str(self.divergence)] * (self.divergence is not None) + list(self.differences[:1])
        verdict = "; ".join(wrong) or ("as recorded" if self.agrees else "nothing was compared")
        return f"{self.instructions} instructions in lockstep, {self.compared} values compared: {verdict}"


def run_assembled(program: Program, seed: int = 1) -> AssembledRun:
    """Allocate a recorded program, assemble it, and run it in lockstep and beside its record.

    `seed` is that of the undefined bytes.  Raises ValueError where it cannot be allocated, ToolchainError
    where it cannot be assembled, and what a lockstep run raises.
    """
    return run_allocation(program, program.allocated(), seed)


def run_allocation(program: Program, allocation: Allocation, seed: int = 1) -> AssembledRun:
    """As `run_assembled`, with an allocation of that program that is at hand."""
    touched = TouchedMemory.by(program.trace)
    image = build_text(allocation.text, ".s", base=touched.free_region)
    machine, emulator = Machine(), Emulator()
    for memory in (machine.memory, emulator.memory):
        _fill(memory, touched, image)
    _start(machine, allocation, touched.free_region, image, seed)
    lockstep = Lockstep(machine, emulator, image)
    beside = _Beside(program, allocation, touched, image, seed)
    divergence = None
    try:
        divergence = lockstep.run(touched.free_region + _RETURN, len(allocation.lines))
        beside.run()
        if divergence is None:
            beside.compare("number of instructions that saturated", program.saturations, lockstep.qc_events)
    except MemoryFault as fault:  # the recorded run had none
        beside.compare("memory faults", "none", fault)
    executed, unverified = machine.instructions_executed, lockstep.unverified.total()
    return AssembledRun(allocation, executed, unverified, beside.compared, divergence, tuple(beside.differences))


def _fill(memory: Memory, touched: TouchedMemory, image: Image) -> None:
    map_image(memory, image)
    stack = touched.free_region + _REGION // 2
    memory.map(stack - _STACK, _STACK, "rw")
    for page in touched.pages:
        memory.map(page, PAGE, "rw")
    for byte, value in touched.before.items():
        memory.write(byte, bytes([value]))


def _start(machine: Machine, allocation: Allocation, region: int, image: Image, seed: int) -> None:
    """Undefined bytes in the registers, the stack pointer, the return address, and the first instruction."""
    random, registers = Random(seed), machine.registers
    registers.vectors[:] = random.randbytes(len(registers.vectors))
    registers.general[:] = [random.getrandbits(64) for _ in registers.general]
    machine.x[30], machine.sp = region + _RETURN, region + _REGION // 2
    machine.pc = image.symbol(allocation.name).address


class _Beside:
    """A machine that runs the assembled code, compared with the record at each recorded instruction."""

    def __init__(
        self, program: Program, allocation: Allocation, touched: TouchedMemory, image: Image, seed: int
    ) -> None:
        self.differences: list[str] = []
        self.compared = 0
        self._program, self._allocation, self._touched = program, allocation, touched
        self._machine, self._started = Machine(), RegisterStorage()
        _fill(self._machine.memory, touched, image)
        _start(self._machine, allocation, touched.free_region, image, seed)
        self._started.copy(self._machine.registers)
        self._last = {place: n for n, o in enumerate(program.trace) for place in o.instruction.places_written}

    def compare(self, what: str, recorded: object, now: object) -> None:
        """Count one comparison; where it fails, keep a sentence."""
        self.compared += 1
        if recorded != now:
            values = (f"{v:#x}" if isinstance(v, int) else str(v) for v in (recorded, now))
            self.differences.append("{}: recorded {}, assembled {}".format(what, *values))

    def run(self) -> None:
        """Run the code to its end, and compare on the way and there."""
        machine, program = self._machine, self._program
        for line in self._allocation.lines:
            if line.instruction is None:
                machine.step()
                continue
            occurrence = program.trace[line.number]
            where = f"instruction {line.number} ({occurrence.instruction.text}, now {line.text})"
            for recorded, now in self._places(line, written=False):
                self.compare(f"{where} reads {now}", occurrence.registers[recorded], machine.read(now))
            step = machine.step()
            if occurrence.memory:
                self.compare(f"{where} loads", dict(occurrence.memory), dict(step.reads_memory))
            for recorded, now in self._places(line, written=True):
                if self._last[recorded] == line.number:
                    self.compare(f"{where} writes {now}", program.registers.read(recorded), machine.read(now))
        self.compare("the address returned to", self._touched.free_region + _RETURN, machine.pc)
        self.compare("saturated (FPSR.QC)", program.saturated, bool(machine.fpsr & QC))
        for number, register in enumerate(program.returned):
            self.compare(f"result v{number}", program.registers.vector(register), machine.v[number])
        for place in _KEPT:
            self.compare(f"kept {place}", self._started.read(place) & _LOW_HALF, machine.read(place) & _LOW_HALF)
        for byte, value in self._touched.after.items():
            self.compare(f"memory byte {byte:#x}", value, machine.memory.read(byte, 1)[0])

    def _places(self, line: CodeLine, written: bool) -> Iterator[tuple[Place, Place]]:
        """The registers that a recorded line reads or writes: the virtual one and the real one."""
        if line.instruction is not None:
            slots = slots_of(line.instruction.pattern)
            virtual = self._program.trace[line.number].instruction.registers
            for slot, file in (slots.writes if written else slots.reads).items():
                yield Place(file, virtual[slot]), Place(file, line.instruction.registers[slot])
