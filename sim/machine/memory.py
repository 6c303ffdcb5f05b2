"""Memory: mapped regions with permissions.  An access outside of them, or against them, is a fault."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from mmap import mmap
from operator import index
from typing import Literal

from sim.machine.errors import MemoryFault

PAGE = 4096
_VERBS = {"r": "read", "w": "write", "x": "execute"}
Permission = Literal["r", "w", "x"]


@dataclass(order=True)
class Region:
    """`buffer` holds the bytes of addresses `start` up to `end`; it is page-aligned on the host."""

    start: int
    end: int = field(compare=False)
    permissions: str = field(compare=False)
    buffer: mmap = field(compare=False, repr=False)
    view: memoryview = field(compare=False, repr=False)


class Memory:
    """The address space of one machine, empty at first."""

    def __init__(self) -> None:
        self._regions: list[Region] = []
        self._by_page: dict[int, Region] = {}
        self.code_version = 0
        """Changes whenever executable memory is mapped or written."""

    @property
    def regions(self) -> tuple[Region, ...]:
        """The mapped regions in order of address."""
        return tuple(self._regions)

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
        for other in self._regions:
            if address < other.end and other.start < address + size:
                raise ValueError(f"{address:#x}..{address + size:#x} overlaps {other.start:#x}..{other.end:#x}")
        try:
            buffer = mmap(-1, size)
        except (OSError, OverflowError):
            raise ValueError(f"{size:#x} bytes are more than this computer can map") from None
        ordered = "".join(letter for letter in "rwx" if letter in permissions)
        region = Region(address, address + size, ordered, buffer, memoryview(buffer))
        insort(self._regions, region)
        self._note_code_change(region)
        return region

    def read(self, address: int, size: int) -> bytes:
        """Bytes as the host sees them, whatever the permissions.  Raises MemoryFault where nothing is mapped."""
        if size < 0:
            raise ValueError(f"a size cannot be negative: {size}")
        return b"".join(bytes(part) for part in self._parts(address, size, None))

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Set bytes from the host, whatever the permissions.  Raises MemoryFault where nothing is mapped."""
        self._fill(address, bytes(memoryview(data)), None)

    def load(self, address: int, size: int) -> bytes | memoryview:
        """The bytes that a program reads."""
        region = self._by_page.get(address >> 12)
        if region is not None and "r" in region.permissions and address + size <= region.end:
            offset = address - region.start
            return region.view[offset : offset + size]
        self._remember(address)
        return b"".join(bytes(part) for part in self._parts(address, size, "r"))

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
        old = b"".join(bytes(part) for part in self._parts(address, len(data), "w"))
        self.store(address, data)
        return old

    def fetch(self, address: int) -> bytes:
        """The four bytes of the instruction at `address`."""
        if address % 4:
            raise MemoryFault(address, 4, f"{address:#x} is no instruction address: it is not a multiple of 4")
        return b"".join(bytes(part) for part in self._parts(address, 4, "x"))

    def _parts(self, address: int, size: int, permission: Permission | None) -> list[memoryview]:
        """The pieces of regions that make up a range, all of them checked."""
        parts, at, end = [], address, address + size
        while at < end:
            region = self._find(at)
            if region is None or (permission is not None and permission not in region.permissions):
                verb = _VERBS[permission] if permission else "access"
                bad = "is not mapped" if region is None else f"is mapped {region.permissions!r} only"
                reason = f"cannot {verb} {size} bytes at {address:#x}: {at:#x} {bad}"
                raise MemoryFault(address, size, reason, writes=permission == "w")
            stop = min(end, region.end)
            parts.append(region.view[at - region.start : stop - region.start])
            at = stop
        return parts

    def _fill(self, address: int, data: bytes, permission: Permission | None) -> None:
        at = 0
        for part in self._parts(address, len(data), permission):
            part[:] = data[at : at + len(part)]
            at += len(part)
        for region in self._regions:
            if address < region.end and region.start < address + len(data):
                self._note_code_change(region)

    def _note_code_change(self, region: Region) -> None:
        if "x" in region.permissions:
            self.code_version += 1

    def _remember(self, address: int) -> None:
        """Let the next access to this page find its region at once."""
        region = self._find(address)
        if region is not None:
            self._by_page[address >> 12] = region

    def _find(self, address: int) -> Region | None:
        at = bisect_right(self._regions, address, key=lambda region: region.start) - 1
        if at >= 0 and address < self._regions[at].end:
            return self._regions[at]
        return None
