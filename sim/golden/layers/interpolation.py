"""Functions of int16 by a table of 513 numbers, and a straight line between two of them, as TFLite has them.

Source: docs/spec/neighbours.md section 32.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import Int64Array

_STEPS: Final = 512
_STEP_BITS: Final = 7
_RANGE: Final = 65535
Float = Callable[[Any], Any]
"""np.float32 or np.float64."""
Reals = npt.NDArray[Any]


def table_of(function: Callable[[Reals], Reals], width: float, ends: tuple[int, int], real: Float) -> Int64Array:
    """The function between two ends in units of width / 65535, in those of 2 / 65535, all in float32 or in float64.

    Each number but the last is moved by half of what a straight line is off in the middle of its step.

    >>> table_of(np.exp, 10, (-65535, 0), np.float64)[[0, 256, 511, 512]]
    array([    2,   221, 32133, 32767])
    """
    low, high = (real(width) / real(_RANGE) * real(end) for end in ends)
    step, unit = (high - low) / real(_STEPS), real(2) / real(_RANGE)
    by = real(_RANGE + 1) / (unit * real(32767) - unit * real(-32768))
    numbers: Reals = real(np.arange(_STEPS))
    at = low + numbers * step
    here, middle, behind = (function(x) * by for x in (at, at + step / real(2), low + (numbers + real(1)) * step))
    error = _rounded((behind + _rounded(here)) / real(2)) - _rounded(middle)
    last = _rounded(function(real(np.array([high]))) * by)
    every = np.append(_rounded(here) - _rounded(error / real(2)), last)
    return np.asarray(np.clip(every, -32768, 32767), np.int64)


def interpolated(values: Int64Array, table: Int64Array) -> Int64Array:
    """Of int16 -32768..32767, which count from the first number of the table to the last: between two, ties up.

    >>> interpolated(np.array([-32768, -64, 32767]), np.arange(513) * 3)
    array([   0,  767, 1536])
    """
    places, behind = _STEPS // 2 + (values >> _STEP_BITS), values & ((1 << _STEP_BITS) - 1)
    rise = (table[places + 1] - table[places]) * behind
    return np.asarray(table[places] + ((rise + (1 << _STEP_BITS >> 1)) >> _STEP_BITS))


def _rounded(numbers: Reals) -> Reals:
    """To the nearest, ties away from zero."""
    return np.asarray(np.copysign(np.floor(np.abs(numbers) + numbers.dtype.type(0.5)), numbers))
