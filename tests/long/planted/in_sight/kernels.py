"""Ten sources that were in sight when the method of aiming was made: requantization, sums of products, blending."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, high, narrowed, ties_away, wide
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain


def requantize_s8(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_away(high(wide(i, "acc"), i["multiplier"]), i["shift"]) + i["zero"], np.int8)


def requantize_u8_fixed(i: Inputs) -> dict[str, Array]:
    value = ties_away(high(wide(i, "acc"), 1518500250), 21)
    return narrowed(value + 119, np.uint8)


def per_channel(i: Inputs) -> dict[str, Array]:
    value = high(np.clip(wide(i, "acc") + i["bias"], -(2**31), 2**31 - 1), i["gain"])
    return narrowed(ties_away(high(value, i["multiplier"]), i["shift"]) + i["zero"], np.int8)


def add_s8(i: Inputs) -> dict[str, Array]:
    x, y = (
        ties_away(high((wide(i, name) + i[f"offset_{name}"]) << 20, i[f"factor_{name}"]), i[f"shift_{name}"])
        for name in "ab"
    )
    return narrowed(ties_away(high(x + y, i["factor"]), i["shift"]) + i["zero"], np.int8)


def scale_s16(i: Inputs) -> dict[str, Array]:
    value = np.clip((wide(i, "a") * i["b"] + 16384) >> 15, -32768, 32767) * i["gain"]
    return narrowed(ties_away(value, 9) + i["offset"], np.int16)


def dot4_s8(i: Inputs) -> dict[str, Array]:
    value = ties_away(high(wide(i, "a") @ wide(i, "weights") + i["bias"], i["multiplier"]), i["shift"])
    return {"output": np.clip(value, i["low_bound"], 127).astype(np.int8)}


def matrix_s8(i: Inputs) -> dict[str, Array]:
    value = high(wide(i, "a") @ wide(i, "b") + i["bias"], i["multiplier"])
    return narrowed(ties_away(value, i["shift"]) + i["zero"], np.int8)


def mean_u8(i: Inputs) -> dict[str, Array]:
    product = (wide(i, "a") + i["b"] + i["c"]) * i["weight"]
    value = ((np.maximum(product - 1, 0) + 32768) >> 16) + i["offset"]
    return narrowed(value, np.uint8)


def blend_s8(i: Inputs) -> dict[str, Array]:
    moved = ties_away((wide(i, "b") - wide(i, "a")) * i["weight"], 8)
    return narrowed(wide(i, "a") + moved + i["offset"], np.int8)


def to_s16(i: Inputs) -> dict[str, Array]:
    left = np.clip(wide(i, "acc") << i["left"], -(2**31), 2**31 - 1)
    value = ties_away(high(left, i["multiplier"]), i["shift"]) + i["skip"]
    return narrowed(value, np.int16)


FACTOR, BYTE = Domain(1 << 30, 2**31 - 1), Domain(-128, 127)
SOURCES = (
    Planted(
        requantize_s8,
        "(const int32_t acc[length], int8_t output[length], size_t length, int32_t multiplier, "
        "int32_t shift, int32_t zero)",
        {"acc": Domain(), "multiplier": FACTOR, "shift": Domain(1, 30), "zero": BYTE},
        {"acc": Domain(-40_000, 40_000), "multiplier": FACTOR, "shift": Domain(0, 9), "zero": Domain(-5, 5)},
    ),
    Planted(
        requantize_u8_fixed, "(const int32_t acc[length], uint8_t output[length], size_t length)",
        {"acc": Domain()}, {"acc": Domain(-(2**29), 2**29)},
    ),
    Planted(
        per_channel,
        "(const int32_t acc[rows][channels], const int32_t bias[channels], "
        "const int32_t multiplier[channels], const int32_t shift[channels], "
        "int8_t output[rows][channels], size_t rows, size_t channels, int32_t zero, int32_t gain)",
        {"multiplier": FACTOR, "shift": Domain(1, 28), "zero": Domain(-100, 100), "gain": FACTOR},
        {
            "acc": Domain(-(2**30), 2**30), "bias": Domain(-(2**30) - 9, 2**30 + 9), "multiplier": FACTOR,
            "shift": Domain(5, 14), "zero": Domain(-128, -1),
            "gain": FACTOR,
        },
    ),
    Planted(
        add_s8,
        "(const int8_t a[length], const int8_t b[length], int8_t output[length], size_t length, "
        "int32_t offset_a, int32_t offset_b, int32_t factor_a, int32_t factor_b, int32_t factor, "
        "int32_t shift_a, int32_t shift_b, int32_t shift, int32_t zero)",
        {
            "offset_a": BYTE, "offset_b": BYTE, "factor_a": FACTOR, "factor_b": FACTOR, "factor": FACTOR,
            "shift_a": Domain(0, 4), "shift_b": Domain(0, 4),
            "shift": Domain(15, 24), "zero": BYTE,
        },
        {
            "offset_a": Domain(-3, 3), "offset_b": Domain(-3, 3), "factor_a": FACTOR, "factor_b": FACTOR,
            "factor": FACTOR, "shift_a": Domain(0, 1), "shift_b": Domain(0, 1),
            "shift": Domain(18, 19), "zero": Domain(-3, 3),
        },
    ),
    Planted(
        scale_s16,
        "(const int16_t a[length], const int16_t b[length], int16_t output[length], size_t length, "
        "int16_t gain, int16_t offset)",
        {}, {"a": Domain(-20_000, 20_000), "gain": Domain(300, 900), "offset": Domain(-30_000, 30_000)},
    ),
    Planted(
        dot4_s8,
        "(const int8_t a[length][4], const int8_t weights[4], const int32_t bias[length], "
        "int8_t output[length], size_t length, int32_t multiplier, int32_t shift, int32_t low_bound)",
        {"bias": Domain(-(2**30), 2**30), "multiplier": FACTOR, "shift": Domain(0, 24), "low_bound": Domain(-127, 0)},
        {"bias": Domain(-200_000, 200_000), "multiplier": FACTOR, "shift": Domain(1, 12),
        "low_bound": Domain(-127, -1)},
    ),
    Planted(
        matrix_s8,
        "(const int8_t a[rows][depth], const int8_t b[depth][columns], const int32_t bias[columns], "
        "int8_t output[rows][columns], size_t rows, size_t columns, size_t depth, int32_t multiplier, "
        "int32_t shift, int32_t zero)",
        {"bias": Domain(-(2**28), 2**28), "multiplier": FACTOR, "shift": Domain(0, 24), "zero": Domain(-100, 100),
        "depth": Domain(0, 512)},
        {"bias": Domain(-100_000, 100_000), "multiplier": FACTOR, "shift": Domain(0, 11), "zero": Domain(-8, 8),
        "depth": Domain(1, 64)},
    ),
    Planted(
        mean_u8,
        "(const uint8_t a[length], const uint8_t b[length], const uint8_t c[length], "
        "uint8_t output[length], size_t length, uint16_t weight, uint8_t offset)",
        {}, {"weight": Domain(21_000, 22_500), "offset": Domain(0, 20)},
    ),
    Planted(
        blend_s8,
        "(const int8_t a[length], const int8_t b[length], int8_t output[length], size_t length, "
        "int16_t weight, int16_t offset)",
        {"weight": Domain(-256, 256), "offset": Domain(-500, 500)}, {"weight": Domain(0, 300),
        "offset": Domain(-9, 9)},
    ),
    Planted(
        to_s16,
        "(const int32_t acc[length], const int32_t skip[length], int16_t output[length], size_t length, "
        "int32_t multiplier, int32_t left, int32_t shift)",
        {"multiplier": FACTOR, "left": Domain(0, 12), "shift": Domain(0, 15)},
        {"acc": Domain(-(2**21), 2**21), "skip": Domain(-40_000, 40_000), "multiplier": FACTOR, "left": Domain(8, 11),
        "shift": Domain(4, 14)},
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES, each_in_both=True)
