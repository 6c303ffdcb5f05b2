"""Bounds: every byte that a call may touch, and what an access of any other byte is.

A call may touch the bytes of its arrays (inputs are only read; what lies between the rows of a strided array is not
its own), the bytes of the program's segments, its arguments on the stack (AAPCS64 6.8.2), and the stack between them
and sp.  Nothing below sp belongs to it: AAPCS64 has no red zone (6.4.5).  An array may be declared to be over-read.

Where instructions are not watched one by one, on the machine alone and in programs of intrinsics, only the mappings
guard: an access within the same page as an array, on the side where the array does not touch the end of its mapping,
goes unseen.  `lanewise cycles` looks through the accesses of a compiled call when it has returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sim.call.buffers import BUFFER_SPACING, PlacedArray
from sim.call.guards.findings import Kind, bytes_text
from sim.kernels.signature import Pointer
from sim.machine.trace import Step
from sim.toolchain.image import Segment

NOT_THERE = "which nothing here defines: give the file that does, in with_sources or in one program"
"""What is said of a missing symbol that is reached."""
_SHIFT = BUFFER_SPACING.bit_length() - 1
_HALF = BUFFER_SPACING // 2
_ELEMENTS, _BETWEEN = re.compile(b"\1+"), re.compile(b"\0+")
"""Bytes of elements one behind the other, and bytes between rows, in what `owned_bytes` says."""


class Breach(NamedTuple):
    """An access, or the part of it, that is not allowed; `allowed` for a declared over-read, which is only noted."""

    kind: Kind
    says: str
    where: str
    first: int | None = None
    last: int | None = None
    allowed: bool = False


class StackFrame(NamedTuple):
    """sp at the call, and the bytes of arguments above it."""

    sp: int
    arguments: int

    @property
    def top(self) -> int:
        """The end of the arguments."""
        return self.sp + self.arguments


def owned_bytes(placed: PlacedArray) -> bytes | None:
    """1 for each byte that is an element's, 0 for each between rows; None where there is nothing between."""
    mask, item = bytearray(placed.size), placed.pointer.type.itemsize
    strides = [stride * item for stride in placed.strides]
    rows = np.lib.stride_tricks.as_strided(np.frombuffer(mask, "u1"), (*placed.extents, item), (*strides, 1))
    rows[...] = 1
    return bytes(mask) if 0 in mask else None


class _Access(NamedTuple):
    address: int
    size: int
    writes: bool

    @property
    def verb(self) -> str:
        return "writes" if self.writes else "reads"


@dataclass(frozen=True)
class _Array:
    placed: PlacedArray

    @property
    def start(self) -> int:
        return self.placed.address

    @property
    def name(self) -> str:
        return self.placed.pointer.name

    @cached_property
    def owned(self) -> bytes | None:
        return owned_bytes(self.placed)

    @property
    def pieces(self) -> Iterator[tuple[int, int]]:
        """The bytes that are elements', as offsets (from, to); those of rows that touch are one piece."""
        if self.owned is None:
            yield 0, self.placed.size
        else:
            yield from (piece.span() for piece in _ELEMENTS.finditer(self.owned))

    def breach(self, access: _Access) -> Breach | None:
        """What is wrong with an access near the array."""
        first, size = access.address - self.start, self.placed.size
        last, pointer = first + access.size - 1, self.placed.pointer
        if pointer.indirect and size:
            return self.nearest_row(first).breach(access)
        inside = first < size and last >= 0
        if inside and access.writes and pointer.direction == "in":
            first, last = max(first, 0), min(last, size - 1)
            said = f"writes {bytes_text(first, last)} of the input {self.name!r}; if it is meant: inout"
            return Breach("write to input", said, self.name, first, last)
        if first < 0:
            return self.outside(access.writes, first, min(last, -1))
        if last >= size:
            return self.outside(access.writes, max(first, size), last)
        gap = None if self.owned is None else _BETWEEN.search(self.owned, first, last + 1)
        if gap is None:
            return None
        first, last = gap.start(), gap.end() - 1
        kind: Kind = "write between rows" if access.writes else "read between rows"
        said = f"{access.verb} {bytes_text(first, last)} of {self.name!r}, between its rows"
        return Breach(kind, said, self.name, first, last)

    def nearest_row(self, byte: int) -> _Array:
        """The array of a table of pointers that is nearest to a byte, or has it."""
        placed, item, extents = self.placed, self.placed.pointer.type.itemsize, self.placed.extents[1:]
        step, size = placed.strides[0] * item, prod(extents) * item
        row = min(max((byte + (step - size) // 2) // step, 0), placed.extents[0] - 1)
        pointer = Pointer(
            f"{self.name}[{row}]", placed.pointer.type.name, extents,
            direction=placed.pointer.direction, over_read=placed.pointer.over_read,
        )  # fmt: skip
        return _Array(PlacedArray(pointer, placed.address + row * step, extents, placed.strides[1:]))

    def outside(self, writes: bool, first: int, last: int) -> Breach:
        """The breach that an access of bytes before or behind the array is."""
        side, end = ("under", "before the start") if first < 0 else ("over", "past the end")
        verb, noun = ("writes", "write") if writes else ("reads", "read")
        size, declared = self.placed.size, self.placed.pointer.over_read
        allowed = not writes and first >= 0 and last < size + declared
        more = f", and {declared} more declared" if declared and first >= 0 else ""
        of = self.placed.pointer.may_be if isinstance(self.placed.pointer, Pointer) else ""  # whose place it has
        advice = f"; if it is meant: over_read({last - size + 1}) on {of or self.name.partition('[')[0]!r}"
        advice = advice if not writes and last >= size and not allowed else ""
        said = f"{verb} {bytes_text(first, last)}, {end} of {self.name!r} ({size} bytes{more}){advice}"
        kind: Kind = f"{side}-{noun}"  # type: ignore[assignment]  # one of Kind
        return Breach(kind, said, self.name, first, last, allowed)


class Allowed(NamedTuple):
    """Bytes that a call may access and nobody has to note: ranges (from, to, readable, writable), and of the stack what
    lies between the lower sp and `stack_top` (None where there is none).  What is not in here may be allowed still.
    """

    ranges: tuple[tuple[int, int, bool, bool], ...]
    stack_top: int | None


class AccessBounds:
    """What one call may touch.  `declared` has, by array, the over-reads that were declared and happened, and where.

    `absent` are the places of symbols that nothing defines: none of them may be touched, in a segment neither.
    """

    def __init__(
        self, placed: Iterable[PlacedArray], segments: Iterable[Segment], stack: StackFrame,
        absent: Mapping[str, range] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self._absent = absent
        self.declared: dict[str, tuple[Breach, Step]] = {}
        self._arrays = {_room(item.address): _Array(item) for item in placed if not item.is_part}
        self._segments, self._stack = tuple(segments), stack
        whole = {room: array for room, array in self._arrays.items() if array.owned is None}
        self._readable = {room: (array.start, array.start + array.placed.size) for room, array in whole.items()}
        self._writable = {r: ends for r, ends in self._readable.items() if whole[r].placed.pointer.direction != "in"}

    @cached_property
    def allowed(self) -> Allowed:
        """What `check` lets pass without a look at the step, but for sp."""
        ranges = list[tuple[int, int, bool, bool]]()
        for array in self._arrays.values():
            writable = array.placed.pointer.direction != "in"
            ranges += [(array.start + first, array.start + end, True, writable) for first, end in array.pieces]
        taken = {_room(self._stack.sp), *self._arrays}
        for segment in self._segments:
            end = segment.address + segment.size
            if segment.size and taken.isdisjoint(range(_room(segment.address), _room(end - 1) + 1)):
                holes = sorted((p.start, p.stop) for p in self._absent.values() if segment.address <= p.start < end)
                starts, ends = [segment.address, *(stop for _, stop in holes)], [*(start for start, _ in holes), end]
                rights = "r" in segment.permissions, "w" in segment.permissions
                ranges += [(first, last, *rights) for first, last in zip(starts, ends, strict=True)]
        return Allowed(tuple(ranges), self._stack.top)

    def check(self, step: Step, sp: int) -> Breach | None:
        """The first access of a step that is not allowed; `sp` is the lower of those before and after the step."""
        top = self._stack.top
        for address, data in step.reads_memory:
            size = len(data)
            if not (sp <= address <= top - size or _within(self._readable, address, size)):
                found = self.breach(address, size, False, sp)
                if found is not None and not found.allowed:
                    return found
                if found is not None:
                    self._note(address, found, step)
        for address, _, data in step.memory:
            size = len(data)
            if not (sp <= address <= top - size or _within(self._writable, address, size)):
                found = self.breach(address, size, True, sp)
                if found is not None:
                    return found
        return None

    def breach(self, address: int, size: int, writes: bool, sp: int) -> Breach | None:
        """What is wrong with one access; None where it is allowed."""
        if sp <= address <= self._stack.top - size:
            return None
        access = _Access(address, size, writes)
        array = self._arrays.get(_room(address))
        if array is not None:
            return array.breach(access)
        verb = access.verb
        if _room(address) == _room(self._stack.sp):
            first, last = address - self._stack.sp, address - self._stack.sp + size - 1
            if address < sp:
                said = f"{verb} {size} bytes at sp - {sp - address}, below the stack pointer"
                return Breach("access below sp", said, "the stack", first, last)
            said = f"{verb} {size} bytes at sp + {address - sp}, above its arguments on the stack"
            return Breach("access to the caller's stack", said, "the stack", max(first, self._stack.arguments), last)
        for name, place in self._absent.items():
            if address < place.stop and place.start < address + size:
                return Breach("missing symbol", f"{verb} {name!r}, {NOT_THERE}", name)
        need = "w" if writes else "r"
        for segment in self._segments:
            inside = segment.address <= address and address + size <= segment.address + segment.size
            if inside and need in segment.permissions:
                return None
        return Breach("wild access", f"{verb} {size} bytes at {address:#x}, which the call was not given", "")

    def _note(self, address: int, breach: Breach, step: Step) -> None:
        """Remember a declared over-read, the first step of an array with all bytes of the later ones."""
        known, at = self.declared.get(breach.where, (breach, step))
        ends = [end for each in (known, breach) for end in (each.first, each.last) if end is not None]
        array = self._arrays[_room(address)]
        if array.placed.pointer.indirect:
            array = array.nearest_row(address - array.start)
        whole = array.outside(False, min(ends), max(ends))
        self.declared[breach.where] = whole, at


def _room(address: int) -> int:
    """The same number for all addresses nearer to one array than to any other."""
    return (address + _HALF) >> _SHIFT


def _within(ends: Mapping[int, tuple[int, int]], address: int, size: int) -> bool:
    start, end = ends.get(_room(address), (0, 0))
    return start <= address <= end - size
