"""requantize in fixed point as a sequence of intrinsics: four columns a step, then one column in every lane."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_s32,
    vandq_s32,
    vcombine_s32,
    vdupq_n_s32,
    vget_low_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vmaxq_s32,
    vminq_s32,
    vmovl_high_s32,
    vmovl_s32,
    vmovn_s64,
    vmull_high_s32,
    vmull_s32,
    vqaddq_s32,
    vqdmulhq_s32,
    vqrdmulhq_s32,
    vrshlq_s32,
    vrshlq_s64,
    vrshrn_n_s64,
    vshlq_s32,
    vshlq_s64,
    vshrq_n_s32,
    vst1q_lane_s32,
    vst1q_s32,
    vsubq_s32,
)

Rule = Callable[[VectorValue, VectorValue, VectorValue], VectorValue]
"""int32x4 values, multipliers and left shifts (negative to the right) to int32x4."""
LANES = 4


def shift_left(value: VectorValue, shift: VectorValue) -> VectorValue:
    """int32x4 by the positive shifts, wrapped."""
    shifted: VectorValue = vshlq_s32(value, vmaxq_s32(shift, vdupq_n_s32(0)))
    return shifted


def minus_right(shift: VectorValue) -> VectorValue:
    """The negative shifts, 0 for the others."""
    negative: VectorValue = vminq_s32(shift, vdupq_n_s32(0))
    return negative


def divide_ties_away(value: VectorValue, minus_shift: VectorValue) -> VectorValue:
    """int32x4 divided by 2^shift, to the nearest, ties away from zero."""
    fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31)
    quotient: VectorValue = vrshlq_s32(vqaddq_s32(value, fix), minus_shift)
    return quotient


def products(value: VectorValue, multiplier: VectorValue) -> tuple[VectorValue, VectorValue]:
    """The four 64-bit products, as int64x2 of the low lanes and of the high ones."""
    return vmull_s32(vget_low_s32(value), vget_low_s32(multiplier)), vmull_high_s32(value, multiplier)


def double_rounding(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """TFLite, default build."""
    return divide_ties_away(vqrdmulhq_s32(shift_left(value, shift), multiplier), minus_right(shift))


def double_rounding_ties_up(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """TFLite, the NEON helper for four rows."""
    scaled: VectorValue = vrshlq_s32(vqrdmulhq_s32(shift_left(value, shift), multiplier), minus_right(shift))
    return scaled


def double_rounding_unsaturated(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """CMSIS-NN, default build."""
    low, high = products(shift_left(value, shift), multiplier)
    return divide_ties_away(vcombine_s32(vrshrn_n_s64(low, 31), vrshrn_n_s64(high, 31)), minus_right(shift))


def single_rounding(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """TFLite, single rounding, and ruy."""
    low, high = products(value, multiplier)
    total = vsubq_s32(shift, vdupq_n_s32(31))
    low, high = vrshlq_s64(low, vmovl_s32(vget_low_s32(total))), vrshlq_s64(high, vmovl_high_s32(total))
    narrowed: VectorValue = vcombine_s32(vmovn_s64(low), vmovn_s64(high))
    return narrowed


def single_rounding_narrowed(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """CMSIS-NN, single rounding."""
    low, high = products(value, multiplier)
    but_one = vsubq_s32(shift, vdupq_n_s32(30))
    low, high = vshlq_s64(low, vmovl_s32(vget_low_s32(but_one))), vshlq_s64(high, vmovl_high_s32(but_one))
    doubled = vcombine_s32(vmovn_s64(low), vmovn_s64(high))
    scaled: VectorValue = vshrq_n_s32(vaddq_s32(doubled, vdupq_n_s32(1)), 1)
    return scaled


def single_rounding_by_vector(value: VectorValue, multiplier: VectorValue, shift: VectorValue) -> VectorValue:
    """TFLite, single rounding in NEON."""
    right = vminq_s32(shift, vdupq_n_s32(-1))
    scaled: VectorValue = vrshlq_s32(vqdmulhq_s32(vshlq_s32(value, vsubq_s32(shift, right)), multiplier), right)
    return scaled


def each(
    rule: Rule,
    values: ElementPointer,
    multipliers: ElementPointer,
    left_shifts: ElementPointer,
    output: ElementPointer,
    rows: int,
    columns: int,
) -> None:
    """Every value of int32[rows][columns] by its column's int32 multiplier and left shift, inside of a `Program`.

    The arguments after the rule are those of kernel.c.  Raises TypeError for pointers of other dtypes, and what the
    memory raises for an access that it does not allow.
    """
    end = columns - columns % LANES
    for start in range(0, rows * columns, columns or 1):
        row, written = values + start, output + start
        for c in range(0, end, LANES):
            by = vld1q_s32(multipliers + c), vld1q_s32(left_shifts + c)
            vst1q_s32(written + c, rule(vld1q_s32(row + c), *by))
        for c in range(end, columns):
            by = vld1q_dup_s32(multipliers + c), vld1q_dup_s32(left_shifts + c)
            vst1q_lane_s32(written + c, rule(vld1q_dup_s32(row + c), *by), 0)


PROGRAMS: dict[str, Callable[..., None]] = {
    rule.__name__: partial(each, rule)
    for rule in (
        double_rounding,
        double_rounding_ties_up,
        double_rounding_unsaturated,
        single_rounding,
        single_rounding_narrowed,
        single_rounding_by_vector,
    )
}
"""The function requantize_NAME of kernel.c by its name."""
