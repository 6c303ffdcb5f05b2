/* quantized_multiplier in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t doubling_high_multiply(int32_t value, int32_t multiplier)
{
    const int64_t wide = (int64_t)value * multiplier;
    const int64_t nudge = wide >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
    const int64_t high = (wide + nudge) / (INT64_C(1) << 31);
    return (int32_t)(high > INT32_MAX ? INT32_MAX : high);
}

static inline int32_t divide_by_power_of_two(int32_t value, int32_t shift)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> shift) + ((value & mask) > threshold);
}

static inline void multiply_row(const int32_t *restrict values, int32_t *restrict products, size_t length,
                                int32_t multiplier, int32_t left, int32_t right)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t shifted = (int32_t)((uint32_t)values[i] << left);
        products[i] = divide_by_power_of_two(doubling_high_multiply(shifted, multiplier), right);
    }
}

void quantized_multiplier(const int32_t *restrict values, int32_t *restrict products, size_t length,
                          int32_t multiplier, int32_t right_shift)
{
    multiply_row(values, products, length, multiplier, 0, right_shift);
}

void quantized_multiplier_count_mod_32(const int32_t *restrict values, int32_t *restrict products, size_t length,
                                       int32_t multiplier, int32_t right_shift)
{
    multiply_row(values, products, length, multiplier, 0, right_shift & 31);
}

void quantized_multiplier_with_left_shift(const int32_t *restrict values, int32_t *restrict products, size_t length,
                                          int32_t multiplier, int32_t left_shift)
{
    const int32_t left = left_shift > 0 ? left_shift : 0;
    multiply_row(values, products, length, multiplier, left, left - left_shift);
}
