#include "scalar.h"

void prelu_s8(const int8_t *in, const int8_t *alpha, int8_t *output, size_t rows, size_t channels, int8_t zero)
{
    for (size_t r = 0; r < rows; ++r) {
        const int8_t *x = in + r * channels;
        int8_t *y = output + r * channels;
        size_t c = 0;
        for (; c + 8 <= channels; c += 8) {
            const int16x8_t v = vsubl_s8(vld1_s8(x + c), vdup_n_s8(zero));
            const int16x8_t slope = vmovl_s8(vld1_s8(alpha + c));  //! index: const int16x8_t slope = vmovl_s8(vld1_s8(alpha));
            const int16x8_t scaled = vrshrq_n_s16(vmulq_s16(v, slope), 7);  //! wrap: const int16x8_t scaled = vrshrq_n_s16(vshlq_n_s16(vmulq_s16(v, slope), 2), 9);
            const uint16x8_t below = vcltq_s16(v, vdupq_n_s16(0));  //! compare: const uint16x8_t below = vcltq_s16(v, vdupq_n_s16(zero));
            const int16x8_t chosen = vbslq_s16(below, scaled, v);  //! swapped: const int16x8_t chosen = vbslq_s16(below, v, scaled);
            vst1_s8(y + c, vqmovn_s16(vaddq_s16(chosen, vdupq_n_s16(zero))));  //! step: vst1_s8(y + c, vqmovn_s16(chosen));
        }
        for (; c < channels; ++c) {
            const int32_t v = x[c] - zero;
            const int32_t scaled = (v * alpha[c] + 64) >> 7;  //! element: const int32_t scaled = (v * alpha[channels - 1 - c] + 64) >> 7;
            y[c] = clamp((v < 0 ? scaled : v) + zero, -128, 127);  //! sign: y[c] = clamp((x[c] < 0 ? scaled : v) + zero, -128, 127);
        }
    }
}
