#include "scalar.h"

void requantize_u8_fixed(const int32_t *acc, uint8_t *output, size_t length)
{
    const int32_t multiplier = 1518500250, shift = 21, zero = 119;  //! constant: const int32_t multiplier = 1518500251, shift = 21, zero = 119;
    const int32x4_t factors = {1200000000, multiplier, 1, 2};
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (int k = 0; k < 4; ++k) {
            part[k] = vqrdmulhq_laneq_s32(vld1q_s32(acc + i + 4 * k), factors, 1);  //! round: part[k] = vqdmulhq_laneq_s32(vld1q_s32(acc + i + 4 * k), factors, 1);
            part[k] = fix_up(part[k], minus);  //! fixup:
        }
        part[0] = vrshlq_s32(part[0], minus);  //! shift: part[0] = vrshlq_s32(part[0], vdupq_n_s32(-shift - 1));
        part[1] = vrshrq_n_s32(part[1], 21);  //! offset: part[1] = vsubq_s32(vrshrq_n_s32(vaddq_s32(part[1], vdupq_n_s32(zero)), 21), vdupq_n_s32(zero));
        part[2] = vrshrq_n_s32(part[2], 21);  //! lane: part[2] = vrshrq_n_s32(fix_up(vqrdmulhq_laneq_s32(vld1q_s32(acc + i + 8), factors, 0), minus), 21);
        part[3] = vrshrq_n_s32(part[3], 21);  //! sign: part[3] = vreinterpretq_s32_u32(vrshrq_n_u32(vreinterpretq_u32_s32(part[3]), 21));
        int16x8_t low = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]));
        int16x8_t up = vcombine_s16(vqmovn_s32(part[2]), vqmovn_s32(part[3]));
        low = vqaddq_s16(low, vdupq_n_s16(zero));
        up = vqaddq_s16(up, vdupq_n_s16(zero));
        const uint8x8_t first = vqmovun_s16(low);  //! saturation: const uint8x8_t first = vmovn_u16(vreinterpretq_u16_s16(low));
        const uint8x8_t last = vqmovun_s16(up);  //! narrowing: const uint8x8_t last = vqadd_u8(vqmovun_s16(vsubq_s16(up, vdupq_n_s16(zero))), vdup_n_u8(zero));
        vst1q_u8(output + i, vcombine_u8(first, last));
    }
    for (; i < length; ++i)
        output[i] = clamp(ties_away(high(acc[i], multiplier), shift) + zero, 0, 255);  //! tail: output[i] = clamp(ties_away(high_floor(acc[i], multiplier), shift) + zero, 0, 255);
}
