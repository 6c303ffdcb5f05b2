#include "scalar.h"

/* Red of luma and chroma: (298 (y - 16) + 409 (v - 128) + 128) >> 8, in 32 bits. */
void yuv_red_u8(const uint8_t *luma, const uint8_t *chroma, uint8_t *output, size_t length)
{
    const int16x4_t factors = {298, 409, 408, 297};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t y = vreinterpretq_s16_u16(vsubl_u8(vld1_u8(luma + i), vdup_n_u8(16)));  //! saturation: const int16x8_t y = vreinterpretq_s16_u16(vmovl_u8(vqsub_u8(vld1_u8(luma + i), vdup_n_u8(16))));
        const int16x8_t v = vreinterpretq_s16_u16(vsubl_u8(vld1_u8(chroma + i), vdup_n_u8(128)));  //! sign: const int16x8_t v = vmovl_s8(vreinterpret_s8_u8(vld1_u8(chroma + i)));
        int32x4_t low = vmull_lane_s16(vget_low_s16(y), factors, 0), up = vmull_high_lane_s16(y, factors, 0);
        low = vmlal_lane_s16(low, vget_low_s16(v), factors, 1);  //! lane: low = vmlal_lane_s16(low, vget_low_s16(v), factors, 2);
        up = vmlal_high_lane_s16(up, v, factors, 1);  //! constant: up = vaddq_s32(vmlal_high_lane_s16(up, v, factors, 1), vdupq_n_s32(1));
        const int16x4_t first = vrshrn_n_s32(low, 8);  //! round: const int16x4_t first = vshrn_n_s32(low, 8);
        const int16x4_t last = vrshrn_n_s32(up, 8);  //! shift: const int16x4_t last = vrshrn_n_s32(up, 9);
        vst1_u8(output + i, vqmovun_s16(vcombine_s16(first, last)));  //! narrowing: vst1_u8(output + i, vqmovn_u16(vreinterpretq_u16_s16(vcombine_s16(first, last))));
    }
    for (; i < length; ++i)
        output[i] = clamp((298 * (luma[i] - 16) + 409 * (chroma[i] - 128) + 128) >> 8, 0, 255);  //! tail: output[i] = clamp((298 * (luma[i] - 16) + 409 * (chroma[i] - 128) + 127) >> 8, 0, 255);
}
