"""Which byte of junk is another in two states of a machine that is ready for a call, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from isa.lane import Place
from sim.check.buffers import Placed
from sim.check.caller import STACK_SIZE, STACK_TOP, Caller
from sim.check.guards.bounds import owned_bytes
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.machine.registers import Registers

_REGISTERS = (
    *(Place("v", number) for number in range(32)),
    *(Place("x", number) for number in range(31)),
    Place("nzcv"),
)


class Origin(NamedTuple):
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
        self.registers = Registers()
        self.registers.copy(machine.registers)
        self.memory = {region.start: region.buffer[:] for region in machine.memory.regions}


def first_difference(before: Snapshot, after: Snapshot, caller: Caller, placed: Mapping[str, Placed]) -> Origin:
    """The byte that differs.  Raises ValueError where none does."""
    for place in _REGISTERS:
        changed = before.registers.read(place) ^ after.registers.read(place)
        if changed:
            return _of_register(place, ((changed & -changed).bit_length() - 1) // 8, caller)
    for start, data in before.memory.items():
        if data != after.memory[start]:
            return _of_memory(start + _first_byte(data, after.memory[start]), caller, placed.values())
    raise ValueError("the two states are the same")


def _first_byte(data: bytes, other: bytes) -> int:
    return next(i for i, (a, b) in enumerate(zip(data, other, strict=True)) if a != b)


def _of_register(place: Place, byte: int, caller: Caller) -> Origin:
    if place.file == "nzcv":
        return Origin("nzcv", 0, "the flags")
    above = (
        f", above the argument {name!r}"
        for name, passed in caller.signature.passed().items()
        if any(piece.location == place for piece in passed.pieces)
    )
    return Origin(str(place), byte, f"byte {byte} of {place}{next(above, '')}")


def _of_memory(address: int, caller: Caller, placed: Iterable[Placed]) -> Origin:
    if STACK_TOP - STACK_SIZE <= address < STACK_TOP:
        offset = address - caller.stack.sp
        return Origin("the stack", offset, f"the stack at sp {'-' if offset < 0 else '+'} {abs(offset)} of the call")
    for array in placed:
        room = range(array.address - PAGE, array.address + array.size + array.pointer.over_read + PAGE)
        if address in room:
            return _of_array(array, address - array.address)
    raise ValueError(f"{address:#x} is no junk")


def _of_array(array: Placed, byte: int) -> Origin:
    name = array.pointer.name
    if byte < 0:
        return Origin(name, byte, f"byte {byte} of {name!r}, before its start")
    if byte >= array.size:
        declared = byte < array.size + array.pointer.over_read
        return Origin(name, byte, f"byte {byte} of {name!r}, past its end", declared)
    owned = owned_bytes(array)
    if owned is not None and not owned[byte]:
        return Origin(name, byte, f"byte {byte} of {name!r}, between its rows")
    return Origin(name, byte, f"byte {byte} of {name!r} as it was before the call")
