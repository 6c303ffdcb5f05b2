"""What a program does before it can be called, done on a machine in a cage of its own memory: nothing runs natively.

Indirect functions (IFUNC) choose one of several codes by the processor: they are asked as glibc asks them, on a
processor with every extension that the table has.  Constructors fill variables whose values no compiler computed.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Final, Protocol

from sim.machine.errors import ExecutionError
from sim.machine.machine import Machine
from sim.machine.memory import PAGE
from sim.toolchain.image import MISSING_ROOM, Image, ImageError, Segment
from sim.toolchain.relocations import bounds

_LIMIT: Final = 10_000_000
"""Instructions of a constructor or an indirect function; those of a C++ library take some thousands."""
_STACK, _STACK_SIZE, _RETURN = 0x7FFE_0000_0000, 1 << 20, 0x7FFF_0000_0000
_ARGUMENTS = _STACK - PAGE
_HWCAP, _HWCAP2 = (1 << 31) - 1 & ~(1 << 22), 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14
"""Linux, arch/arm64/include/uapi/asm/hwcap.h: all of the first word but SVE; FLAGM2, FRINT, I8MM, BF16."""
_HAS_ARGUMENT = 1 << 62
"""In the first argument: the second points to {size, hwcap, hwcap2} (glibc, sys/ifunc.h)."""


class Mappable(Protocol):
    """Memory that a program can be put into: of one machine or of a batch."""

    def map(self, address: int, size: int, permissions: str, /) -> object: ...

    def write(self, address: int, data: bytes, /) -> None: ...


def map_image(memory: Mappable, image: Image) -> None:
    """Map the segments of an image, whole pages each; what is allowed in one of two is allowed on a page of both."""
    runs = list[tuple[int, int, str]]()
    for segment in sorted(image.segments, key=lambda segment: segment.address):
        start = segment.address // PAGE * PAGE
        end = -(-(segment.address + segment.size) // PAGE) * PAGE
        if runs and start < runs[-1][1]:
            first, shared, permissions = runs.pop()
            if first < start:
                runs.append((first, start, permissions))
            runs.append((start, shared, "".join(sorted({*permissions, *segment.permissions}))))
            start = shared
        if start < end:
            runs.append((start, end, segment.permissions))
    for start, end, permissions in runs:
        memory.map(start, end - start, permissions)
    for segment in image.segments:
        memory.write(segment.address, segment.data)


def resolved(image: Image) -> Image:
    """The program with the words filled that its indirect functions decide.

    One whose function cannot be run, or does not return, is bound to an address where nothing is, as a missing symbol.
    """
    if not image.resolvers:
        return image
    machine, missing = _machine(image), dict(image.missing)
    room = free_room(image)
    for place, function, name in image.resolvers:
        try:
            chosen = _called(machine, function, _HWCAP | _HAS_ARGUMENT, _ARGUMENTS)
        except ExecutionError as error:
            what = f"{name or hex(function)} (an indirect function, whose choice fails: {error})"
            chosen = missing.setdefault(what, room + MISSING_ROOM * (len(missing) - len(image.missing)))
        machine.memory.write(place, chosen.to_bytes(8, "little"))
    return replace(image, segments=_segments(image, machine), missing=missing, resolvers=())


def constructed(image: Image) -> Image:
    """The program after its constructors have run.  Raises ImageError for one that faults or does not return."""
    machine = _machine(image)
    for function in image.constructors:
        try:
            _called(machine, function)
        except ExecutionError as error:
            lacks = image.missing_at(error.address)
            because = f"it uses {lacks!r}, which nothing defines" if lacks else str(error)
            raise ImageError(
                f"{image.path} has a constructor ({image.place_of(function)}) that cannot be run: {because}"
            ) from None
    return replace(image, segments=_segments(image, machine), constructors=())


def free_room(image: Image) -> int:
    """An address far behind the image and what stands for its missing symbols."""
    last = max([bounds(image.segments).stop, *image.missing.values()])
    return (last >> 30) + 2 << 30


def _machine(image: Image) -> Machine:
    machine = Machine()
    machine.tpidr = image.thread_pointer
    map_image(machine.memory, image)
    try:
        machine.memory.map(_STACK - _STACK_SIZE, _STACK_SIZE, "rw")
    except ValueError as overlap:
        raise ImageError(f"there is no room for the stack of its constructors: {overlap}; link it elsewhere") from None
    machine.memory.write(_ARGUMENTS, struct.pack("<3Q", 24, _HWCAP, _HWCAP2))
    return machine


def _called(machine: Machine, function: int, *arguments: int) -> int:
    """What a function returns."""
    for number, value in enumerate(arguments):
        machine.x[number] = value
    machine.sp, machine.x[30], machine.pc = _ARGUMENTS - PAGE, _RETURN, function
    machine.run(_RETURN, _LIMIT)
    if machine.pc != _RETURN:
        raise ExecutionError(machine.pc, 4, f"it has not returned after {_LIMIT:,} instructions", machine.pc)
    return machine.x[0]


def _segments(image: Image, machine: Machine) -> tuple[Segment, ...]:
    """The segments with what memory holds now; zeros at the end are not stored."""
    return tuple(
        replace(segment, data=machine.memory.read(segment.address, segment.size).rstrip(b"\0"))
        if "w" in segment.permissions
        else segment
        for segment in image.segments
    )
