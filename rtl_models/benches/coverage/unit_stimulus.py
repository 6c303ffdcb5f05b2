"""Numbers that reach the corners of a rescaling: targets of it in every lane, and settings that go round in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Final, TypeVar

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.stimulus import extremes
from sim.golden.fixed_point import Int64Array, wrap_int32

_Kept = TypeVar("_Kept")
MULTIPLIERS: Final = (1 << 30, S32.low, 1518500250, 1, S32.high, -1, 0, -(1 << 30), 254601600, 3 << 28, -123456789)
EXACT: Final = (1 << 30, S32.low, -(1 << 30), 1 << 29)
"""Multipliers whose products are seldom rounded, so that the next rounding meets ties."""
SHIFTS: Final = (0, 1, 31, 7, 30, 15, 2)
OFFSETS: Final = (0, S32.high, 1, 100, S32.low, -1, -100, 1000)
BOUNDS: Final = ((0, 255), (0, 0), (10, 200), (255, 255), (1, 1), (0, 127), (200, 250), (128, 255), (3, 9))
"""Of unsigned bytes, from minimum to maximum."""
WHOLE_BYTE: Final = {"signed": 0, "minimum": 0, "maximum": 255}
_SIGNED: Final = (0, 1, 0, 1, 1)
SMALL_ODD: Final = (1, 3, -5, 13, -57, 101, 127, -127)
"""Multipliers of which every rounding of a product shows in a byte, and which have inverses modulo 2^31."""
OF_HALVES: Final = tuple((high << 16) + low for high in (-0x8000, -1, 0, 0x7FFF) for low in (0, 1, 0x8000, 0xFFFF))
"""Numbers whose halves of 16 bits, which a multiplier in tiles takes apart, are at their ends."""
NEGATES: Final = S32.low
"""A multiplier: SQRDMULH by it is the number's negative, without rounding."""


def in_turn(choices: Sequence[_Kept], number: int) -> _Kept:
    """Lists whose lengths have no common factor meet in all combinations."""
    return choices[number % len(choices)]


def bounds(number: int) -> dict[str, int]:
    """In the order of the bytes as `signed` has them read."""
    signed = in_turn(_SIGNED, number)
    minimum, maximum = (bound ^ 128 * signed for bound in in_turn(BOUNDS, number))
    return {"signed": signed, "minimum": minimum, "maximum": maximum}


def rescaling_values(multiplier: int, shift: int, rng: Random) -> list[int]:
    """Values of int32 worth rescaling: extremes, half-way cases of the product and of the division, and random ones."""
    halves = (*_product_ties(multiplier, rng), *_division_ties(multiplier, shift, rng))
    ties = [sign * value for value in halves for sign in (1, -1)]
    some = [rng.randint(S32.low, S32.high) >> rng.randrange(32) for _ in range(3)]
    return [value for value in (*extremes(S32), *ties, *some) if S32.low <= value <= S32.high]


def _product_ties(multiplier: int, rng: Random) -> list[int]:
    """Odd numbers, small and any, times 2^(30-k), the multiplier being odd times 2^k: the products end in 2^30."""
    k = next(k for k in count() if multiplier >> k & 1) if multiplier else 31
    odd = (rng.getrandbits(min(k, 6)) | 1, rng.getrandbits(k) | 1)
    return [number << (30 - k) for number in odd] if k < 31 else []


def _division_ties(multiplier: int, shift: int, rng: Random) -> list[int]:
    """What the product brings to an odd number times 2^(shift-1), where it comes so far."""
    odd = (1, rng.getrandbits(5) | 1, rng.getrandbits(max(0, 31 - shift)) | 1)
    halves = [(number << shift) >> 1 for number in odd]
    nearest = ((2 * (half << 31) + multiplier) // (2 * multiplier) for half in halves)
    return list(nearest) if multiplier and shift else []


def once_rounded_ties(multiplier: int, places: int, rng: Random) -> list[int]:
    """Odd numbers of both signs times a power of two, whose products are odd times 2^places, where there are any."""
    trailing = next(k for k in count() if multiplier >> k & 1) if multiplier else 0
    left = places - trailing
    odd = (1, 3, rng.getrandbits(max(0, 30 - left)) | 1) if 0 <= left < 29 else ()
    return [sign * number << left for number in odd for sign in (1, -1)]


def beside_product_ties(multiplier: int, rng: Random) -> list[int]:
    """Values of int32 whose products with an odd multiplier are 2^30 + d modulo 2^31: d = 0, +-1, and of every size."""
    inverse = pow(multiplier, -1, 1 << 31)
    distances = [0, 1, -1, *(sign * rng.getrandbits(bits) for bits in range(1, 30) for sign in (1, -1))]
    values = [((1 << 30) + distance) * inverse % (1 << 31) for distance in distances]
    return [*values, *(value - (1 << 31) for value in values)]


def beside_division_ties(shift: int) -> list[int]:
    """Small odd numbers times 2^(shift-1) of both signs, and what is next to them."""
    half = (1 << shift) >> 1
    beside = [sign * odd * half + d for odd in (1, 3, 21) for sign in (1, -1) for d in (-1, 0, 1)]
    return [value for value in beside if S32.low < value <= S32.high]


def beside_powers(rng: Random) -> list[int]:
    """+-2^k and a byte more, for every k above a byte: to lose bit k would make a byte of it."""
    powers = [sign << k for k in range(8, 31) for sign in (1, -1)]
    return [power + byte for power in powers for byte in (0, rng.randrange(1, 255), 255)]


def spread(values: Sequence[int], beats: int, lanes: int) -> Int64Array:
    """[beats, lanes]: every value comes to every lane within as many beats as there are values."""
    turns = np.arange(beats)[:, None] + np.arange(lanes)
    return np.array(values, np.int64).take(turns % len(values))


def wrapped(values: Int64Array) -> Int64Array:
    """Modulo 2^32, signed."""
    return wrap_int32(values).astype(np.int64)
