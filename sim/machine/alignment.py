"""Which accesses to memory must be aligned (Arm ARM B2.8.2, Alignment of data accesses).

Exclusive, atomic, load-acquire and store-release accesses must have an address that is a multiple of their size, that
of a pair being the size of both.  All others may have any address.  FEAT_LSE2, with which an access within 16 aligned
bytes may have any address too, is not assumed: code that needs it faults on cores without.
"""

from __future__ import annotations

import re

from isa.evaluate.python import Load, Store
from isa.instruction import Instruction
from sim.machine.errors import AlignmentFault

_EXCLUSIVE = "(ld|st)[al]?x[rp][bh]?"
_ORDERED = "(ld(a|la|ap)|stll?)r[bh]?|ldapurs?[bhw]?|stlur[bh]?"
_ATOMIC = "((ld|st)(add|clr|eor|set|[su]max|[su]min)|swp|casp?)(al?|l)?[bh]?"
_ALIGNED = re.compile(f"{_EXCLUSIVE}|{_ORDERED}|{_ATOMIC}")


def must_be_aligned(instruction: Instruction) -> bool:
    """Whether an access of the instruction faults where its address is no multiple of its size."""
    return _ALIGNED.fullmatch(instruction.form.mnemonic) is not None


def require_aligned(address: int, size: int) -> None:
    """Raises AlignmentFault."""
    if address % size:
        rule = "an exclusive, atomic, acquire or release access needs a multiple of its size (Arm ARM B2.8.2)"
        raise AlignmentFault(address, size, f"cannot access {size} bytes at {address:#x}: {rule}")


def aligned_load(load: Load) -> Load:
    """The load of an instruction that must be aligned."""

    def checked(address: int, size: int) -> bytes | memoryview:
        require_aligned(address, size)
        return load(address, size)

    return checked


def aligned_store(store: Store) -> Store:
    """The store of an instruction that must be aligned."""

    def checked(address: int, data: bytes) -> None:
        require_aligned(address, len(data))
        store(address, data)

    return checked
