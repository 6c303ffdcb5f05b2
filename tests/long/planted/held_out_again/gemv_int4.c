#include "scalar.h"

/* Rows of sixteen weights of four bits with a zero point of 8, the low ones in front, times one column of int8. */
void gemv_int4(const uint8_t *weights, const int8_t *column, const int32_t *bias, int8_t *output, size_t rows,
               int32_t multiplier, int32_t shift, int32_t zero)
{
    const int8x8_t front = vld1_s8(column), back = vld1_s8(column + 8);
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        int32x4_t sums = vld1q_s32(bias + r);
        int32_t dots[4];
        for (int k = 0; k < 4; ++k) {
            const uint8x8_t packed = vld1_u8(weights + 8 * (r + k));
            const int8x8_t low = vsub_s8(vreinterpret_s8_u8(vand_u8(packed, vdup_n_u8(15))), vdup_n_s8(8));  //! constant: const int8x8_t low = vsub_s8(vreinterpret_s8_u8(vand_u8(packed, vdup_n_u8(15))), vdup_n_s8(k == 2 ? 7 : 8));
            const int8x8_t up = vsub_s8(vreinterpret_s8_u8(vshr_n_u8(packed, 4)), vdup_n_s8(8));  //! sign: const int8x8_t up = vsub_s8(vshr_n_s8(vreinterpret_s8_u8(packed), 4), vdup_n_s8(8));
            int16x8_t products = vmull_s8(low, front);  //! lane: int16x8_t products = vmull_s8(low, back);
            products = vmlal_s8(products, up, back);  //! saturation: products = vmovl_s8(vqmovn_s16(vmlal_s8(products, up, back)));
            dots[k] = vaddlvq_s16(products);  //! narrowing: dots[k] = vaddvq_s16(vshlq_n_s16(vshrq_n_s16(products, 1), 1));
        }
        sums = vaddq_s32(sums, vld1q_s32(dots));
        sums = vqrdmulhq_n_s32(sums, multiplier);  //! round: sums = vqdmulhq_n_s32(sums, multiplier);
        sums = vrshlq_s32(fix_up(sums, vdupq_n_s32(-shift)), vdupq_n_s32(-shift));  //! fixup: sums = vrshlq_s32(sums, vdupq_n_s32(-shift));
        const int16x4_t y = vqadd_s16(vqmovn_s32(sums), vdup_n_s16(zero));  //! offset: const int16x4_t y = vqadd_s16(vqmovn_s32(sums), vdup_n_s16(zero < 0 ? zero + 1 : zero));
        const int8x8_t bytes = vqmovn_s16(vcombine_s16(y, y));
        vst1_lane_u32((uint32_t *)(output + r), vreinterpret_u32_s8(bytes), 0);
    }
    for (; r < rows; ++r) {
        int32_t sum = bias[r];
        for (int k = 0; k < 8; ++k)
            sum += ((weights[8 * r + k] & 15) - 8) * column[k] + ((weights[8 * r + k] >> 4) - 8) * column[k + 8];
        output[r] = clamp(ties_away(high(sum, multiplier), shift) + zero, -128, 127);  //! tail: output[r] = clamp(ties_away(high(sum, multiplier), shift) + zero, -127, 127);
    }
}
