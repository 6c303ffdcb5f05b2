/* Multiply int8 fractions (Q0.7), rounded to nearest with ties up, and saturate: sixteen lanes a step, then one by one. */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int8x8_t multiply_eight(int8x8_t a, int8x8_t b)
{
    return vqrshrn_n_s16(vmull_s8(a, b), 7);
}

static inline int8_t multiply_one(int8_t a, int8_t b)
{
    const int32_t rounded = (a * b + 64) >> 7;
    return (int8_t)(rounded > 127 ? 127 : rounded);
}

void my_kernel(const int8_t *a, const int8_t *b, int8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const int8x16_t x = vld1q_s8(a + i), y = vld1q_s8(b + i);
        const int8x8_t low = multiply_eight(vget_low_s8(x), vget_low_s8(y));
        const int8x8_t high = multiply_eight(vget_high_s8(x), vget_high_s8(y));
        vst1q_s8(output + i, vcombine_s8(low, high));
    }
    for (; i < length; ++i)
        output[i] = multiply_one(a[i], b[i]);
}
