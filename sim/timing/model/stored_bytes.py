"""Which earlier stores wrote the bytes that a load reads."""

from __future__ import annotations

from sim.timing.model.stream import Accesses


class StoredBytes:
    """The last store of every byte, by its number in the stream."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def store(self, accesses: Accesses, number: int) -> None:
        """Note what the instruction of that number stores."""
        for address, size in accesses:
            self._last.update(dict.fromkeys(range(address, address + size), number))

    def writers(self, accesses: Accesses) -> tuple[int, ...]:
        """The stores that wrote these bytes last, the oldest first; none where no store did."""
        last = self._last
        touched = (byte for address, size in accesses for byte in range(address, address + size))
        return tuple(sorted({last[byte] for byte in touched if byte in last}))
