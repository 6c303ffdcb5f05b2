"""Undefined bytes: those that nobody defines before a call, drawn one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class UndefinedBytes(Protocol):
    """A stream of bytes."""

    def draw(self, size: int) -> bytes:
        """The next bytes."""

    def draw_words(self, count: int) -> bytes:
        """The next bytes as numbers of 64 bits, for registers: some are as small as a counter."""


class SeededBytes:
    """Undefined bytes that follow a seed; `parts` is what was drawn.

    They are those of `Generator.bytes` of numpy's `default_rng`, 32 bits at a time, taken from where it takes them: a
    call draws often and little, for which it needs ten times as long.
    """

    def __init__(self, seed: int) -> None:
        self.parts: list[bytes] = []
        self._numbers = np.random.PCG64(seed).random_raw
        self._left = b""

    def draw(self, size: int) -> bytes:
        self.parts.append(self._drawn(size))
        return self.parts[-1]

    def draw_words(self, count: int) -> bytes:
        """As `draw`, but one number in four has at most eight bits.

        What nobody set may be anything: code that takes it for a length goes other ways where it is small, and of
        64 random bits no seed ever is.  None is 0: a register that a kernel zeroes must be seen to change.
        """
        drawn = np.frombuffer(self._drawn(8 * count), "<u8")
        small = np.maximum(drawn >> (np.uint64(56) + (drawn & np.uint64(7))), 1)
        self.parts.append(np.where(drawn & np.uint64(0x18), drawn, small).tobytes())
        return self.parts[-1]

    def _drawn(self, size: int) -> bytes:
        """The next bytes, as those of whole numbers of 32 bits: what is left of the last one is lost."""
        whole = -(-size // 4) * 4
        if (lacking := whole - len(self._left)) > 0:
            self._left += self._numbers(-(-lacking // 8)).astype("<u8").tobytes()
        drawn, self._left = self._left[:size], self._left[whole:]
        return drawn


class RepeatedBytes:
    """The same bytes once more, in parts of the same sizes, with its first `count` bytes complemented."""

    def __init__(self, parts: Sequence[bytes], count: int) -> None:
        self._parts, self._left = iter(parts), count

    def draw(self, size: int) -> bytes:
        """Raises ValueError where another size was drawn before."""
        data = next(self._parts, b"")
        if len(data) != size:
            raise ValueError(f"{size} undefined bytes are drawn where {len(data)} were before")
        changed, self._left = data[: self._left], self._left - min(size, self._left)
        return (~np.frombuffer(changed, np.uint8)).tobytes() + data[len(changed) :] if changed else data

    def draw_words(self, count: int) -> bytes:
        """As `draw`: what was drawn as numbers is repeated byte by byte."""
        return self.draw(8 * count)
