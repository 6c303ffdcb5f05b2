"""arithmetic_addition as a sequence of intrinsics: a register a step, then one element in every lane of a vector.

All raise TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow; the
arguments are those of kernel.c.  Arithmetic: docs/spec/neighbours.md section 19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_f32,
    vaddq_s16,
    vaddq_s32,
    vaddq_u8,
    vcombine_s16,
    vcombine_u8,
    vcvtaq_s32_f32,
    vcvtnq_s32_f32,
    vcvtq_f32_s32,
    vdivq_f32,
    vdupq_n_f32,
    vdupq_n_s32,
    vfmaq_f32,
    vget_high_s16,
    vget_high_u8,
    vget_high_u16,
    vget_low_s16,
    vget_low_u8,
    vget_low_u16,
    vld1q_dup_s16,
    vld1q_dup_u8,
    vld1q_s16,
    vld1q_u8,
    vmovl_s16,
    vmovl_u8,
    vmovl_u16,
    vmulq_f32,
    vqaddq_s16,
    vqaddq_u8,
    vqmovn_s32,
    vqmovun_s16,
    vreinterpretq_s32_u32,
    vst1q_lane_s16,
    vst1q_lane_u8,
    vst1q_s16,
    vst1q_u8,
    vsubq_s32,
)

Two = Callable[[VectorValue, VectorValue], VectorValue]
Quantize = Callable[[VectorValue], VectorValue]
"""float32x4 to int32x4."""


class AddedElements(NamedTuple):
    """How those of one type are moved, `step` at once or one."""

    step: int
    load: Callable[[ElementPointer], VectorValue]
    load_one: Callable[[ElementPointer], VectorValue]
    store: Callable[[ElementPointer, VectorValue], None]
    store_one: Callable[[ElementPointer, VectorValue, int], None]


UINT8: Final = AddedElements(16, vld1q_u8, vld1q_dup_u8, vst1q_u8, vst1q_lane_u8)
INT16: Final = AddedElements(8, vld1q_s16, vld1q_dup_s16, vst1q_s16, vst1q_lane_s16)


def add_integers(
    by: AddedElements, add: Two, a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int
) -> None:
    """One row of integers, by an addition that wraps or saturates."""
    end = length - length % by.step
    for i in range(0, end, by.step):
        by.store(output + i, add(by.load(a + i), by.load(b + i)))
    for i in range(end, length):
        by.store_one(output + i, add(by.load_one(a + i), by.load_one(b + i)), 0)


def four_words(numbers: VectorValue) -> list[VectorValue]:
    """uint8x16 as four int32x4."""
    halves = [vmovl_u8(half(numbers)) for half in (vget_low_u8, vget_high_u8)]
    return [vreinterpretq_s32_u32(vmovl_u16(part(half))) for half in halves for part in (vget_low_u16, vget_high_u16)]


def two_words(numbers: VectorValue) -> list[VectorValue]:
    """int16x8 as two int32x4."""
    return [vmovl_s16(vget_low_s16(numbers)), vmovl_s16(vget_high_s16(numbers))]


def dequantize(numbers: VectorValue, zero: int, scale: float) -> VectorValue:
    """int32x4 as float32x4."""
    real: VectorValue = vmulq_f32(vcvtq_f32_s32(vsubq_s32(numbers, vdupq_n_s32(zero))), vdupq_n_f32(scale))
    return real


def narrow_to_int16(words: Sequence[VectorValue]) -> VectorValue:
    """Two int32x4 as int16x8, saturated."""
    narrowed: VectorValue = vcombine_s16(vqmovn_s32(words[0]), vqmovn_s32(words[1]))
    return narrowed


def narrow_to_uint8(words: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4 as uint8x16, saturated."""
    low, high = (vqmovun_s16(narrow_to_int16(two)) for two in (words[:2], words[2:]))
    narrowed: VectorValue = vcombine_u8(low, high)
    return narrowed


def quantizers(scale: float, zero: int, is_fused: bool) -> tuple[Quantize, Quantize]:
    """How a step quantizes, by the reciprocal of the scale, ties to even, and how the tail does, ties away."""
    reciprocal, zeros = vdivq_f32(vdupq_n_f32(1.0), vdupq_n_f32(scale)), vdupq_n_f32(float(zero))

    def lanes(total: VectorValue) -> VectorValue:
        placed = vfmaq_f32(zeros, total, reciprocal) if is_fused else vaddq_f32(zeros, vmulq_f32(total, reciprocal))
        rounded: VectorValue = vcvtnq_s32_f32(placed)
        return rounded

    def tail(total: VectorValue) -> VectorValue:
        rounded: VectorValue = vaddq_s32(vcvtaq_s32_f32(vdivq_f32(total, vdupq_n_f32(scale))), vdupq_n_s32(zero))
        return rounded

    return lanes, tail


def add_qasymm8(
    is_fused: bool, a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int,
    a_zero: int, b_zero: int, output_zero: int, a_scale: float, b_scale: float, output_scale: float,
) -> None:  # fmt: skip
    """One row of bytes with scales and zero points."""

    def sums(x: VectorValue, y: VectorValue) -> list[VectorValue]:
        pairs = zip(four_words(x), four_words(y), strict=True)
        return [vaddq_f32(dequantize(p, a_zero, a_scale), dequantize(q, b_zero, b_scale)) for p, q in pairs]

    lanes, tail = quantizers(output_scale, output_zero, is_fused)
    end = length - length % UINT8.step
    for i in range(0, end, UINT8.step):
        vst1q_u8(output + i, narrow_to_uint8([lanes(total) for total in sums(vld1q_u8(a + i), vld1q_u8(b + i))]))
    for i in range(end, length):
        totals = sums(vld1q_dup_u8(a + i), vld1q_dup_u8(b + i))
        vst1q_lane_u8(output + i, narrow_to_uint8([tail(total) for total in totals]), 0)


def add_qsymm16(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int,
    a_scale: float, b_scale: float, output_scale: float,
) -> None:  # fmt: skip
    """One row of 16-bit numbers with scales."""
    scale = vdupq_n_f32(output_scale)
    reciprocal = vdivq_f32(vdupq_n_f32(1.0), scale)

    def sums(x: VectorValue, y: VectorValue) -> list[VectorValue]:
        pairs = zip(two_words(x), two_words(y), strict=True)
        return [vaddq_f32(dequantize(p, 0, a_scale), dequantize(q, 0, b_scale)) for p, q in pairs]

    end = length - length % INT16.step
    for i in range(0, end, INT16.step):
        totals = sums(vld1q_s16(a + i), vld1q_s16(b + i))
        vst1q_s16(output + i, narrow_to_int16([vcvtnq_s32_f32(vmulq_f32(total, reciprocal)) for total in totals]))
    for i in range(end, length):
        totals = sums(vld1q_dup_s16(a + i), vld1q_dup_s16(b + i))
        rounded = [vcvtaq_s32_f32(vdivq_f32(total, scale)) for total in totals]
        vst1q_lane_s16(output + i, narrow_to_int16(rounded), 0)


PROGRAMS: Final[dict[str, Callable[..., None]]] = {
    "u8_wrap": partial(add_integers, UINT8, vaddq_u8),
    "u8_saturate": partial(add_integers, UINT8, vqaddq_u8),
    "s16_wrap": partial(add_integers, INT16, vaddq_s16),
    "s16_saturate": partial(add_integers, INT16, vqaddq_s16),
    "qasymm8_unfused": partial(add_qasymm8, False),
    "qasymm8_fused": partial(add_qasymm8, True),
    "qsymm16": add_qsymm16,
}
