"""LSE atomics, exclusive accesses, and loads and stores that order others (Arm ARM C6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.instruction import Form
from isa.lane import S8, S16, S32, U8, U16
from isa.rows.loads_stores import UNSCALED
from isa.semantics import memory
from isa.semantics.base import atomic, exclusive
from isa.table import family

SIZES = (("", "x w", None), ("b", "w", 8), ("h", "w", 16))
"""The last letter of a mnemonic, the registers it goes with, and the bits in memory where the register has more."""
OPERATIONS = {
    "add": atomic.add, "clr": atomic.clear_bits, "eor": atomic.exclusive_or, "set": atomic.set_bits,
    "smax": atomic.larger_signed, "smin": atomic.smaller_signed, "umax": atomic.larger, "umin": atomic.smaller,
}  # fmt: skip
ORDERS = ("", "a", "l", "al")
"""No order, acquire, release, both."""


def _read_modify_write() -> Iterator[Iterable[Form]]:
    for size, registers, bits in SIZES:
        for order in ORDERS:
            yield family(f"swp{order}{size}", "T,T,[x]", registers, atomic.fetch_and(atomic.swap, bits), "lse")
            yield family(f"cas{order}{size}", "T,T,[x]", registers, atomic.compare_and_swap(bits), "lse")
            for name, combine in OPERATIONS.items():
                yield family(f"ld{name}{order}{size}", "T,T,[x]", registers, atomic.fetch_and(combine, bits), "lse")
        for name, combine in OPERATIONS.items():
            yield family(f"st{name}{size}", "T,[x]", registers, atomic.combine_only(combine, bits), "lse")
            yield family(f"st{name}l{size}", "T,[x]", registers, atomic.combine_only(combine, bits), "lse")


def _exclusive() -> Iterator[Iterable[Form]]:
    for size, registers, bits in SIZES:
        for name in ("ldxr", "ldaxr"):
            yield family(f"{name}{size}", "T,[x]", registers, exclusive.load_exclusive(bits))
        for name in ("stxr", "stlxr"):
            yield family(f"{name}{size}", "w,T,[x]", registers, exclusive.store_exclusive(bits))


def _ordered_loads(name: str, *features: str) -> Iterator[Iterable[Form]]:
    yield family(name, "T,[x]", "x w", memory.load_register, *features)
    yield family(f"{name}b", "w,[x]", "", memory.load_part(U8), *features)
    yield family(f"{name}h", "w,[x]", "", memory.load_part(U16), *features)


def _ordered(load: str, store: str, *features: str) -> Iterator[Iterable[Form]]:
    yield from _ordered_loads(load, *features)
    yield family(store, "T,[x]", "x w", memory.store_register, *features)
    yield family(f"{store}b", "w,[x]", "", memory.store_part(U8), *features)
    yield family(f"{store}h", "w,[x]", "", memory.store_part(U16), *features)


ROWS = (
    *_read_modify_write(),
    *(family(f"casp{order}", "T,T,T,T,[x]", "x w", atomic.compare_and_swap_pair, "lse") for order in ORDERS),
    *_exclusive(),
    *(family(name, "T,T,[x]", "x w", exclusive.load_exclusive_pair) for name in ("ldxp", "ldaxp")),
    *(family(name, "w,T,T,[x]", "x w", exclusive.store_exclusive_pair) for name in ("stxp", "stlxp")),
    family("clrex", "(|#)", "", exclusive.clear_exclusive),
    # acquire and release
    *_ordered("ldar", "stlr"),
    *_ordered("ldlar", "stllr", "lor"),
    *_ordered_loads("ldapr", "rcpc"),
    family("ldapur", f"T,{UNSCALED}", "x w", memory.load_register, "rcpc2"),
    family("ldapurb", f"w,{UNSCALED}", "", memory.load_part(U8), "rcpc2"),
    family("ldapurh", f"w,{UNSCALED}", "", memory.load_part(U16), "rcpc2"),
    family("ldapursb", f"(w|x),{UNSCALED}", "", memory.load_part(S8), "rcpc2"),
    family("ldapursh", f"(w|x),{UNSCALED}", "", memory.load_part(S16), "rcpc2"),
    family("ldapursw", f"x,{UNSCALED}", "", memory.load_part(S32), "rcpc2"),
    family("stlur", f"T,{UNSCALED}", "x w", memory.store_register, "rcpc2"),
    family("stlurb", f"w,{UNSCALED}", "", memory.store_part(U8), "rcpc2"),
    family("stlurh", f"w,{UNSCALED}", "", memory.store_part(U16), "rcpc2"),
)
