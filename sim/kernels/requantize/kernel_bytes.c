/* requantize with NEON intrinsics, one row of int32 accumulators to bytes: by a float32 scale, or by integers.
 *
 * Eight lanes a step, then the last (length mod 8) elements one by one.
 */
#include <stddef.h>

#include "rules.h"

static inline int16x8_t scale_by_float(int32x4_t low, int32x4_t high, float32_t scale, int16_t zero_point)
{
    const int32x4_t left = vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(low), scale));
    const int32x4_t right = vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(high), scale));
    return vqaddq_s16(vcombine_s16(vqmovn_s32(left), vqmovn_s32(right)), vdupq_n_s16(zero_point));
}

static inline int8x8_t bound_signed(int16x8_t values, int8_t lower, int8_t upper)
{
    return vmax_s8(vmin_s8(vqmovn_s16(values), vdup_n_s8(upper)), vdup_n_s8(lower));
}

static inline uint8x8_t bound_unsigned(int16x8_t values, uint8_t lower, uint8_t upper)
{
    return vmax_u8(vmin_u8(vqmovun_s16(values), vdup_n_u8(upper)), vdup_n_u8(lower));
}

/* XNNPACK's fp32 requantization: scale is 2^-32 up to 256, lower < upper. */
void requantize_fp32_qs8(const int32_t *values, int8_t *output, size_t length, float32_t scale, int8_t zero_point,
                         int8_t lower, int8_t upper)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t scaled = scale_by_float(vld1q_s32(values + i), vld1q_s32(values + i + 4), scale, zero_point);
        vst1_s8(output + i, bound_signed(scaled, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t one = vld1q_dup_s32(values + i);
        vst1_lane_s8(output + i, bound_signed(scale_by_float(one, one, scale, zero_point), lower, upper), 0);
    }
}

void requantize_fp32_qu8(const int32_t *values, uint8_t *output, size_t length, float32_t scale, uint8_t zero_point,
                         uint8_t lower, uint8_t upper)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t scaled = scale_by_float(vld1q_s32(values + i), vld1q_s32(values + i + 4), scale, zero_point);
        vst1_u8(output + i, bound_unsigned(scaled, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t one = vld1q_dup_s32(values + i);
        vst1_lane_u8(output + i, bound_unsigned(scale_by_float(one, one, scale, zero_point), lower, upper), 0);
    }
}

typedef int32x4_t shift(int32x4_t value, int32x4_t minus_shift);

struct integers {
    int32x4_t offset, minus_shift;
    int32_t multiplier;
};

static inline int32x4_t floored(int32x4_t value, int32x4_t minus_shift)
{
    return vshlq_s32(value, minus_shift);
}

static inline __attribute__((always_inline)) int16x4_t scale_by_integers(shift *divide, int32x4_t value,
                                                                         int32x4_t bias, struct integers by)
{
    const int32x4_t placed = vaddq_s32(vaddq_s32(value, bias), by.offset);
    return vqmovn_s32(divide(vmulq_n_s32(placed, by.multiplier), by.minus_shift));
}

static inline int32x4_t four(const int32_t *bias)
{
    return bias ? vld1q_s32(bias) : vdupq_n_s32(0);
}

static inline __attribute__((always_inline)) void each(shift *divide, const int32_t *values, const int32_t *bias,
                                                       uint8_t *output, size_t length, struct integers by,
                                                       uint8_t lower, uint8_t upper)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int32_t *at = bias ? bias + i : NULL;
        const int16x4_t low = scale_by_integers(divide, vld1q_s32(values + i), four(at), by);
        const int16x4_t high = scale_by_integers(divide, vld1q_s32(values + i + 4), four(at ? at + 4 : NULL), by);
        vst1_u8(output + i, bound_unsigned(vcombine_s16(low, high), lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t one_bias = bias ? vld1q_dup_s32(bias + i) : vdupq_n_s32(0);
        const int16x4_t one = scale_by_integers(divide, vld1q_dup_s32(values + i), one_bias, by);
        vst1_lane_u8(output + i, bound_unsigned(vcombine_s16(one, one), lower, upper), 0);
    }
}

/* ACL's QuantizeDownInt32ToUint8Scale: bias may be null, right_shift is 0..31; 0 and 255 where it is not bounded. */
void requantize_integer_floor(const int32_t *values, const int32_t *bias, uint8_t *output, size_t length,
                              int32_t offset, int32_t multiplier, int32_t right_shift, uint8_t lower, uint8_t upper)
{
    const struct integers by = {vdupq_n_s32(offset), vdupq_n_s32(-right_shift), multiplier};
    each(floored, values, bias, output, length, by, lower, upper);
}

/* gemmlowp's stage of that name. */
void requantize_integer_ties_away(const int32_t *values, const int32_t *bias, uint8_t *output, size_t length,
                                  int32_t offset, int32_t multiplier, int32_t right_shift, uint8_t lower,
                                  uint8_t upper)
{
    const struct integers by = {vdupq_n_s32(offset), vdupq_n_s32(-right_shift), multiplier};
    each(divide_ties_away, values, bias, output, length, by, lower, upper);
}
