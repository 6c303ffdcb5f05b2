#include "scalar.h"

void per_channel(const int32_t *acc, const int32_t *bias, const int32_t *multiplier, const int32_t *shift,
                 int8_t *output, size_t rows, size_t channels, int32_t zero, int32_t gain)
{
    const int32x2_t gains = {gain, gain + 1};
    for (size_t r = 0; r < rows; ++r) {
        const int32_t *in = acc + r * channels;
        int8_t *out = output + r * channels;
        size_t c = 0;
        for (; c + 8 <= channels; c += 8) {
            int16x4_t half[2];
            for (int k = 0; k < 2; ++k) {
                int32x4_t v = vqaddq_s32(vld1q_s32(in + c + 4 * k), vld1q_s32(bias + c + 4 * k));  //! saturation: int32x4_t v = vaddq_s32(vld1q_s32(in + c + 4 * k), vld1q_s32(bias + c + 4 * k));
                v = vqrdmulhq_lane_s32(v, gains, 0);  //! lane: v = vqrdmulhq_lane_s32(v, gains, 1);
                const int32x4_t minus = vnegq_s32(vld1q_s32(shift + c + 4 * k));  //! shift: const int32x4_t minus = vsubq_s32(vdupq_n_s32(k), vaddq_s32(vld1q_s32(shift + c + 4 * k), vdupq_n_s32(1)));
                v = vqrdmulhq_s32(v, vld1q_s32(multiplier + c + 4 * k));  //! round: v = vqdmulhq_s32(v, vld1q_s32(multiplier + c + 4 * k));
                v = fix_up(v, minus);  //! fixup:
                v = vrshlq_s32(v, minus);  //! sign: v = vreinterpretq_s32_u32(vrshlq_u32(vreinterpretq_u32_s32(v), minus));
                v = vqaddq_s32(v, vdupq_n_s32(zero));  //! constant: v = vqaddq_s32(v, vdupq_n_s32(zero - k));
                half[k] = vqmovn_s32(v);  //! narrowing: half[k] = vadd_s16(vmax_s16(vmin_s16(vqmovn_s32(vqsubq_s32(v, vdupq_n_s32(zero))), vdup_n_s16(127)), vdup_n_s16(-128)), vdup_n_s16(zero));
            }
            vst1_s8(out + c, vqmovn_s16(vcombine_s16(half[0], half[1])));
        }
        for (; c < channels; ++c) {
            int32_t v = high(saturated((int64_t)in[c] + bias[c]), gain);
            v = high(v, multiplier[c]);
            v = ties_away(v, shift[c]);  //! tail: v = ties_up(v, shift[c]);
            out[c] = clamp(v + zero, -128, 127);
        }
    }
}
