"""Chunks of values through the emulator and through the model as C.

The emulator runs a loop of its own over tables of registers, without any hook; then C computes each result of these
tables anew, from the instruction's expressions, and compares.
"""

from __future__ import annotations

from ctypes import CDLL, c_int64, c_uint32, c_uint64, c_void_p, create_string_buffer
from functools import lru_cache
from typing import Final, NamedTuple

from isa.decode import decode
from isa.evaluate import c
from isa.evaluate.exact import QC, Evaluation
from isa.lane import Place
from sim.emulator import Emulator
from sim.machine.memory import PAGE
from sim.toolchain.compilers import build_text
from sim.toolchain.host import host_library
from sim.verify.exhaust.space import REGISTER, Chunk, Space, space_of

_CODE, _OUTER, _INNER, _RESULTS, _STATUS = (number << 32 for number in range(1, 6))
_BYTES: Final = REGISTER // 8

_LOOP = """\
loop:
row:
  ldr q{outer}, [x0], #16
  mov x6, x2
  mov x7, x3
next:
  ldr q{inner}, [x6], #16
  {clear}
  msr fpsr, xzr
  .inst {word:#x}
  mrs x8, fpsr
  str q{destination}, [x4], #16
  str w8, [x5], #4
  subs x7, x7, #1
  b.ne next
  subs x1, x1, #1
  b.ne row
end:
  nop
"""

_COMPARE = """
static inline int load_bytes(Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {{ return 0; }}
static inline int store_bytes(Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size) {{
  return 0;
}}

{function}
/* The result and FPSR of these operands. */
uint32_t result_of(const uint8_t *outer, const uint8_t *inner, uint8_t *result) {{
  State S = {{0}};
  memcpy(S.v[{outer}], outer, 16);
  memcpy(S.v[{inner}], inner, 16);
  instruction({arguments});
  memcpy(result, S.v[{destination}], 16);
  return S.fpsr;
}}

/* The number of the first result that is another, or that saturates otherwise; -1 where there is none. */
int64_t first_different(
    const uint8_t *outer, uint64_t rows, const uint8_t *inner, uint64_t count, const uint8_t *results,
    const uint32_t *status) {{
  for (uint64_t row = 0; row < rows; row++)
    for (uint64_t i = 0; i < count; i++) {{
      const uint64_t at = row * count + i;
      uint8_t mine[16];
      const uint32_t fpsr = result_of(outer + 16 * row, inner + 16 * i, mine);
      if (memcmp(mine, results + 16 * at, 16) || (fpsr ^ status[at]) & {qc}u) return (int64_t)at;
    }}
  return -1;
}}
"""


class LaneResult(NamedTuple):
    """What an instruction makes of two registers: the register that it writes, and whether it sets QC."""

    register: int
    saturates: bool


class UnequalResults(NamedTuple):
    """Registers, as numbers, of which model and emulator make different results."""

    outer: int
    inner: int
    model: LaneResult
    emulator: LaneResult
    exact: LaneResult


class ValueBench:
    """One instruction in the emulator and as C."""

    def __init__(self, word: int) -> None:
        self.space = space = space_of(decode(word.to_bytes(4, "little")))
        self._destination = space.destination
        self._outer = space.outer.register if space.outer else _unused(space)
        self._model = CDLL(str(host_library(self._c_text(), "-march=native")))
        self._model.first_different.restype = c_int64
        self._model.first_different.argtypes = (c_void_p, c_uint64, c_void_p, c_uint64, c_void_p, c_void_p)
        self._model.result_of.restype = c_uint32
        image = build_text(self._assembly(word), ".s")
        code = image.symbol("loop").address
        self._end = _CODE + image.symbol("end").address - code
        self._emulator = Emulator(hooked=False)
        memory, rows = self._emulator.memory, space.chunks[0].rows
        count = space.chunks[0].count // len(space.inner.lsbs)
        self._regions = {
            address: memory.map(address, -(-size // PAGE) * PAGE, "rx" if address == _CODE else "rw")
            for address, size in (
                (_CODE, PAGE),
                (_OUTER, rows * _BYTES),
                (_INNER, count * _BYTES),
                (_RESULTS, rows * count * _BYTES),
                (_STATUS, rows * count * 4),
            )
        }
        memory.write(_CODE, image.code_of("loop")[: self._end + 4 - _CODE])

    def compare(self, chunk: Chunk) -> UnequalResults | None:
        """Try the values of a chunk on both; the first difference."""
        space, emulator = self.space, self._emulator
        outer = space.outer.repeated(chunk.first_row, chunk.rows) if space.outer else bytes(_BYTES)
        inner = space.inner.spread(chunk.first, chunk.count)
        count = len(inner) // _BYTES
        emulator.memory.write(_OUTER, outer)
        emulator.memory.write(_INNER, inner)
        for number, value in enumerate((_OUTER, chunk.rows, _INNER, count, _RESULTS, _STATUS)):
            emulator.x[number] = value
        emulator.v[self._destination] = 0
        emulator.pc = _CODE
        if not emulator.run_in_c(self._end):
            raise AssertionError(f"the emulator does not execute {space.instruction.text}")
        tables = [self._regions[address].host for address in (_OUTER, _INNER, _RESULTS, _STATUS)]
        at = self._model.first_different(tables[0], chunk.rows, tables[1], count, *tables[2:])
        if at < 0:
            return None
        row, block = (_BYTES * index for index in divmod(at, count))
        first, second = (int.from_bytes(table[i : i + _BYTES], "little") for table, i in ((outer, row), (inner, block)))
        register = emulator.memory.read(_RESULTS + _BYTES * at, _BYTES)
        status = int.from_bytes(emulator.memory.read(_STATUS + 4 * at, 4), "little")
        theirs = LaneResult(int.from_bytes(register, "little"), bool(status & QC))
        return UnequalResults(first, second, self.model(first, second), theirs, self.exact(first, second))

    def model(self, outer: int, inner: int) -> LaneResult:
        """What C makes of two registers."""
        result = create_string_buffer(_BYTES)
        given = [value.to_bytes(_BYTES, "little") for value in (outer, inner)]
        fpsr = self._model.result_of(*given, result)
        return LaneResult(int.from_bytes(result.raw, "little"), bool(fpsr & QC))

    def exact(self, outer: int, inner: int) -> LaneResult:
        """What the exact evaluator makes of them."""
        evaluation = Evaluation(_Registers({self._outer: outer, self.space.inner.register: inner}))
        return LaneResult(evaluation.whole(self.space.write), evaluation.saturated)

    def _c_text(self) -> str:
        instruction = self.space.instruction
        pattern = instruction.pattern
        function = c.instruction("instruction", pattern.open_writes(), pattern.register_count, pattern.text)
        arguments = ", ".join(["&S", "0", *map(str, instruction.registers)])
        inner, destination = self.space.inner.register, self._destination
        numbers = {"outer": self._outer, "inner": inner, "destination": destination, "qc": QC}
        return c.PRELUDE + _COMPARE.format(function=function, arguments=arguments, **numbers)

    def _assembly(self, word: int) -> str:
        operands = {self._outer, self.space.inner.register}
        clear = "nop" if self._destination in operands else f"movi v{self._destination}.2d, #0"
        registers = {"outer": self._outer, "inner": self.space.inner.register, "destination": self._destination}
        return _LOOP.format(word=word, clear=clear, **registers)


def _unused(space: Space) -> int:
    """A register that has no part in it."""
    taken = {space.inner.register, *space.instruction.registers}
    return next(number for number in range(32) if number not in taken)


class _Registers:
    """Vector registers, zero but for these."""

    def __init__(self, values: dict[int, int]) -> None:
        self._values = values

    def read(self, place: Place) -> int:
        return self._values.get(place.index, 0) if isinstance(place.index, int) and place.file == "v" else 0

    def load(self, address: int, size: int) -> bytes:
        raise AssertionError("lanes are computed of lanes alone")


@lru_cache(2)
def bench_of(word: int) -> ValueBench:
    """The bench of a word.  Its tables are up to 72 MB, and words are tried one after the other: few are kept."""
    return ValueBench(word)
