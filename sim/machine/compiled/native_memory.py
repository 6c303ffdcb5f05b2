"""The memory of a machine as compiled code reaches it: a table of its regions, by address of the host."""

from __future__ import annotations

from ctypes import addressof, create_string_buffer
from struct import pack

from sim.machine.memory import Memory, Region

SITE = "<4Q"
"""The layout of `Memory` in `sim.machine.compiled.text`."""


class NativeMemory:
    """The regions of a memory.  `version` changes where they did: what compiled code remembers of them is void then."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: tuple[Region, ...] = ()
        self._table = self._head = create_string_buffer(0)
        self.version = 0

    def refresh(self) -> None:
        """Take notice of regions that were mapped."""
        regions = self._memory.regions
        if regions == self._known and self.version:
            return
        self._known = regions
        rows = [
            pack("<5Q", region.start, region.end - region.start, region.host, *_allows(region)) for region in regions
        ]
        self._table = create_string_buffer(b"".join(rows))
        self._head = create_string_buffer(pack("<3Q", len(regions), addressof(self._table), 0))
        self.version += 1

    def sites(self, count: int) -> bytes:
        """So many accesses that know no region yet."""
        return pack(SITE, 0, 0, 0, addressof(self._head)) * count


def _allows(region: Region) -> tuple[bool, bool]:
    """Whether compiled code may read and write it.  It leaves writes to code to the interpreter, which notices them."""
    return "r" in region.permissions, "w" in region.permissions and "x" not in region.permissions
