/* arithmetic_addition in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t clamp(int32_t value, int32_t lower, int32_t upper)
{
    return value < lower ? lower : value > upper ? upper : value;
}

void arithmetic_addition_u8_wrap(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output,
                                 size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (uint8_t)(a[i] + b[i]);
}

void arithmetic_addition_u8_saturate(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output,
                                     size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (uint8_t)clamp(a[i] + b[i], 0, 255);
}

void arithmetic_addition_s16_wrap(const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict output,
                                  size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (int16_t)(a[i] + b[i]);
}

void arithmetic_addition_s16_saturate(const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict output,
                                      size_t length)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (int16_t)clamp(a[i] + b[i], -32768, 32767);
}

/* Ties to even, of a number below 2^31: what is lost of 1.5 * 2^52 is rounded so. */
static inline int32_t round_even(float number)
{
    const volatile double moved = (double)number + 6755399441055744.0;
    return (int32_t)(moved - 6755399441055744.0);
}

/* Ties away: the half is added exactly in double. */
static inline int32_t round_away(float number)
{
    return (int32_t)(number < 0 ? (double)number - 0.5 : (double)number + 0.5);
}

static inline float sum_of(int32_t a, int32_t b, float a_scale, float b_scale)
{
    const float real_a = (float)a * a_scale;
    const float real_b = (float)b * b_scale;
    return real_a + real_b;
}

void arithmetic_addition_qasymm8_unfused(const uint8_t *restrict a, const uint8_t *restrict b,
                                         uint8_t *restrict output, size_t length, int32_t a_zero, int32_t b_zero,
                                         int32_t output_zero, float a_scale, float b_scale, float output_scale)
{
    const float reciprocal = 1.0f / output_scale;
    for (size_t i = 0; i < length; ++i) {
        const float sum = sum_of(a[i] - a_zero, b[i] - b_zero, a_scale, b_scale);
        const int is_lane = i < length - length % 16;
        output[i] = (uint8_t)clamp(is_lane ? round_even((float)output_zero + sum * reciprocal)
                                           : round_away(sum / output_scale) + output_zero,
                                   0, 255);
    }
}

void arithmetic_addition_qasymm8_fused(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output,
                                       size_t length, int32_t a_zero, int32_t b_zero, int32_t output_zero,
                                       float a_scale, float b_scale, float output_scale)
{
    const float reciprocal = 1.0f / output_scale;
    for (size_t i = 0; i < length; ++i) {
        const float sum = sum_of(a[i] - a_zero, b[i] - b_zero, a_scale, b_scale);
        const int is_lane = i < length - length % 16;
        output[i] = (uint8_t)clamp(is_lane ? round_even(__builtin_fmaf(sum, reciprocal, (float)output_zero))
                                           : round_away(sum / output_scale) + output_zero,
                                   0, 255);
    }
}

void arithmetic_addition_qsymm16(const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict output,
                                 size_t length, float a_scale, float b_scale, float output_scale)
{
    const float reciprocal = 1.0f / output_scale;
    for (size_t i = 0; i < length; ++i) {
        const float sum = sum_of(a[i], b[i], a_scale, b_scale);
        const int is_lane = i < length - length % 8;
        output[i] = (int16_t)clamp(is_lane ? round_even(sum * reciprocal) : round_away(sum / output_scale), -32768, 32767);
    }
}
