"""Writes that the configuration registers must refuse, of every cause, at every register that refuses something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rtl_models.register_map import CHANNELS, REGISTERS, TABLES, cause


class Illegal(NamedTuple):
    """A write that is refused."""

    address: int
    data: int

    @property
    def cause(self) -> int:
        """The bit of STATUS that it sets."""
        return cause(*self)

    def __str__(self) -> str:
        return f"the write of {self.data:#x} to {self.address:#x}"


_BY_RULE: Final = {"BOUNDS": (0x0_09_0A, 0x1_80_7F), "DESTINATION": (8, 1), "ELEMENT": (3, 0x103)}
"""Fields in range that do not go together: minimum above maximum, unsigned and signed; no multiple of 16; 3 bytes."""
_UNALIGNED: Final = (0x05, 0x0A, 0x43, TABLES + 1, 0xFFFF)
_UNMAPPED: Final = (0x48, 0x80, TABLES - 4, TABLES + 16 * CHANNELS, 0xFFFC)
_SHIFTS: Final = {
    TABLES + 8: (32, 33, 34, 36, 40, 48, 63), TABLES + 16 * (CHANNELS - 1) + 8: (32,), TABLES + 12: (31, 32, 64),
}  # fmt: skip
"""Of the first channel, which every row has, with several numbers in the low bits; and of the last."""


def _all() -> Iterator[Illegal]:
    for register in REGISTERS:
        # next to the legal words: each field one below and one above its range, each bit beside the fields
        fields, words = register.fields, []
        legal = {field.setting: field.decoded(register.reset) for field in fields}
        for field in fields:
            others = register.encoded(legal) & ~field.mask
            words += [others | (value << field.lsb) & 0xFFFFFFFF for value in (field.low - 1, field.high + 1)]
        words += [register.reset | 1 << k for k in range(32) if not any(field.mask >> k & 1 for field in fields)]
        words += _BY_RULE.get(register.name, ())
        yield from (Illegal(register.address, word) for word in dict.fromkeys(words) if not register.takes(word))
    yield from (Illegal(address, word) for address, words in _SHIFTS.items() for word in words)
    yield from (Illegal(address, 1) for address in (*_UNALIGNED, *_UNMAPPED))


ILLEGAL: Final = tuple(_all())
