"""The integer add in intrinsics, step by step what tflite.c does: 16 lanes a step, then one element at a time."""

from __future__ import annotations

from typing import NamedTuple

from isa import intrinsics as neon
from isa.intrinsics import ElementPointer, VectorValue
from sim.kernels.quantized_add.program import narrow


class ScaleVectors(NamedTuple):
    """A multiplier, and in every lane of an int32x4 a shift, -31..0, and the offset that goes with them."""

    offset: VectorValue
    multiplier: int
    shift: VectorValue

    @classmethod
    def of(cls, offset: int, multiplier: int, shift: int) -> ScaleVectors:
        return cls(neon.vdupq_n_s32(offset), multiplier, neon.vdupq_n_s32(shift))


def rescale(value: VectorValue, by: ScaleVectors) -> VectorValue:
    """int32x4 times the multiplier, ties up, then shifted to the right, ties away from zero."""
    high = neon.vqrdmulhq_n_s32(value, by.multiplier)
    fix = neon.vshrq_n_s32(neon.vandq_s32(high, by.shift), 31)
    scaled: VectorValue = neon.vrshlq_s32(neon.vqaddq_s32(high, fix), by.shift)
    return scaled


def place(values: VectorValue, by: ScaleVectors, left_shift: VectorValue) -> VectorValue:
    """uint16x4 less the zero point, shifted to the left and rescaled."""
    difference = neon.vaddq_s32(neon.vreinterpretq_s32_u32(neon.vmovl_u16(values)), by.offset)
    return rescale(neon.vshlq_s32(difference, left_shift), by)


def add_row_in_integers(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int, a_offset: int, a_multiplier: int,
    a_shift: int,
    b_offset: int, b_multiplier: int, b_shift: int, left_shift: int, offset: int, multiplier: int, shift: int,
    lower: int, upper: int,
) -> None:  # fmt: skip
    """uint8[length], inside of a `Program`; arguments as in tflite.c."""
    by_a, by_b = ScaleVectors.of(a_offset, a_multiplier, a_shift), ScaleVectors.of(b_offset, b_multiplier, b_shift)
    by_total, left = ScaleVectors.of(offset, multiplier, shift), neon.vdupq_n_s32(left_shift)
    lowest, highest = neon.vdup_n_u8(lower), neon.vdup_n_u8(upper)

    def add_four(x: VectorValue, y: VectorValue) -> VectorValue:
        total = neon.vaddq_s32(place(x, by_a, left), place(y, by_b, left))
        placed: VectorValue = neon.vaddq_s32(rescale(total, by_total), by_total.offset)
        return placed

    def add_eight(x: VectorValue, y: VectorValue) -> VectorValue:
        wide_x, wide_y = neon.vmovl_u8(x), neon.vmovl_u8(y)
        low = add_four(neon.vget_low_u16(wide_x), neon.vget_low_u16(wide_y))
        high = add_four(neon.vget_high_u16(wide_x), neon.vget_high_u16(wide_y))
        bounded: VectorValue = neon.vmin_u8(neon.vmax_u8(narrow(low, high), lowest), highest)
        return bounded

    end = length - length % 16
    for i in range(0, end, 16):
        x, y = neon.vld1q_u8(a + i), neon.vld1q_u8(b + i)
        first = add_eight(neon.vget_low_u8(x), neon.vget_low_u8(y))
        neon.vst1q_u8(output + i, neon.vcombine_u8(first, add_eight(neon.vget_high_u8(x), neon.vget_high_u8(y))))
    for i in range(end, length):
        neon.vst1_lane_u8(output + i, add_eight(neon.vld1_dup_u8(a + i), neon.vld1_dup_u8(b + i)), 0)


def add_row_of_16_bits(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int, a_multiplier: int, a_shift: int,
    b_multiplier: int, b_shift: int, left_shift: int, multiplier: int, shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """int16[length], inside of a `Program`; arguments as in tflite.c."""
    by_a, by_b = ScaleVectors.of(0, a_multiplier, a_shift), ScaleVectors.of(0, b_multiplier, b_shift)
    by_total, left = ScaleVectors.of(0, multiplier, shift), neon.vdupq_n_s32(left_shift)
    lowest, highest = neon.vdupq_n_s16(lower), neon.vdupq_n_s16(upper)

    def add_four(x: VectorValue, y: VectorValue) -> VectorValue:
        placed = (rescale(neon.vshlq_s32(neon.vmovl_s16(part), left), by) for part, by in ((x, by_a), (y, by_b)))
        total: VectorValue = neon.vqmovn_s32(rescale(neon.vaddq_s32(*placed), by_total))
        return total

    end = length - length % 8
    for i in (*range(0, end, 8), *range(end, length)):
        load = neon.vld1q_s16 if i < end else neon.vld1q_dup_s16
        x, y = load(a + i), load(b + i)
        low = add_four(neon.vget_low_s16(x), neon.vget_low_s16(y))
        sums = neon.vcombine_s16(low, add_four(neon.vget_high_s16(x), neon.vget_high_s16(y)))
        bounded = neon.vminq_s16(neon.vmaxq_s16(sums, lowest), highest)
        if i < end:
            neon.vst1q_s16(output + i, bounded)
        else:
            neon.vst1q_lane_s16(output + i, bounded, 0)


def add_row_by_powers_of_two(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int, a_shift: int, b_shift: int,
    lower: int, upper: int,
) -> None:  # fmt: skip
    """int16[length], inside of a `Program`; arguments as in tflite.c."""
    kept, moved, shift = (b, a, a_shift) if a_shift else (a, b, b_shift)
    shifts, one = neon.vdupq_n_s16(shift), neon.vdupq_n_s16(1)
    lowest, highest = neon.vdupq_n_s16(lower), neon.vdupq_n_s16(upper)

    def divide(values: VectorValue) -> VectorValue:
        if shift < -15:
            sign: VectorValue = neon.vorrq_s16(neon.vshrq_n_s16(values, 15), one)
            return sign
        fix = neon.vshrq_n_s16(neon.vandq_s16(values, shifts), 15)
        quotient: VectorValue = neon.vrshlq_s16(neon.vqaddq_s16(values, fix), shifts)
        return quotient

    end = length - length % 8
    for i in (*range(0, end, 8), *range(end, length)):
        load = neon.vld1q_s16 if i < end else neon.vld1q_dup_s16
        sums = neon.vqaddq_s16(load(kept + i), divide(load(moved + i)))
        bounded = neon.vminq_s16(neon.vmaxq_s16(sums, lowest), highest)
        if i < end:
            neon.vst1q_s16(output + i, bounded)
        else:
            neon.vst1q_lane_s16(output + i, bounded, 0)
