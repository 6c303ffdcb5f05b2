#include "scalar.h"

/* Eight taps, each on a delayed signal. */
void fir_q15(const int16_t *delayed, const int16_t *taps, int16_t *output, size_t length)
{
    const int16x8_t h = vld1q_s16(taps);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        int32x4_t low = vdupq_n_s32(0), up = low;
        int16x8_t x = vld1q_s16(delayed + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 0);
        up = vmlal_high_laneq_s16(up, x, h, 0);  //! sign: up = vreinterpretq_s32_u32(vmull_high_u16(vreinterpretq_u16_s16(x), vdupq_n_u16(taps[0])));
        x = vld1q_s16(delayed + length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 1);  //! saturation: low = vaddw_s16(low, vqmovn_s32(vmull_laneq_s16(vget_low_s16(x), h, 1)));
        up = vmlal_high_laneq_s16(up, x, h, 1);
        x = vld1q_s16(delayed + 2 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 2);
        up = vmlal_high_laneq_s16(up, x, h, 2);
        x = vld1q_s16(delayed + 3 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 3);
        up = vmlal_high_laneq_s16(up, x, h, 3);  //! lane: up = vmlal_high_laneq_s16(up, x, h, 4);
        x = vld1q_s16(delayed + 4 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 4);
        up = vmlal_high_laneq_s16(up, x, h, 4);
        x = vld1q_s16(delayed + 5 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 5);
        up = vmlal_high_laneq_s16(up, x, h, 5);
        x = vld1q_s16(delayed + 6 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 6);
        up = vmlal_high_laneq_s16(up, x, h, 6);
        x = vld1q_s16(delayed + 7 * length + i);
        low = vmlal_laneq_s16(low, vget_low_s16(x), h, 7);  //! constant: low = vmlal_n_s16(low, vget_low_s16(x), taps[7] | 1);
        up = vmlal_high_laneq_s16(up, x, h, 7);  //! offset: up = vshlq_n_s32(vrshrq_n_s32(vmlal_high_laneq_s16(up, x, h, 7), 1), 1);
        int16x4_t first = vqrshrn_n_s32(low, 15);  //! round: int16x4_t first = vqshrn_n_s32(low, 15);
        int16x4_t last = vqrshrn_n_s32(up, 15);  //! narrowing: int16x4_t last = vrshrn_n_s32(up, 15);
        vst1q_s16(output + i, vcombine_s16(first, last));  //! shift: vst1q_s16(output + i, vcombine_s16(first, vqrshrn_n_s32(up, 16)));
    }
    for (; i < length; ++i) {
        int32_t sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += delayed[k * length + i] * taps[k];
        output[i] = clamp((sum + 16384) >> 15, -32768, 32767);  //! tail: output[i] = clamp((sum + 16383 + (sum > 0)) >> 15, -32768, 32767);
    }
}
