"""Bitwise instructions on longer lanes than their own: AND of sixteen bytes is AND of four words.

Compilers choose between words with a mask by instructions on bytes.  In pieces of bytes the words would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from isa.instruction import Instruction
from isa.lane import Binary, Constant, Field, Int, Lane, Place, Read, Write, constant

LONGER = (64, 32, 16)
"""Lanes to take instead, the longest first."""


def on_longer_lanes(instruction: Instruction, ends: Sequence[int]) -> tuple[Write, ...]:
    """What an instruction writes, on the longest lanes that no end of a piece lies in; its own writes if none are."""
    bits = next((bits for bits in LONGER if all(end % bits == 0 for end in ends)), 0)
    return _on_lanes(instruction, bits) or instruction.writes if bits else instruction.writes


@lru_cache(1 << 12)
def _on_lanes(instruction: Instruction, bits: int) -> tuple[Write, ...] | None:
    found = []
    for write in instruction.writes:
        size = len(write.lanes) * write.bits
        if not isinstance(write.place, Place) or write.place.file != "v" or write.bits >= bits or size % bits:
            return None
        alike = [_moved(lane, write.bits, i, write.bits, 0) for i, lane in enumerate(write.lanes)]
        moved = [_moved(write.lanes[0], write.bits, 0, bits, at) for at in range(size // bits)]
        lanes = [lane for lane in moved if lane is not None]
        if None in alike or len(lanes) < len(moved) or len({_text(lane) for lane in alike if lane is not None}) > 1:
            return None
        found.append(Write(write.place, bits, lanes))
    return tuple(found) or None


def _moved(lane: Lane, own: int, number: int, bits: int, at: int) -> Lane | None:
    """What is computed bit by bit in lane `number` of so many bits of its own, in lane `at` of others instead."""
    element = Int(bits, signed=False)
    if isinstance(lane, Constant):
        repeated = (lane.low % (1 << own)) * (((1 << bits) - 1) // ((1 << own) - 1))
        return constant(repeated)
    if isinstance(lane, Field):
        if isinstance(lane.operand, Read):
            in_place = (lane.lsb, lane.element.bits) == (own * number, own) and lane.operand.place.file == "v"
            return element.field(lane.operand, bits * at) if in_place else None
        inner = _moved(lane.operand, own, number, bits, at) if (lane.lsb, lane.element.bits) == (0, own) else None
        return None if inner is None else element.wrap(inner)
    if isinstance(lane, Binary):
        one, other = (_moved(arg, own, number, bits, at) for arg in lane.args)
        if one is None or other is None:
            return None
        if lane.operator == "and":
            return one & other
        if lane.operator == "or":
            return one | other
        if lane.operator == "xor":
            return one ^ other
        if lane.operator == "subtract" and lane.a.value == -1:
            return constant((1 << bits) - 1) - other
    return None


def _text(lane: Lane) -> str:
    """Equal for expressions that are equal but for being built twice."""
    return f"{lane!r} of {[_text(arg) for arg in lane.args]}"
