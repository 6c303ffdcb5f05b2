"""What golden references of planted kernels have in common: exact arithmetic on numbers of 64 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Inputs = Mapping[str, Any]
Array = np.ndarray[Any, Any]


def high(value: Array, factor: Array | int) -> Array:
    """Twice the product's upper half, rounded with ties up: numbers of 32 bits."""
    product: Array = value * np.asarray(factor, np.int64)
    return np.asarray(np.clip((product + (1 << 30)) >> 31, -(2**31), 2**31 - 1))


def ties_away(value: Array, shift: Array | int) -> Array:
    """Divided by 2^shift, rounded to nearest with ties away from zero."""
    half = (np.int64(1) << np.asarray(shift, np.int64)) >> 1
    return np.asarray(np.where(value < 0, -((-value + half) >> shift), (value + half) >> shift))


def ties_up(value: Array, shift: Array | int) -> Array:
    """Divided by 2^shift, rounded to nearest with ties toward positive infinity."""
    return np.asarray((value + ((np.int64(1) << np.asarray(shift, np.int64)) >> 1)) >> shift)


def wide(inputs: Inputs, name: str) -> Array:
    """An argument as numbers of 64 bits."""
    return np.asarray(inputs[name]).astype(np.int64)


def narrowed(value: Array, dtype: type[np.integer[Any]]) -> dict[str, Array]:
    """The outputs of a kernel that saturates to a type of integers."""
    limits = np.iinfo(dtype)
    return {"output": np.clip(value, limits.min, limits.max).astype(dtype)}
