"""Sixteen sources that were written when the method of aiming was fixed, and never shown to it before.

They are of other kinds than those in sight: sums over an outer axis, tables, pictures, sound, filters that go on,
floating point, assembly.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from long.planted.arithmetic import Array, Inputs, high, narrowed, ties_away, ties_up, wide
from long.planted.held_out.cannot_show import CANNOT_SHOW
from long.planted.planted import Corpus, Planted
from sim.kernels import Domain


def dwconv_3x3_s8(i: Inputs) -> dict[str, Array]:
    total = ((wide(i, "in") + i["offset"]) * i["weights"]).sum(axis=0) + i["bias"]
    value = np.clip(ties_away(high(total, i["multiplier"]), i["shift"]), -32768, 32767)
    return narrowed(np.clip(value + i["zero"], -32768, 32767), np.int8)


def global_average_s8(i: Inputs) -> dict[str, Array]:
    total = wide(i, "in").sum(axis=0) + i["bias"]
    return narrowed(ties_away(high(total, i["multiplier"]), i["shift"]) + i["zero"], np.int8)


def leaky_relu_s8(i: Inputs) -> dict[str, Array]:
    value = (wide(i, "in") - i["in_zero"]) << 15
    below = ties_away(high(value, i["slope"]), i["slope_shift"])
    above = ties_away(high(value, i["factor"]), i["shift"])
    return narrowed(np.where(value < 0, below, above) + i["out_zero"], np.int8)


def _s16(value: Array) -> Array:
    return np.asarray(np.clip(value, -32768, 32767))


def hard_swish_s8(i: Inputs) -> dict[str, Array]:
    fine = (wide(i, "in") - i["in_zero"]) << 7
    on_output = _s16(ties_up(fine * i["out_factor"], 15))
    relu = _s16(ties_up(_s16(fine << i["relu_left"]) * i["relu_factor"], 15))
    relu = (_s16(2 * relu) + 32768) >> 1
    return narrowed(ties_away(_s16((relu * on_output) >> 15), i["right"]) + i["out_zero"], np.int8)


def exp2_q15(i: Inputs) -> dict[str, Array]:
    part = (wide(i, "in") % 4096) * 8
    value = np.asarray(1271)
    for constant in (6983, 22713, 32767):
        value = constant - ties_up(part * value, 15)
    return narrowed(ties_up(value, wide(i, "in") // 4096), np.int16)


def residual_s16(i: Inputs) -> dict[str, Array]:
    scaled = _s16(_s16(ties_up(wide(i, "b") * i["weight"], i["shift"])) + i["offset"])
    return narrowed(np.minimum(_s16(wide(i, "a") + scaled), i["top"]), np.int16)


def lut_s16(i: Inputs) -> dict[str, Array]:
    table, whole, rest = wide(i, "table"), wide(i, "in") // 128 + 256, wide(i, "in") % 128
    return narrowed(table[whole] + ties_up((table[whole + 1] - table[whole]) * rest, 7), np.int16)


def pool_pairs_u8(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up((wide(i, "top") + i["bottom"]).sum(axis=1), 2), np.uint8)


def bilinear_u8(i: Inputs) -> dict[str, Array]:
    along, across = wide(i, "along"), i["across"]
    top = wide(i, "a") * (128 - along) + wide(i, "b") * along
    bottom = wide(i, "c") * (128 - along) + wide(i, "d") * along
    return narrowed(ties_up(top * (128 - across) + bottom * across, 14), np.uint8)


def gray_u8(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(wide(i, "rgb") @ np.array([77, 150, 29]), 8), np.uint8)


def alpha_blend_u8(i: Inputs) -> dict[str, Array]:
    alpha = wide(i, "alpha")
    return narrowed((2 * (wide(i, "over") * alpha + wide(i, "under") * (255 - alpha)) + 255) // 510, np.uint8)


def mix_pcm_s16(i: Inputs) -> dict[str, Array]:
    a, b = (_s16(ties_up(wide(i, name) * i[f"gain_{name}"], 15)) for name in "ab")
    return narrowed(a + b, np.int16)


def fir_q15(i: Inputs) -> dict[str, Array]:
    return narrowed(ties_up(wide(i, "taps") @ wide(i, "delayed"), 15), np.int16)


def biquad_q31(i: Inputs) -> dict[str, Array]:
    b0, b1, b2, a1, a2 = map(int, i["factors"])
    x1 = x2 = y1 = y2 = 0
    found = []
    for x in i["in"].tolist():
        total = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x1, x2, y1, y2 = x, x1, min(max((total + 2**29) // 2**30, -(2**31)), 2**31 - 1), y1
        found.append(y1)
    return {"output": np.array(found, np.int32)}


def sad_ssd_u8(i: Inputs) -> dict[str, Array]:
    apart = np.abs(wide(i, "a") - i["b"])
    return {"sums": np.array([apart.sum(), (apart**2).sum()], np.uint32)}


def quantize_f32_s8(i: Inputs) -> dict[str, Array]:
    scaled = np.rint(i["in"] * np.float32(i["inverse"])).astype(np.float64)
    return narrowed(scaled + i["zero"], np.int8)


FACTOR, FACTOR_16 = Domain(1 << 30, 2**31 - 1), Domain(1 << 14, 2**15 - 1)
BYTE, PLUS, WEIGHT = Domain(-128, 127), Domain(-127, 128), Domain(0, 128)
LENGTH = Domain(0, 4096)
SOURCES = (
    Planted(
        dwconv_3x3_s8,
        "(const int8_t in[9][channels], const int8_t weights[9][channels], const int32_t bias[channels], "
        "const int32_t multiplier[channels], const int32_t shift[channels], int8_t output[channels], size_t channels, "
        "int16_t offset, int16_t zero)",
        {"bias": Domain(-(2**30), 2**30), "multiplier": FACTOR, "shift": Domain(0, 24), "offset": PLUS, "zero": BYTE},
        {"bias": Domain(-5000, 5000), "multiplier": FACTOR, "shift": Domain(6, 12), "offset": Domain(3, 7),
         "zero": Domain(-9, 9)},
    ),
    Planted(
        global_average_s8,
        "(const int8_t in[pixels][channels], int8_t output[channels], size_t pixels, size_t channels, int32_t bias, "
        "int32_t multiplier, int32_t shift, int32_t zero)",
        {"pixels": LENGTH, "channels": LENGTH, "bias": Domain(-(2**20), 2**20), "multiplier": FACTOR,
         "shift": Domain(0, 16), "zero": BYTE},
        {"pixels": Domain(1, 1024), "channels": Domain(1, 512), "bias": Domain(-640, 640), "multiplier": FACTOR,
         "shift": Domain(3, 9), "zero": Domain(-4, 4)},
    ),
    Planted(
        leaky_relu_s8,
        "(const int8_t in[length], int8_t output[length], size_t length, int16_t in_zero, int16_t out_zero, "
        "int32_t factor, int32_t shift, int32_t slope, int32_t slope_shift)",
        {"in_zero": BYTE, "out_zero": BYTE, "factor": FACTOR, "shift": Domain(10, 20), "slope": FACTOR,
         "slope_shift": Domain(10, 24)},
        {"in_zero": Domain(-2, 2), "out_zero": Domain(-2, 2), "factor": FACTOR, "shift": Domain(14, 15),
         "slope": FACTOR, "slope_shift": Domain(16, 18)},
    ),
    Planted(
        hard_swish_s8,
        "(const int8_t in[length], int8_t output[length], size_t length, int16_t in_zero, int16_t out_zero, "
        "int16_t out_factor, int16_t relu_factor, int16_t relu_left, int16_t right)",
        {"in_zero": BYTE, "out_zero": BYTE, "out_factor": FACTOR_16, "relu_factor": FACTOR_16,
         "relu_left": Domain(0, 6), "right": Domain(0, 14)},
        {"in_zero": Domain(-3, 3), "out_zero": Domain(-3, 3), "out_factor": FACTOR_16, "relu_factor": FACTOR_16,
         "relu_left": Domain(1, 2), "right": Domain(6, 8)},
    ),
    Planted(
        exp2_q15, "(const uint16_t in[length], int16_t output[length], size_t length)",
        {"length": LENGTH}, {"in": Domain(0, 20_000)},
    ),
    Planted(
        residual_s16,
        "(const int16_t a[length], const int16_t b[length], int16_t output[length], size_t length, int16_t weight, "
        "int32_t shift, int16_t offset, int16_t top)",
        {"shift": Domain(0, 15), "top": Domain(0, 32767)},
        {"a": Domain(-20_000, 20_000), "weight": Domain(9000, 12_000), "shift": Domain(12, 14),
         "offset": Domain(-40, 40), "top": Domain(24_000, 32_767)},
    ),
    Planted(
        lut_s16, "(const int16_t in[length], const int16_t table[513], int16_t output[length], size_t length)",
        {}, {"table": Domain(-20_000, 20_000), "in": Domain(-30_000, 30_000)},
    ),
    Planted(
        pool_pairs_u8,
        "(const uint8_t top[length][2], const uint8_t bottom[length][2], uint8_t output[length], size_t length)",
        {}, {"top": Domain(16, 235), "bottom": Domain(16, 235)},
    ),
    Planted(
        bilinear_u8,
        "(const uint8_t a[length], const uint8_t b[length], const uint8_t c[length], const uint8_t d[length], "
        "const uint8_t along[length], uint8_t output[length], size_t length, uint16_t across)",
        {"along": WEIGHT, "across": WEIGHT}, {"along": WEIGHT, "across": Domain(choices=(32, 64, 96))},
    ),
    Planted(
        gray_u8, "(const uint8_t rgb[length][3], uint8_t output[length], size_t length)",
        {}, {"rgb": Domain(16, 235)}, suffix=".s",
    ),
    Planted(
        alpha_blend_u8,
        "(const uint8_t over[length], const uint8_t under[length], const uint8_t alpha[length], "
        "uint8_t output[length], size_t length)",
        {}, {"over": Domain(0, 200), "under": Domain(50, 255)},
    ),
    Planted(
        mix_pcm_s16,
        "(const int16_t a[length], const int16_t b[length], int16_t output[length], size_t length, int16_t gain_a, "
        "int16_t gain_b)",
        {}, {"gain_a": Domain(8000, 32767), "gain_b": Domain(8000, 32767)},
        suffix=".s",
    ),
    Planted(
        fir_q15,
        "(const int16_t delayed[8][length], const int16_t taps[8], int16_t output[length], size_t length)",
        {"taps": Domain(-8000, 8000)}, {"taps": Domain(-900, 6000), "delayed": Domain(-24_000, 24_000)},
    ),
    Planted(
        biquad_q31, "(const int32_t in[length], const int32_t factors[5], int32_t output[length], size_t length)",
        {"factors": Domain(-(2**29), 2**29)},
        {"in": Domain(-(2**29), 2**29), "factors": Domain(-(2**28), 2**28)},
    ),
    Planted(
        sad_ssd_u8,
        "(const uint8_t a[length], const uint8_t b[length], uint32_t sums[2], size_t length)",
        {"length": LENGTH}, {"length": Domain(16, 4096), "a": Domain(16, 235), "b": Domain(16, 235)},
    ),
    Planted(
        quantize_f32_s8,
        "(const float in[length], int8_t output[length], size_t length, float inverse, int32_t zero)",
        {"in": Domain(-1e30, 1e30), "inverse": Domain(1e-6, 1e6), "zero": BYTE},
        {"in": Domain(-6.0, 6.0), "inverse": Domain(16.0, 24.0), "zero": Domain(-10, 10)},
    ),
)  # fmt: skip
CORPUS = Corpus(Path(__file__).parent, SOURCES, cannot_show=CANNOT_SHOW)
