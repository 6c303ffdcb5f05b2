"""Programs of intrinsics as C: what is called is noted, and runs when a result is wanted or the program ends."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Hashable, Sequence
from ctypes import CDLL, addressof, c_char, c_char_p, c_int64, c_void_p, create_string_buffer
from functools import cache
from pathlib import Path
from struct import calcsize, pack, unpack_from
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from isa.acle.part import GENERAL, PartSteps, RecordedPart, TakenArguments, Unrecordable, record, taken
from isa.acle.program import OpenProgram, VirtualRegisters
from isa.errors import LanewiseError
from isa.evaluate import c
from isa.evaluate.exact import QC
from isa.evaluate.python import bind
from isa.instruction import Instruction, Pattern
from isa.lane import Place
from sim.machine.alignment import must_be_aligned
from sim.machine.compiled.engine import semantics_digest
from sim.machine.compiled.native_memory import NativeMemory
from sim.machine.compiled.text import ACCESS, ALIGNED, MEMORY
from sim.machine.host_compiler import HostCompiler
from sim.machine.memory import Memory

PATIENCE: Final = 20_000
"""Instructions that are interpreted before the patterns met so far are compiled; each further time twice as many."""
_MOST_NOTED = 1 << 18
"""Numbers of instructions and registers that are noted before they run in any case."""
_MOST_PARTS = 1 << 12
"""Parts of programs that are kept recorded at once."""
_FIXED = "uint8_t v[32][16];\n  uint64_t x[32]; /* x0 to x30, then sp */"
_OPEN = "uint8_t (*v)[16];\n  uint64_t *x; /* as many as the program has */"
_STATE = "<QQQQ16s3I4x"
"""The layout of `State` with open registers."""
_RUN = """
/* Executes instructions, each the number of a function and then its registers, `count` numbers in all.  Returns how
   many of these it has done: fewer where another evaluator has to execute the next instruction.  Adds to `totals` how
   many instructions it has executed, and how many of them saturated; `seen[k]` becomes 1 where function k was. */
int64_t run(State *S, Memory *M, const uint32_t *code, int64_t count, int64_t *totals, uint8_t *seen) {
  const uint32_t before = S->fpsr & %(qc)uu;
  uint32_t saturated = 0;
  int64_t at = 0;
  S->fpsr &= ~%(qc)uu;
  while (at < count) {
    const uint32_t *r = code + at;
    int64_t next = at;
    switch (r[0]) {
%(cases)s
    }
    if (next == at) break;
    at = next;
    seen[r[0]] = 1;
    totals[0] += 1;
    if (S->fpsr & %(qc)uu) {
      totals[1] += 1;
      saturated = %(qc)uu;
      S->fpsr &= ~%(qc)uu;
    }
  }
  S->fpsr |= before | saturated;
  return at;
}
"""


def sequence_text(patterns: Sequence[Pattern]) -> str:
    """A library with `run`, which executes instructions of these patterns by their numbers, and `description`."""
    texts, cases, in_c, sites = list[str](), list[str](), list[int](), 0
    for number, pattern in enumerate(patterns):
        count, aligned = pattern.register_count, must_be_aligned(Instruction(pattern, (0,) * pattern.register_count))
        try:
            text = c.instruction(f"f{number}", pattern.open_writes(), count, pattern.text, aligned)
        except c.NotInC:
            continue
        texts.append(text)
        in_c.append(number)
        registers = "".join(f", r[{slot + 1}]" for slot in range(count))
        cases.append(f"    case {number}: if (!f{number}(S, M + {sites}{registers})) next += {count + 1}; break;")
        sites += c.accesses(text)
    described = json.dumps(json.dumps({"in_c": in_c, "sites": sites}))
    prelude = c.PRELUDE.replace(_FIXED, _OPEN)
    run = _RUN % {"qc": QC, "cases": "\n".join(cases)}
    return "\n".join(
        [prelude, MEMORY, ACCESS, ALIGNED, *texts, f"const char *const description = {described};", run]
    )  # fmt: skip


class _Library:
    """A compiled text, loaded."""

    def __init__(self, path: Path) -> None:
        library = CDLL(str(path))
        self.run = library.run
        self.run.argtypes = (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p)
        self.run.restype = c_int64
        described = json.loads(c_char_p.in_dll(library, "description").value or b"")
        self.in_c: list[int] = described["in_c"]
        self.sites: int = described["sites"]


_load = cache(_Library)


class OpenRegisters(VirtualRegisters):
    """Registers that what is noted is run for before they are read; vector registers get their place then."""

    def __init__(self, program: CompiledProgram) -> None:
        super().__init__()
        self.words = array("Q")
        self.general = cast("list[int]", self.words)  # the same to generated Python, and C can write it
        self.count = 0
        self.inputs: list[tuple[int, int]] = []
        self._program = program

    def new_vector(self, bits: int = 0) -> int:
        """The number of a fresh vector register that holds `bits`."""
        number = self.count
        self.count = number + 1
        if bits:
            self.inputs.append((number, bits))
        return number

    def place(self) -> None:
        """Give all registers their bytes."""
        self.vectors += bytes(16 * self.count - len(self.vectors))
        for number, bits in self.inputs:
            self.vectors[16 * number : 16 * number + 16] = bits.to_bytes(16, "little")
        self.inputs.clear()

    def read(self, place: Place) -> int:
        """What a register holds."""
        self._program.settle()
        return super().read(place)

    def vector(self, number: int) -> int:
        """The 128 bits of a vector register."""
        self._program.settle()
        return super().vector(number)


class Settled(NamedTuple):
    """So many numbers of code are done; the instructions in them, and how many of these saturated; their patterns."""

    done: int
    instructions: int
    saturations: int
    patterns: list[Pattern]


class _PartLayout:
    """A part as numbers of code: `heads` are where those of functions are to be.

    To each number the one of some bases is added: 0, where its fresh vector registers and its general registers begin,
    then the registers of the vectors that it takes.
    """

    def __init__(self, part: RecordedPart) -> None:
        heads, words = list[int](), list[tuple[int, int]]()
        for _, registers in part.instructions:
            heads.append(len(words))
            words.append((0, 0))
            for register in registers:
                if register >= GENERAL:
                    words.append((register - GENERAL, 2))
                else:
                    words.append((register - part.taken, 1) if register >= part.taken else (0, 3 + register))
        table = np.array(words, np.uint32).reshape(-1, 2)
        self.heads, self.words, self.bases = np.array(heads, np.intp), table[:, 0], table[:, 1].astype(np.intp)

    def code(self, numbers: Sequence[int]) -> NDArray[np.uint32]:
        """The numbers, with those of functions."""
        words = self.words.copy()
        words[self.heads] = numbers
        return words

    def placed(self, code: NDArray[np.uint32], bases: Sequence[int]) -> bytes:
        """The numbers with these bases."""
        return (code + np.array(bases, np.uint32)[self.bases]).tobytes()


class SequenceEngine:
    """What programs of one memory share: the patterns that are compiled, by their numbers, and those that were met."""

    def __init__(self, compiler: HostCompiler, memory: Memory, patience: int | None = None) -> None:
        self.memory = memory
        self.numbers: dict[Pattern, int] = {}
        self.library: _Library | None = None
        self.patterns: list[Pattern] = []
        """Those of the library, by number."""
        self._compiler = compiler
        self._native = NativeMemory(memory)
        self._sites, self._version = create_string_buffer(0), 0
        self._met: set[Pattern] = set()
        self._parts: dict[Hashable, RecordedPart | None] = {}
        self._layouts: dict[RecordedPart, _PartLayout] = {}
        self._codes: dict[PartSteps, NDArray[np.uint32]] = {}
        self._patience = self._left = PATIENCE if patience is None else patience

    def interpreted(self, pattern: Pattern) -> bool:
        """Note that an instruction of a pattern was interpreted; whether `numbers` are others for that."""
        self._met.add(pattern)
        self._left -= 1
        if self._left > 0:
            return False
        self._patience *= 2
        self._left = self._patience
        patterns = sorted({*self.patterns, *self._met}, key=lambda one: (one.text, one.form.name))
        if patterns == self.patterns:
            return False
        named = json.dumps([semantics_digest(), *([one.form.name, one.text] for one in patterns)])
        try:
            path = self._compiler(hashlib.sha256(named.encode()).hexdigest(), lambda: sequence_text(patterns))
        except LanewiseError:
            return False
        self.patterns, self.library = patterns, _load(path)
        self.numbers = {patterns[number]: number for number in self.library.in_c}
        self._version = 0
        self._codes.clear()
        return True

    def part(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], given: TakenArguments, program: OpenProgram
    ) -> RecordedPart | None:
        """What a part does with arguments of this kind; None where it has to be called."""
        key = function, given.key
        if key not in self._parts:
            if len(self._parts) == _MOST_PARTS:
                for kept in (self._parts, self._layouts, self._codes):
                    kept.clear()
            try:
                self._parts[key] = recorded = record(function, arguments, program)
                self._met.update(recorded.patterns)
            except Unrecordable:
                self._parts[key] = None
        return self._parts[key]

    def code(self, part: RecordedPart, steps: PartSteps, bases: Sequence[int]) -> bytes | None:
        """A part as what is noted of its instructions; None while the library lacks one of them."""
        if part not in self._layouts:
            self._layouts[part] = _PartLayout(part)
        layout = self._layouts[part]
        if steps not in self._codes:
            try:
                self._codes[steps] = layout.code([self.numbers[pattern] for pattern in steps.patterns])
            except KeyError:
                return None
        return layout.placed(self._codes[steps], bases)

    def run(self, registers: OpenRegisters, code: array[int], at: int) -> Settled:
        """Execute what is noted in `code` from number `at` on, as far as C has it."""
        library = self.library
        assert library is not None  # else nothing is noted
        self._native.refresh()
        if self._version != self._native.version:
            self._version = self._native.version
            self._sites = create_string_buffer(self._native.sites(library.sites + 1))
        start, count = code.buffer_info()
        vectors = addressof((c_char * len(registers.vectors)).from_buffer(registers.vectors))
        fixed = pack(_STATE, vectors, registers.words.buffer_info()[0], 0, 0, bytes(16), *registers.flags[:3])
        state = create_string_buffer(fixed, len(fixed))
        totals, seen = (c_int64 * 2)(), create_string_buffer(len(self.patterns))
        done = library.run(state, self._sites, start + code.itemsize * at, count - at, totals, seen)
        registers.flags[:3] = unpack_from("<3I", state, calcsize("<QQQQ16s"))
        found = [pattern for pattern, was in zip(self.patterns, seen.raw, strict=True) if was]
        return Settled(done, totals[0], totals[1], found)


class CompiledProgram(OpenProgram):
    """Intrinsics executed as C, as many at once as nothing asks a result of; the rest in Python, which is as exact.

    A fault is raised when the instructions noted so far run: at a result that is asked for, or at the end of `with`;
    the instruction and those after it did nothing then.  No trace is kept: `instructions` counts, `patterns` are those
    that were executed.
    """

    def __init__(self, engine: SequenceEngine) -> None:
        super().__init__(engine.memory, OpenRegisters(self))
        self.instructions = 0
        self.patterns: set[Pattern] = set()
        self._engine = engine
        self._numbers = engine.numbers
        self._noted: list[int] = []
        self._code = array("I")
        """What is noted already before that."""
        self._open = cast(OpenRegisters, self.registers)

    def __exit__(self, *exception: object) -> None:
        """Run what is noted, unless the program was interrupted; a fault comes before what was raised after it."""
        super().__exit__(*exception)
        if exception[1] is None or isinstance(exception[1], Exception):
            self.settle()

    @property
    def saturated(self) -> bool:
        """As that of any program, of what is noted too."""
        self.settle()
        return super().saturated

    def run(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        """Note one instruction, or execute it where C does not have it."""
        number = self._numbers.get(pattern)
        if number is None:
            self.settle()
            self._interpret(pattern, registers)
            if self._engine.interpreted(pattern):
                self._numbers = self._engine.numbers
            return
        noted = self._noted
        noted.append(number)
        noted += registers
        if len(noted) > _MOST_NOTED:
            self.settle()

    def perform(self, part: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Do what a part does: what was recorded of it, if that is all that it does."""
        try:
            given = taken(arguments)
            recorded = self._engine.part(part, arguments, given, self)
        except Exception:  # what it raises it raises again below, behind what it does until then
            recorded = None
        return part(*arguments) if recorded is None else self._repeat(recorded, given)

    def _repeat(self, part: RecordedPart, given: TakenArguments) -> Any:
        registers, steps = self._open, part.steps(given.pointers)
        vectors = [self.vector_register(value) for value in given.vectors]
        bases = [0, registers.count, len(registers.words), *vectors]
        registers.count += part.fresh
        registers.inputs += [(number - part.taken + bases[1], bits) for number, bits in part.constants]
        addresses = [*(pointer.address for pointer in given.pointers), 0]
        registers.words.extend([(addresses[at] + further) % 2**64 for at, further in steps.general])

        def placed(register: int) -> int:
            if register >= GENERAL:
                return bases[2] + register - GENERAL
            return bases[3 + register] if register < part.taken else bases[1] + register - part.taken

        code = self._engine.code(part, steps, bases)
        if code is None:
            for pattern, (_, numbers) in zip(steps.patterns, part.instructions, strict=True):
                self.run(pattern, tuple(map(placed, numbers)))
        else:
            self._code.extend(self._noted)
            self._noted = []
            self._code.frombytes(code)
            if len(self._code) > _MOST_NOTED:
                self.settle()
        return part.results(given.pointers, lambda kind, register: self.value(kind, placed(register)))

    def _interpret(self, pattern: Pattern, registers: tuple[int, ...]) -> None:
        memory, instruction = self._engine.memory, Instruction(pattern, registers)
        self.execute(bind(instruction, self.registers, memory.load, memory.store, 4 * self.instructions))
        self.instructions += 1
        self.patterns.add(pattern)

    def settle(self) -> None:
        """Run all that is noted.  Raises MemoryFault."""
        registers, code, at = self._open, self._code, 0
        code.extend(self._noted)
        if len(registers.vectors) != 16 * registers.count:
            registers.place()
        self._noted, self._code = [], array("I")
        while at < len(code):
            ran = self._engine.run(registers, code, at)
            at += ran.done
            self.instructions += ran.instructions
            self.saturations += ran.saturations
            self.patterns.update(ran.patterns)
            if at < len(code):
                pattern = self._engine.patterns[code[at]]
                self._interpret(pattern, tuple(code[at + 1 : at + 1 + pattern.register_count]))
                at += 1 + pattern.register_count
