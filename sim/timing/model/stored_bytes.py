"""Which earlier stores wrote the bytes that a load reads."""

from __future__ import annotations

from sim.timing.model.stream import Accesses

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

    def writers(self, accesses: Accesses) -> tuple[int, ...]:
        """The stores that wrote these bytes last, the oldest first; none where no store did."""
        lines = self._lines
        for address, size in accesses:
            if address >> _LINE in lines or address + size - 1 >> _LINE in lines:
                touched = (byte for start, length in accesses for byte in range(start, start + length))
                return tuple(sorted({self._last[byte] for byte in touched if byte in self._last}))
        return ()
