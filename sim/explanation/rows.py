"""The elements of a question without repetition: a row is what an element is computed from, and somebody's number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sim.explanation.rule import Integers, Operands

Int64Array = npt.NDArray[np.int64]
_KEY_VALUES: Final = 1 << 63
_CHUNK: Final = 1 << 17
"""Rows that are computed at a time: few enough for the processor's cache, enough for many channels among them."""


@dataclass(frozen=True)
class Rows:
    """Distinct rows: `first` is the flat index of the first element that has a row, `count` how many have it."""

    operands: Operands
    yours: Int64Array
    first: Int64Array
    count: Int64Array

    def __len__(self) -> int:
        return len(self.yours)

    def take(self, chosen: Int64Array | slice) -> Rows:
        operands = {name: array[chosen] for name, array in self.operands.items()}
        return Rows(operands, self.yours[chosen], self.first[chosen], self.count[chosen])

    def sample(self, size: int) -> Rows:
        """Evenly spaced rows, all of them where they are no more than `size`."""
        if len(self) <= size:
            return self
        return self.take(np.linspace(0, len(self) - 1, size).astype(np.int64))

    def chunks(self) -> Iterator[Rows]:
        if len(self) <= _CHUNK:
            yield self
            return
        for start in range(0, len(self), _CHUNK):
            yield self.take(slice(start, start + _CHUNK))

    @property
    def contradiction(self) -> tuple[int, int] | None:
        """Two elements that are computed from the same numbers and are not the same, or None.

        Rows of the same operands stand side by side, as they are sorted.
        """
        if len(self) < 2:
            return None
        same = np.ones(len(self) - 1, np.bool_)
        for array in self.operands.values():
            same &= array[1:] == array[:-1]
        at = np.flatnonzero(same)
        return (int(self.first[at[0]]), int(self.first[at[0] + 1])) if at.size else None


def distinct_rows(operands: Operands, yours: Int64Array) -> Rows:
    """The rows, sorted by operands and then by number; unsorted, one for each element, where no key can hold them."""
    key = _key([*operands.values(), yours])
    if key is None:
        everywhere = np.arange(len(yours))
        return Rows(operands, yours, everywhere, np.ones(len(yours), np.int64))
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    return Rows({name: array[first] for name, array in operands.items()}, yours[first], first, count)


def _key(columns: list[Integers]) -> Int64Array | None:
    """One number for each row, in the order of the columns; None where they take more than 63 bits."""
    key, values = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        values *= high - low + 1
        if values >= _KEY_VALUES:
            return None
        key = key * (high - low + 1) + (column.astype(np.int64) - low)
    return key
