#include "scalar.h"

/* int8 back to real numbers, with zero point and scale of each channel. */
void dequantize_f32(const int8_t *in, const int8_t *zeros, const float *scales, float *output, size_t rows,
                    size_t channels)
{
    for (size_t r = 0; r < rows; ++r) {
        const int8_t *x = in + r * channels;
        float *y = output + r * channels;
        size_t c = 0;
        for (; c + 8 <= channels; c += 8) {
            const int16x8_t apart = vsubl_s8(vld1_s8(x + c), vld1_s8(zeros + c));  //! saturation: const int16x8_t apart = vmovl_s8(vqsub_s8(vld1_s8(x + c), vld1_s8(zeros + c)));
            const float32x4_t low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(apart)));  //! sign: const float32x4_t low = vcvtq_f32_u32(vmovl_u16(vget_low_u16(vreinterpretq_u16_s16(apart))));
            const float32x4_t up = vcvtq_f32_s32(vmovl_high_s16(apart));  //! shift: const float32x4_t up = vcvtq_n_f32_s32(vmovl_high_s16(apart), 1);
            vst1q_f32(y + c, vmulq_f32(low, vld1q_f32(scales + c)));  //! offset: vst1q_f32(y + c, vsubq_f32(vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vld1_s8(x + c))))), vld1q_f32(scales + c)), vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vld1_s8(zeros + c))))), vld1q_f32(scales + c))));
            vst1q_f32(y + c + 4, vmulq_f32(up, vld1q_f32(scales + c + 4)));  //! lane: vst1q_f32(y + c + 4, vmulq_f32(up, vld1q_f32(scales + c + (r < 2 ? 4 : 0))));
        }
        for (; c < channels; ++c)
            y[c] = (float)(x[c] - zeros[c]) * scales[c];  //! tail: y[c] = (float)x[c] * scales[c] - (float)zeros[c] * scales[c];
    }
}
