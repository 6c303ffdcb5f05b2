"""Writes that the configuration registers must refuse, of every cause, at every register that refuses something."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from rtl_models.benches.driving.testbench import Write
from rtl_models.register_map import CHANNELS, REGISTERS, TABLES, cause, registers


class Illegal(NamedTuple):
    """A write that is refused; `cause` is the bit of STATUS that it sets."""

    address: int
    data: int
    cause: int

    def __str__(self) -> str:
        return f"the write of {self.data:#x} to {self.address:#x}"


_BY_RULE: Final = {"BOUNDS": (0x0_09_0A, 0x1_80_7F), "DESTINATION": (8, 1), "ELEMENT": (3, 0x103)}
"""Fields in range that do not go together: minimum above maximum, unsigned and signed; no multiple of 16; 3 bytes."""
_UNALIGNED: Final = (0x05, 0x0A, 0x43, TABLES + 1, 0xFFFF)
_UNMAPPED: Final = (REGISTERS[-1].address + 4, 0x80, TABLES - 4, 0xFFFC)
_WORDS: Final = range(0, 1 << 16)
_SHIFTS: Final = {8: (32, 33, 34, 36, 40, 48, 63), 12: (31, 32, 64)}
"""Of the first channel, which every row has, with several numbers in the low bits."""


@cache
def illegal_writes(channels: int = CHANNELS) -> tuple[Illegal, ...]:
    """All of them where the tables have so many channels."""
    refused = {write: cause(*write, channels) for write in _next_to_legal(channels)}
    return tuple(Illegal(*write, bit) for write, bit in refused.items() if bit)


def _next_to_legal(channels: int) -> Iterator[Write]:
    """With a few that are legal where there are as many channels as there can be."""
    for register in registers(channels):
        # next to the legal words: each field one below and one above its range, each bit beside the fields
        fields, words = register.fields, []
        legal = {field.setting: field.decoded(register.reset) for field in fields}
        for field in fields:
            others = register.encoded(legal) & ~field.mask
            words += [others | (value << field.lsb) & 0xFFFFFFFF for value in (field.low - 1, field.high + 1)]
        words += [register.reset | 1 << k for k in range(32) if not any(field.mask >> k & 1 for field in fields)]
        words += _BY_RULE.get(register.name, ())
        yield from ((register.address, word) for word in words)
    yield from ((TABLES + at, word) for at, words in _SHIFTS.items() for word in words)
    end = TABLES + 16 * channels
    yield (end - 8, 32)  # the shift of the last channel
    # behind it, and where the number of the channel is that of the first but for one bit
    behind = (end, *(TABLES + (16 << bit) for bit in range(12)))
    yield from ((at, 1) for at in (*_UNALIGNED, *_UNMAPPED, *behind) if at in _WORDS)
