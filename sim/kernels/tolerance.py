"""How far a floating-point output may be from the golden reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Tolerance:
    """A lane agrees within `absolute` + `relative` * |golden|, or at most `ulps` representable numbers away.

    Infinities agree with themselves only.  Raises ValueError for a number that is negative or not finite.
    """

    absolute: float = 0.0
    relative: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        if not all(0 <= number < inf for number in (self.absolute, self.relative, self.ulps)):
            raise ValueError(f"a tolerance cannot be negative, infinite or no number: {self}")

    def __str__(self) -> str:
        parts = [f"{self.absolute:g}"] if self.absolute else []
        parts += [f"{self.relative:g} of the value"] if self.relative else []
        return " + ".join(parts) + (" or " if parts and self.ulps else "") + (f"{self.ulps} ulps" if self.ulps else "")

    def accepts(self, got: Array, expected: Array) -> Array:
        """Which lanes of two floating-point arrays of one shape and dtype are near enough, as bools."""
        wide, golden = got.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(wide) & np.isfinite(golden)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(wide - golden) <= self.absolute + self.relative * np.abs(golden)
        return np.asarray(finite & (near | (_distance(got, expected) <= self.ulps)))


def _distance(got: Array, expected: Array) -> Array:
    """How many representable numbers lie from one to the other; zeros of both signs are the same place."""
    lowest = -(1 << 8 * got.itemsize - 1)
    bits = [array.view(f"i{array.itemsize}").astype(np.int64) for array in (got, expected)]
    places = [np.where(each < 0, lowest - each, each) for each in bits]  # numbers in order: -0.0 and 0.0 are one
    low, high = np.minimum(*places), np.maximum(*places)
    return np.asarray((high - low).view(np.uint64) if low.ndim else np.uint64(int(high) - int(low)))


def agreement(got: Array, expected: Array, tolerance: Tolerance | None = None) -> Array:
    """Which lanes of two arrays of one shape are equal, or within the tolerance, as bools."""
    if got.dtype.kind != "f":
        return np.asarray(got == expected)
    same_number = (got == expected) & (np.signbit(got) == np.signbit(expected))
    equal = same_number | (np.isnan(got) & np.isnan(expected))
    return np.asarray(equal if tolerance is None else equal | tolerance.accepts(got, expected))


def all_agree(outputs: Mapping[str, Array], golden: Mapping[str, Array], tolerance: Tolerance | None = None) -> bool:
    """Whether every lane of every golden output is that of the output of the same name and shape."""
    return all(agreement(outputs[name], array, tolerance).all() for name, array in golden.items())
