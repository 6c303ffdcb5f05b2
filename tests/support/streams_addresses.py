"""What the address registers of a load or store must hold for the access to stay inside the data of a stream."""

from __future__ import annotations

from isa.operands import Address, Extended, General, Immediate, Offset, Shifted
from support.streams_items import DATA, DATA_SIZE, SP
from support.streams_vocabulary import Chance

LARGEST_ACCESS = 64
"""Bytes that LD4 of four vectors loads."""
Settings = tuple[tuple[int, int], ...]
"""Pairs of a general register (31: SP) and its value."""


def address_registers(word: int, address: Address, rng: Chance) -> Settings:
    """The registers of an address, set so that the access lies in the data."""
    target = DATA + rng.randrange(DATA_SIZE - LARGEST_ACCESS + 1)
    if needs_alignment(word) or rng.randrange(4) == 0:
        target -= target % 16
    base, offset = address.base, None if address.mode == "post" else address.offset
    if isinstance(offset, Immediate):
        return ((_number(base), _unsigned(target - (offset.number << offset.amount))),)
    index = offset.base if isinstance(offset, Shifted | Extended) else offset
    if index is None or offset is None or index.kind == "zero":
        return ((_number(base), target),)
    if index.place == base.place:
        return ((_number(base), base_and_index(target - target % 2, offset)),)
    value = rng.getrandbits(64)
    return ((_number(base), _unsigned(target - displacement(offset, value))), (_number(index), value))


def needs_alignment(word: int) -> bool:
    """Exclusives, ordered accesses, compare and swap; atomics; ordered accesses with an offset (Arm ARM C4.1.94)."""
    return (
        word & 0x3F000000 == 0x08000000 or word & 0x3B200C00 == 0x38200000 or word & 0x3F200C00 == 0x19000000
    )  # fmt: skip


def displacement(offset: Offset, register: int) -> int:
    """What an offset register adds to the base (Arm ARM, `ExtendReg`)."""
    kind, amount = (offset.kind, offset.amount) if isinstance(offset, Shifted | Extended) else ("", 0)
    low = register % 2**32
    extended = {"uxtw": low, "sxtw": low - (low >> 31 << 32)}.get(kind, register)
    return extended << amount


def base_and_index(target: int, offset: Offset) -> int:
    """The value of one register that is both base and index of an even address.

    base + (base << amount) = target is solved modulo 2^32 where the index is the low half, else modulo 2^64.
    """
    amount = offset.amount if isinstance(offset, Shifted | Extended) else 0
    modulus = 2**32 if isinstance(offset, Extended) and offset.kind.endswith("w") else 2**64
    low = target * pow(1 + (1 << amount), -1, modulus) % modulus if amount else target // 2
    return _unsigned(target - displacement(offset, low))


def _number(register: General) -> int:
    return SP if register.kind == "sp" else int(str(register.register))


def _unsigned(value: int) -> int:
    return value % 2**64
