"""Seven sources that were written when the method had been mended for what the first sixteen held out had shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, high, narrowed, ties_away, ties_up, wide
from long.planted.held_out_again.cannot_show import CANNOT_SHOW
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain


def _s32(value: Array) -> Array:
    return np.asarray(np.clip(value, -(2**31), 2**31 - 1))


def complex_multiply_q15(i: Inputs) -> dict[str, Array]:
    (a, b), (c, d) = wide(i, "a").T, wide(i, "b").T
    real = _s32(_s32(2 * a * c) - _s32(2 * b * d))
    imaginary = _s32(_s32(2 * a * d) + _s32(2 * b * c))
    return narrowed(ties_up(np.stack([real, imaginary], axis=1), 16), np.int16)


def popcount_s16(i: Inputs) -> dict[str, Array]:
    differ = np.unpackbits(i["rows"] ^ i["bits"], axis=1).sum(axis=1, dtype=np.int64)
    scaled = np.clip(ties_up((128 - 2 * differ) * i["scale"], 6), -32768, 32767)
    return narrowed(scaled + i["bias"], np.int16)


def dequantize_f32(i: Inputs) -> dict[str, Array]:
    return {"output": (wide(i, "in") - i["zeros"]).astype(np.float32) * i["scales"]}


def gemv_int4(i: Inputs) -> dict[str, Array]:
    weights = np.concatenate([wide(i, "weights") % 16, wide(i, "weights") // 16], axis=1) - 8
    total = weights @ wide(i, "column") + i["bias"]
    return narrowed(ties_away(high(total, i["multiplier"]), i["shift"]) + i["zero"], np.int8)


def normalize_s16(i: Inputs) -> dict[str, Array]:
    unit = ties_up(high((wide(i, "in") - i["mean"]) * 4096, i["inverse"]), i["shift"])
    return narrowed(ties_up(np.clip(unit, -32768, 32767) * i["gains"], 10) + i["offsets"], np.int16)


def yuv_red_u8(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(298 * (wide(i, "luma") - 16) + 409 * (wide(i, "chroma") - 128), 8), np.uint8)


def gradient_u8(i: Inputs) -> dict[str, Array]:
    apart = np.abs(wide(i, "a") - i["b"]) + np.abs(wide(i, "c") - i["d"])
    return narrowed(np.maximum((apart + 1) >> 1, np.minimum(i["a"], i["c"])), np.uint8)


FACTOR = Domain(1 << 30, 2**31 - 1)
SOURCES = (
    Planted(
        complex_multiply_q15,
        "(const int16_t a[length][2], const int16_t b[length][2], int16_t output[length][2], size_t length)",
        {}, {"a": Domain(-23_000, 23_000)},
    ),
    Planted(
        popcount_s16,
        "(const uint8_t rows[length][16], const uint8_t bits[16], const int16_t bias[length], "
        "int16_t output[length], size_t length, int16_t scale)",
        {}, {"scale": Domain(100, 20_000), "bias": Domain(-9000, 9000)},
    ),
    Planted(
        dequantize_f32,
        "(const int8_t in[rows][channels], const int8_t zeros[channels], const float scales[channels], "
        "float output[rows][channels], size_t rows, size_t channels)",
        {"scales": Domain(1e-6, 1e6)}, {"zeros": Domain(-20, 20), "scales": Domain(0.001, 0.1)},
    ),
    Planted(
        gemv_int4,
        "(const uint8_t weights[rows][8], const int8_t column[16], const int32_t bias[rows], int8_t output[rows], "
        "size_t rows, int32_t multiplier, int32_t shift, int32_t zero)",
        {"bias": Domain(-(2**30), 2**30), "multiplier": FACTOR, "shift": Domain(0, 24), "zero": Domain(-128, 127)},
        {"bias": Domain(-4000, 4000), "multiplier": FACTOR, "shift": Domain(4, 8), "zero": Domain(-12, 12)},
    ),
    Planted(
        normalize_s16,
        "(const int16_t in[channels], const int16_t gains[channels], const int16_t offsets[channels], "
        "int16_t output[channels], size_t channels, int16_t mean, int32_t inverse, int32_t shift)",
        {"inverse": FACTOR, "shift": Domain(8, 20)},
        {"in": Domain(-9000, 9000), "mean": Domain(-300, 300), "inverse": FACTOR, "shift": Domain(10, 12),
         "gains": Domain(700, 1400), "offsets": Domain(-500, 500)},
    ),
    Planted(
        yuv_red_u8, "(const uint8_t luma[length], const uint8_t chroma[length], uint8_t output[length], size_t length)",
        {}, {"luma": Domain(16, 235), "chroma": Domain(16, 240)},
    ),
    Planted(
        gradient_u8,
        "(const uint8_t a[length], const uint8_t b[length], const uint8_t c[length], const uint8_t d[length], "
        "uint8_t output[length], size_t length)",
        {}, {"a": Domain(0, 180), "d": Domain(60, 255)},
        suffix=".s",
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES, cannot_show=CANNOT_SHOW)
