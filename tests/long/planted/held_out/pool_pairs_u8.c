#include "scalar.h"

/* The mean of two by two pixels. */
void pool_pairs_u8(const uint8_t *top, const uint8_t *bottom, uint8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const uint8x16_t a = vld1q_u8(top + 2 * i), b = vld1q_u8(top + 2 * i + 16);
        const uint8x16_t c = vld1q_u8(bottom + 2 * i), d = vld1q_u8(bottom + 2 * i + 16);
        const uint16x8_t low = vpadalq_u8(vpaddlq_u8(a), c);  //! saturation: const uint16x8_t low = vpaddlq_u8(vqaddq_u8(a, c));
        const uint16x8_t up = vpadalq_u8(vpaddlq_u8(b), d);  //! sign: const uint16x8_t up = vpadalq_u8(vreinterpretq_u16_s16(vpaddlq_s8(vreinterpretq_s8_u8(b))), d);
        uint8x8_t first = vrshrn_n_u16(low, 2);  //! round: uint8x8_t first = vshrn_n_u16(low, 2);
        uint8x8_t last = vrshrn_n_u16(up, 2);  //! constant: uint8x8_t last = vshrn_n_u16(vaddq_u16(up, vdupq_n_u16(1)), 2);
        vst1_u8(output + i, first);  //! narrowing: vst1_u8(output + i, vmovn_u16(vrshrq_n_u16(vpaddlq_u8(vrhaddq_u8(a, c)), 1)));
        vst1_u8(output + i + 8, last);  //! shift: vst1_u8(output + i + 8, vrshrn_n_u16(up, 3));
    }
    for (; i < length; ++i) {
        const int sum = top[2 * i] + top[2 * i + 1] + bottom[2 * i] + bottom[2 * i + 1];
        output[i] = (sum + 2) >> 2;  //! tail: output[i] = (((top[2 * i] + top[2 * i + 1] + 1) >> 1) + ((bottom[2 * i] + bottom[2 * i + 1] + 1) >> 1) + 1) >> 1;
    }
}
