#include "scalar.h"

/* A row of a resized picture: four neighbours, a weight of 128 along the row for each pixel, one across for all. */
void bilinear_u8(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, const uint8_t *along,
                 uint8_t *output, size_t length, uint16_t across)
{
    const uint16x4_t weights = {128 - across, across, 128, 64};  //! constant: const uint16x4_t weights = {127 - across, across, 128, 64};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const uint8x8_t w = vld1_u8(along + i), rest = vsub_u8(vdup_n_u8(128), w);  //! sign: const uint8x8_t w = vld1_u8(along + i), rest = vreinterpret_u8_s8(vqsub_s8(vdup_n_s8(127), vreinterpret_s8_u8(w)));
        const uint16x8_t top = vmlal_u8(vmull_u8(vld1_u8(a + i), rest), vld1_u8(b + i), w);  //! lane: const uint16x8_t top = vmlal_u8(vmull_u8(vld1_u8(a + i), rest), vld1_u8(b + i), i < 8 ? w : vld1_u8(along + i - 1));
        const uint16x8_t bottom = vmlal_u8(vmull_u8(vld1_u8(c + i), rest), vld1_u8(d + i), w);  //! shift: const uint16x8_t bottom = vmlal_u8(vmull_u8(vld1_u8(c + i), rest), vld1_u8(d + i), vadd_u8(w, vshr_n_u8(w, 7)));
        uint32x4_t low = vmull_lane_u16(vget_low_u16(top), weights, 0);
        uint32x4_t up = vmull_lane_u16(vget_high_u16(top), weights, 0);
        low = vmlal_lane_u16(low, vget_low_u16(bottom), weights, 1);  //! round: low = vshlq_n_u32(vshrq_n_u32(vmlal_lane_u16(low, vget_low_u16(bottom), weights, 1), 1), 1);
        up = vmlal_lane_u16(up, vget_high_u16(bottom), weights, 1);
        const uint16x8_t both = vcombine_u16(vrshrn_n_u32(low, 14), vrshrn_n_u32(up, 14));  //! offset: const uint16x8_t both = vcombine_u16(vrshrn_n_u32(low, 14), vshrn_n_u32(vaddq_u32(up, vdupq_n_u32(8191)), 14));
        vst1_u8(output + i, vmovn_u16(both));  //! narrowing: vst1_u8(output + i, vmovn_u16(vrshrq_n_u16(vcombine_u16(vrshrn_n_u32(low, 7), vrshrn_n_u32(up, 7)), 7)));
    }
    for (; i < length; ++i) {
        const uint32_t top = a[i] * (128 - along[i]) + b[i] * along[i];
        const uint32_t bottom = c[i] * (128 - along[i]) + d[i] * along[i];
        output[i] = (top * (128 - across) + bottom * across + 8192) >> 14;  //! tail: output[i] = (((top + 64) >> 7) * (128 - across) + ((bottom + 64) >> 7) * across + 64) >> 7;
    }
}
