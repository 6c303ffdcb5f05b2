"""requantize to bytes as a sequence of intrinsics: eight lanes a step, then one element in every lane."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_s32,
    vcombine_s16,
    vcvtnq_s32_f32,
    vcvtq_f32_s32,
    vdup_n_s8,
    vdup_n_u8,
    vdupq_n_s16,
    vdupq_n_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmax_s8,
    vmax_u8,
    vmin_s8,
    vmin_u8,
    vmulq_n_f32,
    vmulq_n_s32,
    vqaddq_s16,
    vqmovn_s16,
    vqmovn_s32,
    vqmovun_s16,
    vshlq_s32,
    vst1_lane_s8,
    vst1_lane_u8,
    vst1_s8,
    vst1_u8,
)
from sim.kernels.requantize.program import LANES, divide_ties_away

BLOCK = 8
Divide = Callable[[VectorValue, VectorValue], VectorValue]
"""int32x4 and, in every lane, the negative of a right shift, to int32x4."""


def round_scaled(value: VectorValue, scale: float) -> VectorValue:
    """int32x4 to float32, times the scale, to int16x4, ties to even, saturated."""
    narrowed: VectorValue = vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(value), scale)))
    return narrowed


def scale_by_float(low: VectorValue, high: VectorValue, scale: float, zero_point: int) -> VectorValue:
    """Two int32x4 as int16x8, scaled, with the zero point."""
    rounded = vcombine_s16(round_scaled(low, scale), round_scaled(high, scale))
    placed: VectorValue = vqaddq_s16(rounded, vdupq_n_s16(zero_point))
    return placed


def bound_signed(values: VectorValue, lower: int, upper: int) -> VectorValue:
    """int16x8 as int8x8, saturated and bounded."""
    bounded: VectorValue = vmax_s8(vmin_s8(vqmovn_s16(values), vdup_n_s8(upper)), vdup_n_s8(lower))
    return bounded


def bound_unsigned(values: VectorValue, lower: int, upper: int) -> VectorValue:
    """int16x8 as uint8x8, saturated and bounded."""
    bounded: VectorValue = vmax_u8(vmin_u8(vqmovun_s16(values), vdup_n_u8(upper)), vdup_n_u8(lower))
    return bounded


def requantize_fp32_qs8(
    values: ElementPointer, output: ElementPointer, length: int, scale: float, zero_point: int, lower: int, upper: int
) -> None:
    """XNNPACK's fp32 requantization of int32[length] to int8; the arguments are those of kernel_bytes.c.

    Raises TypeError for pointers of other dtypes, ValueError for a number out of range.
    """
    end = length - length % BLOCK
    for i in range(0, end, BLOCK):
        scaled = scale_by_float(vld1q_s32(values + i), vld1q_s32(values + i + LANES), scale, zero_point)
        vst1_s8(output + i, bound_signed(scaled, lower, upper))
    for i in range(end, length):
        one = vld1q_dup_s32(values + i)
        vst1_lane_s8(output + i, bound_signed(scale_by_float(one, one, scale, zero_point), lower, upper), 0)


def requantize_fp32_qu8(
    values: ElementPointer, output: ElementPointer, length: int, scale: float, zero_point: int, lower: int, upper: int
) -> None:
    """XNNPACK's fp32 requantization of int32[length] to uint8, otherwise as `requantize_fp32_qs8`."""
    end = length - length % BLOCK
    for i in range(0, end, BLOCK):
        scaled = scale_by_float(vld1q_s32(values + i), vld1q_s32(values + i + LANES), scale, zero_point)
        vst1_u8(output + i, bound_unsigned(scaled, lower, upper))
    for i in range(end, length):
        one = vld1q_dup_s32(values + i)
        vst1_lane_u8(output + i, bound_unsigned(scale_by_float(one, one, scale, zero_point), lower, upper), 0)


def floored(value: VectorValue, minus_shift: VectorValue) -> VectorValue:
    """int32x4 divided by 2^shift, rounded down."""
    quotient: VectorValue = vshlq_s32(value, minus_shift)
    return quotient


def _biased(
    load: Callable[[ElementPointer], VectorValue], values: ElementPointer, bias: ElementPointer | None, i: int
) -> VectorValue:
    return load(values + i) if bias is None else vaddq_s32(load(values + i), load(bias + i))


def by_integers(
    divide: Divide, values: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    offset: int, multiplier: int, right_shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """QuantizeDownInt32ToUint8Scale of one row; the arguments after the first are those of kernel_bytes.c.

    `bias` is int32[length] or None, `right_shift` 0..31.  Raises as `requantize_fp32_qs8`.
    """
    offsets, minus_shift = vdupq_n_s32(offset), vdupq_n_s32(-right_shift)

    def scaled(value: VectorValue) -> VectorValue:
        narrowed: VectorValue = vqmovn_s32(divide(vmulq_n_s32(vaddq_s32(value, offsets), multiplier), minus_shift))
        return narrowed

    end = length - length % BLOCK
    for i in range(0, end, BLOCK):
        low, high = (scaled(_biased(vld1q_s32, values, bias, at)) for at in (i, i + LANES))
        vst1_u8(output + i, bound_unsigned(vcombine_s16(low, high), lower, upper))
    for i in range(end, length):
        one = scaled(_biased(vld1q_dup_s32, values, bias, i))
        vst1_lane_u8(output + i, bound_unsigned(vcombine_s16(one, one), lower, upper), 0)


requantize_integer_floor = partial(by_integers, floored)
requantize_integer_ties_away = partial(by_integers, divide_ties_away)
