"""Eight sources that were written when the method of blame was fixed: of networks, as people write them.

A residual sum that rounds by remainders, shares by a table, numbers of 4 bits, dot products of 8 bits, a gain for each
channel, three taps along a row of 16 bits, mean and variance, and straight lines in the place of a curve.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, narrowed, ties_away, ties_up, wide
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain


def residual_u8(i: Inputs) -> dict[str, Array]:
    total = i["bias"] + wide(i, "a") * i["factor_a"] + wide(i, "b") * i["factor_b"]
    return narrowed(np.minimum(np.maximum(ties_away(total, i["shift"]) + i["zero"], i["low"]), i["high"]), np.uint8)


def softmax_row_s8(i: Inputs) -> dict[str, Array]:
    values = wide(i, "in")
    parts = wide(i, "table")[values.max(axis=1, keepdims=True) - values]
    total = parts.sum(axis=1, keepdims=True)
    return narrowed(np.minimum((parts * 256 + total // 2) // total, 255) - 128, np.int8)


def unpack_s4(i: Inputs) -> dict[str, Array]:
    packed = wide(i, "in")
    values = np.stack([packed % 16, packed // 16], axis=-1).reshape(-1, 32) - 8
    return narrowed(ties_up(values * wide(i, "scale")[:, None], 2), np.int16)


def sdot_rows_s8(i: Inputs) -> dict[str, Array]:
    total = wide(i, "weights") @ (wide(i, "in") - i["zero"]) + i["bias"]
    return narrowed(ties_up(total * i["factor"], i["shift"]), np.int8)


def batch_norm_s16(i: Inputs) -> dict[str, Array]:
    scaled = ties_up(wide(i, "in") * i["gain"] + i["offset"], 12)
    return narrowed(np.minimum(np.maximum(scaled, 0), i["cap"]), np.int16)


def depthwise_row_s16(i: Inputs) -> dict[str, Array]:
    steps, _, channels = i["in"].shape
    row = np.concatenate([np.zeros((1, channels), np.int64), wide(i, "in").reshape(2 * steps, channels)])
    taps = np.stack([row[k : k + 2 * steps : 2] for k in range(3)])
    total = (taps * wide(i, "weights")[:, None]).sum(axis=0) + wide(i, "bias")
    return narrowed(ties_up(total * i["factor"], i["shift"]), np.int16)


def moments_s8(i: Inputs) -> dict[str, Array]:
    values = wide(i, "in")
    count, total, squares = values.shape[1], values.sum(axis=1), (values**2).sum(axis=1)
    mean = np.sign(total) * ((2 * 256 * np.abs(total) + count) // (2 * count))
    found = np.stack([mean, (count * squares - total**2) // count**2], axis=1)
    return {"output": found.astype(np.int32)}


def sigmoid_lines_s16(i: Inputs) -> dict[str, Array]:
    size = np.minimum(np.abs(wide(i, "in")), 32767)
    lines = [np.full_like(size, 32767), size // 4 + 27648, size + 20480, 2 * size + 16384]
    upper = np.select([size >= 5 * 4096, size * 8 >= 19 * 4096, size >= 4096], lines[:3], lines[3])
    return narrowed(np.where(wide(i, "in") < 0, 32768 - upper, upper), np.int16)


SOURCES = (
    Planted(
        residual_u8,
        "(const uint8_t a[length], const uint8_t b[length], uint8_t output[length], size_t length, int16_t factor_a, "
        "int16_t factor_b, int32_t bias, int32_t shift, int16_t zero, uint8_t low, uint8_t high)",
        {"factor_a": Domain(1, 32767), "factor_b": Domain(1, 32767), "bias": Domain(-(2**24), 2**24),
         "shift": Domain(1, 16), "zero": Domain(0, 255), "low": Domain(0, 100), "high": Domain(101, 255)},
        {"factor_a": Domain(200, 900), "factor_b": Domain(200, 900), "bias": Domain(-150_000, -40_000),
         "shift": Domain(7, 10), "zero": Domain(100, 140), "low": Domain(0, 90), "high": Domain(180, 255)},
    ),
    Planted(
        softmax_row_s8,
        "(const int8_t in[rows][columns], const uint16_t table[256], int8_t output[rows][columns], size_t rows, "
        "size_t columns)",
        {"table": Domain(1, 65535), "columns": Domain(1, 64)},
        {"table": Domain(1, 9000), "columns": Domain(2, 20), "in": Domain(-100, 60)},
    ),
    Planted(
        unpack_s4,
        "(const uint8_t in[groups][16], const int16_t scale[groups], int16_t output[groups][32], size_t groups)",
        {}, {"scale": Domain(-30_000, -12_000)},
    ),
    Planted(
        sdot_rows_s8,
        "(const int8_t weights[rows][depth], const int8_t in[depth], const int32_t bias[rows], "
        "const int32_t factor[rows], int8_t output[rows], size_t rows, size_t depth, int32_t zero, int32_t shift)",
        {"bias": Domain(-(2**28), 2**28), "factor": Domain(1, 2**31 - 1), "shift": Domain(31, 47),
         "zero": Domain(-128, 127)},
        {"bias": Domain(-20_000, 20_000), "factor": Domain(2**30, 2**31 - 1), "shift": Domain(38, 40),
         "zero": Domain(3, 20)},
    ),
    Planted(
        batch_norm_s16,
        "(const int16_t in[rows][channels], const int16_t gain[channels], const int32_t offset[channels], "
        "int16_t output[rows][channels], size_t rows, size_t channels, int16_t cap)",
        {"offset": Domain(-(2**30), 2**30 - 1), "cap": Domain(1, 32767)},
        {"gain": Domain(1000, 9000), "offset": Domain(-(2**22), 2**22), "cap": Domain(16_000, 32_000)},
    ),
    Planted(
        depthwise_row_s16,
        "(const int16_t in[steps][2][channels], const int8_t weights[3][channels], const int64_t bias[channels], "
        "int16_t output[steps][channels], size_t steps, size_t channels, int16_t factor, int32_t shift)",
        {"bias": Domain(-(2**40), 2**40), "factor": Domain(1, 32767), "shift": Domain(2, 40)},
        {"bias": Domain(-(2**33), 2**33), "factor": Domain(16384, 32767), "shift": Domain(30, 34)},
    ),
    Planted(
        moments_s8, "(const int8_t in[rows][columns], int32_t output[rows][2], size_t rows, size_t columns)",
        {"columns": Domain(1, 64)}, {"in": Domain(-90, 40), "columns": Domain(3, 40)},
    ),
    Planted(
        sigmoid_lines_s16, "(const int16_t in[length], int16_t output[length], size_t length)",
        {}, {"in": Domain(-14_000, 12_000)},
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES)
