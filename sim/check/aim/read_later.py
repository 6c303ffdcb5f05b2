"""Which bits of the registers that an instruction leaves anything later depends on: code followed backwards.

A byte that was extended to 32 bits and of which only the low eight are stored again might as well have been extended
the other way.  Instructions' own expressions say on which bits of what they read the wanted bits of a result depend.
Addresses, branches and all that is stored are wanted whole.  What is found is more than what matters, never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, assert_never

from isa.decode import decode
from isa.instruction import Instruction
from isa.lane import (
    Binary,
    Constant,
    Field,
    Floating,
    Lane,
    Load,
    Memory,
    Pick,
    Place,
    Read,
    Saturate,
    Write,
    operands_first,
)
from isa.rows import TABLE
from isa.table import UnknownInstruction
from sim.kernels.kernel import Kernel
from sim.machine.errors import UnsupportedInstruction
from sim.symbolic.following.flow import EXIT, Flow
from sim.symbolic.simplify import SIMPLIFIER
from sim.toolchain.image import Image

Bits = Mapping[Place, int]
"""Of registers the bits that count, as a mask; one that is not there counts in none."""
ALL: Final = -1
_PC, _NZCV, _FPSR = Place("pc"), Place("nzcv"), Place("fpsr")
_LOST_AT_RETURN: Final = frozenset(
    [_NZCV, _FPSR, *(Place("x", n) for n in range(8, 18)), *(Place("v", n) for n in range(16, 32))]
)
"""What a function may leave as it likes, by AAPCS64; QC and the exceptions of floating point are no outputs."""
_RESULTS: Final = frozenset([*(Place("x", n) for n in range(8)), *(Place("v", n) for n in range(8))])
"""These too, of a function that returns nothing."""


class BitsReadLater:
    """Of a kernel's function, by the address of an instruction, the bits that count behind it and before it.

    Where it ends in another function, that one belongs to it.  Nothing is known of functions that it calls: there, and
    where an instruction cannot be read, every bit counts.
    """

    def __init__(self, image: Image, kernel: Kernel) -> None:
        entry, size = image.symbol(kernel.symbol).address, len(image.code_of(kernel.symbol))
        returns = kernel.signature.returns or kernel.signature.returned is not None
        self._lost = _LOST_AT_RETURN if returns else _LOST_AT_RETURN | _RESULTS
        following, instructions = _reached(image, entry, range(2**64))
        if any(one.is_call for one in instructions.values()):
            # a return may be one from a function that was called
            following, instructions = _reached(image, entry, range(entry, entry + size))
        self._following, self._instructions = following, instructions
        places = {place for one in instructions.values() for place in (*one.places_read, *one.places_written)}
        self._every: Bits = {place: (1 << place.bits) - 1 for place in places - {_PC}}
        self._before: dict[int, Bits] = {pc: {} for pc in instructions}
        self._settle()

    def _settle(self) -> None:
        """Backwards, until nothing changes any more."""
        preceding: dict[int, list[int]] = {}
        for pc, targets in self._following.items():
            for target in targets:
                preceding.setdefault(target, []).append(pc)
        pending = sorted(self._instructions)
        while pending:
            pc = pending.pop()
            before = self._read_by(self._instructions[pc], self.after(pc))
            if before != self._before[pc]:
                self._before[pc] = before
                pending += preceding.get(pc, ())

    def after(self, pc: int) -> Bits:
        """The bits that count behind the instruction at an address."""
        if pc not in self._instructions:
            return self._every
        if self._instructions[pc].text == "ret":
            return {place: bits for place, bits in self._every.items() if place not in self._lost}
        found: dict[Place, int] = {}
        for target in self._following.get(pc, (EXIT,)):
            for place, bits in self._before.get(target, self._every).items():
                found[place] = found.get(place, 0) | bits
        return found

    def allows(self, pc: int, instead: Instruction) -> bool:
        """Whether another instruction at an address depends on no bits that do not count there."""
        if pc not in self._instructions:
            return False
        before = self._before[pc]
        return all(not bits & ~before.get(place, 0) for place, bits in self._read_by(instead, self.after(pc)).items())

    def _read_by(self, instruction: Instruction, after: Bits) -> Bits:
        """The bits that count before an instruction, by those behind it."""
        if instruction.is_call:  # what a function reads is not known
            return self._every
        wanted = list[tuple[Lane, int]]()
        for write in _computed_once(instruction):
            if isinstance(write.place, Memory):
                wanted += [(write.place.address, ALL), *((lane, ALL) for lane in write.lanes)]
            elif write.place == _PC:
                wanted += [(lane, ALL) for lane in write.lanes]
            else:
                bits, each = after.get(write.place, 0), (1 << write.bits) - 1
                wanted += [(lane, bits >> write.bits * n & each) for n, lane in enumerate(write.lanes)]
        read = dict(bits_read(wanted))
        if after.get(_FPSR):  # where QC is read, what saturates counts however little of it is kept
            read |= dict.fromkeys(instruction.places_read, ALL)
        found = {place: bits for place, bits in after.items() if place not in instruction.places_written}
        for place, bits in read.items():
            if place in self._every:
                found[place] = found.get(place, 0) | bits & self._every[place]
        return found


def _reached(image: Image, entry: int, within: range) -> tuple[dict[int, tuple[int, ...]], dict[int, Instruction]]:
    """Where each instruction that an entry leads to leads, and the instructions, of code within some addresses."""
    found: dict[int, Instruction] = {}

    def instruction_at(pc: int) -> Instruction:
        if pc not in found:
            segment = next(
                (s for s in image.segments if "x" in s.permissions and 0 <= pc - s.address <= len(s.data) - 4), None
            )
            if segment is None or pc not in within:
                raise UnsupportedInstruction(pc, 4, "it is no code of the function")
            try:
                found[pc] = decode(segment.data[pc - segment.address :][:4], pc, TABLE)
            except UnknownInstruction as error:
                raise UnsupportedInstruction(pc, 4, str(error)) from error
        return found[pc]

    return Flow(instruction_at).following(entry), found


@lru_cache(1 << 12)
def _computed_once(instruction: Instruction) -> tuple[Write, ...]:
    """What an instruction writes, with numbers for what depends on nothing, such as the count of a shift."""
    return tuple(
        Write(write.place, write.bits, [SIMPLIFIER.simplified(lane) for lane in write.lanes])
        for write in instruction.writes
    )


def bits_read(wanted: Iterable[tuple[Lane, int]]) -> Bits:
    """On which bits of registers these bits of expressions depend, and on which their loads."""
    count: dict[Lane, int] = {}
    found: dict[Place, int] = {}

    def want(lane: Lane, bits: int) -> None:
        count[lane] = count.get(lane, 0) | bits

    for lane, bits in wanted:
        want(lane, bits)
    for node in reversed([*operands_first([*count])]):
        bits = _within(node, count.get(node, 0))
        if isinstance(node, Read):
            found[node.place] = found.get(node.place, 0) | bits & (1 << node.place.bits) - 1
        else:
            _pass_on(node, bits, want)
    return found


def _within(node: Lane, bits: int) -> int:
    """The wanted bits of those that a number of this range has: above them are zeros, or copies of its sign."""
    size = max(node.low.bit_length(), node.high.bit_length())
    if node.low >= 0:
        return bits & (1 << size) - 1
    return bits & (1 << size) - 1 | (1 << size if bits >> size else 0)


def _pass_on(node: Lane, bits: int, want: Callable[[Lane, int], None]) -> None:
    """On which bits of its operands so many bits of a node depend."""
    match node:
        case Constant() | Read():
            pass
        case Load(address, _):  # where it reads counts always
            want(address, ALL)
        case Field(operand, lsb, element):
            own = bits & (1 << element.bits) - 1
            above = bits >> element.bits and element.signed
            want(operand, (own | (1 << element.bits - 1 if above else 0)) << lsb)
        case Pick(index, items, otherwise):
            want(index, ALL if bits else 0)
            for item in (*items, otherwise):
                want(item, bits)
        case Binary("and" | "or" | "xor", a, b):
            for one, other in ((a, b), (b, a)):
                want(one, bits & other.low if node.operator == "and" and other.value is not None else bits)
        case Binary("add" | "subtract", a, b):
            want(a, _up_to(bits))
            want(b, _up_to(bits))
        case Binary("multiply", a, b):
            for one, other in ((a, b), (b, a)):
                factor = other.value or 1  # one with zeros below shifts by as many
                want(one, _up_to(bits) >> (factor & -factor).bit_length() - 1)
        case Binary("shift_left", a, count) if count.value is not None:
            want(a, bits >> count.value)
        case Binary("shift_right", a, count) if count.value is not None:
            want(a, bits << count.value)
        case Binary() | Saturate() | Floating():
            for operand in node.args:
                want(operand, ALL if bits else 0)
        case _:
            assert_never(node)


def _up_to(bits: int) -> int:
    """These bits and all below them."""
    return (1 << bits.bit_length()) - 1
