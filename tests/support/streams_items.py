"""What streams consist of.  An item is one instruction with what it needs to be harmless, or a small block of items.

Every item knows its length in words, and writes them for the address at which it stands.  Removing an item from a
stream leaves a stream: Hypothesis shrinks failures that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from isa.decode import decode
from support.streams_vocabulary import COUNTER, LINK, POOL_BASE, SCRATCH

CODE, CODE_SIZE = 0x10000, 0x10000
POOL, POOL_SIZE = 0x30000, 0x8000
"""Constants that the program loads: all that LDR (unsigned offset) of a doubleword reaches (Arm ARM C6.2)."""
DATA, DATA_SIZE = 0x400000, 0x1000
SP = 31

# Encodings of Arm ARM C6.2, completed with their registers.
_CLREX = 0xD5033F5F
_LDR_FROM_POOL = 0xF9400000 | POOL_BASE << 5
_MOV_SP_SCRATCH = 0x91000000 | SCRATCH << 5 | SP
_MOVZ_COUNTER = 0xD2800000 | COUNTER
_COUNT_DOWN, _COUNT_DOWN_SETTING_FLAGS, _COUNT_UP = (
    operation | 1 << 10 | COUNTER << 5 | COUNTER for operation in (0xD1000000, 0xF1000000, 0x91000000)
)
_B, _BL, _B_NE, _CBZ, _CBNZ, _TBZ_BIT_3 = 0x14000000, 0x94000000, 0x54000001, 0xB4000000, 0xB5000000, 0x36180000
_SAVE_LINK, _RESTORE_LINK, _RET = 0xAA0003E0 | 30 << 16 | LINK, 0xAA0003E0 | LINK << 16 | 30, 0xD65F03C0
_RET_SAVED_LINK = 0xD65F0000 | LINK << 5
B_NEXT = _B | 1
"""A branch to the next instruction."""


class Pool:
    """The 64-bit constants of one program.  More than fit raise ValueError."""

    def __init__(self) -> None:
        self.values: list[int] = []

    def load(self, register: int, value: int) -> list[int]:
        """The words that load a constant into a general register, or into SP for 31."""
        if len(self.values) == POOL_SIZE // 8:
            raise ValueError(f"the stream needs more than {POOL_SIZE // 8} constants: make it shorter")
        self.values.append(value)
        target = SCRATCH if register == SP else register
        load = [_LDR_FROM_POOL | len(self.values) - 1 << 10 | target]
        return [*load, _MOV_SP_SCRATCH] if register == SP else load


class Item(Protocol):
    """One item: `size` words, written for the address `at`; `ahead` are the addresses of the items that follow in its
    block, and of the block's end."""

    @property
    def size(self) -> int: ...

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]: ...


@dataclass(frozen=True)
class Plain:
    """One instruction that can stand anywhere."""

    word: int
    size = 1

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        return [self.word]

    def __repr__(self) -> str:
        return f"<{_text(self.word)}>"


@dataclass(frozen=True)
class Access:
    """One load or store, after the registers of its address are set and the monitor of an exclusive is (`before`)."""

    word: int
    registers: tuple[tuple[int, int], ...]
    before: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return 1 + len(self.before) + sum(1 + (register == SP) for register, _ in self.registers)

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        return [*(word for pair in self.registers for word in pool.load(*pair)), *self.before, self.word]

    def __repr__(self) -> str:
        return f"<{_text(self.word)} with {', '.join(f'x{r}={v:#x}' for r, v in self.registers)}>"


@dataclass(frozen=True)
class Literal:
    """A load relative to the program counter, of some word of the code."""

    word: int
    place: int
    size = 1

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        return [with_target(self.word, at, CODE + 16 * (self.place % (CODE_SIZE // 16)))]

    def __repr__(self) -> str:
        return f"<{_text(self.word)} at {self.place}>"


@dataclass(frozen=True)
class Skip:
    """A branch over some of the items that follow, by an immediate."""

    word: int
    items: int
    size = 1

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        return [with_target(self.word, at, ahead[min(self.items, len(ahead) - 1)])]

    def __repr__(self) -> str:
        return f"<{_text(self.word).rsplit('#', 1)[0]} over {self.items}>"


@dataclass(frozen=True)
class Jump:
    """A branch over some of the items that follow, by the register that the word names."""

    word: int
    items: int
    size = 2

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        offset, register = ahead[min(self.items, len(ahead) - 1)] - at, self.word >> 5 & 31
        return [0x10000000 | offset % 4 << 29 | offset // 4 << 5 | register, self.word]  # ADR

    def __repr__(self) -> str:
        return f"<{_text(self.word)} over {self.items}>"


@dataclass(frozen=True)
class Loop:
    """A block that runs 1 to 8 times, closed by one of several branches backwards."""

    times: int
    closing: str
    body: tuple[Item, ...]

    @property
    def size(self) -> int:
        return 1 + _size(self.body) + len(self._closing(0))

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        start = 8 - self.times if self.closing == "tbz" else self.times
        body = laid_out(self.body, at + 4, pool)
        return [_MOVZ_COUNTER | start << 5, *body, *self._closing(len(body))]

    def _closing(self, length: int) -> list[int]:
        """The words that count and branch back over `length` words."""
        after_one, after_two = -4 * (length + 1), -4 * (length + 2)
        return {
            "cbnz": [_COUNT_DOWN, with_target(_CBNZ | COUNTER, 0, after_one)],
            "b.ne": [_COUNT_DOWN_SETTING_FLAGS, with_target(_B_NE, 0, after_one)],
            "tbz": [_COUNT_UP, with_target(_TBZ_BIT_3 | COUNTER, 0, after_one)],
            "b": [_COUNT_DOWN, with_target(_CBZ | COUNTER, 0, 8), with_target(_B, 0, after_two)],
        }[self.closing]


CLOSINGS = ("cbnz", "b.ne", "tbz", "b")


@dataclass(frozen=True)
class Call:
    """BL to a block behind it that returns, by RET or by RET of another register; the block may write x30."""

    body: tuple[Item, ...]
    by_link: bool

    @property
    def size(self) -> int:
        return 3 + _size(self.body) + len(self._return)

    def words(self, at: int, ahead: Sequence[int], pool: Pool) -> list[int]:
        body = laid_out(self.body, at + 12, pool)
        return [_BL | 2, _B | self.size - 1, _SAVE_LINK, *body, *self._return]

    @property
    def _return(self) -> list[int]:
        return [_RESTORE_LINK, _RET] if self.by_link else [_RET_SAVED_LINK]


def laid_out(items: Sequence[Item], start: int, pool: Pool) -> list[int]:
    """The words of a block that stands at `start`."""
    addresses = list(accumulate((4 * item.size for item in items), initial=start))
    return [
        word
        for number, item in enumerate(items)
        for word in item.words(addresses[number], addresses[number + 1 :], pool)
    ]


def monitor_of(word: int, opened: bool) -> tuple[int, ...]:
    """What stands before a store exclusive: the load exclusive of its size and address, or CLREX; else nothing.

    After a load of another size, or a plain store to the same place, Arm lets a store exclusive pass or fail
    (Arm ARM B2.12.5).
    """
    if word & 0x3FC00000 != 0x08000000 or word >> 21 & 1 > word >> 31:  # other accesses; CASP
        return ()
    load = word & ~(31 << 16 | 31) | 1 << 22 | 31 << 16 | 31 << 10 | SCRATCH
    return (load,) if opened else (_CLREX,)


def with_target(word: int, at: int, target: int) -> int:
    """A branch or a load of a literal with another target; its field of 14, 19 or 26 bits is found by its opcode."""
    offset = (target - at) // 4
    if word & 0x7C000000 == _B:
        return word & 0xFC000000 | offset & 0x3FFFFFF
    bits = 14 if word & 0x7E000000 == 0x36000000 else 19
    mask = (1 << bits) - 1
    return word & ~(mask << 5) | (offset & mask) << 5


def _size(items: Sequence[Item]) -> int:
    return sum(item.size for item in items)


def _text(word: int) -> str:
    return decode(word.to_bytes(4, "little")).text
