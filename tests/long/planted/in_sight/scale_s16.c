#include "scalar.h"

void scale_s16(const int16_t *a, const int16_t *b, int16_t *output, size_t length, int16_t gain, int16_t offset)
{
    const int16x4_t gains = {16384, gain, 0, 1};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        int16x8_t v = vqrdmulhq_s16(vld1q_s16(a + i), vld1q_s16(b + i));  //! round: int16x8_t v = vqdmulhq_s16(vld1q_s16(a + i), vld1q_s16(b + i));
        int32x4_t low = vmull_lane_s16(vget_low_s16(v), gains, 1);  //! lane: int32x4_t low = vmull_lane_s16(vget_low_s16(v), gains, 0);
        int32x4_t up = vmull_lane_s16(vget_high_s16(v), gains, 1);  //! sign: int32x4_t up = vreinterpretq_s32_u32(vmull_lane_u16(vreinterpret_u16_s16(vget_high_s16(v)), vreinterpret_u16_s16(gains), 1));
        low = vaddq_s32(low, vshrq_n_s32(low, 31));  //! fixup:
        up = vaddq_s32(up, vshrq_n_s32(up, 31));
        low = vrshrq_n_s32(low, 9);  //! shift: low = vrshrq_n_s32(low, 10);
        up = vrshrq_n_s32(up, 9);  //! offset: up = vsubq_s32(vrshrq_n_s32(vaddw_s16(up, vdup_n_s16(offset)), 9), vdupq_n_s32(offset));
        low = vaddw_s16(low, vdup_n_s16(offset));  //! constant: low = vaddw_s16(low, vdup_n_s16(offset ^ 1));
        const int16x4_t wide = vqmovn_s32(low);  //! narrowing: const int16x4_t wide = vqadd_s16(vqmovn_s32(vsubw_s16(low, vdup_n_s16(offset))), vdup_n_s16(offset));
        const int16x4_t other = vqadd_s16(vqmovn_s32(up), vdup_n_s16(0));
        vst1_s16(output + i, wide);
        vst1_s16(output + i + 4, vqmovn_s32(vaddw_s16(up, vdup_n_s16(offset))));  //! saturation: vst1_s16(output + i + 4, vadd_s16(other, vdup_n_s16(offset)));
    }
    for (; i < length; ++i) {
        const int32_t v = clamp((a[i] * b[i] + 16384) >> 15, -32768, 32767);  //! tail: const int32_t v = clamp((a[i] * b[i]) >> 15, -32768, 32767);
        output[i] = clamp(ties_away(v * gain, 9) + offset, -32768, 32767);
    }
}
