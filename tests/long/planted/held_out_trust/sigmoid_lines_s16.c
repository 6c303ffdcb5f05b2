#include "scalar.h"

/* Four straight lines: 3.12 in, 0.15 out, and one minus that for negative numbers. */
void sigmoid_lines_s16(const int16_t *in, int16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vld1q_s16(in + i);
        const uint16x8_t size = vreinterpretq_u16_s16(vqabsq_s16(x));  //! step: const uint16x8_t size = vreinterpretq_u16_s16(x);
        uint16x8_t y = vaddq_u16(vshlq_n_u16(size, 1), vdupq_n_u16(16384));
        const uint16x8_t second = vaddq_u16(size, vdupq_n_u16(20480));  //! line: const uint16x8_t second = vaddq_u16(vshrq_n_u16(size, 1), vdupq_n_u16(20480));
        const uint16x8_t third = vaddq_u16(vshrq_n_u16(size, 2), vdupq_n_u16(27648));
        y = vbslq_u16(vcgeq_u16(size, vdupq_n_u16(4096)), second, y);
        y = vbslq_u16(vcgeq_u16(size, vdupq_n_u16(9728)), third, y);  //! threshold: y = vbslq_u16(vcgeq_u16(size, vdupq_n_u16(9600)), third, y);
        y = vbslq_u16(vcgeq_u16(size, vdupq_n_u16(20480)), vdupq_n_u16(32767), y);
        const uint16x8_t below = vcltq_s16(x, vdupq_n_s16(0));
        y = vbslq_u16(below, vsubq_u16(vdupq_n_u16(32768), y), y);  //! constant: y = vbslq_u16(below, vsubq_u16(vdupq_n_u16(32767), y), y);
        vst1q_s16(output + i, vreinterpretq_s16_u16(y));
    }
    for (; i < length; ++i) {
        const int32_t size = in[i] < 0 ? -in[i] : in[i];
        int32_t y = 2 * size + 16384;
        if (size >= 20480)
            y = 32767;
        else if (size >= 9728)  //! compare: else if (size > 9728)
            y = size / 4 + 27648;
        else if (size >= 4096)
            y = size + 20480;
        output[i] = (int16_t)(in[i] < 0 ? 32768 - y : y);
    }
}
