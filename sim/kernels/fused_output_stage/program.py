"""fused_output_stage as a sequence of intrinsics, step by step what kernel.c does.

Terms of the offsets as in offset_contribution, output stages of quantize_down's parts. The arguments are those of
kernel.c; pointers are to int32 and uint8, None for null. All raise TypeError for pointers of other dtypes, ValueError
for a number out of range, and what the memory raises for an access that it does not allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_s32,
    vdupq_n_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmaxq_s32,
    vminq_s32,
    vmlaq_n_s32,
    vmulq_n_s32,
    vqrdmulhq_n_s32,
    vrshlq_s32,
    vshlq_s32,
    vst1q_lane_u8,
    vst1q_u8,
)
from sim.kernels.offset_contribution.program import k_terms, with_row_term
from sim.kernels.quantize_down.program import bound, divide_by_power_of_two, low_bytes, narrow, requantize

LANES, BLOCK = 4, 16
Load = Callable[[ElementPointer], VectorValue]
Finish = Callable[[Sequence[VectorValue]], VectorValue]
"""Four int32x4 to one uint8x16."""


def contribute(
    load: Load, mm: ElementPointer, column_sums: ElementPointer | None, bias: ElementPointer | None,
    a_offset: int, row_terms: VectorValue,
) -> VectorValue:  # fmt: skip
    """Sums with the terms of their columns, of the bias and of their row, wrapped."""
    value = load(mm)
    if column_sums is not None:
        value = vmlaq_n_s32(value, load(column_sums), a_offset)
    if bias is not None:
        value = vaddq_s32(value, load(bias))
    added: VectorValue = vaddq_s32(value, row_terms)
    return added


def each(
    finish: Finish, mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None, output: ElementPointer, columns: int, rows: int, batches: int, batch_step: int,
    k: int, a_offset: int, b_offset: int,
) -> None:  # fmt: skip
    """Rows of all batches, sixteen columns a step, then one at a time, in every lane."""
    constant, end = k_terms(k, a_offset, b_offset), columns - columns % BLOCK
    for row in range(batches * rows):
        sums = column_sums and column_sums + row // rows * batch_step
        terms, first = with_row_term(constant, row_sums and row_sums + row, b_offset), row * columns
        for x in range(0, end, BLOCK):
            places = range(x, x + BLOCK, LANES)
            part = [
                contribute(vld1q_s32, mm + (first + at), sums and sums + at, bias and bias + at, a_offset, terms)
                for at in places
            ]
            vst1q_u8(output + (first + x), finish(part))
        for x in range(end, columns):
            one = contribute(vld1q_dup_s32, mm + (first + x), sums and sums + x, bias and bias + x, a_offset, terms)
            vst1q_lane_u8(output + (first + x), finish([one] * LANES), 0)


def by_fixed_point(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None, output: ElementPointer, columns: int, rows: int, batches: int, column_batches: int,
    k: int, a_offset: int, b_offset: int, multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """fused_output_stage_fixed_point, inside of a `Program`."""
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)

    def finish(part: Sequence[VectorValue]) -> VectorValue:
        return bound(narrow([requantize(four, multiplier, minus_shift, offsets) for four in part]), lower, upper)

    each(finish, mm, column_sums, row_sums, bias, output, columns, rows, batches, 0, k, a_offset, b_offset)


def by_integer_scale(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None, output: ElementPointer, columns: int, rows: int, batches: int, column_batches: int,
    k: int, a_offset: int, b_offset: int, multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """fused_output_stage_integer_scale, inside of a `Program`."""
    minus_shift, offsets, zero = vdupq_n_s32(-shift), vdupq_n_s32(offset), vdupq_n_s32(0)

    def finish(part: Sequence[VectorValue]) -> VectorValue:
        multiplied = [vmulq_n_s32(vaddq_s32(four, offsets), multiplier) for four in part]
        return bound(narrow([vmaxq_s32(vshlq_s32(four, minus_shift), zero) for four in multiplied]), lower, upper)

    each(finish, mm, column_sums, row_sums, bias, output, columns, rows, batches, 0, k, a_offset, b_offset)


def by_assembly(
    mm: ElementPointer, column_sums: ElementPointer | None, row_sums: ElementPointer | None,
    bias: ElementPointer | None, output: ElementPointer, columns: int, rows: int, batches: int, column_batches: int,
    k: int, a_offset: int, b_offset: int, multiplier: int, shift: int, offset: int, lower: int, upper: int,
) -> None:  # fmt: skip
    """fused_output_stage_assembly, inside of a `Program`."""
    minus_shift, offsets = vdupq_n_s32(-shift), vdupq_n_s32(offset)
    lowest, highest = vdupq_n_s32(lower), vdupq_n_s32(upper)
    divide = vrshlq_s32 if lower >= offset else divide_by_power_of_two

    def finish(part: Sequence[VectorValue]) -> VectorValue:
        shifted = [divide(vqrdmulhq_n_s32(four, multiplier), minus_shift) for four in part]
        return low_bytes([vminq_s32(vmaxq_s32(vaddq_s32(four, offsets), lowest), highest) for four in shifted])

    step = columns if column_batches > 1 else 0
    each(finish, mm, column_sums, row_sums, bias, output, columns, rows, batches, step, k, a_offset, b_offset)
