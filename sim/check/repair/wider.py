"""What numbers would be if they were not cut to their element before others compute with them.

The instruction that makes such a number also keeps it whole, with twice the bits, below the stack, and the one that
computes with it takes it from there: a sum that wraps, or that is bounded, before it is widened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from isa.instruction import Form, Instruction
from isa.lane import U32, U64, Field, Int, Lane, Load, Memory, Place, Read, Saturate, Write, load, read
from isa.operands import General, Scalar, Vector
from isa.semantics.elementwise import Body, Writes
from sim.check.repair.alternative import FOLLOWS, STEP, Alternative, Beside
from sim.check.repair.code import ExecutedCode
from sim.check.repair.steps import computes, low_bits, operands_of, with_body

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
    cut = list(_cut_operands(code, pc))
    ways = [([one], chain) for one in cut for chain in _chains(code, one.made)]
    ways += [(cut, tuple(dict.fromkeys(one.made for one in cut)))] if len(cut) > 1 else []
    for (some, makers), signed in product(ways, (False, True)):
        changes = [
            Alternative(maker, STEP, code.instructions[maker], _evaluated(code, maker, whole, True, signed), "not cut")
            for maker in makers
            for whole in [[one for one in _cut_operands(code, maker) if one.made in makers]]
        ]
        for bounds in _BOUNDS if bounded else (None,):
            reader = _evaluated(code, pc, some, False, bounds is True, bounds)
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


class _Cut(NamedTuple):
    """An operand that was cut, by its number, with the address of what made it, and from which bit on it is taken."""

    at: int
    made: int
    lsb: int


def _cut_operands(code: ExecutedCode, pc: int) -> Iterator[_Cut]:
    """Of an instruction that computes with integers the operands that were cut."""
    instruction = code.instructions[pc]
    if " sp" in instruction.text or not _is_of_integers(instruction):
        return
    for at, operand in enumerate(operands_of(instruction)[1:], 1):
        if isinstance(operand, (Vector, Scalar, General)):
            *_, made = (None, *code.sources(pc, operand.place))
            if made is not None and _is_cut(code.instructions[made.pc]):
                yield _Cut(at, made.pc, made.lsb)


def _makers(code: ExecutedCode, pc: int, depth: int) -> tuple[int, ...]:
    """The instructions whose cut numbers that one took, and so on back for so many, the earliest first."""
    found: dict[int, None] = {}
    for one in _cut_operands(code, pc) if depth else ():
        found |= dict.fromkeys((*_makers(code, one.made, depth - 1), one.made))
    return tuple(found)


def _is_of_integers(instruction: Instruction) -> bool:
    """Whether an instruction computes, and not with floating-point numbers."""
    return computes(instruction) and not instruction.form.mnemonic.startswith("f")


def _is_cut(instruction: Instruction) -> bool:
    """Whether an instruction of integers keeps less of a result than it computed."""
    if not _is_of_integers(instruction):
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
    code: ExecutedCode, pc: int, cut: Iterable[_Cut], keeps: bool, signed: bool, bounds: bool | None = None
) -> Instruction:
    instruction = code.instructions[pc]
    whole = tuple((one.at, _Kept.of(code, one.made), one.lsb) for one in cut)
    return with_body(instruction, _body(instruction.form, whole, _offset(pc) if keeps else None, signed, bounds))


class _Kept(NamedTuple):
    """Where the whole result of an instruction is kept, the bits of its elements, and whether it has a sign."""

    offset: int
    bits: int
    is_signed: bool

    @classmethod
    def of(cls, code: ExecutedCode, pc: int) -> _Kept:
        (write, *_) = code.instructions[pc].writes
        *_, lane = write.lanes  # the first ones may be those that were there before
        return cls(_offset(pc), write.bits, _whole(lane).low < 0)


def _offset(pc: int) -> int:
    """Where the whole result of an instruction is kept: 32 bytes for each, which fit below the frame."""
    return pc % 2048 * 8


def _kept_at(offset: int) -> Lane:
    return U64.wrap(read(Place("sp")) - BELOW + offset)


@cache
def _body(
    form: Form, taken: tuple[tuple[int, _Kept, int], ...], keeps: int | None, signed: bool, bounds: bool | None
) -> Body:
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
        if longer and keeps is None and form.mnemonic == "sxtw":
            extended: Writes = operands[0].write(changed[1].value)
            return extended
        write, *others = form.body(*changed)
        if bounds is not None:
            element = Int(write.bits, bounds)
            write = write._replace(lanes=[element.saturate(_whole(lane)) for lane in write.lanes])
        if keeps is None:
            return (write, *others)
        bits = 64 if longer else 2 * write.bits
        wholes = [low_bits(_whole(lane), bits) for lane in write.lanes]
        return (*form.body(*operands), Write(Memory(_kept_at(keeps), len(wholes) * bits // 8), bits, wholes))

    return body


class _Signed:
    """A vector register of which the lanes are signed numbers, whatever the instruction takes them for."""

    def __init__(self, operand: Any) -> None:
        self._operand = operand

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, *count: int) -> list[Lane]:
        lanes: list[Lane] = self._operand.lanes(True, *count)
        return lanes


class _Whole:
    """A vector register of which the lanes are taken with twice the bits from where they are kept."""

    def __init__(self, operand: Vector | Scalar, kept: _Kept, lsb: int) -> None:
        self._operand, self._kept, self._lsb = operand, kept, lsb

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operand, name)

    def lanes(self, signed: bool, *count: int) -> list[Lane]:
        own = self._operand.lanes(signed, *count)
        if self._kept.bits != self._operand.bits:
            return own
        (first, *_) = own
        assert isinstance(first, Field)
        address = _kept_at(self._kept.offset + 2 * (first.lsb + self._lsb) // 8)
        double = Int(2 * self._operand.bits, signed or self._kept.is_signed)
        return double.lanes(load(address, len(own) * double.bits // 8), len(own))


class _Long:
    """A general register as one of 64 bits, with the sign of its own, or with the number that is kept whole."""

    def __init__(self, operand: General, kept: int | None = None) -> None:
        self._operand, self._kept = operand, kept

    def __getattr__(self, name: str) -> Any:
        return getattr(replace(self._operand, bits=64), name)

    @property
    def value(self) -> Lane:
        if self._kept is not None:
            return load(_kept_at(self._kept), 8)
        return U64.wrap(Int(self._operand.bits, True).wrap(self._operand.value))
