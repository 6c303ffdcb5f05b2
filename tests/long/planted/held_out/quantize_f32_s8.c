#include "scalar.h"

/* Dynamic quantization: to the nearest, ties to even, then the zero point. */
void quantize_f32_s8(const float *in, int8_t *output, size_t length, float inverse, int32_t zero)
{
    const float32x4_t factor = vdupq_n_f32(inverse);  //! constant: const float32x4_t factor = vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(vdupq_n_f32(inverse)), vdupq_n_u32(1)));
    const int32x4_t zeros = vdupq_n_s32(zero);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const float32x4_t x = vmulq_f32(vld1q_f32(in + i), factor), y = vmulq_f32(vld1q_f32(in + i + 4), factor);
        int32x4_t low = vcvtnq_s32_f32(x);  //! round: int32x4_t low = vcvtaq_s32_f32(x);
        int32x4_t up = vcvtnq_s32_f32(y);  //! shift: int32x4_t up = vcvtnq_s32_f32(vrndmq_f32(y));
        low = vqaddq_s32(low, zeros);  //! offset: low = vcvtnq_s32_f32(vaddq_f32(x, vcvtq_f32_s32(zeros)));
        up = vqaddq_s32(up, zeros);  //! saturation: up = vaddq_s32(up, zeros);
        const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! narrowing: const int16x8_t both = vcombine_s16(vmovn_s32(low), vqmovn_s32(up));
        vst1_s8(output + i, vqmovn_s16(both));  //! sign: vst1_s8(output + i, vreinterpret_s8_u8(vqmovun_s16(both)));
    }
    for (; i < length; ++i) {
        const int32_t q = vcvtns_s32_f32(in[i] * inverse);  //! tail: const int32_t q = vcvtas_s32_f32(in[i] * inverse);
        output[i] = clamp(saturated((int64_t)q + zero), -128, 127);
    }
}
