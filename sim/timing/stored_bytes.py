"""Which earlier store wrote the bytes that a load reads."""

from __future__ import annotations

from sim.timing.stream import Accesses

_LINE = 6  # so that most loads are known at once to meet no store


class StoredBytes:
    """The last store of every byte, by its number in the stream."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._lines: set[int] = set()

    def store(self, accesses: Accesses, number: int) -> None:
        """Note what the instruction of that number stores."""
        for address, size in accesses:
            self._last.update(dict.fromkeys(range(address, address + size), number))
            self._lines.update((address >> _LINE, address + size - 1 >> _LINE))

    def writer(self, accesses: Accesses) -> int:
        """The youngest store that wrote any of these bytes, -1 if there is none."""
        return max((self._writer(address, size) for address, size in accesses), default=-1)

    def _writer(self, address: int, size: int) -> int:
        if address >> _LINE not in self._lines and address + size - 1 >> _LINE not in self._lines:
            return -1
        return max(self._last.get(byte, -1) for byte in range(address, address + size))
