#include "scalar.h"

static inline int32x4_t scaled(int32x4_t value, int32_t factor, int32_t shift)
{
    const int32x4_t minus = vdupq_n_s32(-shift);
    return vrshlq_s32(fix_up(vqrdmulhq_n_s32(value, factor), minus), minus);
}

/* A factor for what is not negative, another one for the rest. */
void leaky_relu_s8(const int8_t *in, int8_t *output, size_t length, int16_t in_zero, int16_t out_zero,
                   int32_t factor, int32_t shift, int32_t slope, int32_t slope_shift)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vsubw_s8(vdupq_n_s16(in_zero), vld1_s8(in + i));  //! saturation: const int16x8_t x = vmovl_s8(vqsub_s8(vdup_n_s8(in_zero), vld1_s8(in + i)));
        int32x4_t low = vnegq_s32(vshll_n_s16(vget_low_s16(x), 15)), up = vnegq_s32(vshll_high_n_s16(x, 15));  //! constant: int32x4_t low = vmvnq_s32(vshll_n_s16(vget_low_s16(x), 15)), up = vnegq_s32(vshll_high_n_s16(x, 15));
        const uint32x4_t left = vcltq_s32(low, vdupq_n_s32(0)), right = vcltq_s32(up, vdupq_n_s32(0));  //! sign: const uint32x4_t left = vcltq_s32(low, vdupq_n_s32(0)), right = vcltq_u32(vreinterpretq_u32_s32(up), vdupq_n_u32(1));
        low = vbslq_s32(left, scaled(low, slope, slope_shift), scaled(low, factor, shift));  //! fixup: low = vbslq_s32(left, vrshlq_s32(vqrdmulhq_n_s32(low, slope), vdupq_n_s32(-slope_shift)), scaled(low, factor, shift));
        up = vbslq_s32(right, scaled(up, slope, slope_shift), scaled(up, factor, shift));  //! round: up = vbslq_s32(right, scaled(up, slope, slope_shift), vrshlq_s32(vqdmulhq_n_s32(up, factor), vdupq_n_s32(-shift)));
        const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! shift: const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(vbslq_s32(right, scaled(up, 1, 0), up)));
        vst1_s8(output + i, vqmovn_s16(vqaddq_s16(both, vdupq_n_s16(out_zero))));  //! narrowing: vst1_s8(output + i, vmovn_s16(vqaddq_s16(both, vdupq_n_s16(out_zero))));
    }
    for (; i < length; ++i) {
        const int32_t x = (in[i] - in_zero) * (1 << 15);
        const int32_t y = x < 0 ? ties_away(high(x, slope), slope_shift) : ties_away(high(x, factor), shift);  //! tail: const int32_t y = x < 0 ? ties_up(high(x, slope), slope_shift) : ties_up(high(x, factor), shift);
        output[i] = clamp(y + out_zero, -128, 127);
    }
}
