"""Golden reference of pool: the average or the highest of the pixels of a window, channel by channel, as TFLite has it.

    average[c] = bound( sum over the pixels / count, to nearest, ties away from zero )        max[c] = bound( highest )

Pixels outside of the image are none of the window: they change the count.  A *mode* names what is taken and the bytes.
Source: docs/spec/neighbours.md section 20.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.kernels.names import Modes

AnyArray = npt.NDArray[Any]
Sums = npt.NDArray[np.int64]
Steps = dict[str, AnyArray]
MOST: Final = 65_536
"""Pixels of a window: so few that sums and quotients are exact in float32, in which the kernels divide."""


class Mode(NamedTuple):
    """What is taken of the pixels, and the bytes."""

    source: str
    dtype: np.dtype[Any]
    is_average: bool


_UINT8, _INT8 = np.dtype(np.uint8), np.dtype(np.int8)
MODES: Final = Modes(
    average_s8=Mode("TFLite, AVERAGE_POOL_2D on int8: ties away from zero", _INT8, True),
    average_u8=Mode("TFLite, AVERAGE_POOL_2D on uint8: ties up, which is away from zero", _UINT8, True),
    max_s8=Mode("TFLite, MAX_POOL_2D on int8", _INT8, False),
    max_u8=Mode("TFLite, MAX_POOL_2D on uint8", _UINT8, False),
)


def ties_away(sums: Sums, count: Sums | int) -> Sums:
    """sums / count to nearest, ties away from zero."""
    return np.asarray(np.sign(sums) * ((np.abs(sums) + count // 2) // count))


def ties_up(sums: Sums, count: Sums | int) -> Sums:
    """sums / count to nearest, ties up: other for negative sums."""
    return np.asarray((2 * sums + count) // (2 * count))


def truncated(sums: Sums, count: Sums | int) -> Sums:
    """sums / count towards zero."""
    return np.asarray(np.sign(sums) * (np.abs(sums) // count))


def steps(
    pixels: AnyArray, lower: int, upper: int, mode: str = "average_s8",
    divide: Callable[[Sums, int], Sums] = ties_away,
) -> Steps:  # fmt: skip
    """Every intermediate value, keyed by step: sum and average, or highest; then bounds.

    `pixels` is [count, channels] of the mode's dtype, count 1 to 65,536; each step has one number a channel. The lower
    bound is applied first. `TypeError`: another dtype. `ValueError`: no pixels, or too many; an unknown mode.
    """
    rule = MODES[mode]
    if not isinstance(pixels, np.ndarray) or pixels.dtype != rule.dtype:
        raise TypeError(f"pixels is not a numpy array of {rule.dtype}: nothing is cast silently")
    if pixels.ndim != 2 or not 1 <= len(pixels) <= MOST:
        raise ValueError(f"pixels have shape {pixels.shape}: give [count, channels], 1 to {MOST} pixels")
    if rule.is_average:
        sums = pixels.sum(axis=0, dtype=np.int64)
        taken: Steps = {"sum": sums, "average": divide(sums, len(pixels))}
    else:
        taken = {"highest": pixels.max(axis=0).astype(np.int64)}
    *_, last = taken.values()
    return taken | {"bounds": np.minimum(np.maximum(last, lower), upper)}


def pool(pixels: AnyArray, lower: int, upper: int, mode: str = "average_s8") -> AnyArray:
    """The bytes, one a channel: the last of `steps`, whose contract it shares.

    >>> pool(np.array([[-3, 3], [0, 0]], np.int8), -128, 127)
    array([-2,  2], dtype=int8)
    """
    return steps(pixels, lower, upper, mode)["bounds"].astype(MODES[mode].dtype)


def of_other_bytes(pixels: AnyArray, lower: int, upper: int, mode: str) -> AnyArray:
    """The highest with the sign of bytes mistaken, the bounds being right."""
    other = _INT8 if MODES[mode].dtype == _UINT8 else _UINT8
    highest = pixels.view(other).max(axis=0).view(pixels.dtype)
    return np.asarray(np.clip(highest.astype(np.int64), lower, None).clip(None, upper)).astype(pixels.dtype)
