"""Layers for the bench of `gemm_core`: shapes at the ends of its blocks and any others, settings with all corners."""

from __future__ import annotations

import math
from random import Random
from typing import Final, NamedTuple

import numpy as np

from isa.lane import S32
from rtl_models.benches.coverage.unit_stimulus import MULTIPLIERS, OFFSETS, SHIFTS, bounds, in_turn
from rtl_models.cores.gemm import BYTES, CHANNEL_FIELDS, GemmCore, GemmLayer, GemmShape, WindowLayer
from rtl_models.unit_values import ONE_ROUNDING, Settings, channel_setting
from sim.golden.fixed_point import Int64Array
from sim.kernels.conv2d.golden import Geometry

_BIASES: Final = (0, 1, -1000, 12345, -(1 << 31), (1 << 31) - 1)
_WORST: Final = (0, 255, 128, 127)
"""Bytes at the ends of both readings."""
_LEFT_SHIFTS: Final = (0, 1, 30, 0, 7, 16)
OFFSETS_OF: Final = ((-255, 0), (-127, 128))
"""The least and the greatest offset, by how bytes are read: minus their greatest and least."""


class Windows(NamedTuple):
    """Of an image [height, width, channels], by weights of so many rows, pixels and columns."""

    image: tuple[int, int, int]
    window: tuple[int, int]
    columns: int
    geometry: Geometry = Geometry()

    def fit(self, core: GemmCore) -> bool:
        """Whether a core has room, and there is a window."""
        words = -(-self.image[2] // BYTES)
        (height, width, _), g = self.image, self.geometry
        is_there = height + g.top + g.bottom >= self.window[0] and width + g.left + g.right >= self.window[1]
        in_image, in_window = (words * math.prod(sizes) for sizes in ((height, width), self.window))
        return is_there and in_image <= core.image and in_window <= core.steps and self.columns <= core.channels


def corner_windows(core: GemmCore) -> list[Windows]:
    """Padding of every side or of none, strides of 1 and more, rows shorter and longer than a block; those that fit."""
    around, most = Geometry(1, 1, 1, 1, 1, 1), core.image // 2
    found = [
        Windows((3, 3, 1), (3, 3), 1, around),
        Windows((4, 5, 4), (3, 3), core.columns + 1, Geometry(2, 2, 0, 1, 0, 1)),
        Windows((5, 7, 3), (3, 3), 2 * core.columns, Geometry(2, 1, 1, 1, 0, 0)),
        Windows((1, 1, 5), (3, 3), 3, around),
        Windows((1, 2, 2), (2, 3), 3, Geometry(3, 1, 4, 4, 3, 3)),
        Windows((6, 2, 9), (2, 1), core.columns, Geometry(1, 2, 0, 3, 15, 2)),
        Windows((2, 3, 4), (2, 1), 2, Geometry(1, 1, 1, 0)),
        Windows((2, 4, 1), (1, 2), core.columns + 1, Geometry(1, 1, 0, 0, 1, 1)),
        Windows((1, 1, 4), (1, 2), 1, Geometry(1, 1, 15, 1, 1, 9)),
        Windows((1, 2, 8), (1, 1), core.columns, Geometry(1, 2, 1, 2, 0, 3)),
        Windows((2, 2, 5), (1, 1), 2 * core.columns, Geometry(2, 1)),
        Windows((core.rows, 2, 1), (1, 1), 2, Geometry(1, 1, 0, 0, 0, 1)),
        Windows((1, core.image, 3), (1, 2), 1, Geometry(1, 15)),
        Windows((most, 1, 7), (2, 1), 2, Geometry(15, 1, 0, 40, 0, 0)),
    ]
    return [windows for windows in found if windows.fit(core)]


def random_windows(core: GemmCore, rng: Random) -> Windows:
    """Windows of up to 4 x 4, in half of them as the layers of networks have them."""
    while True:
        usual = rng.randrange(2)
        size, stride = rng.choice((1, 2, 3, 3)), rng.choice((1, 2))
        window = (size, size) if usual else (rng.randint(1, 4), rng.randint(1, 4))
        sides = [size // 2] * 4 if usual else [rng.choice((0, 0, 1, rng.randint(0, 5))) for _ in range(4)]
        strides = (stride, stride) if usual else (rng.randint(1, 4), rng.randint(1, 4))
        depth = BYTES * core.steps // math.prod(window)
        image = (rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, rng.randint(1, max(1, depth))))
        found = Windows(image, window, rng.randint(1, rng.randint(1, core.channels)), Geometry(*strides, *sides))
        if found.fit(core):
            return found


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
    return [GemmShape(m, min(k, most), min(n, core.channels)) for m, k, n, _ in shapes]


def random_shape(core: GemmCore, rng: Random) -> GemmShape:
    """Small ones as often as large ones."""
    most = (5 * core.rows, BYTES * core.steps, core.channels)
    return GemmShape(*(rng.randint(1, rng.randint(1, high)) for high in most))


def layer(given: GemmShape | Windows, rng: Random) -> GemmLayer:
    """Bytes and settings for a shape: in one of four corners of all settings, in the others results that differ."""
    number = rng.randrange(1 << 20)
    corners, signed = number % 4 == 0, number % 2
    whole = {"signed": signed, "minimum": 128 * signed, "maximum": 255 ^ 128 * signed, "offset": 128 * (1 - signed)}
    settings = {"offset": in_turn(OFFSETS, number)} | bounds(number) if corners else whole
    low, high = OFFSETS_OF[settings["signed"]]
    settings |= {name: rng.choice((low, high, rng.randint(low, high))) for name in ("a_offset", "b_offset")}
    settings["rounding"] = rng.randrange(3)
    blank = _with_bytes(given, settings, rng)
    shape, sums = blank.shape, blank.sums()
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
    return blank.with_settings(settings)


def _with_bytes(given: GemmShape | Windows, settings: Settings, rng: Random) -> GemmLayer:
    if isinstance(given, GemmShape):
        return GemmLayer(settings, _bytes(given.m, given.k, rng), _bytes(given.k, given.n, rng))
    (height, width, channels), columns = given.image, given.columns
    image = _bytes(height * width, channels, rng).reshape(given.image)
    weights = _bytes(math.prod(given.window) * channels, columns, rng).reshape(*given.window, channels, columns)
    return WindowLayer(settings, image, weights, given.geometry)


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


def layers_alike(given: GemmShape | Windows, rng: Random, count: int) -> list[GemmLayer]:
    """So many layers with the same settings and other bytes."""
    first, *others = (layer(given, rng) for _ in range(count))
    return [first, *(other.with_settings(first.settings) for other in others)]


def _bytes(rows: int, columns: int, rng: Random) -> Int64Array:
    """Any bytes, or in one of four matrices those at the ends."""
    numbers = np.frombuffer(rng.randbytes(rows * columns), np.uint8).astype(np.int64).reshape(rows, columns)
    return np.array(_WORST, np.int64)[numbers % len(_WORST)] if rng.randrange(4) == 0 else numbers
