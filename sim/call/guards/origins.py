"""Which undefined byte is another in two states of a machine that is ready for a call, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from isa.lane import Place
from sim.call.buffers import PlacedArray
from sim.call.caller import STACK_SIZE, STACK_TOP, Caller
from sim.call.guards.bounds import owned_bytes
from sim.kernels.signature import Stack
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.machine.registers import RegisterStorage

_REGISTERS = (
    *(Place("v", number) for number in range(32)),
    *(Place("x", number) for number in range(31)),
    Place("nzcv"),
)
_SLOT = 8
"""Bytes of the stack that an argument takes at least (AAPCS64 6.8.2, stage C)."""


class ByteOrigin(NamedTuple):
    """A byte of an array, a register or the stack (`where`), and its name in a sentence.

    Of an array bytes are counted from its first, of the stack from sp at the call.
    """

    where: str
    byte: int
    text: str
    is_over_read: bool = False


class Snapshot:
    """Registers and memory of a machine at one time."""

    def __init__(self, machine: Machine) -> None:
        self.registers = RegisterStorage()
        self.registers.copy(machine.registers)
        self.memory = {region.start: region.buffer[:] for region in machine.memory.regions}


def first_difference(
    before: Snapshot, after: Snapshot, caller: Caller, placed: Mapping[str, PlacedArray]
) -> ByteOrigin:
    """The byte that differs.  Raises ValueError where none does."""
    for place in _REGISTERS:
        changed = before.registers.read(place) ^ after.registers.read(place)
        if changed and place.file == "nzcv":
            return ByteOrigin("nzcv", 0, "the flags")
        if changed:
            byte = (changed.bit_length() - 1) // 8
            above = (
                f", above the argument {name!r}"
                for name, passed in caller.signature.passed().items()
                if any(piece.location == place for piece in passed.pieces)
            )
            return ByteOrigin(str(place), byte, f"byte {byte} of {place}{next(above, '')}")
    for start, data in before.memory.items():
        if data != after.memory[start]:
            at = next(i for i, (a, b) in enumerate(zip(data, after.memory[start], strict=True)) if a != b)
            return _of_memory(start + at, caller, placed.values())
    raise ValueError("the two states are the same")


def _of_memory(address: int, caller: Caller, placed: Iterable[PlacedArray]) -> ByteOrigin:
    if STACK_TOP - STACK_SIZE <= address < STACK_TOP:
        offset = address - caller.stack.sp
        above = next((name for name, slot in _slots(caller) if offset in slot), None)
        said = f", above the argument {above!r}" if above is not None else ""
        return ByteOrigin(
            "the stack", offset, f"the stack at sp {'-' if offset < 0 else '+'} {abs(offset)} of the call{said}"
        )
    for array in (one for one in placed if not one.is_part):
        name, byte, end = array.pointer.name, address - array.address, array.size + array.pointer.over_read
        if not -PAGE <= byte < end + PAGE:
            continue
        if byte < 0:
            return ByteOrigin(name, byte, f"byte {byte} of {name!r}, before its start")
        if byte >= array.size:
            return ByteOrigin(name, byte, f"byte {byte} of {name!r}, past its end", byte < end)
        owned = owned_bytes(array)
        if owned is not None and not owned[byte]:
            return ByteOrigin(name, byte, f"byte {byte} of {name!r}, between its rows")
        return ByteOrigin(name, byte, f"byte {byte} of {name!r} as it was before the call")
    raise ValueError(f"{address:#x} is no undefined byte")


def _slots(caller: Caller) -> Iterator[tuple[str, range]]:
    """The arguments on the stack, and the bytes that each takes there, those above it too, from sp on."""
    for name, passed in caller.signature.passed().items():
        for piece in passed.pieces:
            if isinstance(piece.location, Stack):
                start = piece.location.offset
                yield name, range(start, start + -(-piece.size // _SLOT) * _SLOT)
