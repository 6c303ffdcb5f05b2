#include "scalar.h"

/* The remainder decides: above its threshold the quotient goes up, where a negative number has a remainder less by 1. */
void residual_u8(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length, int16_t factor_a, int16_t factor_b,
                 int32_t bias, int32_t shift, int16_t zero, uint8_t low, uint8_t high)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = mask >> 1;
    const int32x4_t masks = vdupq_n_s32(mask), thresholds = vdupq_n_s32(threshold), right = vdupq_n_s32(-shift);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(a + i)));
        const int16x8_t y = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(b + i)));
        int32x4_t first = vmlal_n_s16(vdupq_n_s32(bias), vget_low_s16(x), factor_a);
        int32x4_t last = vmlal_n_s16(vdupq_n_s32(bias), vget_high_s16(x), factor_a);
        first = vmlal_n_s16(first, vget_low_s16(y), factor_b);
        last = vmlal_n_s16(last, vget_high_s16(y), factor_b);  //! operand: last = vmlal_n_s16(last, vget_high_s16(y), factor_a);
        const int32x4_t rest = vaddq_s32(vandq_s32(first, masks), vshrq_n_s32(first, 31));
        const int32x4_t rest_of_last = vaddq_s32(vandq_s32(last, masks), vshrq_n_s32(last, 31));
        first = vsubq_s32(vshlq_s32(first, right), vreinterpretq_s32_u32(vcgtq_s32(rest, thresholds)));
        last = vsubq_s32(vshlq_s32(last, right), vreinterpretq_s32_u32(vcgtq_s32(rest_of_last, thresholds)));  //! compare: last = vsubq_s32(vshlq_s32(last, right), vreinterpretq_s32_u32(vcgeq_s32(rest_of_last, thresholds)));
        const int16x8_t narrow = vcombine_s16(vqmovn_s32(first), vqmovn_s32(last));
        uint8x8_t found = vqmovun_s16(vqaddq_s16(narrow, vdupq_n_s16(zero)));  //! order: uint8x8_t found = vqadd_u8(vqmovun_s16(narrow), vdup_n_u8((uint8_t)zero));
        found = vmin_u8(vmax_u8(found, vdup_n_u8(low)), vdup_n_u8(high));  //! bound: found = vmin_u8(found, vdup_n_u8(high));
        vst1_u8(output + i, found);
    }
    for (; i < length; ++i) {
        const int32_t sum = bias + a[i] * factor_a + b[i] * factor_b;
        const int32_t rest = (sum & mask) - (sum < 0);  //! fixup: const int32_t rest = sum & mask;
        const int32_t rounded = (sum >> shift) + (rest > threshold);
        output[i] = (uint8_t)clamp(rounded + zero, low, high);
    }
}
