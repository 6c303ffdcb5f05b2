"""Which accesses to memory must be aligned (Arm ARM B2.8.2, Alignment of data accesses).

Exclusive, atomic, load-acquire and store-release accesses must have an address that is a multiple of their size, that
of a pair being the size of both.  All others may have any address.

With FEAT_LSE2, the feature "lse2", those may have any address too whose bytes all lie within 16 aligned ones: they stay
single-copy atomic.  SCTLR_EL1.A and nAA are taken to be 0, and memory to be normal and cacheable.  A machine has the
feature only where it is asked for.
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


def require_aligned(address: int, size: int, lse2: bool = False) -> None:
    """Raises AlignmentFault."""
    if address % size and not (lse2 and address % 16 + size <= 16):
        rule = "an exclusive, atomic, acquire or release access needs a multiple of its size (Arm ARM B2.8.2)"
        raise AlignmentFault(address, size, f"cannot access {size} bytes at {address:#x}: {rule}")


def aligned_load(load: Load, lse2: bool) -> Load:
    """The load of an instruction that must be aligned."""

    def checked(address: int, size: int) -> bytes | memoryview:
        require_aligned(address, size, lse2)
        return load(address, size)

    return checked


def aligned_store(store: Store, lse2: bool) -> Store:
    """The store of an instruction that must be aligned."""

    def checked(address: int, data: bytes) -> None:
        require_aligned(address, len(data), lse2)
        store(address, data)

    return checked
