"""C generated from expressions: text for a compiler of the host, which whoever calls has.

`instruction` writes one function for each pattern (see `isa.instruction`) with the register numbers as parameters, and
`expression` one of a single expression of operands.  Lanes that are computed alike are one vector where vectors have
the operations (`isa.evaluate.c.vectors`), else one loop.  The text is C11 with `__int128` and vector types, for gcc and
clang on a little-endian computer; that of an expression is C++ too.  It has no undefined behaviour: see
`isa.evaluate.c.source`.

Floating point is in C only where the host's arithmetic does the same (`isa.evaluate.c.host_floating`): single and
double precision, rounded to nearest, in the modes and for the operands that its guards let pass; elsewhere the function
returns 2 and another evaluator has to execute the instruction.  There is no soft path yet: half precision, bfloat16,
estimates, steps of a reciprocal and other roundings are refused by `NotInC`.
"""

from __future__ import annotations

from collections.abc import Sequence

from isa.evaluate.c.host_floating import APPLIES, GuardedSource
from isa.evaluate.c.source import Source, register_text
from isa.evaluate.c.types import SIZES, NotInC, cast, literal, name, type_of, unsigned
from isa.evaluate.c.vectors import ELEMENTS, TYPES, LaneVectors, copied_bytes, is_consecutive, is_vector
from isa.evaluate.exact import QC
from isa.evaluate.rolling import Rolled, Roller
from isa.lane import Int, Lane, Memory, Place, Read, Write
from isa.semantics.elementwise import Writes

__all__ = ["PRELUDE", "NotInC", "accesses", "expression", "instruction"]

PRELUDE = (
    """\
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16) /* 16: _Float16 is a format as well */
#error "floating-point operations must round once, to their own format"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "registers are kept as little-endian bytes"
#endif

typedef struct {
  uint8_t v[32][16];
  uint64_t x[32]; /* x0 to x30, then sp */
  uint64_t pc, tpidr;
  uint8_t monitor[16];
  uint32_t nzcv, fpsr, fpcr;
} State;

static inline float float_of(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static inline double double_of(uint64_t bits) { double f; memcpy(&f, &bits, 8); return f; }
static inline uint32_t bits_of_float(float f) { uint32_t bits; memcpy(&bits, &f, 4); return bits; }
static inline uint64_t bits_of_double(double f) { uint64_t bits; memcpy(&bits, &f, 8); return bits; }

/* Copy bytes from and to memory; 0 where that is not allowed, and then nothing is copied.
   `access` numbers the calls in the function of an instruction. */
typedef struct Memory Memory;
static inline int load_bytes(Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size);
static inline int store_bytes(Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size);

"""
    + TYPES
)
"""What comes before the functions.  Whoever compiles adds `Memory` and the bodies of `load_bytes` and `store_bytes`."""

_BITS = {"nzcv": 32, "fpsr": 32, "fpcr": 32, "monitor": 128}
"""The bits of the members of `State` that do not have 64."""


def instruction(function_name: str, writes: Writes, register_count: int, title: str, aligned: bool = False) -> str:
    """`static int NAME(State *S, Memory *M, unsigned r0, ...)`, which executes an instruction with open registers.

    It returns 0, or 1 where memory refused, or 2 where the host's floating point may not do what Arm's does.
    Everything is computed, then memory is written, then registers and `pc`: a refused load, a first store refused, or 2
    changes nothing.  Where its accesses must be `aligned`, the text calls `load_aligned_bytes` and
    `store_aligned_bytes` instead of `load_bytes` and `store_bytes`.  Raises NotInC.
    """
    parameters = "".join(f", unsigned r{k}" for k in range(register_count))
    function = _Function(writes, "aligned_bytes" if aligned else "bytes")
    lines = [f"/* {title} */", f"static int {function_name}(State *S, Memory *M{parameters}) {{"]
    return "\n".join([*lines, *(f"  {line}" for line in (*function.lines, "return 0;")), "}", ""])


def accesses(text: str) -> int:
    """How many accesses to memory the text of an `instruction` has, each with a number of its own below that."""
    return text.count("load_") + text.count("store_")


def expression(function_name: str, lane: Lane, operands: Sequence[Int]) -> str:
    """`static inline TYPE NAME(TYPE v0, TYPE v1, ..., uint8_t *clamps)`: operand k is the low bits of register v<k>.

    The result has the smallest type that holds its range; `*clamps` becomes 1 where a saturation clamps, else 0.
    Raises NotInC, for memory and other registers too.
    """
    types = [_holding(kind) for kind in operands]
    parameters = ", ".join(f"{name(kind)} v{k}" for k, kind in enumerate(types))
    source = _OperandSource(types)
    result = source.value(Roller().fold((lane,)))
    lines = [*_with_saturation(source), f"*clamps = {'saturated' if source.saturates else '0'};", f"return {result};"]
    kind = name(type_of(lane.low, lane.high))
    head = f"static inline {kind} {function_name}({parameters}, uint8_t *clamps) {{"
    return "\n".join([head, *(f"  {line}" for line in lines), "}", ""])


def _holding(kind: Int) -> Int:
    """The type of C that holds the numbers of a type, of the same sign."""
    return Int(next(bits for bits in SIZES if kind.bits <= bits), kind.signed)


def _with_saturation(source: Source) -> list[str]:
    return ["unsigned saturated = 0;", *source.lines] if source.saturates else source.lines


class _OperandSource(Source):
    """Expressions of operands, which are parameters instead of registers."""

    def __init__(self, types: Sequence[Int]) -> None:
        super().__init__()
        self._types = types

    def view(self, data: Rolled, numbers: Sequence[int], element: Int) -> str:
        if not isinstance(data.node, Read) or data.node.place.file != "v":
            raise NotInC("of operands, only lanes of registers are read, not memory")
        (number,) = numbers
        operand = f"v{data.node.place.index}"
        kind = self._types[int(operand[1:])]
        if number == 0:
            return cast(operand, kind, element)
        return f"({name(element)})(({name(unsigned(kind.bits))}){operand} >> {number * element.bits})"

    def _read(self, place: Place) -> str:
        raise NotInC(f"of operands, only lanes of registers are read, not {place} as a whole")


class _Function:
    """The lines of one function: everything is computed first, then memory is written, then registers."""

    def __init__(self, writes: Writes, accessed: str) -> None:
        self._source = GuardedSource(accessed)
        self._accessed = accessed
        self._vectors = LaneVectors(self._source)
        self._roller = Roller()
        self._stores: list[str] = []
        self._commits: list[str] = []
        self._next_pc = ["S->pc += 4;"]
        for write in writes:
            self._write(write)
        qc = [f"if (saturated) S->fpsr |= {literal(QC)};"] if self._source.saturates else []
        computed = _with_saturation(self._source)
        if self._source.computes_floating:
            computed = [f"if (!({APPLIES})) return 2;", "unsigned applies = 1;", *computed, "if (!applies) return 2;"]
        self.lines = [*computed, *self._stores, *self._commits, *qc, *self._next_pc]

    def _write(self, write: Write) -> None:
        if isinstance(write.place, Memory):
            address = self._source.value(self._roller.fold((write.place.address,)))
            data = self._bytes(write, write.place.size)
            allowed = f"store_{self._accessed}(M, {self._source.next_access()}, {address}, {data}, {write.place.size})"
            self._stores.append(f"if (!{allowed}) return 1;")
        elif write.place.file == "v":
            self._commits.append(f"memcpy({register_text(write.place)}, {self._bytes(write, 16)}, 16);")
        elif write.place.file == "zr":
            self._number(write, 64)  # a load may be refused
        elif write.place.file == "monitor":
            self._commits.append(f"memcpy(S->monitor, &{self._number(write, 128)}, 16);")
        elif write.place.file == "pc":
            self._next_pc = [f"S->pc = {self._number(write, 64)};"]
        else:
            number = self._number(write, _BITS.get(write.place.file, 64))
            self._commits.append(f"{register_text(write.place)} = {number};")

    def _bytes(self, write: Write, size: int) -> str:
        """The name of an array of the lanes of a write, zero where they do not reach."""
        made, count = self._source.new("o"), 8 * size // write.bits
        start = "" if len(write.lanes) == count else " = {0}"
        self._source.lines.append(f"{name(unsigned(write.bits))} {made}[{count}]{start};")
        for positions, node in self._roller.groups(write.lanes):
            self._put(made, positions, node, write.bits)
        return made

    def _put(self, made: str, positions: Sequence[int], node: Rolled, bits: int) -> None:
        """Lanes that are alike go to their positions in an array."""
        source, first, count = self._source, positions[0], len(positions)
        where = f"{made} + {first}" if first else made
        if count > 1 and is_consecutive(positions) and (copied := copied_bytes(node, bits)) is not None:
            data, byte = copied
            held = f"{source.bytes_of(data)} + {byte}" if byte else source.bytes_of(data)
            source.lines.append(f"memcpy({where}, {held}, {count * bits // 8});")
        elif node.width == count and is_consecutive(positions) and bits in ELEMENTS and is_vector(node):
            source.lines.append(f"memcpy({where}, &{self._vectors.low_bits(node, bits)}, {count * bits // 8});")
        elif count > 1:
            source.repeat(count, f"{made}[{source.table(positions)}] = {source.low_bits(node, bits)};")
        else:
            source.lines.append(f"{made}[{first}] = {source.low_bits(node, bits)};")

    def _number(self, write: Write, bits: int) -> str:
        """The name of a number made of the lanes of a write."""
        nodes = [self._roller.fold((lane,)) for lane in write.lanes]
        kind = unsigned(bits)
        parts = [cast(self._source.low_bits(node, write.bits), unsigned(write.bits), kind) for node in nodes]
        shifted = [f"{part} << {i * write.bits}" if i else part for i, part in enumerate(parts)]
        made = self._source.new("o")
        self._source.lines.append(f"const {name(kind)} {made} = {' | '.join(shifted)};")
        return made
