"""Layers for the bench of `gemm_core`: shapes at the ends of its blocks and any others, settings with all corners."""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.unit_stimulus import MULTIPLIERS, OFFSETS, SHIFTS, bounds, in_turn
from rtl_models.cores.gemm import BYTES, CHANNEL_FIELDS, GemmCore, GemmLayer, GemmShape
from rtl_models.unit_values import ONE_ROUNDING, channel_setting
from sim.golden.fixed_point import Int64Array

_BIASES: Final = (0, 1, -1000, 12345, -(1 << 31), (1 << 31) - 1)
_WORST: Final = (0, 255, 128, 127)
"""Bytes at the ends of both readings."""
_LEFT_SHIFTS: Final = (0, 1, 30, 0, 7, 16)
OFFSETS_OF: Final = ((-255, 0), (-127, 128))
"""The least and the greatest offset, by how bytes are read: minus their greatest and least."""


def corner_shapes(core: GemmCore) -> list[GemmShape]:
    """One more and one less than whole blocks of rows, of columns and of bytes; the least; the most of k and n."""
    rows, columns, most = core.rows, core.columns, BYTES * core.steps
    shapes = [
        GemmShape(1, 1, 1),
        GemmShape(rows, BYTES, columns),
        GemmShape(rows + 1, BYTES + 1, columns + 1),
        GemmShape(rows - 1, BYTES - 1, columns - 1),
        GemmShape(2 * rows, 2, 2 * columns),
        GemmShape(3 * rows + 1, BYTES * rows, 2 * columns + 3),
        GemmShape(4 * rows, 3, 1),
        GemmShape(3, most - 1, 2),
        GemmShape(2 * rows + 1, most, columns),
        GemmShape(2, 6, core.channels),
    ]
    return [GemmShape(m, min(k, most), min(n, core.channels)) for m, k, n in shapes]


def random_shape(core: GemmCore, rng: Random) -> GemmShape:
    """Small ones as often as large ones."""
    most = (5 * core.rows, BYTES * core.steps, core.channels)
    return GemmShape(*(rng.randint(1, rng.randint(1, high)) for high in most))


def layer(shape: GemmShape, rng: Random) -> GemmLayer:
    """Bytes and settings for a shape: in one of four corners of all settings, in the others results that differ."""
    number = rng.randrange(1 << 20)
    corners, signed = number % 4 == 0, number % 2
    whole = {"signed": signed, "minimum": 128 * signed, "maximum": 255 ^ 128 * signed, "offset": 128 * (1 - signed)}
    settings = {"offset": in_turn(OFFSETS, number)} | bounds(number) if corners else whole
    low, high = OFFSETS_OF[settings["signed"]]
    settings |= {name: rng.choice((low, high, rng.randint(low, high))) for name in ("a_offset", "b_offset")}
    settings["rounding"] = rng.randrange(3)
    blank = GemmLayer(settings, _bytes(shape.m, shape.k, rng), _bytes(shape.k, shape.n, rng))
    sums = blank.sums()
    whole_tensor = number % 5 < 2
    for channel in range(shape.n):
        if corners:
            multiplier = rng.choice(MULTIPLIERS)
            if settings["rounding"] == ONE_ROUNDING:  # of which only factors that are not negative are defined
                multiplier = min(abs(multiplier), S32.high)
            own = rng.choice(_BIASES), multiplier, *_shifts(rng)
        elif channel == 0 or not whole_tensor:
            own = _spread(sums if whole_tensor else sums[:, channel], rng)
        settings |= {channel_setting(field, channel): value for field, value in zip(CHANNEL_FIELDS, own, strict=True)}
    return GemmLayer(settings, blank.a, blank.b)


def _shifts(rng: Random) -> tuple[int, int]:
    """To the right and to the left: one of them in most, both in some."""
    right, left = rng.choice(SHIFTS), rng.choice(_LEFT_SHIFTS)
    kind = rng.randrange(5)
    return right * (kind > 1), left * (kind != 2 and kind != 3)


def _spread(sums: Int64Array, rng: Random) -> tuple[int, int, int, int]:
    """Bias, multiplier and shifts that spread sums over the bytes, and a little beyond."""
    middle = (int(sums.min()) + int(sums.max())) // 2
    widest = max(1, int(sums.max()) - middle)
    shift = max(0, (widest // 110).bit_length() - rng.randrange(1, 3))
    left = rng.choice((0, 0, 1, 4))
    return rng.randint(-9, 9) - middle, rng.randint(1 << 30, (1 << 31) - 1) >> left, shift, left


def layers_by_reading(shape: GemmShape, rng: Random) -> list[GemmLayer]:
    """One with unsigned bytes, one with signed ones."""
    drawn: dict[int, GemmLayer] = {}
    while len(drawn) < len(OFFSETS_OF):
        some = layer(shape, rng)
        drawn.setdefault(some.settings["signed"], some)
    return [drawn[signed] for signed in sorted(drawn)]


def layers_alike(shape: GemmShape, rng: Random, count: int) -> list[GemmLayer]:
    """So many layers with the same settings and other bytes."""
    first, *others = (layer(shape, rng) for _ in range(count))
    return [first, *(GemmLayer(first.settings, other.a, other.b) for other in others)]


def _bytes(rows: int, columns: int, rng: Random) -> Int64Array:
    """Any bytes, or in one of four matrices those at the ends."""
    numbers = np.frombuffer(rng.randbytes(rows * columns), np.uint8).astype(np.int64).reshape(rows, columns)
    return np.array(_WORST, np.int64)[numbers % len(_WORST)] if rng.randrange(4) == 0 else numbers
