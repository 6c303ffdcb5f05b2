"""Generated C compiled for this computer, and run beside the exact evaluator from the same states."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from ctypes import CDLL, addressof, c_uint, c_void_p, create_string_buffer
from functools import cache
from struct import pack, pack_into, unpack_from

from isa.decode import decode
from isa.encodings import recorded_words
from isa.evaluate import c, exact
from isa.instruction import Instruction, Pattern
from sim import Machine
from sim.machine.errors import MemoryFault
from sim.machine.registers import RegisterStorage
from sim.toolchain.host import host_library
from sim.verify.states import CODE, DATA, DATA_SIZE, States

_STATE = "<512s32QQQ16s3I4x"
"""The layout of `State` in `isa.evaluate.c.PRELUDE`."""
_MEMORY = """
struct Memory { uint64_t start, size; uint8_t *bytes; uint64_t writable; };

static uint8_t *found(Memory *M, uint64_t address, unsigned size, uint64_t writable) {
  for (const Memory *each = M; each->size; ++each) {
    const uint64_t offset = address - each->start;
    if (offset < each->size && size <= each->size - offset && each->writable >= writable) return each->bytes + offset;
  }
  return 0;
}

static inline int load_bytes(Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {
  const uint8_t *at = found(M, address, size, 0);
  if (at) memcpy(bytes, at, size);
  return at != 0;
}

static inline int store_bytes(Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size) {
  uint8_t *at = found(M, address, size, 1);
  if (at) memcpy(at, bytes, size);
  return at != 0;
}
"""
UNDEFINED_TRAPS = ("-O1", "-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error")
"""Flags with which undefined behaviour ends the program, whatever runtime there is."""


_LEFT = 2
"""What a function returns that leaves an instruction to another evaluator."""
_STRIDE = 7
"""Between the numbers of the states that are taken: few of them are of every kind."""


@cache
def _states(kind: str) -> States:
    """States for the forms of a mnemonic that reach memory, or for all others: making them takes long."""
    return States(kind, 1)


def decoded(word: int) -> Instruction:
    """The instruction of a word at `CODE`."""
    return decode(word.to_bytes(4, "little"), CODE)


def words_in_c(every: bool) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """By form, its recorded words that are in C, all of them or one; and why the other forms are not."""
    written: dict[str, tuple[int, ...]] = {}
    refused: dict[str, str] = {}
    for name, words in recorded_words().items():
        for word in words:
            pattern = decoded(word).pattern
            try:
                c.instruction("f", pattern.open_writes(), pattern.register_count, pattern.text)
            except c.NotInC as error:
                refused[name] = str(error)
            else:
                written[name] = (*written.get(name, ()), word)
                if not every:
                    break
    return written, refused


class Compiled:
    """The patterns of some words as one library.  `change` is made to the text before it is compiled."""

    def __init__(self, words: Sequence[int], *flags: str, change: Callable[[str], str] = str) -> None:
        self._numbers: dict[Pattern, int] = {}
        for word in words:
            self._numbers.setdefault(decoded(word).pattern, len(self._numbers))
        text = "\n".join([c.PRELUDE, _MEMORY, *self._functions(), *self._entry()])
        library = CDLL(str(host_library(change(text), *flags)))
        self._run = library.run
        self._run.argtypes = (c_uint, c_void_p, c_void_p, c_void_p)
        self._code, self._data = create_string_buffer(4096), create_string_buffer(DATA_SIZE)
        code, data = addressof(self._code), addressof(self._data)
        self._regions = create_string_buffer(pack("<12Q", CODE, 4096, code, 0, DATA, DATA_SIZE, data, 1, *[0] * 4))
        self._state = create_string_buffer(1024)
        self._machine = Machine()
        self._machine.memory.map(CODE, 4096, "rx")
        self._machine.memory.map(DATA, DATA_SIZE, "rw")
        self._code.raw = random.Random(1).randbytes(4096)
        self._machine.memory.write(CODE, self._code.raw)

    def _functions(self) -> Iterator[str]:
        for pattern, number in self._numbers.items():
            yield c.instruction(f"f{number}", pattern.open_writes(), pattern.register_count, pattern.text)

    def _entry(self) -> Iterator[str]:
        """What Python calls: the function of a number with an array of register numbers."""
        yield "int run(unsigned number, State *S, Memory *M, const unsigned *r) {\n  switch (number) {"
        for pattern, number in self._numbers.items():
            registers = "".join(f", r[{k}]" for k in range(pattern.register_count))
            yield f"    case {number}: return f{number}(S, M{registers});"
        yield "  }\n  return 2;\n}"

    def difference(self, name: str, word: int, states: int) -> str:
        """ "" where C and the exact evaluator do the same with a word from random states, else what differs."""
        given, instruction = _states(f"{name.split()[0]} [x]" if "[x" in name else ""), decoded(word)
        registers = (c_uint * 32)(*instruction.registers)
        if given.reaches_memory:
            self._data.raw = given.data
            self._machine.memory.write(DATA, given.data)
        for number in range(0, _STRIDE * states, _STRIDE):
            given.fill(self._machine.registers, number, word)
            self._open_monitor(self._machine.registers, number, word)
            if found := self._compared(instruction, registers):
                return f"{name}, {word:08x}, state {number}: {found}"
        return ""

    def difference_from(self, word: int, before: RegisterStorage) -> str | None:
        """The same from one state; None where C leaves the instruction to another evaluator and changes nothing."""
        instruction = decoded(word)
        self._machine.registers.copy(before)
        found = self._compared(instruction, (c_uint * 32)(*instruction.registers))
        shown = ", ".join(f"{place}={before.read(place):#x}" for place in instruction.places_read)
        return f"{instruction.text} with {shown}: {found}" if found else found

    def _open_monitor(self, registers: RegisterStorage, number: int, word: int) -> None:
        """For the address of the base register, for another one, or not at all."""
        base = registers.general[word >> 5 & 31]
        registers.flags[3] = (0, base | 1 << 64, base ^ 64 | 1 << 64)[number % 3]

    def _compared(self, instruction: Instruction, numbers: object) -> str | None:
        machine, state = self._machine, self._state
        machine.pc = CODE
        before = _packed(machine.registers, CODE)
        pack_into(f"{len(before)}s", state, 0, before)
        refused = self._run(self._numbers[instruction.pattern], state, self._regions, numbers)
        if refused == _LEFT:
            return None if state.raw[: len(before)] == before else "C left it, and changed something"
        try:
            exact.execute(instruction, machine)
            faulted = 0
        except MemoryFault:
            faulted = 1
        if refused != faulted:
            return f"C returned {refused}, exact {faulted}"
        after = _packed(machine.registers, machine.pc)
        if state.raw[: len(after)] != after:
            return _register_difference(state.raw, after)
        stored = self._data.raw != machine.memory.read(DATA, DATA_SIZE) if instruction.stores else False
        return "memory differs" if stored else ""


def _packed(registers: RegisterStorage, pc: int) -> bytes:
    nzcv, fpsr, fpcr, monitor, tpidr = registers.flags
    flags = monitor.to_bytes(16, "little"), nzcv, fpsr, fpcr
    return pack(_STATE, bytes(registers.vectors), *registers.general, pc, tpidr, *flags)


def _register_difference(state: bytes, expected: bytes) -> str:
    vectors = [f"v{i}" for i in range(32)]
    names = [*vectors, *(f"x{i}" for i in range(31)), "sp", "pc", "tpidr", "monitor", "nzcv", "fpsr", "fpcr"]
    (mine, *others), (exact_vectors, *exact_others) = unpack_from(_STATE, state), unpack_from(_STATE, expected)
    pairs = zip(names, [*_registers(mine), *others], [*_registers(exact_vectors), *exact_others], strict=True)
    return next(f"{name}: C {a!r}, exact {b!r}" for name, a, b in pairs if a != b)


def _registers(vectors: bytes) -> list[str]:
    return [f"{int.from_bytes(vectors[at : at + 16], 'little'):#034x}" for at in range(0, 512, 16)]
