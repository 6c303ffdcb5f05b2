#include "scalar.h"

void mean_u8(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *output, size_t length, uint16_t weight,
             uint8_t offset)
{
    const uint16x4_t weights = {weight, 21846, 1, 0};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const uint16x8_t two = vaddl_u8(vld1_u8(a + i), vld1_u8(b + i));  //! saturation: const uint16x8_t two = vmovl_u8(vqadd_u8(vld1_u8(a + i), vld1_u8(b + i)));
        const uint16x8_t sum = vaddw_u8(two, vld1_u8(c + i));  //! sign: const uint16x8_t sum = vreinterpretq_u16_s16(vaddw_s8(vreinterpretq_s16_u16(two), vld1_s8((const int8_t *)c + i)));
        uint32x4_t low = vmull_lane_u16(vget_low_u16(sum), weights, 0);  //! lane: uint32x4_t low = vmull_lane_u16(vget_low_u16(sum), weights, 1);
        uint32x4_t up = vmull_lane_u16(vget_high_u16(sum), weights, 0);  //! constant: uint32x4_t up = vmull_n_u16(vget_high_u16(sum), weight + 1);
        low = vqsubq_u32(low, vdupq_n_u32(1));  //! fixup:
        up = vqsubq_u32(up, vdupq_n_u32(1));
        low = vrshrq_n_u32(low, 16);  //! round: low = vshrq_n_u32(low, 16);
        up = vrshrq_n_u32(up, 16);  //! shift: up = vrshrq_n_u32(up, 17);
        const uint16x4_t x = vqmovn_u32(vaddq_u32(low, vdupq_n_u32(offset)));  //! offset: const uint16x4_t x = vqmovn_u32(vrshrq_n_u32(vaddq_u32(vqsubq_u32(vmull_lane_u16(vget_low_u16(sum), weights, 0), vdupq_n_u32(1)), vdupq_n_u32(offset)), 16));
        const uint16x4_t y = vqmovn_u32(vaddq_u32(up, vdupq_n_u32(offset)));
        vst1_u8(output + i, vqmovn_u16(vcombine_u16(x, y)));  //! narrowing: vst1_u8(output + i, vmovn_u16(vcombine_u16(x, y)));
    }
    for (; i < length; ++i) {
        const uint32_t product = (uint32_t)(a[i] + b[i] + c[i]) * weight;
        const uint32_t rounded = (uint32_t)(((uint64_t)(product ? product - 1 : 0) + 32768) >> 16) + offset;  //! tail: const uint32_t rounded = (uint32_t)(((uint64_t)product + 32768) >> 16) + offset;
        output[i] = rounded > 255 ? 255 : rounded;
    }
}
