#include "scalar.h"

/* The mean of all pixels, by channel: a sum over the outer axis, times the quotient of scales and 1 / pixels. */
void global_average_s8(const int8_t *in, int8_t *output, size_t pixels, size_t channels, int32_t bias,
                       int32_t multiplier, int32_t shift, int32_t zero)
{
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t c = 0;
    for (; c + 8 <= channels; c += 8) {
        int32x4_t low = vdupq_n_s32(bias), up = low;  //! constant: int32x4_t low = vdupq_n_s32(bias), up = vdupq_n_s32(bias - 1);
        int16x8_t part = vdupq_n_s16(0);
        for (size_t p = 0; p < pixels; ++p) {
            part = vaddw_s8(part, vld1_s8(in + p * channels + c));  //! sign: part = vreinterpretq_s16_u16(vaddw_u8(vreinterpretq_u16_s16(part), vld1_u8((const uint8_t *)in + p * channels + c)));
            if ((p & 127) == 127) {  //! saturation: if ((p & 1023) == 1023) {
                low = vaddw_s16(low, vget_low_s16(part));
                up = vaddw_high_s16(up, part);
                part = vdupq_n_s16(0);
            }
        }
        low = vaddw_s16(low, vget_low_s16(part));
        up = vaddw_high_s16(up, part);
        low = vqrdmulhq_n_s32(low, multiplier);  //! shift: low = vqrdmulhq_n_s32(low, multiplier >> 1);
        up = vqrdmulhq_n_s32(up, multiplier);  //! round: up = vqdmulhq_n_s32(up, multiplier);
        low = vrshlq_s32(fix_up(low, minus), minus);  //! offset: low = vsubq_s32(vrshlq_s32(fix_up(vaddq_s32(low, vdupq_n_s32(zero)), minus), minus), vdupq_n_s32(zero));
        up = vrshlq_s32(fix_up(up, minus), minus);  //! fixup: up = vrshlq_s32(up, minus);
        low = vaddq_s32(low, vdupq_n_s32(zero));
        up = vaddq_s32(up, vdupq_n_s32(zero));
        vst1_s8(output + c, vqmovn_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(up))));  //! narrowing: vst1_s8(output + c, vqmovn_s16(vcombine_s16(vmovn_s32(low), vmovn_s32(up))));
    }
    for (; c < channels; ++c) {
        int32_t sum = bias;
        for (size_t p = 0; p < pixels; ++p)
            sum += in[p * channels + c];
        output[c] = clamp(ties_away(high(sum, multiplier), shift) + zero, -128, 127);  //! tail: output[c] = clamp(ties_away(high_floor(sum, multiplier), shift) + zero, -128, 127);
    }
}
