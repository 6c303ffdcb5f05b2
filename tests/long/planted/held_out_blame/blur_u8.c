#include "scalar.h"

void blur_u8(const uint8_t *top, const uint8_t *middle, const uint8_t *bottom, uint8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint16x8_t sum = vaddl_u8(vld1_u8(top + i), vld1_u8(bottom + i));  //! wrap: uint16x8_t sum = vmovl_u8(vadd_u8(vld1_u8(top + i), vld1_u8(bottom + i)));
        const uint16x8_t twice = vshll_n_u8(vld1_u8(middle + i), 1);  //! operand: const uint16x8_t twice = vshll_n_u8(vld1_u8(bottom + i), 1);
        sum = vaddq_u16(sum, twice);  //! left:
        vst1_u8(output + i, vrshrn_n_u16(sum, 2));  //! order: vst1_u8(output + i, vmovn_u16(vaddq_u16(vshrq_n_u16(sum, 2), vdupq_n_u16(1))));
    }
    for (; i < length; ++i) {
        const uint32_t sum = top[i] + 2 * middle[i] + bottom[i];  //! index: const uint32_t sum = top[i] + 2 * middle[i] + top[i];
        output[i] = (sum + 2) >> 2;  //! constant: output[i] = (sum + 3) >> 2;
    }
}
