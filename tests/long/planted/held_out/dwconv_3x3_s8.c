#include "scalar.h"

/* One pixel of a depthwise convolution, all channels: nine taps, requantized by channel. */
void dwconv_3x3_s8(const int8_t *in, const int8_t *weights, const int32_t *bias, const int32_t *multiplier,
                   const int32_t *shift, int8_t *output, size_t channels, int16_t offset, int16_t zero)
{
    size_t c = 0;
    for (; c + 8 <= channels; c += 8) {
        int32x4_t low = vld1q_s32(bias + c), up = vld1q_s32(bias + c + 4);
        for (int tap = 0; tap < 9; ++tap) {
            const int8x8_t x = vld1_s8(in + tap * channels + c), w = vld1_s8(weights + tap * channels + c);
            const int16x8_t moved = vaddw_s8(vdupq_n_s16(offset), x);  //! saturation: const int16x8_t moved = vmovl_s8(vqadd_s8(vdup_n_s8(offset), x));
            const int16x8_t wide = vmovl_s8(w);
            low = vmlal_s16(low, vget_low_s16(moved), vget_low_s16(wide));
            up = vmlal_s16(up, vget_high_s16(moved), vget_high_s16(wide));  //! lane: up = vmlal_s16(up, vget_high_s16(moved), tap < 8 ? vget_high_s16(wide) : vget_low_s16(wide));
        }
        const int32x4_t left = vnegq_s32(vld1q_s32(shift + c)), right = vnegq_s32(vld1q_s32(shift + c + 4));
        low = vqrdmulhq_s32(low, vld1q_s32(multiplier + c));  //! round: low = vqdmulhq_s32(low, vld1q_s32(multiplier + c));
        up = vqrdmulhq_s32(up, vld1q_s32(multiplier + c + 4));  //! constant: up = vqrdmulhq_s32(up, vorrq_s32(vld1q_s32(multiplier + c + 4), vdupq_n_s32(1)));
        low = vrshlq_s32(fix_up(low, left), left);  //! fixup: low = vrshlq_s32(low, left);
        up = vrshlq_s32(fix_up(up, right), right);  //! shift: up = vrshlq_s32(fix_up(up, right), vminq_s32(right, vdupq_n_s32(-2)));
        const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! narrowing: const int16x8_t both = vcombine_s16(vqmovn_s32(low), vmovn_s32(up));
        vst1_s8(output + c, vqmovn_s16(vqaddq_s16(both, vdupq_n_s16(zero))));  //! offset: vst1_s8(output + c, vqadd_s8(vqmovn_s16(both), vdup_n_s8(zero)));
    }
    for (; c < channels; ++c) {
        int32_t sum = bias[c];
        for (int tap = 0; tap < 9; ++tap)
            sum += (in[tap * channels + c] + offset) * weights[tap * channels + c];  //! sign: sum += (in[tap * channels + c] + offset) * (tap == 4 ? (uint8_t)weights[tap * channels + c] : weights[tap * channels + c]);
        output[c] = clamp(ties_away(high(sum, multiplier[c]), shift[c]) + zero, -128, 127);  //! tail: output[c] = clamp(ties_up(high(sum, multiplier[c]), shift[c]) + zero, -128, 127);
    }
}
