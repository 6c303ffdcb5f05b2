/* How int32x4 is scaled by Q0.31 multipliers and left shifts (negative to the right), by each convention. */
#pragma once
#include <arm_neon.h>
#include <stdint.h>

typedef int32x4_t rule(int32x4_t value, int32x4_t multiplier, int32x4_t shift);

static inline int32x4_t shift_left(int32x4_t value, int32x4_t shift)
{
    return vshlq_s32(value, vmaxq_s32(shift, vdupq_n_s32(0)));
}

static inline int32x4_t minus_right(int32x4_t shift)
{
    return vminq_s32(shift, vdupq_n_s32(0));
}

static inline int32x4_t divide_ties_away(int32x4_t value, int32x4_t minus_shift)
{
    const int32x4_t fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31);
    return vrshlq_s32(vqaddq_s32(value, fix), minus_shift);
}

static inline int32x4_t double_rounding(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    return divide_ties_away(vqrdmulhq_s32(shift_left(value, shift), multiplier), minus_right(shift));
}

static inline int32x4_t double_rounding_ties_up(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    return vrshlq_s32(vqrdmulhq_s32(shift_left(value, shift), multiplier), minus_right(shift));
}

static inline int32x4_t double_rounding_unsaturated(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t shifted = shift_left(value, shift);
    const int64x2_t low = vmull_s32(vget_low_s32(shifted), vget_low_s32(multiplier));
    const int64x2_t high = vmull_high_s32(shifted, multiplier);
    return divide_ties_away(vcombine_s32(vrshrn_n_s64(low, 31), vrshrn_n_s64(high, 31)), minus_right(shift));
}

static inline int32x4_t single_rounding(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t total = vsubq_s32(shift, vdupq_n_s32(31));
    const int64x2_t low = vmull_s32(vget_low_s32(value), vget_low_s32(multiplier));
    const int64x2_t high = vmull_high_s32(value, multiplier);
    return vcombine_s32(vmovn_s64(vrshlq_s64(low, vmovl_s32(vget_low_s32(total)))),
                        vmovn_s64(vrshlq_s64(high, vmovl_high_s32(total))));
}

static inline int32x4_t single_rounding_narrowed(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t but_one = vsubq_s32(shift, vdupq_n_s32(30));
    const int64x2_t low = vmull_s32(vget_low_s32(value), vget_low_s32(multiplier));
    const int64x2_t high = vmull_high_s32(value, multiplier);
    const int32x4_t doubled = vcombine_s32(vmovn_s64(vshlq_s64(low, vmovl_s32(vget_low_s32(but_one)))),
                                           vmovn_s64(vshlq_s64(high, vmovl_high_s32(but_one))));
    return vshrq_n_s32(vaddq_s32(doubled, vdupq_n_s32(1)), 1);
}

static inline int32x4_t single_rounding_by_vector(int32x4_t value, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t right = vminq_s32(shift, vdupq_n_s32(-1));
    return vrshlq_s32(vqdmulhq_s32(vshlq_s32(value, vsubq_s32(shift, right)), multiplier), right);
}
