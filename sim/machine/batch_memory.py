"""The memory of a batch: one layout for all members, and contents of their own wherever they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from isa.errors import LanewiseError
from sim.machine.errors import MemoryFault
from sim.machine.memory import Memory, Region, bytes_of

Bytes = NDArray[np.uint8]
Numbers = NDArray[Any]


class MemberFaults(LanewiseError):
    """The faults of some members, by their row in what was accessed; the others did nothing yet."""

    def __init__(self, faults: dict[int, MemoryFault]) -> None:
        super().__init__(f"{len(faults)} members faulted")
        self.faults = faults


class Contents:
    """The bytes of a region: one row while all members have the same, then a row for each."""

    def __init__(self, region: Region, members: int) -> None:
        self.region = region
        self.rows: Bytes = np.zeros((1, region.end - region.start), np.uint8)
        self._members = members

    @property
    def shared(self) -> bool:
        """Whether all members have the same bytes."""
        return len(self.rows) == 1

    def separate(self) -> None:
        """Give every member bytes of its own."""
        if self.shared and self._members > 1:
            self.rows = np.repeat(self.rows, self._members, axis=0)

    def row(self, member: int) -> Bytes:
        """The bytes of one member."""
        found: Bytes = self.rows[0 if self.shared else member]
        return found

    def windows(self, size: int) -> Bytes:
        """The bytes as (rows, offsets, `size`), writable: every run of `size` bytes."""
        return sliding_window_view(self.rows, size, axis=1, writeable=True)


class BatchMemory:
    """The address spaces of the members of a batch: mapped alike, empty at first."""

    def __init__(self, members: int) -> None:
        self.members = members
        self.layout = Memory()
        """The regions and their permissions: what says whether an access faults.  Its bytes are not used."""
        self.code_version = 0
        self._contents: list[Contents] = []

    def map(self, address: int, size: int, permissions: str = "rw") -> None:
        """Map zeroed memory in every member: as `Memory.map`."""
        region = self.layout.map(address, size, permissions)
        self._contents.append(Contents(region, self.members))
        self._contents.sort(key=lambda contents: contents.region.start)
        self._note_code_change(region)

    def write(self, address: int, data: bytes | bytearray | memoryview | Numbers) -> None:
        """Set bytes from the host, whatever the permissions: the same in every member, or each its own.

        Bytes are for all members.  An array is so too where it has one axis; of two, the first is the members.  Raises
        ValueError for an array of another shape, MemoryFault where nothing is mapped.
        """
        rows = self._rows(data)
        self.layout.read(address, rows.shape[1])
        for contents, first, offset, size in self._pieces(address, rows.shape[1]):
            if len(rows) > 1:
                contents.separate()
            contents.rows[:, offset : offset + size] = rows[:, first : first + size]
            self._note_code_change(contents.region)

    def _rows(self, data: bytes | bytearray | memoryview | Numbers) -> Bytes:
        if not isinstance(data, np.ndarray):
            return np.frombuffer(bytes_of(data), np.uint8).reshape(1, -1)
        array = np.ascontiguousarray(data)
        if array.ndim not in (1, 2) or (array.ndim == 2 and len(array) != self.members):
            raise ValueError(
                f"an array of shape {array.shape} cannot be written: give one row, or ({self.members}, length)"
            )
        return array.view(np.uint8).reshape(1 if array.ndim == 1 else self.members, -1)

    def read(self, address: int, size: int) -> Bytes:
        """Bytes as the host sees them, as (members, size).  Raises MemoryFault where nothing is mapped."""
        self.layout.read(address, size)
        found = np.empty((self.members, size), np.uint8)
        for contents, first, offset, length in self._pieces(address, size):
            found[:, first : first + length] = contents.rows[:, offset : offset + length]
        return found

    def load(self, addresses: Numbers, size: int, members: NDArray[np.intp]) -> Bytes:
        """The bytes that a program reads: `addresses` is a column with a row for each of `members`."""
        contents, offsets = self._together(addresses, size, "r")
        if contents is None:
            return self._load_apart(addresses, size, members)
        if isinstance(offsets, int):
            rows = contents.rows[:, offsets : offsets + size]
            if len(rows) == len(members):
                return rows.copy()
            return np.repeat(rows, len(members), axis=0) if len(rows) == 1 else rows[members]
        return np.asarray(contents.windows(size)[0 if contents.shared else members, offsets])

    def writable(self, addresses: Numbers, size: int, members: NDArray[np.intp]) -> Any:
        """What stores rows of bytes; raises `MemberFaults` where a member must not write all of them."""
        contents, offsets = self._together(addresses, size, "w")
        if contents is None:
            self._check_apart(addresses, size, "w")
            return lambda data: self._store_apart(addresses, data, members)

        def store(data: Bytes) -> None:
            contents.separate()
            if isinstance(offsets, int) and len(members) == self.members:
                contents.rows[:, offsets : offsets + size] = data
            else:
                contents.windows(size)[members, offsets] = data
            self._note_code_change(contents.region)

        return store

    def _together(self, addresses: Numbers, size: int, permission: str) -> tuple[Contents | None, Any]:
        """The contents that all addresses are in, and the offsets: a number where they are equal.  None if none."""
        first = int(addresses[0, 0])
        found = self._find(first)
        if found is None or permission not in found.region.permissions:
            return None, 0
        last = found.region.end - found.region.start - size
        offsets = addresses[:, 0] - np.uint64(found.region.start)
        greatest = int(offsets.max())
        if greatest > last:
            return None, 0
        return found, greatest if greatest == int(offsets.min()) else offsets.astype(np.intp)

    def _find(self, address: int) -> Contents | None:
        for contents in self._contents:
            if contents.region.start <= address < contents.region.end:
                return contents
        return None

    def _check_apart(self, addresses: Numbers, size: int, permission: str) -> None:
        """Raise `MemberFaults` with the fault of each row that must not access its address."""
        faults: dict[int, MemoryFault] = {}
        for row, address in enumerate(addresses[:, 0].tolist()):
            try:
                if permission == "r":
                    self.layout.load(address, size)
                else:
                    self.layout.store(address, bytes(size))
            except MemoryFault as fault:
                faults[row] = fault
        if faults:
            raise MemberFaults(faults)

    def _load_apart(self, addresses: Numbers, size: int, members: NDArray[np.intp]) -> Bytes:
        self._check_apart(addresses, size, "r")
        found = np.empty((len(members), size), np.uint8)
        for row, (member, address) in enumerate(zip(members.tolist(), addresses[:, 0].tolist(), strict=True)):
            for contents, first, offset, length in self._pieces(address, size):
                found[row, first : first + length] = contents.row(member)[offset : offset + length]
        return found

    def _store_apart(self, addresses: Numbers, data: Bytes, members: NDArray[np.intp]) -> None:
        size = data.shape[1]
        for row, (member, address) in enumerate(zip(members.tolist(), addresses[:, 0].tolist(), strict=True)):
            for contents, first, offset, length in self._pieces(address, size):
                contents.separate()
                contents.row(member)[offset : offset + length] = data[row, first : first + length]
                self._note_code_change(contents.region)

    def _pieces(self, address: int, size: int) -> Iterator[tuple[Contents, int, int, int]]:
        """The parts of a range: contents, how far into the range, offset in the contents, bytes."""
        for contents in self._contents:
            region = contents.region
            start, end = max(address, region.start), min(address + size, region.end)
            if start < end:
                yield contents, start - address, start - region.start, end - start

    def words(self, address: int, members: NDArray[np.intp]) -> NDArray[np.uint32]:
        """The instruction at an address, by member.  Raises MemoryFault where it must not be executed."""
        self.layout.fetch(address)
        contents = self._find(address)
        assert contents is not None
        offset = address - contents.region.start
        words = np.ascontiguousarray(contents.rows[:, offset : offset + 4]).view("<u4")[:, 0]
        return np.repeat(words, len(members)) if contents.shared else words[members]

    def same_code(self, address: int) -> bool:
        """Whether all members have the same bytes in the region around an address, if there is one."""
        contents = self._find(address)
        return contents is None or contents.shared

    def _note_code_change(self, region: Region) -> None:
        if "x" in region.permissions:
            self.code_version += 1
