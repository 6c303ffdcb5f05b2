"""quantize_down as a sequence of intrinsics, step by step what kernel.c and modes.c do.

Sixteen lanes a step, eight to int16; the last elements go one at a time, each in every lane of a vector.
Arithmetic: docs/spec/quantize_down.md section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NamedTuple

from isa.intrinsics import (
    ElementPointer,
    Program,
    ProgramMemory,
    VectorValue,
    part,
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
Scale = tuple[Any, ...]
"""A function of a vector, and what it takes behind that: a part may have no variables from around it."""
Narrow = tuple[Any, ...]
"""As a Scale, of some vectors."""


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


def divide_cut(
    value: VectorValue, multiplier: int, left: VectorValue, half: VectorValue, minus_right: VectorValue
) -> VectorValue:
    """int32x4 of one number in every lane: 64 bits of the product, shifted left and cut, then the division."""
    product = vshlq_s64(vmull_n_s32(vget_low_s32(value), multiplier), left)
    cut = vshrn_n_s64(vaddq_s64(product, half), 31)
    return divide_by_power_of_two(vcombine_s32(cut, cut), minus_right)


def place(scaled: VectorValue, offsets: VectorValue) -> VectorValue:
    """int32x4 with the offset, clamped at 0."""
    positive: VectorValue = vmaxq_s32(vaddq_s32(scaled, offsets), vdupq_n_s32(0))
    return positive


def requantize(value: VectorValue, multiplier: int, minus_shift: VectorValue, offsets: VectorValue) -> VectorValue:
    """int32x4 after the multiply, the shift, the offset and the clamp at 0."""
    return place(divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), minus_shift), offsets)


def requantize_masked(value: VectorValue, multiplier: int, count: int, offsets: VectorValue) -> VectorValue:
    """`requantize` by 2^count, as scalar code does it."""
    return place(divide_by_masked_shift(vqrdmulhq_n_s32(value, multiplier), count), offsets)


def requantize_shifted(
    value: VectorValue, multiplier: int, left: VectorValue, minus_right: VectorValue, offsets: VectorValue
) -> VectorValue:
    """`requantize` after a shift to the left."""
    return place(shift_and_multiply(value, multiplier, left, minus_right), offsets)


def requantize_down(value: VectorValue, multiplier: int, minus_shift: VectorValue, offsets: VectorValue) -> VectorValue:
    """`requantize` with a shift that rounds down."""
    return place(vshlq_s32(vqrdmulhq_n_s32(value, multiplier), minus_shift), offsets)


def requantize_bounded(
    value: VectorValue, multiplier: int, minus_shift: VectorValue, offsets: VectorValue, lowest: VectorValue,
    highest: VectorValue,
) -> VectorValue:  # fmt: skip
    """`requantize` with two bounds in the place of the clamp at 0."""
    scaled = divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), minus_shift)
    bounded: VectorValue = vminq_s32(vmaxq_s32(vaddq_s32(scaled, offsets), lowest), highest)
    return bounded


def requantize_signed(
    value: VectorValue, multiplier: int, left: VectorValue, minus_right: VectorValue, offsets: VectorValue
) -> VectorValue:
    """`requantize_shifted` without the clamp at 0."""
    placed: VectorValue = vaddq_s32(shift_and_multiply(value, multiplier, left, minus_right), offsets)
    return placed


def narrow(vectors: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4, none negative, as one uint8x16, saturated."""
    low = vcombine_s16(vqmovn_s32(vectors[0]), vqmovn_s32(vectors[1]))
    high = vcombine_s16(vqmovn_s32(vectors[2]), vqmovn_s32(vectors[3]))
    packed: VectorValue = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high))
    return packed


def low_bytes(vectors: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4 modulo 256, as one uint8x16."""
    halves = [vreinterpretq_s16_s32(four) for four in vectors]
    low, high = vuzp1q_s16(halves[0], halves[1]), vuzp1q_s16(halves[2], halves[3])
    packed: VectorValue = vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high))
    return packed


def bound(values: VectorValue, lower: int, upper: int) -> VectorValue:
    """uint8x16 raised to `lower`, then lowered to `upper`."""
    bounded: VectorValue = vminq_u8(vmaxq_u8(values, vdupq_n_u8(lower)), vdupq_n_u8(upper))
    return bounded


def bound_uint8(vectors: Sequence[VectorValue], lower: int, upper: int) -> VectorValue:
    """`narrow`, then `bound`."""
    return bound(narrow(vectors), lower, upper)


def bound_int8(vectors: Sequence[VectorValue], lower: int, upper: int) -> VectorValue:
    """Four int32x4 as one int8x16, saturated, raised to `lower`, then lowered to `upper`."""
    low, high = (vcombine_s16(vqmovn_s32(a), vqmovn_s32(b)) for a, b in (vectors[:2], vectors[2:]))
    packed = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high))
    bounded: VectorValue = vminq_s8(vmaxq_s8(packed, vdupq_n_s8(lower)), vdupq_n_s8(upper))
    return bounded


def bound_int16(vectors: Sequence[VectorValue], lower: int, upper: int) -> VectorValue:
    """Two int32x4 as one int16x8, saturated, raised to `lower`, then lowered to `upper`."""
    packed = vcombine_s16(vqmovn_s32(vectors[0]), vqmovn_s32(vectors[1]))
    bounded: VectorValue = vminq_s16(vmaxq_s16(packed, vdupq_n_s16(lower)), vdupq_n_s16(upper))
    return bounded


def both_shifts(shift: int) -> tuple[VectorValue, VectorValue]:
    """The counts of `shift_and_multiply` that divide by 2^shift, or first multiply by 2^-shift; `shift` is -31..31."""
    return vdupq_n_s32(max(-shift, 0)), vdupq_n_s32(min(-shift, 0))


def shift_and_multiply(value: VectorValue, multiplier: int, left: VectorValue, minus_right: VectorValue) -> VectorValue:
    """int32x4 shifted left, wrapped, multiplied, and divided by a power of two, ties away."""
    return divide_by_power_of_two(vqrdmulhq_n_s32(vshlq_s32(value, left), multiplier), minus_right)


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
    scale = (requantize, multiplier, vdupq_n_s32(-shift), vdupq_n_s32(offset))
    _each_column(accumulators, bias, output, length, scale, scale, (bound_uint8, lower, upper))


def quantize_row_left_shift(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 20.02 and 20.05: `shift` is -31..31, a negative one shifts left before the multiply."""
    _require_shift(shift, -31)
    scale = (requantize_shifted, multiplier, *both_shifts(shift), vdupq_n_s32(offset))
    _each_column(accumulators, bias, output, length, scale, scale, (bound_uint8, lower, upper))


def quantize_row_page(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of the public page: the shift rounds down."""
    _require_shift(shift, 0)
    scale = (requantize_down, multiplier, vdupq_n_s32(-shift), vdupq_n_s32(offset))
    _each_column(accumulators, bias, output, length, scale, scale, (bound_uint8, lower, upper))


def quantize_row_lanes_and_tail(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` for any int32 `shift`: the lanes take its low byte, the tail takes it modulo 32."""
    minus_shift, offsets = vnegq_s32(vdupq_n_s32(shift)), vdupq_n_s32(offset)
    scale = (requantize, multiplier, minus_shift, offsets)
    scale_tail = (requantize_masked, multiplier, shift & 31, offsets)
    _each_column(accumulators, bias, output, length, scale, scale_tail, (bound_uint8, lower, upper))


def quantize_row_fused(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 19.08's fused path: always bounded, by int32 `lower` and `upper`, then the low byte."""
    _require_shift(shift, 0)
    bounds = vdupq_n_s32(lower), vdupq_n_s32(upper)
    scale = (requantize_bounded, multiplier, vdupq_n_s32(-shift), vdupq_n_s32(offset), *bounds)
    _each_column(accumulators, bias, output, length, scale, scale, (low_bytes,))


def quantize_row_s8(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row_left_shift` to int8."""
    _require_shift(shift, -31)
    scale = (requantize_signed, multiplier, *both_shifts(shift), vdupq_n_s32(offset))
    _each_column(accumulators, bias, output, length, scale, scale, (bound_int8, lower, upper), INT8)


def quantize_row_s16(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row` of ACL 19.08 to int16, without an offset."""
    _require_shift(shift, 0)
    scale = (shift_and_multiply, multiplier, *both_shifts(shift))
    _each_column(accumulators, bias, output, length, scale, scale, (bound_int16, lower, upper), INT16)


def quantize_row_s16_lanes_and_tail(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, length: int,
    multiplier: int, shift: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """`quantize_row_s16` of ACL 20.05: `shift` is -30..31, and the tail keeps 64 bits of the product, which it cuts."""
    _require_shift(shift, -30)
    left, minus_right = both_shifts(shift)
    scale = (shift_and_multiply, multiplier, left, minus_right)
    scale_tail = (divide_cut, multiplier, vdupq_n_s64(max(-shift, 0)), vdupq_n_s64(1 << 30), minus_right)
    _each_column(accumulators, bias, output, length, scale, scale_tail, (bound_int16, lower, upper), INT16)


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
    end = length - length % stored.columns
    for i in range(0, end, stored.columns):
        store_step(accumulators + i, bias and bias + i, output + i, scale, narrowed, stored)
    for i in range(end, length):
        store_one(accumulators + i, bias and bias + i, output + i, scale_tail, narrowed, stored)


@part
def store_step(
    accumulators: ElementPointer, bias: ElementPointer | None, output: ElementPointer, scale: Scale, narrowed: Narrow,
    stored: Stored,
) -> None:  # fmt: skip
    """The columns of one step."""
    loaded = [load_biased(accumulators + at, bias and bias + at) for at in range(0, stored.columns, LANES)]
    stored.vector(output, _applied(narrowed, [_applied(scale, value) for value in loaded]))


@part
def store_one(
    accumulator: ElementPointer, bias: ElementPointer | None, output: ElementPointer, scale: Scale, narrowed: Narrow,
    stored: Stored,
) -> None:  # fmt: skip
    """One column, from lane 0."""
    one = _applied(scale, load_one_biased(accumulator, bias))
    stored.lane(output, _applied(narrowed, [one] * (stored.columns // LANES)), 0)


def _applied(function_with: tuple[Any, ...], value: object) -> VectorValue:
    """What a Scale or a Narrow makes of a value."""
    function, *others = function_with
    made: VectorValue = function(value, *others)
    return made


def _require_shift(shift: int, lowest: int) -> None:
    if not lowest <= shift <= 31:
        raise ValueError(f"shift is {shift}: the kernel divides by 2^shift for {lowest}..31")
