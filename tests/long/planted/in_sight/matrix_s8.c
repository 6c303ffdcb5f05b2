#include "scalar.h"

void matrix_s8(const int8_t *a, const int8_t *b, const int32_t *bias, int8_t *output, size_t rows, size_t columns,
               size_t depth, int32_t multiplier, int32_t shift, int32_t zero)
{
    const int32x4_t minus = vdupq_n_s32(-shift);
    for (size_t r = 0; r < rows; ++r) {
        size_t c = 0;
        for (; c + 8 <= columns; c += 8) {
            int32x4_t low = vld1q_s32(bias + c), up = vld1q_s32(bias + c + 4);
            size_t k = 0;
            for (; k + 4 <= depth; k += 4) {
                const int16x4_t x = {a[r * depth + k], a[r * depth + k + 1], a[r * depth + k + 2], a[r * depth + k + 3]};
                const int16x8_t p = vmovl_s8(vld1_s8(b + k * columns + c)), q = vmovl_s8(vld1_s8(b + (k + 1) * columns + c));
                const int16x8_t s = vmovl_s8(vld1_s8(b + (k + 2) * columns + c));
                const int16x8_t t = vmovl_s8(vld1_s8(b + (k + 3) * columns + c));  //! sign: const int16x8_t t = vreinterpretq_s16_u16(vmovl_u8(vld1_u8((const uint8_t *)b + (k + 3) * columns + c)));
                low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(p), x, 0), vget_low_s16(q), x, 1);
                low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(s), x, 2), vget_low_s16(t), x, 3);  //! lane: low = vmlal_lane_s16(vmlal_lane_s16(low, vget_low_s16(s), x, 2), vget_low_s16(t), x, 2);
                up = vmlal_lane_s16(vmlal_lane_s16(up, vget_high_s16(p), x, 0), vget_high_s16(q), x, 1);  //! saturation: up = vaddw_s16(up, vadd_s16(vmul_lane_s16(vget_high_s16(p), x, 0), vmul_lane_s16(vget_high_s16(q), x, 1)));
                up = vmlal_lane_s16(vmlal_lane_s16(up, vget_high_s16(s), x, 2), vget_high_s16(t), x, 3);
            }
            for (; k < depth; ++k) {
                const int16x8_t p = vmovl_s8(vld1_s8(b + k * columns + c));
                low = vmlal_n_s16(low, vget_low_s16(p), a[r * depth + k]);
                up = vmlal_n_s16(up, vget_high_s16(p), a[r * depth + k]);
            }
            low = vqrdmulhq_n_s32(low, multiplier);  //! round: low = vqdmulhq_n_s32(low, multiplier);
            up = vqrdmulhq_n_s32(up, multiplier);  //! constant: up = vqrdmulhq_n_s32(up, multiplier + 1);
            low = vrshlq_s32(fix_up(low, minus), minus);  //! fixup: low = vrshlq_s32(low, minus);
            up = vrshlq_s32(fix_up(up, minus), minus);  //! shift: up = vrshlq_s32(fix_up(up, minus), vsubq_s32(minus, vdupq_n_s32(1)));
            const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(up));  //! narrowing: const int16x8_t both = vcombine_s16(vmovn_s32(low), vqmovn_s32(up));
            vst1_s8(output + r * columns + c, vqmovn_s16(vqaddq_s16(both, vdupq_n_s16(zero))));  //! offset: vst1_s8(output + r * columns + c, vqadd_s8(vqmovn_s16(both), vdup_n_s8(zero)));
        }
        for (; c < columns; ++c) {
            int32_t sum = bias[c];
            for (size_t k = 0; k < depth; ++k)
                sum += a[r * depth + k] * b[k * columns + c];
            output[r * columns + c] = clamp(ties_away(high(sum, multiplier), shift) + zero, -128, 127);  //! tail: output[r * columns + c] = clamp(ties_up(high(sum, multiplier), shift) + zero, -128, 127);
        }
    }
}
