#include "scalar.h"

/* A pixel over another one by its alpha: divided by 255, rounded to nearest, with shifts alone. */
void alpha_blend_u8(const uint8_t *over, const uint8_t *under, const uint8_t *alpha, uint8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const uint8x16_t a = vld1q_u8(alpha + i), rest = vmvnq_u8(a);  //! constant: const uint8x16_t a = vld1q_u8(alpha + i), rest = vqsubq_u8(vdupq_n_u8(254), a);
        const uint8x16_t s = vld1q_u8(over + i), d = vld1q_u8(under + i);
        uint16x8_t low = vmlal_u8(vmull_u8(vget_low_u8(s), vget_low_u8(a)), vget_low_u8(d), vget_low_u8(rest));  //! sign: uint16x8_t low = vmlal_u8(vreinterpretq_u16_s16(vmull_s8(vreinterpret_s8_u8(vget_low_u8(s)), vreinterpret_s8_u8(vget_low_u8(a)))), vget_low_u8(d), vget_low_u8(rest));
        uint16x8_t up = vmlal_high_u8(vmull_high_u8(s, a), d, rest);  //! saturation: uint16x8_t up = vminq_u16(vmlal_high_u8(vmull_high_u8(s, a), d, rest), vdupq_n_u16(65024));
        low = vaddq_u16(low, vrshrq_n_u16(low, 8));  //! round: low = vaddq_u16(low, vshrq_n_u16(low, 8));
        up = vrsraq_n_u16(up, up, 8);  //! fixup:
        const uint8x8_t first = vrshrn_n_u16(low, 8);  //! shift: const uint8x8_t first = vshrn_n_u16(low, 8);
        const uint8x8_t last = vrshrn_n_u16(up, 8);  //! offset: const uint8x8_t last = vshrn_n_u16(vaddq_u16(up, vdupq_n_u16(127)), 8);
        vst1q_u8(output + i, vcombine_u8(first, last));
    }
    for (; i < length; ++i) {
        const uint32_t sum = over[i] * alpha[i] + under[i] * (255 - alpha[i]);
        output[i] = (sum + 127) / 255;  //! tail: output[i] = (sum + 128) / 255;
    }
}
