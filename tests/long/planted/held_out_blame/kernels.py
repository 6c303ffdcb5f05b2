"""Nine sources that were written when the method of blame was fixed, with slips of other kinds than those before.

Another variable, another element, a number cut too early, a loop that ends too early, a step left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, narrowed, ties_up, wide
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain


def prelu_s8(i: Inputs) -> dict[str, Array]:
    value = wide(i, "in") - i["zero"]
    return narrowed(np.where(value < 0, ties_up(value * i["alpha"], 7), value) + i["zero"], np.int8)


def fixed_dot_s16(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(wide(i, "a") @ wide(i, "b"), i["shift"]), np.int16)


def rgb565_u16(i: Inputs) -> dict[str, Array]:
    red, green, blue = wide(i, "rgb").T
    return {"output": (red // 8 * 2048 + green // 4 * 32 + blue // 8).astype(np.uint16)}


def ema_s16(i: Inputs) -> dict[str, Array]:
    state, found = wide(i, "start"), []
    for row in wide(i, "in"):
        state = state + ties_up((row - state) * i["weight"], 15)
        found.append(state)
    return {"output": np.array(found, np.int16).reshape(i["in"].shape)}


def bins_u32(i: Inputs) -> dict[str, Array]:
    return {"output": np.bincount((wide(i, "in") - i["low"]) % 256 // 16, minlength=16).astype(np.uint32)}


def max_index_s16(i: Inputs) -> dict[str, Array]:
    values = [int(i["least"]), *i["in"].tolist()]
    return {"output": np.array([max(values), values.index(max(values)) - 1], np.int32)}


def blur_u8(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(wide(i, "top") + 2 * wide(i, "middle") + i["bottom"], 2), np.uint8)


def scale_bias_s32(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(wide(i, "acc") * i["multiplier"], i["shift"]) + i["bias"], np.int32)


def transpose_add_s16(i: Inputs) -> dict[str, Array]:
    return narrowed((wide(i, "in") + wide(i, "offset")[:, None]).T, np.int16)


SOURCES = (
    Planted(
        prelu_s8,
        "(const int8_t in[rows][channels], const int8_t alpha[channels], int8_t output[rows][channels], size_t rows, "
        "size_t channels, int8_t zero)",
        {}, {"zero": Domain(-20, -1)},
    ),
    Planted(
        fixed_dot_s16,
        "(const int16_t a[rows][depth], const int16_t b[depth], int16_t output[rows], size_t rows, size_t depth, "
        "int32_t shift)",
        {"shift": Domain(1, 24)}, {"a": Domain(-2000, 2000), "shift": Domain(8, 14)},
    ),
    Planted(
        rgb565_u16, "(const uint8_t rgb[length][3], uint16_t output[length], size_t length)",
        {}, {"rgb": Domain(16, 235)},
    ),
    Planted(
        ema_s16,
        "(const int16_t in[steps][channels], const int16_t start[channels], int16_t output[steps][channels], "
        "size_t steps, size_t channels, int16_t weight)",
        {"weight": Domain(0, 16384)}, {"weight": Domain(900, 1100), "start": Domain(-100, 100)},
    ),
    Planted(
        bins_u32, "(const uint8_t in[length], uint32_t output[16], size_t length, uint8_t low)",
        {}, {"low": Domain(1, 16)},
    ),
    Planted(
        max_index_s16, "(const int16_t in[length], int32_t output[2], size_t length, int16_t least)",
        {}, {"in": Domain(-300, -1), "least": Domain(-200, -100)},
    ),
    Planted(
        blur_u8,
        "(const uint8_t top[length], const uint8_t middle[length], const uint8_t bottom[length], "
        "uint8_t output[length], size_t length)",
        {}, {"top": Domain(100, 255), "bottom": Domain(100, 255)},
    ),
    Planted(
        scale_bias_s32,
        "(const int32_t acc[rows][channels], const int32_t multiplier[channels], const int32_t bias[channels], "
        "int32_t output[rows][channels], size_t rows, size_t channels, int32_t shift)",
        {"shift": Domain(0, 31)},
        {"acc": Domain(-(2**24), 2**24), "multiplier": Domain(0, 2**20), "shift": Domain(8, 12)},
    ),
    Planted(
        transpose_add_s16,
        "(const int16_t in[rows][columns], const int16_t offset[rows], int16_t output[columns][rows], size_t rows, "
        "size_t columns)",
        {}, {"offset": Domain(-500, 500)},
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES)
