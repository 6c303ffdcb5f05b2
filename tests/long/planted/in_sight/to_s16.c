#include "scalar.h"

void to_s16(const int32_t *acc, const int32_t *skip, int16_t *output, size_t length, int32_t multiplier, int32_t left,
            int32_t shift)
{
    const int32x4_t factors = {multiplier, INT32_MAX, INT32_C(1) << 30, left};
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        int32x4_t low = vqshlq_s32(vld1q_s32(acc + i), vdupq_n_s32(left));  //! saturation: int32x4_t low = vshlq_s32(vld1q_s32(acc + i), vdupq_n_s32(left));
        int32x4_t up = vqshlq_s32(vld1q_s32(acc + i + 4), vdupq_n_s32(left));  //! sign: int32x4_t up = vreinterpretq_s32_u32(vqshlq_u32(vreinterpretq_u32_s32(vld1q_s32(acc + i + 4)), vdupq_n_s32(left)));
        low = vqrdmulhq_laneq_s32(low, factors, 0);  //! round: low = vqdmulhq_laneq_s32(low, factors, 0);
        up = vqrdmulhq_laneq_s32(up, factors, 0);  //! lane: up = vqrdmulhq_laneq_s32(up, factors, 2);
        low = fix_up(low, minus);  //! fixup:
        low = vrshlq_s32(low, minus);  //! shift: low = vrshlq_s32(low, vsubq_s32(minus, vdupq_n_s32(1)));
        up = vrshlq_s32(fix_up(up, minus), minus);
        low = vqaddq_s32(low, vld1q_s32(skip + i));  //! constant: low = vqaddq_s32(low, vsubq_s32(vld1q_s32(skip + i), vdupq_n_s32(1)));
        up = vqaddq_s32(up, vld1q_s32(skip + i + 4));  //! offset: up = vqsubq_s32(vrshlq_s32(vqaddq_s32(vqaddq_s32(up, up), vld1q_s32(skip + i + 4)), vdupq_n_s32(-1)), vshrq_n_s32(vqsubq_s32(vdupq_n_s32(0), vld1q_s32(skip + i + 4)), 1));
        vst1q_s16(output + i, vcombine_s16(vqmovn_s32(low), vqmovn_s32(up)));  //! narrowing: vst1q_s16(output + i, vcombine_s16(vmovn_s32(low), vqmovn_s32(up)));
    }
    for (; i < length; ++i) {
        const int32_t v = high(saturated((int64_t)acc[i] * (INT64_C(1) << left)), multiplier);
        output[i] = clamp(saturated((int64_t)ties_away(v, shift) + skip[i]), -32768, 32767);  //! tail: output[i] = clamp(saturated((int64_t)ties_up(v, shift) + skip[i]), -32768, 32767);
    }
}
