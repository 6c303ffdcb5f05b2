"""The numbers of a domain in order, counted: so that a search can go half the way between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kernels.domain import Domain

Rungs = npt.NDArray[np.int64]
_SIGN = np.uint64(1 << 63)


class Ladder:
    """The numbers that a domain has of a dtype, lowest first, each on a rung: neighbours are one rung apart.

    Integers are their own rungs, of 64 unsigned bits 2^63 lower; floats have those of their bits, with both zeros on
    one; choices are counted from 0.  `low` and `high` are the rungs of the ends.
    """

    def __init__(self, domain: Domain, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._choices = np.unique(np.array(domain.choices, dtype)) if domain.choices else None
        if self._choices is not None:
            self.low, self.high = 0, len(self._choices) - 1
        else:
            ends = self.rungs(np.array(domain.bounds(dtype), dtype))
            self.low, self.high = int(ends[0]), int(ends[1])

    def rungs(self, numbers: np.ndarray[Any, Any]) -> Rungs:
        """The rungs of numbers of the dtype; of one that is no choice, that of the next higher one."""
        if self._choices is not None:
            return np.minimum(np.searchsorted(self._choices, numbers), self.high).astype(np.int64)
        if self._dtype.kind == "f":
            bits = numbers.view(f"i{self._dtype.itemsize}").astype(np.int64)
            return np.where(bits < 0, -(bits & ((1 << 8 * self._dtype.itemsize - 1) - 1)), bits)
        if self._dtype == np.uint64:
            return np.asarray((numbers ^ _SIGN).view(np.int64))
        return numbers.astype(np.int64)

    def numbers(self, rungs: Rungs) -> np.ndarray[Any, Any]:
        """The numbers of rungs in `low`..`high`."""
        if self._choices is not None:
            return np.asarray(self._choices[rungs])
        if self._dtype.kind == "f":
            sign = -1 << 8 * self._dtype.itemsize - 1
            return np.where(rungs < 0, sign - rungs, rungs).astype(f"i{self._dtype.itemsize}").view(self._dtype)
        if self._dtype == np.uint64:
            return np.asarray(rungs.view(np.uint64) ^ _SIGN)
        return rungs.astype(self._dtype)


def halfway(one: Rungs, other: Rungs) -> Rungs:
    """The rungs in the middle, without overflow."""
    return np.asarray((one >> 1) + (other >> 1) + (one & other & 1))
