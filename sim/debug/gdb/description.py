"""The registers as gdb is told of them: its target description, and what they hold as bytes in its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from isa.lane import Place
from sim.machine.machine import Machine

_GENERAL: Final = tuple(Place("x", number) for number in range(31))
REGISTERS: Final = (
    *((place, 8) for place in _GENERAL), (Place("sp"), 8), (Place("pc"), 8), (Place("nzcv"), 4),
    *((Place("v", number), 16) for number in range(32)), (Place("fpsr"), 4), (Place("fpcr"), 4),
)  # fmt: skip
"""By gdb's number, each register with its size in bytes; cpsr has the flags in its upper four bits."""
_LANES: Final = (("d", 2, ("ieee_double", "uint64", "int64")), ("s", 4, ("ieee_single", "uint32", "int32")),
                 ("h", 8, ("ieee_half", "uint16", "int16")), ("b", 16, (None, "uint8", "int8")),
                 ("q", 1, (None, "uint128", "int128")))  # fmt: skip


def register_bytes(machine: Machine, number: int) -> bytes:
    """What the register of gdb's number holds.  Raises IndexError where there is none."""
    place, size = REGISTERS[number]
    value = machine.pc % 2**64 if place.file == "pc" else machine.read(place)
    return (value << 28 if place.file == "nzcv" else value).to_bytes(size, "little")


def target_description() -> str:
    """The XML that gdb asks for: core and floating-point features of AArch64, vector registers as unions of lanes."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">'
    yield '<architecture>aarch64</architecture><feature name="org.gnu.gdb.aarch64.core">'
    types = {"sp": "data_ptr", "pc": "code_ptr"}
    for place, size in REGISTERS[:34]:
        name = "cpsr" if place.file == "nzcv" else str(place)
        yield f'<reg name="{name}" bitsize="{8 * size}" type="{types.get(name, "int")}"/>'
    yield '</feature><feature name="org.gnu.gdb.aarch64.fpu">'
    for letter, count, kinds in _LANES:
        names = dict(zip("fus", kinds, strict=True))
        for kind, of in names.items():
            if of is not None:
                yield f'<vector id="v{letter}{kind}" type="{of}" count="{count}"/>'
        fields = "".join(f'<field name="{kind}" type="v{letter}{kind}"/>' for kind, of in names.items() if of)
        yield f'<union id="vn{letter}">{fields}</union>'
    fields = "".join(f'<field name="{letter}" type="vn{letter}"/>' for letter, *_ in _LANES)
    yield f'<union id="aarch64v">{fields}</union>'
    for place, size in REGISTERS[34:]:
        kind = "aarch64v" if place.file == "v" else "int"
        yield f'<reg name="{place}" bitsize="{8 * size}" type="{kind}"/>'
    yield "</feature></target>"
