"""quantize_down as a sequence of intrinsics, step by step what kernel.c and modes.c do.

Sixteen lanes a step, eight to int16; the last elements go one at a time, each in every lane of a vector.
Arithmetic: docs/spec/quantize_down.md section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final, NamedTuple

from isa.intrinsics import (
    ElementPointer,
    Program,
    ProgramMemory,
    VectorValue,
    vaddq_s32,
    vaddq_s64,
    vandq_s32,
    vcgtq_s32,
    vcombine_s8,
    vcombine_s16,
    vcombine_s32,
    vcombine_u8,
    vdupq_n_s8,
    vdupq_n_s16,
    vdupq_n_s32,
    vdupq_n_s64,
    vdupq_n_u8,
    vget_low_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmaxq_s8,
    vmaxq_s16,
    vmaxq_s32,
    vmaxq_u8,
    vminq_s8,
    vminq_s16,
    vminq_s32,
    vminq_u8,
    vmull_n_s32,
    vnegq_s32,
    vqaddq_s32,
    vqmovn_s16,
    vqmovn_s32,
    vqmovun_s16,
    vqrdmulhq_n_s32,
    vreinterpretq_s16_s32,
    vreinterpretq_s32_u32,
    vreinterpretq_u8_s16,
    vrshlq_s32,
    vshlq_s32,
    vshlq_s64,
    vshrn_n_s64,
    vshrq_n_s32,
    vst1q_lane_s8,
    vst1q_lane_s16,
    vst1q_lane_u8,
    vst1q_s8,
    vst1q_s16,
    vst1q_u8,
    vsubq_s32,
    vuzp1q_s16,
    vuzp1q_u8,
)

LANES = 4


class Stored(NamedTuple):
    """How an output is stored: a vector of `columns`, or one lane of it."""

    columns: int
    vector: Callable[[ElementPointer, VectorValue], None]
    lane: Callable[[ElementPointer, VectorValue, int], None]


UINT8: Final = Stored(16, vst1q_u8, vst1q_lane_u8)
INT8: Final = Stored(16, vst1q_s8, vst1q_lane_s8)
INT16: Final = Stored(8, vst1q_s16, vst1q_lane_s16)
Scale = Callable[[VectorValue], VectorValue]
Narrow = Callable[[Sequence[VectorValue]], VectorValue]


def divide_by_power_of_two(value: VectorValue, minus_shift: VectorValue) -> VectorValue:
    """int32x4 divided by 2^shift, to the nearest, ties away from zero; every lane of `minus_shift` is -shift."""
    fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31)
    quotient: VectorValue = vrshlq_s32(vqaddq_s32(value, fix), minus_shift)
    return quotient


def divide_by_masked_shift(value: VectorValue, count: int) -> VectorValue:
    """int32x4 divided by 2^count, count 0..31, ties away: the remainder against a threshold, as scalar code does."""
    mask = (1 << count) - 1
    remainder = vandq_s32(value, vdupq_n_s32(mask))
    threshold = vsubq_s32(vdupq_n_s32(mask >> 1), vshrq_n_s32(value, 31))
    exceeds = vreinterpretq_s32_u32(vcgtq_s32(remainder, threshold))
    quotient: VectorValue = vsubq_s32(vshlq_s32(value, vdupq_n_s32(-count)), exceeds)
    return quotient


def place(scaled: VectorValue, offsets: VectorValue) -> VectorValue:
    """int32x4 with the offset, clamped at 0."""
    positive: VectorValue = vmaxq_s32(vaddq_s32(scaled, offsets), vdupq_n_s32(0))
    return positive


def requantize(value: VectorValue, multiplier: int, minus_shift: VectorValue, offsets: VectorValue) -> VectorValue:
    """int32x4 after the multiply, the shift, the offset and the clamp at 0."""
    return place(divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), minus_shift), offsets)


def narrow(part: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4, none negative, as one uint8x16, saturated."""
    low = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]))
    high = vcombine_s16(vqmovn_s32(part[2]), vqmovn_s32(part[3]))
    packed: VectorValue = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high))
    return packed


def low_bytes(part: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4 modulo 256, as one uint8x16."""
    halves = [vreinterpretq_s16_s32(four) for four in part]
    low, high = vuzp1q_s16(halves[0], halves[1]), vuzp1q_s16(halves[2], halves[3])
    packed: VectorValue = vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high))
    return packed


def bound(values: VectorValue, lower: int, upper: int) -> VectorValue:
    """uint8x16 raised to `lower`, then lowered to `upper`."""
    bounded: VectorValue = vminq_u8(vmaxq_u8(values, vdupq_n_u8(lower)), vdupq_n_u8(upper))
    return bounded


def bound_int8(part: Sequence[VectorValue], lower: int, upper: int) -> VectorValue:
    """Four int32x4 as one int8x16, saturated, raised to `lower`, then lowered to `upper`."""
    low, high = (vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)) for a, b in (part[:2], part[2:]))
    packed = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high))
    bounded: VectorValue = vminq_s8(vmaxq_s8(packed, vdupq_n_s8(lower)), vdupq_n_s8(upper))
    return bounded


def bound_int16(part: Sequence[VectorValue], lower: int, upper: int) -> VectorValue:
    """Two int32x4 as one int16x8, saturated, raised to `lower`, then lowered to `upper`."""
    packed = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]))
    bounded: VectorValue = vminq_s16(vmaxq_s16(packed, vdupq_n_s16(lower)), vdupq_n_s16(upper))
    return bounded


def shift_and_multiply(multiplier: int, shift: int) -> Scale:
    """The multiply and the division by 2^shift, ties away, or first 2^-shift times, wrapped; `shift` is -31..31."""
    left, minus_right = vdupq_n_s32(max(-shift, 0)), vdupq_n_s32(min(-shift, 0))

    def scale(value: VectorValue) -> VectorValue:
        return divide_by_power_of_two(vqrdmulhq_n_s32(vshlq_s32(value, left), multiplier), minus_right)

    return scale


def load_biased(accumulators: ElementPointer, bias: ElementPointer | None) -> VectorValue:
    """Four accumulators, each with its bias, wrapped."""
    value: VectorValue = vld1q_s32(accumulators)
    return value if bias is None else vaddq_s32(value, vld1q_s32(bias))


def load_one_biased(accumulator: ElementPointer, bias: ElementPointer | None) -> VectorValue:
    """One accumulator with its bias, in every lane."""
    value: VectorValue = vld1q_dup_s32(accumulator)
    return value if bias is None else vaddq_s32(value, vld1q_dup_s32(bias))


def quantize_row(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """One row of int32 accumulators to uint8, inside of a `Program`; the arguments are those of kernel.c.

    `bias` is int32[length] or None, `shift` 0..31, `multiplier` and `offset` int32; `lower` and `upper` are 0 and 255
    where the operator is not bounded.  Raises TypeError for pointers of other dtypes, ValueError for a number out of
    range, and what the memory raises for an access that it does not allow.
    """
    _require_shift(shift, 0)
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)

    def scale(value: VectorValue) -> VectorValue:
        return requantize(value, multiplier, minus_shift, offsets)

    _each_column(accumulators, bias, output, length, scale, scale, lambda part: bound(narrow(part), lower, upper))


def quantize_row_left_shift(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 20.02 and 20.05: `shift` is -31..31, a negative one shifts left before the multiply."""
    _require_shift(shift, -31)
    offsets, scaled = vdupq_n_s32(offset), shift_and_multiply(multiplier, shift)

    def scale(value: VectorValue) -> VectorValue:
        return place(scaled(value), offsets)

    _each_column(accumulators, bias, output, length, scale, scale, lambda part: bound(narrow(part), lower, upper))


def quantize_row_page(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of the public page: the shift rounds down."""
    _require_shift(shift, 0)
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)

    def scale(value: VectorValue) -> VectorValue:
        return place(vshlq_s32(vqrdmulhq_n_s32(value, multiplier), minus_shift), offsets)

    _each_column(accumulators, bias, output, length, scale, scale, lambda part: bound(narrow(part), lower, upper))


def quantize_row_lanes_and_tail(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` for any int32 `shift`: the lanes take its low byte, the tail takes it modulo 32."""
    minus_shift, offsets = vnegq_s32(vdupq_n_s32(shift)), vdupq_n_s32(offset)

    def scale(value: VectorValue) -> VectorValue:
        return requantize(value, multiplier, minus_shift, offsets)

    def scale_tail(value: VectorValue) -> VectorValue:
        return place(divide_by_masked_shift(vqrdmulhq_n_s32(value, multiplier), shift & 31), offsets)

    _each_column(accumulators, bias, output, length, scale, scale_tail, lambda part: bound(narrow(part), lower, upper))


def quantize_row_fused(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 19.08's fused path: always bounded, by int32 `lower` and `upper`, then the low byte."""
    _require_shift(shift, 0)
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)
    lowest, highest = vdupq_n_s32(lower), vdupq_n_s32(upper)

    def scale(value: VectorValue) -> VectorValue:
        scaled = divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), minus_shift)
        bounded: VectorValue = vminq_s32(vmaxq_s32(vaddq_s32(scaled, offsets), lowest), highest)
        return bounded

    _each_column(accumulators, bias, output, length, scale, scale, low_bytes)


def quantize_row_s8(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row_left_shift` to int8."""
    _require_shift(shift, -31)
    offsets, scaled = vdupq_n_s32(offset), shift_and_multiply(multiplier, shift)

    def scale(value: VectorValue) -> VectorValue:
        placed: VectorValue = vaddq_s32(scaled(value), offsets)
        return placed

    _each_column(accumulators, bias, output, length, scale, scale, lambda part: bound_int8(part, lower, upper), INT8)


def quantize_row_s16(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 19.08 to int16, without an offset."""
    _require_shift(shift, 0)
    scale = shift_and_multiply(multiplier, shift)
    _each_column(accumulators, bias, output, length, scale, scale, lambda part: bound_int16(part, lower, upper), INT16)


def quantize_row_s16_lanes_and_tail(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row_s16` of ACL 20.05: `shift` is -30..31, and the tail keeps 64 bits of the product, which it cuts."""
    _require_shift(shift, -30)
    left, minus_right = vdupq_n_s64(max(-shift, 0)), vdupq_n_s32(min(-shift, 0))
    half, scale = vdupq_n_s64(1 << 30), shift_and_multiply(multiplier, shift)

    def scale_tail(value: VectorValue) -> VectorValue:
        product = vshlq_s64(vmull_n_s32(vget_low_s32(value), multiplier), left)
        cut = vshrn_n_s64(vaddq_s64(product, half), 31)
        return divide_by_power_of_two(vcombine_s32(cut, cut), minus_right)

    _each_column(
        accumulators, bias, output, length, scale, scale_tail, lambda part: bound_int16(part, lower, upper), INT16
    )


def run(
    memory: ProgramMemory, accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer,
    shape: Sequence[int],
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> Program:  # fmt: skip
    """`quantize_row` on every row of a contiguous array of this shape; the program that ran, for listing and trace.

    The last axis is the row; all rows share the bias.  Raises ValueError for an empty shape, else as `quantize_row`.
    """
    if not shape:
        raise ValueError("shape is (): give at least one axis, the last one is the row")
    *outer, length = shape
    with Program(memory) as program:
        for start in range(0, prod(outer) * length, length or 1):
            quantize_row(
                accumulators + start, bias, output + start, length, multiplier, shift, offset, lower, upper
            )  # fmt: skip
    return program


def _each_column(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    scale: Scale, scale_tail: Scale, narrowed: Narrow, stored: Stored = UINT8,
) -> None:  # fmt: skip
    """As many columns as are stored a step by `scale`, then one at a time, in every lane, by `scale_tail`."""
    block = stored.columns
    end = length - length % block
    for i in range(0, end, block):
        columns = range(i, i + block, LANES)
        loaded = [load_biased(accumulators + at, bias and bias + at) for at in columns]
        stored.vector(output + i, narrowed([scale(value) for value in loaded]))
    for i in range(end, length):
        one = scale_tail(load_one_biased(accumulators + i, bias and bias + i))
        stored.lane(output + i, narrowed([one] * (block // LANES)), 0)


def _require_shift(shift: int, lowest: int) -> None:
    if not lowest <= shift <= 31:
        raise ValueError(f"shift is {shift}: the kernel divides by 2^shift for {lowest}..31")
