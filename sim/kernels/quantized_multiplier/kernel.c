/* quantized_multiplier with NEON intrinsics: int32 values times a Q0.31 multiplier and a power of two.
 *
 * Four lanes a step, then the last (length mod 4) values one by one. The multiply rounds ties up and saturates;
 * the shift to the right rounds ties away from zero, the shift to the left wraps.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int32x4_t divide_by_power_of_two(int32x4_t value, int32x4_t minus_shift)
{
    const int32x4_t fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31);
    return vrshlq_s32(vqaddq_s32(value, fix), minus_shift);
}

static inline int32x4_t product(int32x4_t value, int32_t multiplier, int32x4_t left, int32x4_t minus_right)
{
    return divide_by_power_of_two(vqrdmulhq_n_s32(vshlq_s32(value, left), multiplier), minus_right);
}

static inline void multiply_row(const int32_t *values, int32_t *products, size_t length, int32_t multiplier,
                                int32_t left, int32_t right)
{
    const int32x4_t lefts = vdupq_n_s32(left), minus_rights = vdupq_n_s32(-right);
    size_t i = 0;
    for (; i + 4 <= length; i += 4)
        vst1q_s32(products + i, product(vld1q_s32(values + i), multiplier, lefts, minus_rights));
    for (; i < length; ++i)
        vst1q_lane_s32(products + i, product(vld1q_dup_s32(values + i), multiplier, lefts, minus_rights), 0);
}

/* ArmNN 24.08 and ACL 19.08: right_shift is 0..31. */
void quantized_multiplier(const int32_t *values, int32_t *products, size_t length, int32_t multiplier,
                          int32_t right_shift)
{
    multiply_row(values, products, length, multiplier, 0, right_shift);
}

/* ArmNN 24.08 on a machine whose shifts count modulo 32: right_shift is 0 or more. */
void quantized_multiplier_count_mod_32(const int32_t *values, int32_t *products, size_t length, int32_t multiplier,
                                       int32_t right_shift)
{
    multiply_row(values, products, length, multiplier, 0, right_shift & 31);
}

/* ACL 20.02 and TFLite: left_shift is -31..31, negative to the right. */
void quantized_multiplier_with_left_shift(const int32_t *values, int32_t *products, size_t length,
                                          int32_t multiplier, int32_t left_shift)
{
    const int32_t left = left_shift > 0 ? left_shift : 0;
    multiply_row(values, products, length, multiplier, left, left - left_shift);
}
