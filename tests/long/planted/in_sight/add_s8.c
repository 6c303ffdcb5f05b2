#include "scalar.h"

static inline int32x4_t scaled(int32x4_t value, int32x2_t factors, int32x4_t minus)
{
    value = vqrdmulhq_lane_s32(vshlq_n_s32(value, 20), factors, 0);  //! round: value = vqdmulhq_lane_s32(vshlq_n_s32(value, 20), factors, 0);
    return vrshlq_s32(fix_up(value, minus), minus);  //! fixup: return vrshlq_s32(value, minus);
}

void add_s8(const int8_t *a, const int8_t *b, int8_t *output, size_t length, int32_t offset_a, int32_t offset_b,
            int32_t factor_a, int32_t factor_b, int32_t factor, int32_t shift_a, int32_t shift_b, int32_t shift, int32_t zero)
{
    const int32x2_t of_a = {factor_a, factor_b}, of_b = {factor_b, factor_a}, of_sum = {factor, factor_a};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vaddw_s8(vdupq_n_s16(offset_a), vld1_s8(a + i));  //! sign: const int16x8_t x = vreinterpretq_s16_u16(vaddw_u8(vdupq_n_u16(offset_a), vld1_u8((const uint8_t *)a + i)));
        const int16x8_t y = vaddw_s8(vdupq_n_s16(offset_b), vld1_s8(b + i));  //! saturation: const int16x8_t y = vmovl_s8(vadd_s8(vdup_n_s8(offset_b), vld1_s8(b + i)));
        int32x4_t low = vaddq_s32(scaled(vmovl_s16(vget_low_s16(x)), of_a, vdupq_n_s32(-shift_a)),
                                  scaled(vmovl_s16(vget_low_s16(y)), of_b, vdupq_n_s32(-shift_b)));  //! shift: scaled(vmovl_s16(vget_low_s16(y)), of_b, vdupq_n_s32(-shift_b - 1)));
        int32x4_t up = vaddq_s32(scaled(vmovl_s16(vget_high_s16(x)), of_a, vdupq_n_s32(-shift_a)),
                                 scaled(vmovl_s16(vget_high_s16(y)), of_b, vdupq_n_s32(-shift_b)));
        low = vqrdmulhq_lane_s32(low, of_sum, 0);  //! constant: low = vqrdmulhq_n_s32(low, factor + 1);
        up = vqrdmulhq_lane_s32(up, of_sum, 0);  //! lane: up = vqrdmulhq_lane_s32(up, of_sum, 1);
        low = vrshlq_s32(fix_up(low, vdupq_n_s32(-shift)), vdupq_n_s32(-shift));
        up = vrshlq_s32(fix_up(up, vdupq_n_s32(-shift)), vdupq_n_s32(-shift));  //! offset: up = vsubq_s32(vrshlq_s32(fix_up(vaddq_s32(up, vdupq_n_s32(zero)), vdupq_n_s32(-shift)), vdupq_n_s32(-shift)), vdupq_n_s32(zero));
        const int16x8_t sum = vaddq_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(up)), vdupq_n_s16(zero));
        vst1_s8(output + i, vqmovn_s16(sum));  //! narrowing: vst1_s8(output + i, vadd_s8(vqmovn_s16(vsubq_s16(sum, vdupq_n_s16(zero))), vdup_n_s8(zero)));
    }
    for (; i < length; ++i) {
        const int32_t x = ties_away(high((a[i] + offset_a) * (1 << 20), factor_a), shift_a);
        const int32_t y = ties_away(high((b[i] + offset_b) * (1 << 20), factor_b), shift_b);
        output[i] = clamp(ties_away(high(x + y, factor), shift) + zero, -128, 127);  //! tail: output[i] = clamp(ties_up(high(x + y, factor), shift) + zero, -128, 127);
    }
}
