"""Where in this process the emulator keeps its registers, so that they are compared without being copied out, and the
flag that says that its program counter is up to date.

Unicorn does not say.  They are looked for: registers are set to random numbers, and what its handle points to is
searched for these.  What is found is confirmed with other numbers, in each emulator anew; where nothing is, registers
are read through Unicorn, which takes several times as long and comes to the same.  So the flag, by what sets and
clears it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from random import Random
from struct import Struct
from typing import NamedTuple

from sim.emulator import Emulator
from sim.machine.registers import RegisterStorage

_HANDLE, _PROCESSOR = 1 << 14, 1 << 18
"""Bytes of what the handle points to, and of what a pointer in there does, that are searched."""
_EXECUTED = bytes.fromhex("00040091 201ca14e")
"""add x0, x0, #1; mov v0.16b, v1.16b"""
_MEMORY = "/proc/self/mem"
_WORD, _GENERAL = Struct("<Q"), Struct("<32Q")


class InPlace(NamedTuple):
    """The addresses of x0, ..., x30, sp and of v0, and the bytes from one v register to the next."""

    general: int
    vectors: int
    stride: int


class _Found(NamedTuple):
    """The same by how to get there: the offset of a pointer behind the handle, and from where it points."""

    pointer: int
    general: int
    vectors: int
    stride: int


def registers_in_place(emulator: Emulator) -> InPlace | None:
    """Where the registers of an emulator are, or None.  Its registers are other ones afterwards."""
    for found in _layouts():
        with suppress(OSError), open(_MEMORY, "rb", buffering=0) as memory:  # no Linux
            place = _place(memory.fileno(), emulator.c_interface.handle, found)
            if all(_bytes(_set(emulator, seed)) == _values(memory.fileno(), place) for seed in (1, 2)):
                return place
    return None


def flag_of_known_pc(emulator: Emulator) -> int | None:
    """The address of the byte that is 1 where the program counter of an emulator that just runs is up to date, or None.

    Before each instruction that has a hook it is.  Unicorn (`skip_sync_pc_on_exit`) searches for it all the same, from
    the start of a block of up to 512 instructions, each time before it calls back for a write; not where the flag is
    set.  The emulator has not run yet; its program counter is another one afterwards.
    """
    offset = _flag()
    if offset is None:
        return None
    address = emulator.c_interface.handle + offset
    with open(_MEMORY, "rb", buffering=0) as memory:
        before = _read(memory.fileno(), 1, address)
        emulator.pc = 0
        return address if before + _read(memory.fileno(), 1, address) == b"\0\1" else None


@cache
def _flag() -> int | None:
    """The offset behind the handle of the only byte that a program counter from outside sets, until a run that a hook
    sends elsewhere has ended; None where it is not the only one.
    """
    emulator = Emulator()
    emulator.memory.map(0, 4096, "rx")
    emulator.memory.write(0, _EXECUTED)

    def sent_and_stopped(_: int) -> bool:
        emulator.pc = 0
        return False

    found = set(range(_HANDLE))
    try:
        with open(_MEMORY, "rb", buffering=0) as memory:

            def keep(value: int) -> None:
                now = _read(memory.fileno(), _HANDLE, emulator.c_interface.handle)
                found.intersection_update(at for at, byte in enumerate(now) if byte == value)

            for _ in range(3):
                emulator.pc = 0
                keep(1)
                emulator.run(max_instructions=1, before_each=sent_and_stopped)
                keep(0)
    except OSError:  # no Linux, or one that does not let a process read itself
        return None
    return found.pop() if len(found) == 1 else None


@cache
def _layouts() -> tuple[_Found, ...]:
    """Searched for once, in an emulator of its own, which then executes something: no copy follows that.

    Behind the handle there may be memory of others that points there too, but does not in the next emulator.
    """
    emulator = Emulator()
    registers = _set(emulator, 0)
    try:
        with open(_MEMORY, "rb", buffering=0) as memory:
            number, handle = memory.fileno(), emulator.c_interface.handle
            candidates = list(_candidates(number, _read(number, _HANDLE, handle), registers))
            _execute(emulator)
            values = [_values(number, _place(number, handle, found)) for found in candidates]
            now = _bytes(emulator.registers())  # asked for last: the copies that this makes are none
            return tuple(found for found, there in zip(candidates, values, strict=True) if there == now)
    except OSError:  # no Linux, or one that does not let a process read itself
        return ()


def _candidates(memory: int, handle: bytes, registers: RegisterStorage) -> Iterator[_Found]:
    """Where a pointer of those leads to a place with the values of registers."""
    general, first, second = _GENERAL.pack(*registers.general), registers.vectors[:16], registers.vectors[16:32]
    for at, start in _pointers(handle):
        data = _read(memory, _PROCESSOR, start)
        places = data.find(general), data.find(first), data.find(second)
        if min(places) >= 0:
            yield _Found(at, places[0], places[1], places[2] - places[1])


def _execute(emulator: Emulator) -> None:
    """Let it change some registers."""
    emulator.memory.map(0, 4096, "rx")
    emulator.memory.write(0, _EXECUTED)
    emulator.pc = 0
    emulator.run(max_instructions=len(_EXECUTED) // 4)


def _pointers(data: bytes) -> Iterator[tuple[int, int]]:
    """The words that may be addresses, with their offsets."""
    for at in range(0, len(data) // 8 * 8, 8):
        (word,) = _WORD.unpack_from(data, at)
        if word % 8 == 0 and 1 << 16 <= word < 1 << 47:
            yield at, word


def _place(memory: int, handle: int, found: _Found) -> InPlace:
    start = int.from_bytes(_read(memory, _WORD.size, handle + found.pointer), "little")
    return InPlace(start + found.general, start + found.vectors, found.stride)


def _values(memory: int, place: InPlace) -> bytes:
    """What is there: x0, ..., x30, sp, v0, ..., v31."""
    vectors = (_read(memory, 16, place.vectors + place.stride * number) for number in range(32))
    return _read(memory, _GENERAL.size, place.general) + b"".join(vectors)


def _read(memory: int, size: int, address: int) -> bytes:
    """What is at an address, nothing where that is none: a word that looked like a pointer may be anything later."""
    try:
        return os.pread(memory, size, address)
    except (OSError, OverflowError):
        return b""


def _bytes(registers: RegisterStorage) -> bytes:
    return _GENERAL.pack(*registers.general) + registers.vectors


def _set(emulator: Emulator, seed: int) -> RegisterStorage:
    """Give an emulator random registers."""
    random, registers = Random(seed), RegisterStorage()
    registers.vectors[:] = random.randbytes(512)
    registers.general[:] = [random.getrandbits(64) for _ in range(32)]
    emulator.load_registers(registers)
    return registers
