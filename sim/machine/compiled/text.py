"""The C text of a unit: all instructions that can be reached from an address.

Registers stay in the `State`, which nothing else points to, so that compilers keep them in the processor's registers
between the instructions of a block.  Each access to memory remembers the region that it met last (`struct Memory`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from isa.evaluate import c
from isa.instruction import Instruction, Pattern
from sim.machine.alignment import must_be_aligned
from sim.machine.compiled.reach import Reached, targets


class Why(IntEnum):
    """Why compiled code returned."""

    BUDGET = 0
    """Fewer instructions are left than the next block has."""
    MEMORY = 1
    """Memory refuses an access, or it is one that compiled code leaves: to code, or across regions."""
    MODES = 2
    """The host's floating point does not do here what Arm's does."""
    UNKNOWN = 3
    """There is no block at the program counter."""
    NOT_IN_C = 4
    """The next instruction cannot be written in C."""


MOST_IN_A_BLOCK = 128
ENOUGH_IN_A_PART = 150
"""Instructions of a function, which loops do not leave where they can: compilers take long over long functions."""

_PARAMETERS = "State *restrict S, Memory *restrict M, uint8_t *restrict seen, int64_t *restrict budget"
MEMORY = """
typedef struct { uint64_t start, size; uint8_t *bytes; uint64_t readable, writable; } Region;
typedef struct { uint64_t count; const Region *regions; void *log; } Regions;

/* What one access knows: `offset < span` from `start` on, all its bytes are in one region that it may access. */
struct Memory { uint64_t start, span; uint8_t *bytes; const Regions *all; };

#ifdef __clang__
__attribute__((preserve_all))
#endif
__attribute__((noinline, cold)) static int find(Memory *M, uint64_t address, unsigned size, int writes) {
  uint64_t low = 0, high = M->all->count;
  while (low < high) { /* the last region that starts at the address or below */
    const uint64_t middle = low + (high - low) / 2;
    if (M->all->regions[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return 0;
  const Region *region = &M->all->regions[low - 1];
  if (region->size < size) return 0;
  const uint64_t span = region->size - size + 1;
  if (address - region->start >= span || !(writes ? region->writable : region->readable)) return 0;
  M->start = region->start;
  M->span = span;
  M->bytes = region->bytes;
  return 1;
}

static inline __attribute__((always_inline)) uint8_t *host(Memory *M, uint64_t address, unsigned size, int writes) {
  if (__builtin_expect(address - M->start >= M->span, 0) && !find(M, address, size, writes)) return 0;
  return M->bytes + (address - M->start);
}
"""
"""`Memory`, and how the bytes of an access are found: where they are not, another evaluator says what is wrong."""

ACCESS = """
static inline __attribute__((always_inline)) int load_bytes(
    Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {
  const uint8_t *at = host(M + access, address, size, 0);
  if (at) memcpy(bytes, at, size);
  return at != 0;
}

static inline __attribute__((always_inline)) int store_bytes(
    Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size) {
  uint8_t *at = host(M + access, address, size, 1);
  if (at) memcpy(at, bytes, size);
  return at != 0;
}
"""
"""How memory is accessed where nothing else is asked of an access."""

ALIGNED = """
static inline __attribute__((always_inline)) int load_aligned_bytes(
    Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {
  return address % size == 0 && load_bytes(M, access, address, bytes, size);
}

static inline __attribute__((always_inline)) int store_aligned_bytes(
    Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size) {
  return address % size == 0 && store_bytes(M, access, address, bytes, size);
}
"""
"""The same of accesses that must be aligned."""


class _Function(NamedTuple):
    """The C of a pattern: its name, how many accesses to memory it has, whether the host's arithmetic may refuse it."""

    name: str
    accesses: int
    may_be_left: bool


def unit_text(reached: Reached) -> str:
    """A library with `run`, which executes blocks from `S->pc` on, and `description`, which says in JSON what it has.

    `run` returns a `Why`; the state is precise then, and `*budget` less by the instructions that were executed.
    `seen[k]` becomes 1 where block k was entered.  Blocks are in parts, each a function.
    """
    return _Unit(reached).text()


class _Unit:
    def __init__(self, reached: Reached) -> None:
        self._instructions = reached.instructions
        self._functions: dict[Pattern, _Function | str] = {}
        self._texts: list[str] = []
        self._of = {pc: self._function(instruction) for pc, instruction in reached.instructions.items()}
        self._blocks = list(self._cut(reached.leaders))
        self._sites = 0

    def text(self) -> str:
        parts = list(self._parts())
        functions = [line for number, part in enumerate(parts) for line in self._part(number, part)]
        run = [
            f"int run({_PARAMETERS}) {{",
            f"  int why = {Why.UNKNOWN:d};",
            f"  while (why == {Why.UNKNOWN:d}) {{",
            "    switch (S->pc) {",
            *(line for number, part in enumerate(parts) for line in self._cases(number, part)),
            "      default: return why;",
            "    }",
            "  }",
            "  return why;",
            "}",
            "",
        ]
        described = f"const char *const description = {json.dumps(json.dumps(self._description()))};"
        return "\n".join([c.PRELUDE, MEMORY, ACCESS, ALIGNED, *self._texts, *functions, described, "", *run])

    def _parts(self) -> Iterator[list[int]]:
        """The numbers of the blocks of each part."""
        part, length = list[int](), 0
        for number, block in enumerate(self._blocks):
            part.append(number)
            length += len(block)
            if length >= ENOUGH_IN_A_PART:
                yield part
                part, length = [], 0
        if part:
            yield part

    def _entries(self, part: list[int]) -> list[tuple[int, str]]:
        """Addresses where the blocks are entered, and the labels there."""
        blocks = [self._blocks[number] for number in part]
        entries = [(block[0], "at") for block in blocks]
        return sorted(entries + [(pc, "resume") for block in blocks for pc in self._resumed(block)])

    def _cases(self, number: int, part: list[int]) -> Iterator[str]:
        yield from (f"      case {pc:#x}:" for pc, _ in self._entries(part))
        yield f"        why = part{number}(S, M, seen, budget);"
        yield "        break;"

    def _part(self, number: int, part: list[int]) -> Iterator[str]:
        """The function of some blocks."""
        yield f"static int part{number}({_PARAMETERS}) {{"
        yield from ("  int64_t left = *budget;", "  int why;", "dispatch:", "  switch (S->pc) {")
        yield from (f"    case {pc:#x}: goto {label}_{pc:x};" for pc, label in self._entries(part))
        yield from ("  }", f"  why = {Why.UNKNOWN:d};", "  goto leave;")
        starts = {self._blocks[number][0] for number in part}
        for block in part:
            yield from self._block(block, starts)
        yield from ("leave:", "  *budget = left;", "  return why;", "}", "")

    def _description(self) -> dict[str, object]:
        """What whoever runs the unit must know of it."""
        return {
            "sites": self._sites,
            "entries": [pc for pc, _ in self._entries(list(range(len(self._blocks))))],
            "code": _ranges(sorted(self._instructions)),
            "blocks": [[block[0], block[-1] + 4] for block in self._blocks],
            "not_in_c": {f"{pc:#x}": function for pc, function in self._of.items() if isinstance(function, str)},
        }

    def _function(self, instruction: Instruction) -> _Function | str:
        """The function of an instruction's pattern, or why there is none."""
        pattern = instruction.pattern
        if pattern not in self._functions:
            made = f"f{len(self._functions)}"
            aligned = must_be_aligned(instruction)
            try:
                text = c.instruction(made, pattern.open_writes(), pattern.register_count, pattern.text, aligned)
            except c.NotInC as reason:
                self._functions[pattern] = str(reason)
            else:
                self._texts.append(text)
                self._functions[pattern] = _Function(made, c.accesses(text), "return 2;" in text)
        return self._functions[pattern]

    def _cut(self, leaders: frozenset[int]) -> Iterator[list[int]]:
        """The addresses of each block.  What is not in C ends one, and is not executed there."""
        starts = leaders | {pc + 4 for pc, function in self._of.items() if isinstance(function, str)}
        for start in sorted(starts & self._of.keys()):
            block = [start]
            while self._goes_on(block[-1]) and block[-1] + 4 not in starts:
                block.append(block[-1] + 4)
            for first in range(0, len(block), MOST_IN_A_BLOCK):
                yield block[first : first + MOST_IN_A_BLOCK]

    def _goes_on(self, pc: int) -> bool:
        ends = self._instructions[pc].is_branch or isinstance(self._of[pc], str)
        return not ends and pc + 4 in self._instructions

    def _resumed(self, block: list[int]) -> list[int]:
        """Where a block goes on after an instruction that was left to another evaluator."""
        functions = [(self._of[pc], following) for pc, following in pairwise(block)]
        return [pc for function, pc in functions if isinstance(function, _Function) and function.may_be_left]

    def _block(self, number: int, starts: set[int]) -> Iterator[str]:
        """The lines of a block; before them, those of entries in its middle."""
        block = self._blocks[number]
        last, resumed = self._of[block[-1]], self._resumed(block)
        count = len(block) - isinstance(last, str)
        for pc in resumed:
            yield f"resume_{pc:x}:"
            yield from _take(count - block.index(pc))
            yield f"  goto after_{pc:x};"
        yield f"at_{block[0]:x}:"
        yield from _take(count)
        yield f"  seen[{number}] = 1;"
        for done, pc in enumerate(block[:count]):
            if pc in resumed:
                yield f"after_{pc:x}:"
            yield self._call(pc, count - done)
        if isinstance(last, str):
            yield f"  why = {Why.NOT_IN_C:d};"
            yield f"  goto leave; /* {block[-1]:#x} {self._instructions[block[-1]].text}: {last} */"
            return
        known = targets(self._instructions[block[-1]], block[-1]) or {block[-1] + 4}
        for pc in sorted(known & starts):
            yield f"  if (S->pc == {pc:#x}) goto at_{pc:x};"
        yield "  goto dispatch;"

    def _call(self, pc: int, undone: int) -> str:
        instruction, function = self._instructions[pc], self._of[pc]
        assert isinstance(function, _Function)
        registers = "".join(f", {number}" for number in instruction.registers)
        call = f"{function.name}(S, M + {self._sites}{registers})"
        self._sites += function.accesses
        return f"  if ((why = {call})) {{ left += {undone}; goto leave; }} /* {pc:#x} {instruction.text} */"


def _take(count: int) -> Iterator[str]:
    """Take so many instructions from the budget, or leave where it has fewer."""
    if count:
        yield f"  if ((left -= {count}) < 0) {{ left += {count}; why = {Why.BUDGET:d}; goto leave; }}"


def _ranges(addresses: list[int]) -> list[list[int]]:
    """Addresses of instructions as ranges of bytes."""
    found: list[list[int]] = []
    for pc in addresses:
        if found and found[-1][1] == pc:
            found[-1][1] = pc + 4
        else:
            found.append([pc, pc + 4])
    return found
