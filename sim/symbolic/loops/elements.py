"""Elements of arrays by their index, which is an expression: equal indices are one object, and one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.lane import Lane, Place, Read
from sim.symbolic.nodes import Simplifier


@dataclass(frozen=True)
class Indexed:
    """Which element a leaf stands for."""

    array: str
    index: Lane


class IndexedElements:
    """The leaves of elements; `ranges` are the least and the greatest number of each array.

    Those of indices of other forms are other unknown numbers, though the indices may be equal: what holds for all of
    those holds where some are the same.
    """

    def __init__(self, s: Simplifier, ranges: Mapping[str, tuple[int, int]]) -> None:
        self._s, self._ranges = s, ranges
        self._leaves: dict[Indexed, Read] = {}
        self.indices: dict[Lane, Indexed] = {}

    def leaf(self, array: str, index: Lane) -> Lane:
        """The element of an array at an index."""
        at = Indexed(array, index)
        if at not in self._leaves:
            leaf = self._s.made(Read(Place(f"in.{array}", len(self._leaves)), *self._ranges[array]))
            assert isinstance(leaf, Read)
            self._leaves[at], self.indices[leaf] = leaf, at
        return self._leaves[at]
