/* requantize in plain C, one row of int32 accumulators to bytes, without intrinsics.
 *
 * The same functions and arguments as kernel_bytes.c.
 */
#include <stddef.h>

#include "rules_plain.h"

static inline int32_t scale_one(int32_t value, float scale, int32_t zero_point, int32_t lower, int32_t upper)
{
    const float scaled = (float)value * scale;
    const float least = (float)(lower - zero_point), most = (float)(upper - zero_point);
    return round_to_even(scaled < least ? least : scaled > most ? most : scaled) + zero_point;
}

void requantize_fp32_qs8(const int32_t *restrict values, int8_t *restrict output, size_t length, float scale,
                         int8_t zero_point, int8_t lower, int8_t upper)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (int8_t)scale_one(values[i], scale, zero_point, lower, upper);
}

void requantize_fp32_qu8(const int32_t *restrict values, uint8_t *restrict output, size_t length, float scale,
                         uint8_t zero_point, uint8_t lower, uint8_t upper)
{
    for (size_t i = 0; i < length; ++i)
        output[i] = (uint8_t)scale_one(values[i], scale, zero_point, lower, upper);
}

static inline int32_t multiply_one(int32_t value, const int32_t *bias, int32_t offset, int32_t multiplier)
{
    const uint32_t biased = (uint32_t)value + (bias ? (uint32_t)*bias : 0u);
    return (int32_t)((biased + (uint32_t)offset) * (uint32_t)multiplier);
}

static inline uint8_t bound(int32_t value, uint8_t lower, uint8_t upper)
{
    return (uint8_t)(value < lower ? lower : value > upper ? upper : value);
}

void requantize_integer_floor(const int32_t *restrict values, const int32_t *restrict bias, uint8_t *restrict output,
                              size_t length, int32_t offset, int32_t multiplier, int32_t right_shift, uint8_t lower,
                              uint8_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t scaled = multiply_one(values[i], bias ? bias + i : NULL, offset, multiplier);
        output[i] = bound(scaled >> right_shift, lower, upper);
    }
}

void requantize_integer_ties_away(const int32_t *restrict values, const int32_t *restrict bias,
                                  uint8_t *restrict output, size_t length, int32_t offset, int32_t multiplier,
                                  int32_t right_shift, uint8_t lower, uint8_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t scaled = multiply_one(values[i], bias ? bias + i : NULL, offset, multiplier);
        output[i] = bound(divide_ties_away(scaled, -right_shift), lower, upper);
    }
}
