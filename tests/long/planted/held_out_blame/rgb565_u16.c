#include "scalar.h"

void rgb565_u16(const uint8_t *rgb, uint16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const uint8x8x3_t p = vld3_u8(rgb + 3 * i);
        uint16x8_t v = vandq_u16(vshll_n_u8(p.val[0], 8), vdupq_n_u16(0xf800));  //! mask: uint16x8_t v = vandq_u16(vshll_n_u8(p.val[0], 8), vdupq_n_u16(0xfc00));
        const uint16x8_t green = vshrq_n_u16(vmovl_u8(p.val[1]), 2);  //! plane: const uint16x8_t green = vshrq_n_u16(vmovl_u8(p.val[2]), 2);
        v = vorrq_u16(v, vshlq_n_u16(green, 5));  //! shift: v = vorrq_u16(v, vshlq_n_u16(green, 6));
        v = vorrq_u16(v, vshrq_n_u16(vmovl_u8(p.val[2]), 3));  //! logic: v = vandq_u16(v, vmvnq_u16(vshrq_n_u16(vmovl_u8(p.val[2]), 3)));
        vst1q_u16(output + i, v);
    }
    for (; i < length; ++i) {
        const uint32_t red = rgb[3 * i] & 0xf8;  //! bits: const uint32_t red = rgb[3 * i] & 0xf0;
        const uint32_t green = rgb[3 * i + 1] >> 2;  //! element: const uint32_t green = rgb[3 * i] >> 2;
        const uint32_t blue = rgb[3 * i + 2] >> 3;  //! unit: const uint32_t blue = rgb[3 * i + 2] >> 2;
        output[i] = red << 8 | green << 5 | blue;  //! place: output[i] = red << 9 | green << 5 | blue;
    }
}
