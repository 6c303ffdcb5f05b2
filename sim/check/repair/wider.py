"""What numbers would be if they were not cut to their element before others compute with them.

The instruction that makes such a number also keeps it whole, with twice the bits, below the stack, and the one that
computes with it takes it from there: a sum that wraps, or that is bounded, before it is widened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from isa.instruction import Form, Instruction
from isa.lane import U32, U64, Field, Int, Lane, Load, Memory, Place, Read, Saturate, Write, load, read
from isa.operands import General, Scalar, Vector
from isa.semantics.elementwise import Body, Writes
from sim.check.repair.alternative import FOLLOWS, STEP, Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import computes, operands_of, with_body

BELOW: Final = 0x6000
"""Bytes from the stack pointer down to where whole numbers are kept: no frame of a kernel and of what it calls is so
large, and the stack has twice as many."""

DEEPEST: Final = 3
"""Instructions behind each other that are gone back to what was cut first."""
_BOUNDS: Final = (True, False)
"""Whether an element has a sign that a number is bounded to."""


def wider(code: ExecutedCode, pc: int, bounded: bool = False) -> Iterator[Sequence[Alternative]]:
    """Changes after which an instruction computes with numbers that were not cut: each that it takes, then all.

    If `bounded` is set, and does not cut its own result either, but bounds it.
    """
    cut = list(_cut_sources(code, pc))
    ways = [([one], chain) for one in cut for chain in _chains(code, one[1])]
    ways += [(cut, tuple(made for _, made, _ in cut))] if len(cut) > 1 else []
    for (some, makers), signed in product(ways, (False, True)):
        whole: dict[int, dict[int, Taken]] = {maker: {} for maker in makers}
        for maker in makers:
            for operand, source, shift in _cut_sources(code, maker):
                if source in whole:
                    whole[maker][operand] = (source, shift)
        changes = [
            Alternative(m, STEP, code.instructions[m], _evaluated(code, m, whole[m], True, signed), "not cut")
            for m in whole
        ]
        taken = {at: (made, lsb) for at, made, lsb in some}
        for bounds in _BOUNDS if bounded else (None,):
            reader = _evaluated(code, pc, taken, False, bounds is True, bounds)
            says = f"of what was not cut{'' if bounds is None else ', bounded'}"
            yield [
                *changes,
                Alternative(pc, STEP, code.instructions[pc], reader, says, Beside(is_bounded=bounds is not None)),
            ]


def _chains(code: ExecutedCode, made: int) -> Iterable[tuple[int, ...]]:
    """The instruction that made a cut number, alone and with those before it that did so to what it took."""
    return dict.fromkeys((*_makers(code, made, depth), made) for depth in range(DEEPEST + 1))


def wider_variables(code: ExecutedCode) -> Iterator[Sequence[Alternative]]:
    """For each variable of 8 or 16 bits, the changes after which it has 32: all that keep it and that take it."""
    by_slot: dict[tuple[int, int], list[int]] = {}
    for pc, access in code.accesses.items():
        by_slot.setdefault((code.start(pc), access.slot), []).append(pc)
    for (start, slot), places in by_slot.items():
        is_short = all(code.accesses[pc].part.strip("s") in ("b", "h") for pc in places)
        if is_short and slot in code.variables.get(start, {}):
            yield [_of_a_word(code, pc) for pc in places]


def _of_a_word(code: ExecutedCode, pc: int) -> Alternative:
    """A load or store of a slot of the stack with 32 bits for it; a load only follows from the stores."""
    instruction, access = code.instructions[pc], code.accesses[pc]
    changed = with_body(instruction, _word(access.is_load, access.slot))
    return Alternative(pc, FOLLOWS if access.is_load else STEP, instruction, changed, "of 32 bits")


@cache
def _word(is_load: bool, slot: int) -> Body:
    address = U64.wrap(read(Place("sp")) - BELOW - 8 * slot)

    def body(*operands: Any) -> Writes:
        if is_load:
            written: Writes = operands[0].receive(load(address, 4))
            return written
        return (Write(Memory(address, 4), 32, [U32.wrap(operands[0].value)]),)

    return body


Taken = tuple[int, int]
"""The address of the instruction that keeps a whole number, and from which bit on the number is taken."""


def _cut_sources(code: ExecutedCode, pc: int) -> Iterator[tuple[int, int, int]]:
    """Of an instruction that computes, the operands that were cut: number, who made it, and from which bit on."""
    instruction = code.instructions[pc]
    if " sp" in instruction.text or "[" in instruction.form.shape.replace("[i]", ""):
        return
    operands = operands_of(instruction)
    if not computes(instruction):
        return
    for at, operand in enumerate(operands[1:], 1):
        if isinstance(operand, (Vector, Scalar, General)) and operand.place.file != "zr":
            chain = list(code.sources(pc, operand.place))
            if chain and _is_cut(code.instructions[chain[-1].pc]):
                yield at, chain[-1].pc, chain[-1].lsb


def _makers(code: ExecutedCode, pc: int, depth: int) -> tuple[int, ...]:
    """The instructions whose cut numbers that one took, and so on back for so many, the earliest first."""
    found: dict[int, None] = {}
    for _, made, _ in _cut_sources(code, pc) if depth else ():
        found |= dict.fromkeys((*_makers(code, made, depth - 1), made))
    return tuple(found)


def _is_cut(instruction: Instruction) -> bool:
    """Whether an instruction of integers keeps less of a result than it computed."""
    if not computes(instruction) or instruction.form.mnemonic.startswith("f"):
        return False
    (write, *_) = instruction.writes
    return any(_whole(lane) is not lane for lane in write.lanes) and write.bits <= 64


def _whole(lane: Lane) -> Lane:
    """What a lane was before it was cut to an element."""
    while isinstance(lane, (Field, Saturate)):
        if isinstance(lane.operand, (Read, Load)) or (isinstance(lane, Field) and lane.lsb):
            break
        lane = lane.operand
    return lane


def _evaluated(
    code: ExecutedCode, pc: int, taken: Mapping[int, Taken], keeps: bool, signed: bool, bounds: bool | None = None
) -> Instruction:
    instruction = code.instructions[pc]
    key = tuple((at, _Kept.of(code, made), lsb) for at, (made, lsb) in taken.items())
    return with_body(instruction, _body(instruction.form, key, _offset(pc) if keeps else -1, signed, bounds))


class _Kept(NamedTuple):
    """Where the whole result of an instruction is kept, the bits of its elements, and whether it has a sign."""

    offset: int
    bits: int
    is_signed: bool

    @classmethod
    def of(cls, code: ExecutedCode, pc: int) -> _Kept:
        (write, *_) = code.instructions[pc].writes
        return cls(_offset(pc), write.bits, any(_whole(lane).low < 0 for lane in write.lanes))


def _offset(pc: int) -> int:
    """Where the whole result of an instruction is kept: 32 bytes for each, which fit below the frame."""
    return pc % 2048 * 8


def _kept_at(offset: int) -> Lane:
    return U64.wrap(read(Place("sp")) - BELOW + offset)


@cache
def _body(form: Form, taken: tuple[tuple[int, _Kept, int], ...], keeps: int, signed: bool, bounds: bool | None) -> Body:
    """Takes operands from where they are kept whole, by number; keeps its own there, where `keeps` is an offset.

    A result is bounded to an element that has a sign, or has none, where `bounds` is one of `_BOUNDS`.
    """

    def body(*operands: Any) -> Writes:
        longer = any(isinstance(operand, General) for operand in operands)
        changed = [_Long(operand) if isinstance(operand, General) else operand for operand in operands]
        for at, kept, lsb in taken:
            changed[at] = _Long(operands[at], kept.offset) if longer else _Whole(operands[at], kept, lsb)
        if signed and not longer:
            changed = [_Signed(each) if hasattr(each, "lanes") else each for each in changed]
        if longer and keeps < 0 and form.mnemonic == "sxtw":
            extended: Writes = operands[0].write(changed[1].value)
            return extended
        writes: Writes = form.body(*changed)
        if bounds is not None:
            element = Int(writes[0].bits, bounds)
            bounded = [element.saturate(_whole(lane)) for lane in writes[0].lanes]
            return (writes[0]._replace(lanes=[Int(element.bits, False).wrap(lane) for lane in bounded]),)
        if keeps < 0:
            return writes
        lanes, bits = writes[0].lanes, 64 if longer else 2 * writes[0].bits
        wholes = [Int(bits, False).wrap(_whole(lane)) for lane in lanes]
        return (*form.body(*operands), Write(Memory(_kept_at(keeps), len(lanes) * bits // 8), bits, wholes))

    return body


class _Signed:
    """A vector register of which the lanes are signed numbers, whatever the instruction takes them for."""

    def __init__(self, operand: Any) -> None:
        self._operand = operand

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        lanes: list[Lane] = self._operand.lanes(True, count)
        return lanes


class _Whole:
    """A vector register of which the lanes are taken with twice the bits from where they are kept."""

    def __init__(self, operand: Vector | Scalar, kept: _Kept, lsb: int) -> None:
        self._operand, self._kept, self._lsb = operand, kept, lsb

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, count: int = 0) -> list[Lane]:
        own = self._operand.lanes(signed, count)
        first = own[0].lsb + self._lsb if isinstance(own[0], Field) else self._lsb
        if self._kept.bits != self._operand.bits:
            return own
        address = _kept_at(self._kept.offset + 2 * first // 8)
        double = Int(2 * self._operand.bits, signed or self._kept.is_signed)
        return double.lanes(load(address, len(own) * double.bits // 8), len(own))


class _Long:
    """A general register of 64 bits in the place of one of 32, with its sign, or with the number that is kept whole."""

    bits = 64
    type = U64

    def __init__(self, operand: General, kept: int | None = None) -> None:
        self._operand, self._kept = operand, kept

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    @property
    def value(self) -> Lane:
        if self._kept is not None:
            return load(_kept_at(self._kept), 8)
        return U64.wrap(Int(self._operand.bits, True).wrap(self._operand.value))

    def lanes(self, signed: bool, count: int = 1) -> list[Lane]:
        return [self.value] * count

    def write(self, value: Lane | int) -> tuple[Write, ...]:
        return () if self._operand.kind == "zero" else self.receive(value)

    def receive(self, value: Lane | int) -> tuple[Write, ...]:
        return (Write(self._operand.place, 64, [U64.wrap(value)]),)
