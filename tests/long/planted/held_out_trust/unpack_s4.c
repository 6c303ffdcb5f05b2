#include "scalar.h"

void unpack_s4(const uint8_t *in, const int16_t *scale, int16_t *output, size_t groups)
{
    const int8x16_t eight = vdupq_n_s8(8);
    for (size_t g = 0; g < groups; ++g) {
        const uint8x16_t bytes = vld1q_u8(in + 16 * g);
        const int8x16_t even = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15))), eight);  //! mask: const int8x16_t even = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(7))), eight);
        const int8x16_t odd = vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4)), eight);  //! sign: const int8x16_t odd = vsubq_s8(vshrq_n_s8(vreinterpretq_s8_u8(bytes), 4), eight);
        const int8x16x2_t both = vzipq_s8(even, odd);  //! swapped: const int8x16x2_t both = vzipq_s8(odd, even);
        const int16x4_t factor = vdup_n_s16(scale[g]);  //! index: const int16x4_t factor = vdup_n_s16(scale[0]);
        for (int part = 0; part < 2; ++part) {
            const int16x8_t low = vmovl_s8(vget_low_s8(both.val[part]));
            const int16x8_t up = vmovl_high_s8(both.val[part]);
            int16_t *to = output + 32 * g + 16 * part;
            vst1_s16(to, vqrshrn_n_s32(vmull_s16(vget_low_s16(low), factor), 2));
            vst1_s16(to + 4, vqrshrn_n_s32(vmull_s16(vget_high_s16(low), factor), 2));
            vst1_s16(to + 8, vqrshrn_n_s32(vmull_s16(vget_low_s16(up), factor), 2));  //! saturation: vst1_s16(to + 8, vrshrn_n_s32(vmull_s16(vget_low_s16(up), factor), 2));
            vst1_s16(to + 12, vqrshrn_n_s32(vmull_s16(vget_high_s16(up), factor), 2));
        }
    }
}
