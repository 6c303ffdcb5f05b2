"""quantized_multiplier as a sequence of intrinsics: four lanes a step, then one value at a time in every lane."""

from __future__ import annotations

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vandq_s32,
    vdupq_n_s32,
    vld1q_dup_s32,
    vld1q_s32,
    vqaddq_s32,
    vqrdmulhq_n_s32,
    vrshlq_s32,
    vshlq_s32,
    vshrq_n_s32,
    vst1q_lane_s32,
    vst1q_s32,
)

LANES = 4


def divide_by_power_of_two(value: VectorValue, minus_shift: VectorValue) -> VectorValue:
    """int32x4 divided by 2^shift, to the nearest, ties away from zero; `minus_shift` holds -31..0."""
    fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31)
    quotient: VectorValue = vrshlq_s32(vqaddq_s32(value, fix), minus_shift)
    return quotient


def multiply_row(
    values: ElementPointer, products: ElementPointer, length: int, multiplier: int, left: int, right: int
) -> None:
    """Inside of a `Program`: shift left by `left` and wrap, multiply, shift right by `right`; both 0..31.

    Raises TypeError for pointers of other dtypes, ValueError for a number out of range.
    """
    lefts, minus_rights = vdupq_n_s32(left), vdupq_n_s32(-right)

    def product(value: VectorValue) -> VectorValue:
        return divide_by_power_of_two(vqrdmulhq_n_s32(vshlq_s32(value, lefts), multiplier), minus_rights)

    end = length - length % LANES
    for i in range(0, end, LANES):
        vst1q_s32(products + i, product(vld1q_s32(values + i)))
    for i in range(end, length):
        vst1q_lane_s32(products + i, product(vld1q_dup_s32(values + i)), 0)


def with_right_shift(
    values: ElementPointer, products: ElementPointer, length: int, multiplier: int, right_shift: int
) -> None:
    """ArmNN's product, `right_shift` 0..31; the arguments are those of kernel.c.  Raises as `multiply_row`."""
    _require(right_shift in range(32), "right_shift", right_shift, "0..31")
    multiply_row(values, products, length, multiplier, 0, right_shift)


def with_count_mod_32(
    values: ElementPointer, products: ElementPointer, length: int, multiplier: int, right_shift: int
) -> None:
    """ArmNN's product where a shift counts modulo 32, `right_shift` 0 or more.  Raises as `multiply_row`."""
    _require(right_shift >= 0, "right_shift", right_shift, "0 or more")
    multiply_row(values, products, length, multiplier, 0, right_shift % 32)


def with_left_shift(
    values: ElementPointer, products: ElementPointer, length: int, multiplier: int, left_shift: int
) -> None:
    """The product of ACL 20.02 and TFLite, `left_shift` -31..31.  Raises as `multiply_row`."""
    _require(left_shift in range(-31, 32), "left_shift", left_shift, "-31..31")
    multiply_row(values, products, length, multiplier, max(left_shift, 0), max(-left_shift, 0))


def _require(legal: bool, name: str, value: int, allowed: str) -> None:
    if not legal:
        raise ValueError(f"{name} is {value}: it must be {allowed}")
