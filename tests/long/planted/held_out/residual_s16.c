#include "scalar.h"

/* A residual connection in 16 bits: b, scaled, is added to a; both sums saturate; bounded above. */
void residual_s16(const int16_t *a, const int16_t *b, int16_t *output, size_t length, int16_t weight, int32_t shift,
                  int16_t offset, int16_t top)
{
    const int16x4_t numbers = {offset, weight, top, 1};
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vld1q_s16(a + i), y = vld1q_s16(b + i);
        int32x4_t low = vmull_lane_s16(vget_low_s16(y), numbers, 1);  //! lane: int32x4_t low = vmull_lane_s16(vget_low_s16(y), numbers, 2);
        int32x4_t up = vmull_lane_s16(vget_high_s16(y), numbers, 1);  //! sign: int32x4_t up = vreinterpretq_s32_u32(vmull_u16(vreinterpret_u16_s16(vget_high_s16(y)), vdup_n_u16(weight)));
        low = vrshlq_s32(low, minus);  //! round: low = vshlq_s32(low, minus);
        up = vrshlq_s32(up, minus);  //! fixup: up = vrshlq_s32(fix_up(up, minus), minus);
        int16x8_t scaled = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! narrowing: int16x8_t scaled = vcombine_s16(vqmovn_s32(low), vmovn_s32(up));
        scaled = vqaddq_s16(scaled, vdupq_n_s16(offset));  //! constant: scaled = vqaddq_s16(scaled, vdupq_n_s16(offset | 1));
        scaled = vqaddq_s16(x, scaled);  //! saturation: scaled = vaddq_s16(x, scaled);
        vst1q_s16(output + i, vminq_s16(scaled, vdupq_lane_s16(numbers, 2)));
    }
    for (; i < length; ++i) {
        const int32_t scaled = clamp(ties_up(b[i] * weight, shift), -32768, 32767);  //! shift: const int32_t scaled = clamp(ties_up(b[i] * weight, shift + 1), -32768, 32767);
        const int32_t sum = clamp(a[i] + clamp(scaled + offset, -32768, 32767), -32768, 32767);  //! tail: const int32_t sum = clamp(a[i] + scaled + offset, -32768, 32767);
        output[i] = sum < top ? sum : top;
    }
}
