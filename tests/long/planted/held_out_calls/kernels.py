"""Five sources that were written when callers and addends were told by blame: with functions that several lines call.

Means and differences of pairs, a polynomial, two sides of a sound, five taps in a chain of sums, and brightness.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, narrowed, ties_up, wide
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain

_COEFFICIENTS = (51472, -21166, 2611, -142)


def _s16(value: Array) -> Array:
    return np.clip(value, -32768, 32767)


def haar_s16(i: Inputs) -> dict[str, Array]:
    left, right = wide(i, "in").reshape(-1, 2).T
    difference = left - right
    slope = difference - np.concatenate([[0], difference[:-1]]) if difference.size else difference
    found = {"mean": ties_up(left + right, 1), "apart": difference >> 1, "slope": _s16(ties_up(slope, 1))}
    return {name: value.astype(np.int16) for name, value in found.items()}


def sine_q15(i: Inputs) -> dict[str, Array]:
    x = wide(i, "in")
    square, total = ties_up(x * x, 15), np.full_like(x, _COEFFICIENTS[3])
    for coefficient in _COEFFICIENTS[2::-1]:
        total = coefficient + ties_up(total * square, 15)
    return narrowed(ties_up(total * x, 15), np.int16)


def balance_s16(i: Inputs) -> dict[str, Array]:
    gains = np.array([i["gain_left"], i["gain_right"]], np.int64)
    sides = _s16(ties_up(wide(i, "in") * gains, 15))
    return narrowed(sides + _s16(sides[:, ::-1] * np.int64(i["cross"]) >> 15), np.int16)


def five_taps_u16(i: Inputs) -> dict[str, Array]:
    x, weights = wide(i, "in"), wide(i, "weights")
    total = sum(x[k : len(x) - 4 + k] * weights[k] for k in range(5))
    return narrowed(np.minimum(ties_up(np.asarray(total), 12), int(i["limit"])), np.uint16)


def luma_s16(i: Inputs) -> dict[str, Array]:
    red, green, blue = (wide(i, name) for name in ("red", "green", "blue"))
    light = _s16(ties_up(4899 * red + 9617 * green + 1868 * blue, 14))
    colour = _s16(ties_up(_s16(blue - light) * 9241, 14))
    return {"light": light.astype(np.int16), "colour": colour.astype(np.int16)}


SOURCES = (
    Planted(
        haar_s16,
        "(const int16_t in[pairs][2], int16_t mean[pairs], int16_t apart[pairs], int16_t slope[pairs], size_t pairs)",
        {}, {"in": Domain(-20_000, 18_000)},
    ),
    Planted(
        sine_q15, "(const int16_t in[length], int16_t output[length], size_t length)",
        {}, {"in": Domain(-30_000, 31_000)},
    ),
    Planted(
        balance_s16,
        "(const int16_t in[frames][2], int16_t output[frames][2], size_t frames, int16_t gain_left, "
        "int16_t gain_right, int16_t cross)",
        {}, {"gain_left": Domain(12_000, 32_000), "gain_right": Domain(12_000, 32_000), "cross": Domain(2000, 9000)},
    ),
    Planted(
        five_taps_u16,
        "(const uint16_t in[length + 4], const uint16_t weights[5], uint16_t output[length], size_t length, "
        "uint32_t limit)",
        {"limit": Domain(1, 65535)},
        {"weights": Domain(300, 1500), "in": Domain(0, 50_000), "limit": Domain(30_000, 60_000)},
    ),
    Planted(
        luma_s16,
        "(const int16_t red[length], const int16_t green[length], const int16_t blue[length], "
        "int16_t light[length], int16_t colour[length], size_t length)",
        {}, {"red": Domain(-20_000, 20_000), "green": Domain(-20_000, 20_000), "blue": Domain(-30_000, 30_000)},
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES)
