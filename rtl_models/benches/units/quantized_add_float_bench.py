"""quantized_add_float on the bench."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Final

import numpy as np

from rtl_models.benches.coverage.unit_coverpoints import Met
from rtl_models.benches.coverage.unit_stimulus import in_turn, spread
from rtl_models.benches.driving.frame import UnitFrame
from rtl_models.benches.unit_bench import UnitBench
from rtl_models.unit_values import folded, mode_of
from rtl_models.units import UNITS
from sim.golden.addition import AddParameters, Quantization, fold
from sim.golden.floating_point import Float32Array, fused_multiply_add
from sim.kernels.quantized_add.golden import FOLDED, folded_steps

_BYTES: Final = (0, 1, 2, 3, 5, 17, 51, 85, 100, 127, 128, 129, 200, 251, 254, 255)
_FILLING: Final = UNITS["quantized_add_float"].latency("deep") + len(_BYTES)
"""Beats."""
_SETTINGS: Final = ("a_multiplier", "b_multiplier", "constant")
_LOWEST_NORMAL: Final = np.float32(2.0**-126)
_INFINITE: Final = 0x7F800000
_CORNERS: Final = (
    0, 1 << 31, 1, 0x007FFFFF, 0x00800000, 0x80000001, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
    0x3EFFFFFF, 0x3F000000, 0x3F800000, 0xBF800000, 0x437F8000, 0xC37F8000, 0x4B7FFFFF, 0xCB800000,
)  # fmt: skip
"""Words: zeros, the ends of what is subnormal and of what is normal, infinities, NaN, halves, wholes."""
_HALVES: Final = (0.5, 0.25, 1.5, -0.5, 1.0, 0.125, -1.5)
_CONSTANTS: Final = (0.0, 0.5, 100.5, 200.0, -3.5)


def coverpoints(frame: UnitFrame, lanes: int) -> Met:
    """In each mode that its ties and its number of roundings show in a byte, and what the sums are."""
    a, b = (frame.operands[f"{name}_i"].astype(np.uint8) for name in "ab")
    numbers, mode = folded(frame.settings), mode_of(frame.settings)
    steps = folded_steps(a, b, numbers, mode)
    others = {other: folded_steps(a, b, numbers, other)["output"] != steps["output"] for other in FOLDED}
    met = {}
    for ties, other in (("away", "even"), ("even", "away")):
        for suffix, wrong, said in (("", "_unfused", "two roundings"), ("_unfused", "", "one rounding")):
            one = f"neon_ties_{ties}{suffix}"
            met[f"{one}: not as with the other ties"] = others[f"neon_ties_{other}{suffix}"] & (mode == one)
            met[f"{one}: not as with {said}"] = others[f"neon_ties_{ties}{wrong}"] & (mode == one)
    for step in ("first", "sum"):
        met |= {f"{step} is {what}": found for what, found in _kinds(steps[step]).items()}
    met["the largest number below a half"] = steps["sum"] == np.nextafter(np.float32(0.5), np.float32(0))
    met["clamped to 255"] = steps["round"] > 255
    met["between the bounds"] = (steps["round"] > 0) & (steps["round"] < 255)
    return met


def _kinds(values: Float32Array) -> Met:
    magnitude = np.abs(values)
    return {
        "no number": np.isnan(values), "infinite": np.isinf(values), "0": values == 0, "negative": values < 0,
        "subnormal": (magnitude > 0) & (magnitude < _LOWEST_NORMAL),
    }  # fmt: skip


def frames(rng: Random, lanes: int) -> Iterator[UnitFrame]:
    """All kinds in all modes, in turn; of a layer so many beats that they fill the deep pipeline."""
    for number in count():
        turn, mode = divmod(number // len(_KINDS), 4)
        kind = _KINDS[number % len(_KINDS)]
        settings, pair = kind(turn, rng)
        yield _frame(settings, mode, pair, rng, lanes, _FILLING if kind is _of_a_layer else len(_BYTES))


def long_frame(rng: Random, lanes: int, beats: int) -> UnitFrame:
    """A layer, as Simd is built by default."""
    settings, pair = _of_a_layer(0, rng)
    return _frame(settings, 0, pair, rng, lanes, beats)


def rare_frames(rng: Random, lanes: int) -> list[UnitFrame]:
    """Sums of large numbers whose last places come down to a byte: as many frames as show each of them.

    Then each bit that alone makes a word of an infinite exponent no number, in the first factor and in the constant.
    """
    found = []
    for number in range(400):
        settings, pair = _of_large_numbers(number, rng)
        found.append(_frame(settings, number % 4, pair, rng, lanes, 2))
    for name in ("a_multiplier", "constant"):
        for bit in range(23):
            settings = words(0.5, 0.5, 0.0) | {name: _INFINITE | 1 << bit}
            found.append(_frame(settings, bit % 4, None, rng, lanes, 2))
    return found


Words = dict[str, int]
Pair = tuple[int, int] | None
"""Bytes that the settings are made for; None: any."""


def words(*numbers: np.float32 | float) -> Words:
    """The bits of both multipliers and of the constant, as signed numbers."""
    bits = np.array(numbers, np.float32).view(np.int32).tolist()
    return dict(zip(_SETTINGS, bits, strict=True))


def _of_a_layer(number: int, rng: Random) -> tuple[Words, Pair]:
    a, b, output = (Quantization(2.0 ** rng.uniform(-7, -4), rng.randrange(256)) for _ in range(3))
    parts = fold(AddParameters(a, b, output))
    return words(parts.a_factor, parts.b_factor, parts.constant), None


def _of_halves(number: int, rng: Random) -> tuple[Words, Pair]:
    """Ties everywhere."""
    return words(rng.choice(_HALVES), rng.choice(_HALVES), in_turn(_CONSTANTS, number)), None


def _of_cancelling(number: int, rng: Random) -> tuple[Words, Pair]:
    """255 times a rounded 1/255 is taken from 1: nothing is left by two roundings, and a little by one."""
    scale = in_turn((8.0, -8.0, 16.0, -16.0), number)
    part = np.float32(scale) / np.float32(255)
    return words(part, in_turn((0.5, 1.5, 2.5), number // 4), -scale), (255, 1)


def _of_corners(number: int, rng: Random) -> tuple[Words, Pair]:
    """Every corner beside every other before long."""
    chosen = (in_turn(_CORNERS, step * number + number // len(_CORNERS)) for step in (1, 2, 3))
    return {name: word - ((word >> 31) << 32) for name, word in zip(_SETTINGS, chosen, strict=True)}, None


def _of_subnormal_numbers(number: int, rng: Random) -> tuple[Words, Pair]:
    word = in_turn((1, 3, 0x007FFFFF, 0x00800001), number)
    small = {name: rng.choice((word, word - (1 << 31), rng.getrandbits(23))) for name in _SETTINGS}
    return small, None


def _of_below_half(number: int, rng: Random) -> tuple[Words, Pair]:
    return words(0.0, -0.0, np.nextafter(np.float32(0.5), np.float32(0))), None


def _of_large_numbers(number: int, rng: Random) -> tuple[Words, Pair]:
    """The last place of the first sum is one of a byte's: the second product takes away all above it."""
    a, b = rng.randrange(1, 256), 1 << rng.randrange(8)
    size = 2.0 ** in_turn((23, 20, 29, 16, 26, 18, 31), number)
    constant = np.float32(rng.choice((1, -1)) * rng.uniform(1, 2) * size)
    apart = 2.0 ** in_turn((0, -9, 4, -20, -3, 9), number // 7)
    factor = np.float32(rng.choice((1, -1)) * rng.uniform(1, 2) * size * apart / a)
    first = fused_multiply_add(np.float32(a), factor, constant)
    return words(factor, np.float32((np.float32(rng.uniform(0, 255)) - first) / np.float32(b)), constant), (a, b)


_KINDS: Final = (
    _of_a_layer, _of_halves, _of_cancelling, _of_corners, _of_subnormal_numbers, _of_below_half, _of_large_numbers,
)  # fmt: skip
"""By turns."""


def _frame(settings: Words, mode: int, pair: Pair, rng: Random, lanes: int, beats: int) -> UnitFrame:
    """Every byte of the corners in every lane, in two orders; those that the settings are made for in half of them."""
    operands = {}
    for k, port in enumerate(("a_i", "b_i")):
        order = rng.sample(_BYTES, len(_BYTES))
        if pair is not None:
            order = [pair[k], *(number for other in order for number in (other, pair[k]))]
        operands[port] = spread(order, beats, lanes)
    return UnitFrame(settings | {"rounding": mode % 2, "unfused": mode // 2}, operands)


BENCH: Final = UnitBench(
    unit=UNITS["quantized_add_float"],
    coverpoints=coverpoints,
    frames=frames,
    long_frame=long_frame,
    round=4 * 7 * 12,
    rare_frames=rare_frames,
)
