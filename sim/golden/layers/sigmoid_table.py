"""Logistic and tanh of int16 as TFLite has them: one table of 256 numbers, and a straight line between two of them.

    T[i] = round(65536 / (1 + exp(-i / 24)))        tanh(x) is 2 / (1 + exp(-2x)) - 1

Upstream's table has one more than that at 44 places.  What is negative is taken from the other side.  The output counts
units of 2^-15.
Source: docs/spec/neighbours.md section 37.
"""

from math import exp, log2
from typing import Final, NamedTuple

import numpy as np

from sim.golden.fixed_point import Int64Array

_STEPS: Final = 24
"""Of the table, for 1."""
_ONE: Final = 4096.0 * 3.0
"""Units of what is looked up, for 1."""
_MOST: Final = 32767
_LONGEST: Final = 31
_NEAR: Final = 1e-3
_SHIFTS: Final = {"logistic": (0,), "tanh": (0, 1)}
"""By function, how often a scale may be 2^-12 doubled so that it counts as that power of two."""
_FRACTIONS: Final = {"logistic": 9, "tanh": 8}
"""Bits of what is looked up that lie between two numbers of the table."""
_ONE_MORE: Final = (
    4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45, 46, 49,
    50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255,
)  # fmt: skip
TABLE: Final = np.array([round(65536 / (1 + exp(-i / _STEPS))) + (i in _ONE_MORE) for i in range(256)], np.int64)


class TableFactor(NamedTuple):
    """What a number is multiplied by, and how far it is shifted to the right then."""

    multiplier: int
    shift: int


def factor_of(function: str, scale: np.float32) -> TableFactor:
    """Of an input's scale; `ValueError` for one above 32767 / 12288, beyond which upstream's check ends the program.

    >>> factor_of("logistic", np.float32(2.0**-12)), factor_of("tanh", np.float32(0.001))
    (TableFactor(multiplier=3, shift=0), TableFactor(multiplier=25165, shift=11))
    """
    doublings = doublings_of(function, scale)
    if doublings is not None:
        return TableFactor(3 << doublings, 0)
    factor, shift = float(scale) * _ONE, 0
    while factor <= _MOST / 2 and shift < _LONGEST:
        factor, shift = 2 * factor, shift + 1
    if factor > _MOST:
        raise ValueError(f"the scale is {scale:g}: up to {_MOST / _ONE:g} it is defined")
    return TableFactor(int(factor), shift)


def doublings_of(function: str, scale: np.float32) -> int | None:
    """How often 2^-12 is doubled to be the scale, where upstream takes it for such a power of two; else None.

    >>> doublings_of("tanh", np.float32(2.0**-11)), doublings_of("logistic", np.float32(2.0**-11))
    (1, None)
    """
    power = log2(float(scale))
    doublings = round(power) + 12
    return doublings if abs(power - round(power)) < _NEAR and doublings in _SHIFTS[function] else None


def looked_up(function: str, values: Int64Array, by: TableFactor) -> Int64Array:
    """Logistic or tanh of int16 in units of 2^-15; those between two numbers of the table to the nearest, ties up.

    >>> looked_up("logistic", np.array([0, 4096, -32768]), TableFactor(3, 0))
    array([16384, 23956,    11])
    >>> looked_up("tanh", np.array([0, 4096, -32768]), TableFactor(3, 0))
    array([     0,  24956, -32767])
    """
    bits = _FRACTIONS[function]
    half = 1 << (by.shift - 1) if by.shift else 0
    at = (values * by.multiplier + half) >> by.shift
    size = np.abs(at)
    place = np.minimum(size >> bits, len(TABLE) - 2)
    between = TABLE[place] * (1 << bits) + (size & ((1 << bits) - 1)) * (TABLE[place + 1] - TABLE[place])
    if function == "logistic":  # whose last step, and so all behind it, rounds to the largest
        return np.asarray(np.where(at >= 0, between + 512, (1 << 25) - between + 511) >> 10)
    share = np.where(size >> bits >= len(TABLE) - 1, 0xFFFF << bits, between)
    return (np.where(at >= 0, share - (1 << 23) + 128, (1 << 23) - share + 127)) >> 8
