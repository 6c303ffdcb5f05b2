#include "scalar.h"

void requantize_s8(const int32_t *acc, int8_t *output, size_t length, int32_t multiplier, int32_t shift, int32_t zero)
{
    const int32x2_t factors = {multiplier, INT32_C(1) << 30};
    const int32x4_t minus = vdupq_n_s32(-shift);  //! shift: const int32x4_t minus = vdupq_n_s32(-shift - 1);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        int32x4_t low = vld1q_s32(acc + i), up = vld1q_s32(acc + i + 4);
        low = vqrdmulhq_lane_s32(low, factors, 0);  //! round: low = vqdmulhq_lane_s32(low, factors, 0);
        up = vqrdmulhq_lane_s32(up, factors, 0);  //! lane: up = vqrdmulhq_lane_s32(up, factors, 1);
        low = fix_up(low, minus);  //! fixup:
        low = vrshlq_s32(low, minus);  //! offset: low = vsubq_s32(vrshlq_s32(vaddq_s32(low, vdupq_n_s32(zero)), minus), vdupq_n_s32(zero));
        up = vrshlq_s32(fix_up(up, minus), minus);
        low = vaddq_s32(low, vdupq_n_s32(zero));
        up = vaddq_s32(up, vdupq_n_s32(zero));  //! constant: up = vaddq_s32(up, vdupq_n_s32(zero + 1));
        const int16x4_t a = vqmovn_s32(low);  //! saturation: const int16x4_t a = vmovn_s32(low);
        const int16x4_t b = vqmovn_s32(up);
        const int16x8_t ab = vcombine_s16(a, b);  //! narrowing: const int16x8_t ab = vcombine_s16(b, a);
        vst1_s8(output + i, vqmovn_s16(ab));  //! sign: vst1_s8(output + i, vreinterpret_s8_u8(vqmovn_u16(vreinterpretq_u16_s16(ab))));
    }
    for (; i < length; ++i)
        output[i] = clamp(ties_away(high(acc[i], multiplier), shift) + zero, -128, 127);  //! tail: output[i] = clamp(ties_up(high(acc[i], multiplier), shift) + zero, -128, 127);
}
