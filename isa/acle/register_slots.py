"""What an instruction asks of its register slots: which it reads and writes, and which registers may be there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from isa.instruction import Pattern
from isa.lane import Memory, Slot
from isa.operands import Element, RegisterList, Vector
from isa.parse import parse

_ANY_REGISTER_FOR_AN_ELEMENT = ("mov", "ins", "dup", "umov", "smov", "fcmla")


class Slots(NamedTuple):
    """What a pattern asks of its register slots.

    `reads` and `writes` give the register file by slot.  The registers of each of `lists` are consecutive, v0 after
    v31; those of `low` are v0 to v15 (an element of 16 bits as the last factor: Arm ARM C4.1, "vector x indexed
    element", where Rm has four bits).
    """

    reads: Mapping[int, str]
    writes: Mapping[int, str]
    lists: tuple[tuple[int, ...], ...]
    low: frozenset[int]


@cache
def slots_of(pattern: Pattern) -> Slots:
    """The slots of a pattern."""
    operands = parse(pattern.operand_text, [Slot(k) for k in range(pattern.register_count)])
    lists = [_numbers(operand.registers) for operand in operands if isinstance(operand, RegisterList)]
    halves = [operand for operand in operands[1:] if isinstance(operand, Element) and operand.letter == "h"]
    free = pattern.form.mnemonic in _ANY_REGISTER_FOR_AN_ELEMENT
    low = () if free else _numbers([half for half in halves if half.group == 1])
    written = [write.place for write in pattern.open_writes() if not isinstance(write.place, Memory)]
    return Slots(
        {slot: file for file, slot in pattern.slots_read},
        {place.index.number: place.file for place in written if isinstance(place.index, Slot)},
        tuple(numbers for numbers in lists if len(numbers) > 1),
        frozenset(low),
    )


def _numbers(operands: Iterable[Vector | Element]) -> tuple[int, ...]:
    return tuple(o.register.number for o in operands if isinstance(o.register, Slot))
