#include "scalar.h"

void blend_s8(const int8_t *a, const int8_t *b, int8_t *output, size_t length, int16_t weight, int16_t offset)
{
    const int16x4_t weights = {64, 32, weight, 16};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vmovl_s8(vld1_s8(a + i)), y = vmovl_s8(vld1_s8(b + i));
        const int16x8_t apart = vsubq_s16(y, x);  //! saturation: const int16x8_t apart = vmovl_s8(vsub_s8(vld1_s8(b + i), vld1_s8(a + i)));
        int32x4_t low = vmull_lane_s16(vget_low_s16(apart), weights, 2);  //! lane: int32x4_t low = vmull_lane_s16(vget_low_s16(apart), weights, 3);
        int32x4_t up = vmull_lane_s16(vget_high_s16(apart), weights, 2);  //! constant: int32x4_t up = vmull_n_s16(vget_high_s16(apart), weight + 1);
        low = vaddq_s32(low, vshrq_n_s32(low, 31));  //! fixup:
        up = vaddq_s32(up, vshrq_n_s32(up, 31));  //! sign: up = vaddq_s32(up, vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(up), 31)));
        low = vrshrq_n_s32(low, 8);  //! round: low = vshrq_n_s32(low, 8);
        up = vrshrq_n_s32(up, 8);  //! shift: up = vrshrq_n_s32(up, 9);
        const int16x8_t moved = vaddq_s16(x, vcombine_s16(vmovn_s32(low), vmovn_s32(up)));
        const int16x8_t placed = vaddq_s16(moved, vdupq_n_s16(offset));  //! offset: const int16x8_t placed = vaddq_s16(moved, vdupq_n_s16(offset / 2 * 2));
        vst1_s8(output + i, vqmovn_s16(placed));  //! narrowing: vst1_s8(output + i, vqadd_s8(vqmovn_s16(moved), vmovn_s16(vdupq_n_s16(offset))));
    }
    for (; i < length; ++i)
        output[i] = clamp(a[i] + ties_away((b[i] - a[i]) * weight, 8) + offset, -128, 127);  //! tail: output[i] = clamp(a[i] + ties_up((b[i] - a[i]) * weight, 8) + offset, -128, 127);
}
