#include "scalar.h"

/* The mean in 256ths, ties away from zero, and the variance, rounded down. */
void moments_s8(const int8_t *in, int32_t *output, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; ++r) {
        const int8_t *x = in + r * columns;
        int32x4_t sums = vdupq_n_s32(0), squares = vdupq_n_s32(0);
        size_t c = 0;
        for (; c + 16 <= columns; c += 16) {
            const int8x16_t v = vld1q_s8(x + c);
            sums = vpadalq_s16(sums, vpaddlq_s8(v));  //! sign: sums = vreinterpretq_s32_u32(vpadalq_u16(vreinterpretq_u32_s32(sums), vreinterpretq_u16_s16(vpaddlq_s8(v))));
            squares = vpadalq_s16(squares, vmull_s8(vget_low_s8(v), vget_low_s8(v)));
            squares = vpadalq_s16(squares, vmull_high_s8(v, v));  //! operand: squares = vpadalq_s16(squares, vmull_s8(vget_low_s8(v), vget_high_s8(v)));
        }
        int32_t sum = vaddvq_s32(sums);
        int64_t square = vaddvq_s32(squares);
        for (; c < columns; ++c) {
            sum += x[c];
            square += x[c] * x[c];  //! power: square += x[c] * sum;
        }
        const int32_t n = (int32_t)columns;
        const int32_t half = sum < 0 ? -(n / 2) : n / 2;  //! fixup: const int32_t half = n / 2;
        output[2 * r] = (sum * 256 + half) / n;
        output[2 * r + 1] = (int32_t)((n * square - (int64_t)sum * sum) / ((int64_t)n * n));  //! divide: output[2 * r + 1] = (int32_t)((square - (int64_t)sum * sum / n) / n);
    }
}
