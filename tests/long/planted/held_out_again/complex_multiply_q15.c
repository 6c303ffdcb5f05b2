#include "scalar.h"

/* Products of complex numbers, real and imaginary parts in turn. */
void complex_multiply_q15(const int16_t *a, const int16_t *b, int16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        const int16x4x2_t x = vld2_s16(a + 2 * i), y = vld2_s16(b + 2 * i);
        int32x4_t real = vqdmull_s16(x.val[0], y.val[0]);  //! saturation: int32x4_t real = vshlq_n_s32(vmull_s16(x.val[0], y.val[0]), 1);
        real = vqdmlsl_s16(real, x.val[1], y.val[1]);  //! lane: real = vqdmlsl_s16(real, x.val[1], y.val[0]);
        int32x4_t imaginary = vqdmull_s16(x.val[0], y.val[1]);
        imaginary = vqdmlal_s16(imaginary, x.val[1], y.val[0]);  //! narrowing: imaginary = vaddq_s32(imaginary, vqdmull_s16(x.val[1], y.val[0]));
        int16x4x2_t result;
        result.val[0] = vqrshrn_n_s32(real, 16);  //! round: result.val[0] = vqshrn_n_s32(real, 16);
        result.val[1] = vqrshrn_n_s32(imaginary, 16);  //! constant: result.val[1] = vqshrn_n_s32(vqaddq_s32(imaginary, vdupq_n_s32(32767)), 16);
        vst2_s16(output + 2 * i, result);
    }
    for (; i < length; ++i) {
        const int32_t p = saturated(2 * (int64_t)a[2 * i] * b[2 * i]), q = saturated(2 * (int64_t)a[2 * i + 1] * b[2 * i + 1]);
        const int32_t r = saturated(2 * (int64_t)a[2 * i] * b[2 * i + 1]), s = saturated(2 * (int64_t)a[2 * i + 1] * b[2 * i]);
        output[2 * i] = clamp(ties_up(saturated((int64_t)p - q), 16), -32768, 32767);  //! tail: output[2 * i] = clamp(ties_away(saturated((int64_t)p - q), 16), -32768, 32767);
        output[2 * i + 1] = clamp(ties_up(saturated((int64_t)r + s), 16), -32768, 32767);  //! shift: output[2 * i + 1] = clamp(ties_up(saturated((int64_t)r + s), 15) >> 1, -32768, 32767);
    }
}
