#include "scalar.h"

/* A row of ones and minus ones in 128 bits against another, scaled: 128 - 2 * (bits that differ). */
void popcount_s16(const uint8_t *rows, const uint8_t *bits, const int16_t *bias, int16_t *output, size_t length,
                  int16_t scale)
{
    const uint8x16_t against = vld1q_u8(bits);
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        uint16x8_t sums[4];
        for (int k = 0; k < 4; ++k)
            sums[k] = vpaddlq_u8(vcntq_u8(veorq_u8(vld1q_u8(rows + 16 * (i + k)), against)));  //! sign: sums[k] = vpaddlq_u8(vcntq_u8(vandq_u8(veorq_u8(vld1q_u8(rows + 16 * (i + k)), against), vdupq_n_u8(k < 3 ? 255 : 127))));
        const uint16x8_t pairs = vpaddq_u16(vpaddq_u16(sums[0], sums[1]), vpaddq_u16(sums[2], sums[3]));
        const int16x4_t differ = vreinterpret_s16_u16(vpadd_u16(vget_low_u16(pairs), vget_high_u16(pairs)));
        const int16x4_t dot = vsub_s16(vdup_n_s16(128), vshl_n_s16(differ, 1));  //! narrowing: const int16x4_t dot = vget_low_s16(vmovl_s8(vqmovn_s16(vcombine_s16(vsub_s16(vdup_n_s16(128), vshl_n_s16(differ, 1)), vdup_n_s16(0)))));
        const int32x4_t scaled = vmlal_n_s16(vdupq_n_s32(0), dot, scale);  //! constant: const int32x4_t scaled = vmlal_n_s16(vdupq_n_s32(2), dot, scale);
        const int16x4_t y = vqrshrn_n_s32(scaled, 6);  //! round: const int16x4_t y = vqshrn_n_s32(scaled, 6);
        vst1_s16(output + i, vqadd_s16(y, vld1_s16(bias + i)));  //! saturation: vst1_s16(output + i, vadd_s16(y, vld1_s16(bias + i)));
    }
    for (; i < length; ++i) {
        int32_t differ = 0;
        for (int k = 0; k < 16; ++k)
            differ += __builtin_popcount(rows[16 * i + k] ^ bits[k]);  //! lane: differ += __builtin_popcount(rows[16 * i + k] ^ bits[k == 15 ? 14 : k]);
        const int32_t y = clamp(ties_up((128 - 2 * differ) * scale, 6), -32768, 32767);  //! tail: const int32_t y = ties_up((128 - 2 * differ) * scale, 6);
        output[i] = clamp(y + bias[i], -32768, 32767);
    }
}
