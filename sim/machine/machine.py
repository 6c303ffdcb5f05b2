"""Machine: one lane machine that executes machine code with the semantics of the instruction table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from operator import length_hint
from typing import Final, Literal, NamedTuple, Never, get_args

from isa.decode import disassemble
from isa.evaluate.python import Load, Run, Store, bind
from isa.instruction import FEATURES, Instruction
from isa.lane import Place
from isa.processors import features_of
from isa.rows import TABLE
from isa.table import Table
from sim.machine.alignment import aligned_load, aligned_store, must_be_aligned
from sim.machine.compiled.engine import CompiledEngine
from sim.machine.errors import ExecutionError, MemoryFault
from sim.machine.executable import executable
from sim.machine.host_compiler import compile_for_host
from sim.machine.memory import Memory, as_address
from sim.machine.registers import SP, RegisterFile, RegisterStorage, as_fpcr, as_register
from sim.machine.trace import Step

_MAX_BLOCK = 512

EngineName = Literal["automatic", "interpreted", "compiled"]
ENGINES: Final = get_args(EngineName)
PATIENCE: Final = 100_000
"""After so many instructions of a machine the automatic engine compiles: about as long as a compiler takes."""


class Block(NamedTuple):
    """So many instructions that run one after the other; `branch` is the last one if it decides where to go on."""

    body: list[Run]
    branch: Run | None
    length: int
    next_pc: int


class Machine:
    """Registers, memory and a program counter; everything is zero and nothing mapped at first.

    `features` names the extensions the machine has, out of `isa.instruction.FEATURES` and `BEHAVIOURS`, or is the name
    of a processor, `"cortex-a72"` (`isa.processors`); default: all of the first.  Raises UnknownFeature for another
    name.  Code that a program rewrites is noticed at the next branch or run; hardware promises it only after an
    instruction barrier.  After a fault the state is precise: the instruction at `pc` did nothing.

    The engine executes what `run` is asked for: "interpreted" in Python, "compiled" by C that is compiled for this
    computer where it has a compiler, "automatic" in Python until `PATIENCE` instructions are executed, then compiled.
    What C does not have is interpreted, and so is all without a compiler (see `fallbacks`) or with a patch.  `step` and
    `follow` always interpret.

    Setting what there is not raises AttributeError: a misspelt register would be ignored.
    """

    __slots__ = (
        "_blocks", "_bound", "_code_version", "_engine", "_instructions", "_loads", "_patches", "_patience", "_pc",
        "_recorded", "_stops", "_stores", "_v", "_x", "features", "instructions_executed", "memory", "registers",
        "table",
    )  # fmt: skip

    def __init__(
        self, features: str | Iterable[str] = FEATURES, table: Table = TABLE, engine: EngineName = "automatic"
    ) -> None:
        self.features = features_of(features)
        self.registers = RegisterStorage()
        self.memory = Memory()
        self._v = RegisterFile(self.registers, "v", 32)
        self._x = RegisterFile(self.registers, "x", 31)
        self._pc = 0
        self.instructions_executed = 0
        self.table = table
        self._blocks: dict[int, Block] = {}
        self._bound: dict[int, tuple[Instruction, Run]] = {}
        self._recorded: dict[int, tuple[Instruction, Run]] = {}
        self._instructions: dict[int, Instruction] = {}
        self._patches: dict[int, Instruction] = {}
        self._code_version = 0
        self._stops: set[int] = set()
        self._loads: list[tuple[int, bytes]] = []
        self._stores: list[tuple[int, bytes, bytes]] = []
        if engine not in ENGINES:
            raise ValueError(f"unknown engine {engine!r}: the engines are {', '.join(ENGINES)}")
        self._patience = {"automatic": PATIENCE, "interpreted": sys.maxsize, "compiled": 0}[engine]
        self._engine: CompiledEngine | None = None

    def __repr__(self) -> str:
        done = f"{self.instructions_executed:,} instructions executed"
        return f"<{type(self).__name__} at pc {self._pc:#x}, {done}, {self.memory!r}>"

    @property
    def instructions_compiled(self) -> int:
        """How many of the instructions were executed as compiled code."""
        return self._engine.executed if self._engine is not None else 0

    @property
    def fallbacks(self) -> dict[tuple[str, str], int]:
        """Instructions that the compiled engine left to the interpreter: how many, by form of the first and reason."""
        return dict(self._engine.interpreted) if self._engine is not None else {}

    @property
    def forms(self) -> frozenset[str]:
        """The names of the instruction forms in the code that was run or stepped through."""
        return frozenset(instruction.form.name for instruction in self.code.values())

    @property
    def code(self) -> Mapping[int, Instruction]:
        """By address, the instructions in the code that was run or stepped through."""
        if self._engine is not None:
            for pc in self._engine.entered():
                self.instruction_at(pc)
        return self._instructions

    @property
    def v(self) -> RegisterFile:
        """The vector registers by number, 128 bits each: `m.v[3]`."""
        return self._v

    @v.setter
    def v(self, value: object) -> Never:
        raise AttributeError("v is all vector registers: set one of them, as in m.v[0] = 5")

    @property
    def x(self) -> RegisterFile:
        """The general registers x0 to x30 by number, 64 bits each: `m.x[3]`."""
        return self._x

    @x.setter
    def x(self, value: object) -> Never:
        raise AttributeError("x is all general registers: set one of them, as in m.x[0] = 5")

    @property
    def pc(self) -> int:
        """The program counter, 64 bits: the address of the instruction that is executed next."""
        return self._pc

    @pc.setter
    def pc(self, value: int) -> None:
        self._pc = as_register(value, 64)

    @property
    def sp(self) -> int:
        """The stack pointer, 64 bits."""
        return self.registers.general[SP]

    @sp.setter
    def sp(self, value: int) -> None:
        self.registers.general[SP] = as_register(value, 64)

    @property
    def nzcv(self) -> int:
        """The flags as a 4-bit number, N = 8, Z = 4, C = 2, V = 1."""
        return self.registers.flags[0]

    @nzcv.setter
    def nzcv(self, value: int) -> None:
        self.registers.flags[0] = as_register(value, 4)

    @property
    def fpsr(self) -> int:
        """The floating-point status register, 32 bits: QC is bit 27."""
        return self.registers.flags[1]

    @fpsr.setter
    def fpsr(self, value: int) -> None:
        self.registers.flags[1] = as_register(value, 32)

    @property
    def fpcr(self) -> int:
        """The floating-point control register, 32 bits: rounding mode, flush to zero, default NaN.

        Setting it raises UnmodelledMode where the value has another mode; MSR ignores the bits of those.
        """
        return self.registers.flags[2]

    @fpcr.setter
    def fpcr(self, value: int) -> None:
        self.registers.flags[2] = as_fpcr(value)

    @property
    def tpidr(self) -> int:
        """TPIDR_EL0, the thread pointer, 64 bits: from it a program finds its thread-local variables."""
        return self.registers.flags[4]

    @tpidr.setter
    def tpidr(self, value: int) -> None:
        self.registers.flags[4] = as_register(value, 64)

    def patch(self, patches: Mapping[int, Instruction]) -> None:
        """Execute these instructions, by address, in the place of those in memory; those given before no longer.

        They may be of features that the machine lacks.
        """
        changed = {*self._patches, *patches}
        for pc in changed:
            for known in (self._instructions, self._bound, self._recorded):
                known.pop(pc, None)
        self._patches = dict(patches)
        self._instructions |= self._patches
        for start, block in list(self._blocks.items()):
            if any(start <= pc < start + 4 * block.length for pc in changed):
                del self._blocks[start]

    def read(self, place: Place) -> int:
        """One register, the program counter included."""
        return self._pc if place.file == "pc" else self.registers.read(place)

    def write(self, place: Place, value: int) -> None:
        """Set one register, the program counter included.  Raises as setting it by its name does."""
        if place.file == "pc":
            self.pc = value
        else:
            self.registers.write(place, as_fpcr(value) if place.file == "fpcr" else as_register(value, place.bits))

    def load(self, address: int, size: int) -> bytes | memoryview:
        """Bytes that a program may read.  Raises MemoryFault."""
        return self.memory.load(address, size)

    def store(self, address: int, data: bytes) -> None:
        """Set bytes that a program may write.  Raises MemoryFault."""
        self.memory.store(address, data)

    def run(self, until: int | None = None, max_instructions: int | None = None) -> int:
        """Execute until the program counter is `until` or so many instructions are done; returns their number.

        Raises MemoryFault, Trap, UnsupportedInstruction and Unpredictable with `pc` at the instruction that could not
        be executed.
        """
        start = self.instructions_executed
        allowed = sys.maxsize if max_instructions is None else max_instructions
        patience = sys.maxsize if self._patches else max(self._patience - start, 0)
        for _ in self.follow(until, min(allowed, patience)):
            pass
        if allowed > patience:
            self._run_compiled(until, allowed - patience)
        return self.instructions_executed - start

    def _run_compiled(self, until: int | None, left: int) -> None:
        if self._engine is None:
            self._engine = CompiledEngine(
                compile_for_host, self.memory, self.registers, self._decode, self.features, self.table
            )
        engine, until = self._engine, self._prepare(until)
        while self._pc != until and left > 0:
            done = engine.run(self._pc, until, left)
            self._pc = done.pc
            self.instructions_executed += done.executed
            left -= done.executed
            if done.reason and left > 0:
                self._notice_code()
                block = self._blocks.get(self._pc) or self._translate(self._pc)
                form = self._instructions[self._pc].form.name
                count = self._run_block(block, 1 if done.one else left)
                engine.note_interpreted(form, done.reason, count)
                left -= count

    def follow(self, until: int | None = None, max_instructions: int | None = None) -> Iterator[int]:
        """Execute as `run` does; yields where each branch leads, taken or not, as soon as it is executed."""
        until = self._prepare(until)
        left = sys.maxsize if max_instructions is None else max_instructions
        memory = self.memory
        while self._pc != until and left > 0:
            if self._code_version != memory.code_version:
                self._notice_code()
            block = self._blocks.get(self._pc) or self._translate(self._pc)
            branches = block.branch is not None and block.length <= left
            left -= self._run_block(block, left)
            if branches:
                yield self._pc

    def _prepare(self, until: int | None) -> int | None:
        """Let blocks end at an address, which is returned as a register holds it, as the program counter is."""
        until = None if until is None else as_address(until)
        if until is not None and until not in self._stops:
            self._stops.add(until)
            self._blocks.clear()
        return until

    def _run_block(self, block: Block, limit: int) -> int:
        """Execute a block, or the first `limit` instructions of it."""
        length, branch = block.length, block.branch
        body = block.body if length <= limit else block.body[:limit]
        pending = iter(body)
        try:
            for execute in pending:
                execute()
        except MemoryFault as fault:
            done = len(body) - length_hint(pending) - 1
            self.instructions_executed += done
            self._pc += 4 * done
            fault.pc, fault.disassembly = self._pc, self.instruction_at(self._pc).text
            raise fault from None
        if length <= limit:
            target = branch() if branch is not None else None
            self._pc = block.next_pc if target is None else target
        else:
            length = len(body)
            self._pc += 4 * length
        self.instructions_executed += length
        return length

    def _notice_code(self) -> None:
        """Forget all instructions where code has changed."""
        if self._code_version == self.memory.code_version:
            return
        self._blocks.clear()
        self._bound.clear()
        self._recorded.clear()
        self._instructions = dict(self._patches)
        self._code_version = self.memory.code_version

    def _translate(self, start: int) -> Block:
        """The block at an address, which is kept."""
        memory, body = self.memory, list[Run]()
        branch, pc = None, start
        while len(body) < _MAX_BLOCK:
            known = self._bound.get(pc)
            if known is None:
                try:
                    instruction = self.instruction_at(pc)
                except ExecutionError:
                    if body:
                        break
                    raise
                known = self._bound[pc] = instruction, self._bind(instruction, memory.load, memory.store, pc)
            instruction, run = known
            pc += 4
            if instruction.is_branch:
                branch = run
                break
            body.append(run)
            if pc in self._stops:
                break
        block = self._blocks[start] = Block(body, branch, len(body) + (branch is not None), pc % 2**64)
        return block

    def _bind(self, instruction: Instruction, load: Load, store: Store, pc: int) -> Run:
        if must_be_aligned(instruction):
            lse2 = "lse2" in self.features
            load, store = aligned_load(load, lse2), aligned_store(store, lse2)
        return bind(instruction, self.registers, load, store, pc)

    def instruction_at(self, pc: int) -> Instruction:
        """The instruction at an address.  Raises MemoryFault, and what `executable` does."""
        self._notice_code()
        known = self._instructions.get(pc)
        if known is None:
            known = self._instructions[pc] = self._decode(pc)
        return known

    def decoded_at(self, pc: int) -> Instruction:
        """As `instruction_at`, of code that may never be run: it is not in `code` for that."""
        return self._patches.get(pc) or self._decode(pc)

    def _decode(self, pc: int) -> Instruction:
        try:
            word = self.memory.fetch(pc)
        except MemoryFault as fault:
            fault.pc = pc
            raise
        return executable(word, pc, self.table, self.features)

    def disassembly_at(self, pc: int) -> str:
        """The text of the instruction at an address, supported or not; "" where there is no code."""
        try:
            return " ".join(disassemble(self.memory.fetch(pc), pc)).rstrip()
        except MemoryFault:
            return ""

    def step(self) -> Step:
        """Execute one instruction and say what it did.  Raises as `run` does."""
        self._notice_code()
        pc = self._pc
        known = self._recorded.get(pc)
        if known is None:
            instruction = self.instruction_at(pc)
            run = self._bind(instruction, self._load_recorded, self._store_recorded, pc)
            known = self._recorded[pc] = instruction, run
        instruction, execute = known
        places = instruction.places_written
        old = [self.read(place) for place in places]
        fpsr = self.fpsr
        self._loads, self._stores = [], []
        try:
            target = execute()
        except MemoryFault as fault:
            fault.pc, fault.disassembly = pc, instruction.text
            raise
        self._pc = (pc + 4) % 2**64 if target is None else target
        writes = [(p, was, self.read(p)) for p, was in zip(places, old, strict=True) if p.file not in ("pc", "zr")]
        if self.fpsr != fpsr and Place("fpsr") not in places:
            writes.append((Place("fpsr"), fpsr, self.fpsr))
        index = self.instructions_executed
        self.instructions_executed += 1
        return Step(index, pc, instruction, tuple(writes), tuple(self._stores), tuple(self._loads), self._pc)

    def _load_recorded(self, address: int, size: int) -> bytes:
        data = bytes(self.memory.load(address, size))
        self._loads.append((address, data))
        return data

    def _store_recorded(self, address: int, data: bytes) -> None:
        old = self.memory.exchange(address, bytes(data))
        self._stores.append((address, old, bytes(data)))
