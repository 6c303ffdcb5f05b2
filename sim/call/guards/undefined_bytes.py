"""Undefined bytes: those that nobody defines before a call, drawn one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class UndefinedBytes(Protocol):
    """A stream of bytes."""

    def bytes(self, size: int) -> bytes:
        """The next bytes."""


class SeededBytes:
    """Undefined bytes that follow a seed; `parts` is what was drawn."""

    def __init__(self, seed: int) -> None:
        self.parts: list[bytes] = []
        self._rng = np.random.default_rng(seed)

    def bytes(self, size: int) -> bytes:
        self.parts.append(self._rng.bytes(size))
        return self.parts[-1]


class RepeatedBytes:
    """The same bytes once more, in parts of the same sizes, with its first `count` bytes complemented."""

    def __init__(self, parts: Sequence[bytes], count: int) -> None:
        self._parts, self._left = iter(parts), count

    def bytes(self, size: int) -> bytes:
        """Raises ValueError where another size was drawn before."""
        data = next(self._parts, b"")
        if len(data) != size:
            raise ValueError(f"{size} undefined bytes are drawn where {len(data)} were before")
        changed, self._left = data[: self._left], self._left - min(size, self._left)
        return (~np.frombuffer(changed, np.uint8)).tobytes() + data[len(changed) :] if changed else data
