"""quantize_down as a sequence of intrinsics, step by step what kernel.c does.

Sixteen lanes a step; the last (length mod 16) elements go one at a time, each in every lane of a vector.
Arithmetic: spec/quantize_down.md, "Lanes against tail".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from isa.intrinsics import (
    Pointer,
    Program,
    ProgramMemory,
    VectorValue,
    vaddq_s32,
    vandq_s32,
    vcombine_s16,
    vcombine_u8,
    vdupq_n_s32,
    vdupq_n_u8,
    vld1q_dup_s32,
    vld1q_s32,
    vmaxq_s32,
    vmaxq_u8,
    vminq_u8,
    vqaddq_s32,
    vqmovn_s32,
    vqmovun_s16,
    vqrdmulhq_n_s32,
    vrshlq_s32,
    vshrq_n_s32,
    vst1q_lane_u8,
    vst1q_u8,
)

LANES, BLOCK = 4, 16


def divide_by_power_of_two(value: VectorValue, minus_shift: VectorValue) -> VectorValue:
    """int32x4 divided by 2^shift, to the nearest, ties away from zero; every lane of `minus_shift` is -shift."""
    fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31)
    quotient: VectorValue = vrshlq_s32(vqaddq_s32(value, fix), minus_shift)
    return quotient


def requantize(value: VectorValue, multiplier: int, minus_shift: VectorValue, offsets: VectorValue) -> VectorValue:
    """int32x4 after the multiply, the shift, the offset and the clamp at 0."""
    scaled = divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), minus_shift)
    positive: VectorValue = vmaxq_s32(vaddq_s32(scaled, offsets), vdupq_n_s32(0))
    return positive


def narrow(part: Sequence[VectorValue]) -> VectorValue:
    """Four int32x4, none negative, as one uint8x16, saturated."""
    low = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]))
    high = vcombine_s16(vqmovn_s32(part[2]), vqmovn_s32(part[3]))
    packed: VectorValue = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high))
    return packed


def bound(values: VectorValue, lower: int, upper: int) -> VectorValue:
    """uint8x16 raised to `lower`, then lowered to `upper`."""
    bounded: VectorValue = vminq_u8(vmaxq_u8(values, vdupq_n_u8(lower)), vdupq_n_u8(upper))
    return bounded


def load_biased(accumulators: Pointer, bias: Pointer | None) -> VectorValue:
    """Four accumulators, each with its bias, wrapped."""
    value: VectorValue = vld1q_s32(accumulators)
    return value if bias is None else vaddq_s32(value, vld1q_s32(bias))


def load_one_biased(accumulator: Pointer, bias: Pointer | None) -> VectorValue:
    """One accumulator with its bias, in every lane."""
    value: VectorValue = vld1q_dup_s32(accumulator)
    return value if bias is None else vaddq_s32(value, vld1q_dup_s32(bias))


def quantize_row(
    accumulators: Pointer, bias: Pointer | None, output: Pointer, length: int,
    multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """One row of int32 accumulators to uint8, inside of a `Program`; the arguments are those of kernel.c.

    `bias` is int32[length] or None, `shift` 0..31, `multiplier` and `offset` int32; `lower` and `upper` are 0 and 255
    where the operator is not bounded.  Raises TypeError for pointers of other dtypes, ValueError for a number out of
    range, and what the memory raises for an access that it does not allow.
    """
    _require_shift(shift)
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)
    end = length - length % BLOCK
    for i in range(0, end, BLOCK):
        columns = [i + LANES * k for k in range(BLOCK // LANES)]
        loaded = [load_biased(accumulators + at, bias and bias + at) for at in columns]
        part = [requantize(value, multiplier, minus_shift, offsets) for value in loaded]
        vst1q_u8(output + i, bound(narrow(part), lower, upper))
    for i in range(end, length):
        value = load_one_biased(accumulators + i, bias and bias + i)
        one = requantize(value, multiplier, minus_shift, offsets)
        vst1q_lane_u8(output + i, bound(narrow([one] * 4), lower, upper), 0)


def run(
    memory: ProgramMemory, accumulators: Pointer, bias: Pointer | None, output: Pointer, shape: Sequence[int],
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


def _require_shift(shift: int) -> None:
    if not 0 <= shift <= 31:
        raise ValueError(f"shift is {shift}: the kernel divides by 2^shift for 0..31")
