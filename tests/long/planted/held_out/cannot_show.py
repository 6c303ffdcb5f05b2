"""Faults held out that no input of their domain shows, each with a proof: all numbers that reach the line are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np


def _a_smaller_shift_is_not_chosen() -> bool:
    """min(-shift, -2) is -shift for all shifts of 6..12."""
    return all(min(-shift, -2) == -shift for shift in range(6, 13))


def _a_mean_fits_in_16_bits() -> bool:
    """1024 numbers of 8 bits and the bias, times less than 1, shifted right by 3 and more, and the zero point."""
    most = 1024 * 128 + 640
    return all((most + (1 << shift >> 1) >> shift) + 4 <= 32767 for shift in range(3, 10))


def _one_more_changes_no_even_number() -> bool:
    """Twice a number of 16 bits, saturated, is even or the highest there is; (x + 1) >> 1 is x >> 1."""
    doubled = np.clip(2 * np.arange(-32768, 32768), -32768, 32767) + 32768
    return bool((np.minimum(doubled + 1, 65535) >> 1 == doubled >> 1).all())


def _no_shift_is_above_8() -> bool:
    return not any(shift > 8 for shift in range(6, 9))


def _no_number_has_the_sign_bit() -> bool:
    return not any(number & 0x8000 for number in range(20_001))


def _lane_0_is_not_read() -> bool:
    return "factors, 0" not in (Path(__file__).parent / "exp2_q15.c").read_text()


def _the_lowest_bit_carries_nothing() -> bool:
    sums = np.arange(255 * 128 * 128 + 1)
    return bool(((sums >> 1 << 1) + 8192 >> 14 == sums + 8192 >> 14).all())


def _a_product_with_29_does_not_saturate() -> bool:
    """UQSHL by 3 saturates what is above 8191."""
    return all(29 * number <= 8191 for number in range(256))


def _the_highest_sum_gives_what_the_next_lower_one_does() -> bool:
    sums = np.arange(255 * 255 + 1)
    low = np.minimum(sums, 65024)
    return bool((sums + (sums + 128 >> 8) + 128 >> 8 == low + (low + 128 >> 8) + 128 >> 8).all())


def _no_product_is_above_16_bits() -> bool:
    """With positive gains a product is largest at one end of the samples."""
    return all(sample * gain + 16384 >> 15 <= 32767 for gain in range(8000, 32768) for sample in (-32768, 32767))


def _no_square_is_the_highest() -> bool:
    return (235 - 16) ** 2 <= 65024


def _a_quantized_number_fits_in_16_bits() -> bool:
    return round(6.0 * 24.0) + 10 <= 32767


CANNOT_SHOW: Mapping[str, Callable[[], bool]] = {
    "dwconv_3x3_s8 narrow: shift": _a_smaller_shift_is_not_chosen,
    "global_average_s8 narrow: narrowing": _a_mean_fits_in_16_bits,
    "hard_swish_s8 narrow: constant": _one_more_changes_no_even_number,
    "hard_swish_s8 narrow: offset": _no_shift_is_above_8,
    "exp2_q15 narrow: sign": _no_number_has_the_sign_bit,
    "exp2_q15 wide: constant": _lane_0_is_not_read,
    "bilinear_u8 wide: round": _the_lowest_bit_carries_nothing,
    "gray_u8 wide: saturation": _a_product_with_29_does_not_saturate,
    "alpha_blend_u8 wide: saturation": _the_highest_sum_gives_what_the_next_lower_one_does,
    "mix_pcm_s16 narrow: narrowing": _no_product_is_above_16_bits,
    "sad_ssd_u8 narrow: narrowing": _no_square_is_the_highest,
    "quantize_f32_s8 narrow: narrowing": _a_quantized_number_fits_in_16_bits,
}
"""By title of the kernel."""
