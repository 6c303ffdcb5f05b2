"""Memory: mapped regions with permissions.  An access outside of them, or against them, is a fault.

A region is reserved, not filled: the host gives it pages as they are touched, so that what a call costs grows with what
it touches, however much is mapped.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from ctypes import addressof, c_char
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import index
from typing import Literal

from sim.machine.errors import MemoryFault

PAGE = 4096
_SHOWN = 4
"""Regions that a memory shows of itself."""
PIECE = 1 << 16
"""Bytes of memory that are looked at together; copies of them stay in the cache of the host."""
_LARGE = 4 * PIECE
"""From here on it is quicker to ask which pages are there than to read them all."""
_RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
_THERE = bytes(byte >> 6 != 0 for byte in range(256))
"""Of the highest byte of an entry of pagemap: whether the page is in memory or swapped (Linux, pagemap.rst)."""
_VERBS = {"r": "read", "w": "write", "x": "execute"}
Permission = Literal["r", "w", "x"]


@dataclass(frozen=True)
class Region:
    """`buffer` holds the bytes of addresses `start` up to `end`, and so does `view`, a part of which can be set."""

    start: int
    end: int
    permissions: str
    buffer: mmap.mmap = field(repr=False)
    view: memoryview = field(repr=False)

    @cached_property
    def host(self) -> int:
        """Where on the host `buffer` begins, for as long as the region lives: what native code reads and writes."""
        return addressof(c_char.from_buffer(self.buffer))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Offsets (from, to) of at most `PIECE` bytes each, in order; all bytes that are in none of them are zero."""
        size = self.end - self.start
        if size < _LARGE or not _has_pagemap():
            yield from ((at, min(at + PIECE, size)) for at in range(0, size, PIECE))
            return
        there, at = _pages_there(self.host, size), 0
        while (first := there.find(1, at)) >= 0:
            gap = there.find(0, first)
            at = min(first + PIECE // mmap.PAGESIZE, gap if gap >= 0 else len(there))
            yield first * mmap.PAGESIZE, min(at * mmap.PAGESIZE, size)

    def filled(self) -> Iterator[tuple[int, int]]:
        """The pieces in which there is a byte that is not zero."""
        return ((start, end) for start, end in self.pieces() if self.buffer[start:end] != bytes(end - start))


class Memory:
    """The address space of one machine, empty at first."""

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._by_page: dict[int, Region] = {}
        self.code_version = 0
        """Changes whenever executable memory is mapped or written."""

    def __repr__(self) -> str:
        told = [f"{one.start:#x}..{one.end - 1:#x} {one.permissions}" for one in self._regions[:_SHOWN]]
        more = [f"{len(self._regions) - _SHOWN} more"] if len(self._regions) > _SHOWN else []
        size = sum(one.end - one.start for one in self._regions)
        return f"<Memory of {size:,} bytes: {', '.join(told + more)}>" if told else "<Memory of 0 bytes>"

    @property
    def regions(self) -> tuple[Region, ...]:
        """The mapped regions in order of address."""
        return tuple(self._regions)

    def region_at(self, address: int) -> Region | None:
        """The region that has the byte at an address."""
        at = bisect_right(self._regions, address, key=lambda region: region.start) - 1
        if at >= 0 and address < self._regions[at].end:
            return self._regions[at]
        return None

    def map(self, address: int, size: int, permissions: str = "rw") -> Region:
        """Map zeroed memory.

        `address` and `size` are multiples of 4096 and `permissions` some of "rwx".  Raises ValueError where they are
        not, or where a region overlaps.
        """
        address, size = index(address), index(size)
        if address % PAGE or size % PAGE or size <= 0:
            given = f"address {address:#x} and size {size:#x}"
            raise ValueError(f"{given} must be multiples of {PAGE}, and the size positive")
        if address < 0 or address + size > 2**64:
            raise ValueError(f"{address:#x}..{address + size:#x} is not inside of the 64-bit address space")
        if not permissions or set(permissions) - set("rwx") or len(set(permissions)) < len(permissions):
            raise ValueError(f"permissions are some of 'rwx', not {permissions!r}")
        place = bisect_left(self._regions, address, key=lambda region: region.start)
        for other in self._regions[max(place - 1, 0) : place + 1]:
            if address < other.end and other.start < address + size:
                raise ValueError(f"{address:#x}..{address + size:#x} overlaps {other.start:#x}..{other.end:#x}")
        try:
            buffer = mmap.mmap(-1, size, flags=_RESERVED)
        except (OSError, OverflowError):
            raise ValueError(f"{size:#x} bytes are more than this computer can map") from None
        ordered = "".join(letter for letter in "rwx" if letter in permissions)
        region = Region(address, address + size, ordered, buffer, memoryview(buffer))
        self._regions.insert(place, region)
        self._note_code_change(region)
        return region

    def read(self, address: int, size: int) -> bytes:
        """Bytes as the host sees them, whatever the permissions.  Raises MemoryFault where nothing is mapped."""
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        return b"".join(bytes(part) for _, part in self._parts(_integer(address), size, None))

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Set bytes from the host, whatever the permissions.

        An array's bytes are those of its numbers in order, little-endian as its dtype says.  Raises MemoryFault where
        nothing is mapped, TypeError for what has no bytes, or an address that is no integer.
        """
        self._fill(_integer(address), data if isinstance(data, bytes) else bytes_of(data), None)

    def load(self, address: int, size: int) -> bytes | memoryview:
        """The bytes that a program reads."""
        region = self._by_page.get(address >> 12)
        if region is not None and "r" in region.permissions and address + size <= region.end:
            offset = address - region.start
            return region.view[offset : offset + size]
        self._remember(address)
        return b"".join(bytes(part) for _, part in self._parts(address, size, "r"))

    def store(self, address: int, data: bytes) -> None:
        """Set the bytes that a program writes: all of them, or none where one of them must not be written."""
        region = self._by_page.get(address >> 12)
        if region is None or region.permissions != "rw" or address + len(data) > region.end:
            self._remember(address)
            self._fill(address, data, "w")
            return
        offset = address - region.start
        region.view[offset : offset + len(data)] = data

    def exchange(self, address: int, data: bytes) -> bytes:
        """As `store`; returns the bytes that were there."""
        old = b"".join(bytes(part) for _, part in self._parts(address, len(data), "w"))
        self.store(address, data)
        return old

    def fetch(self, address: int) -> bytes:
        """The four bytes of the instruction at `address`."""
        if address % 4:
            raise MemoryFault(address, 4, f"{address:#x} is no instruction address: it is not a multiple of 4")
        return b"".join(bytes(part) for _, part in self._parts(address, 4, "x"))

    def first_difference(self, other: Memory) -> int | None:
        """The lowest address at which a writable region differs from that of `other`, which has the same mapped."""
        for mine, theirs in zip(self._regions, other._regions, strict=True):
            for start, end in merged([*mine.pieces(), *theirs.pieces()]) if "w" in mine.permissions else ():
                for at in range(start, end, PIECE):
                    one, two = (region.buffer[at : min(at + PIECE, end)] for region in (mine, theirs))
                    if one != two:
                        return (
                            mine.start + at + next(i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a != b)
                        )
        return None

    def _parts(self, address: int, size: int, permission: Permission | None) -> list[tuple[Region, memoryview]]:
        """The regions that make up a range, each with its part of it, all of them checked."""
        parts, at, end = [], address, address + size
        while at < end:
            region = self.region_at(at)
            if region is None or (permission is not None and permission not in region.permissions):
                verb = _VERBS[permission] if permission else "access"
                bad = "is not mapped" if region is None else f"is mapped {region.permissions!r} only"
                reason = f"cannot {verb} {size} bytes at {address:#x}: {at:#x} {bad}"
                raise MemoryFault(address, size, reason, writes=permission == "w")
            stop = min(end, region.end)
            parts.append((region, region.view[at - region.start : stop - region.start]))
            at = stop
        return parts

    def _fill(self, address: int, data: bytes, permission: Permission | None) -> None:
        at = 0
        for region, part in self._parts(address, len(data), permission):
            part[:] = data[at : at + len(part)]
            at += len(part)
            self._note_code_change(region)

    def _note_code_change(self, region: Region) -> None:
        if "x" in region.permissions:
            self.code_version += 1

    def _remember(self, address: int) -> None:
        """Let the next access to this page find its region at once."""
        region = self.region_at(address)
        if region is not None:
            self._by_page[address >> 12] = region


def as_address(value: int) -> int:
    """An address modulo 2^64, as the program counter wraps.  Raises TypeError for what is no integer."""
    return _integer(value) % 2**64


def bytes_of(data: bytes | bytearray | memoryview) -> bytes:
    """The bytes of an object that has some.  Raises TypeError for one that has none."""
    try:
        view = memoryview(data)
    except TypeError:
        view = None
    if view is None or "O" in view.format:  # of Python objects there are pointers only
        raise TypeError(f"memory is written with bytes or an array of numbers, not {data!r}")
    return bytes(view)


def _integer(address: int) -> int:
    try:
        return index(address)
    except TypeError:
        raise TypeError(f"an address is an integer, not {address!r}") from None


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges (from, to) in order, those that touch or overlap made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _pages_there(host: int, size: int) -> bytes:
    """A byte for each page of the host's memory: 0 where nothing has touched it yet.  Raises OSError."""
    pages = -(-size // mmap.PAGESIZE)
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        entries = os.pread(pagemap.fileno(), 8 * pages, host // mmap.PAGESIZE * 8)
    return entries[7::8].translate(_THERE).ljust(pages, b"\1")


@cache
def _has_pagemap() -> bool:
    """Whether this computer says which pages are there: tried on two, of which one is written."""
    trial = mmap.mmap(-1, 2 * mmap.PAGESIZE, flags=_RESERVED)
    trial[mmap.PAGESIZE] = 1
    try:
        return _pages_there(addressof(c_char.from_buffer(trial)), len(trial)) == b"\0\1"
    except OSError:
        return False
