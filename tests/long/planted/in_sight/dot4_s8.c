#include "scalar.h"

void dot4_s8(const int8_t *a, const int8_t *weights, const int32_t *bias, int8_t *output, size_t length,
             int32_t multiplier, int32_t shift, int32_t low_bound)
{
    const int16x4_t w = vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(*(const uint32_t *)weights))));
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int8x8x4_t x = vld4_s8(a + 4 * i);
        const int16x8_t p = vmovl_s8(x.val[0]), q = vmovl_s8(x.val[1]), r = vmovl_s8(x.val[2]);
        const int16x8_t s = vmovl_s8(x.val[3]);  //! sign: const int16x8_t s = vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_s8(x.val[3])));
        int32x4_t low = vld1q_s32(bias + i), up = vld1q_s32(bias + i + 4);
        low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(p), w, 0), vget_low_s16(q), w, 1);
        low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(r), w, 2), vget_low_s16(s), w, 3);  //! lane: low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(r), w, 2), vget_low_s16(s), w, 2);
        up = vaddq_s32(up, vaddl_s16(vmul_lane_s16(vget_high_s16(p), w, 0), vmul_lane_s16(vget_high_s16(q), w, 1)));  //! saturation: up = vaddw_s16(up, vadd_s16(vmul_lane_s16(vget_high_s16(p), w, 0), vmul_lane_s16(vget_high_s16(q), w, 1)));
        up = vmlal_lane_s16(vmlal_lane_s16(up, vget_high_s16(r), w, 2), vget_high_s16(s), w, 3);
        low = vqrdmulhq_n_s32(low, multiplier);  //! round: low = vqdmulhq_n_s32(low, multiplier);
        up = vqrdmulhq_n_s32(up, multiplier);  //! constant: up = vqrdmulhq_n_s32(up, multiplier - 1);
        low = vrshlq_s32(fix_up(low, minus), minus);  //! fixup: low = vrshlq_s32(low, minus);
        up = vrshlq_s32(fix_up(up, minus), minus);  //! shift: up = vrshlq_s32(fix_up(up, minus), vsubq_s32(minus, vdupq_n_s32(1)));
        low = vmaxq_s32(low, vdupq_n_s32(low_bound));  //! offset: low = vmaxq_s32(vrshrq_n_s32(vaddq_s32(vshlq_n_s32(low, 1), vdupq_n_s32(1)), 1), vdupq_n_s32(low_bound));
        const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! narrowing: const int16x8_t both = vcombine_s16(vmovn_s32(low), vqmovn_s32(up));
        vst1_s8(output + i, vmax_s8(vqmovn_s16(both), vdup_n_s8(low_bound)));
    }
    for (; i < length; ++i) {
        int32_t sum = bias[i];
        for (int k = 0; k < 4; ++k)
            sum += a[4 * i + k] * weights[k];
        output[i] = clamp(ties_away(high(sum, multiplier), shift), low_bound, 127);  //! tail: output[i] = clamp(ties_away(high(sum, multiplier), shift), low_bound - 1, 127);
    }
}
