/* Bring int32 accumulators to int8 by the convention double_rounding, in plain C: make it fast. */
#include <stddef.h>
#include <stdint.h>

static inline int64_t ties_up(int64_t value, int shift)
{
    return shift ? (value + (INT64_C(1) << (shift - 1))) >> shift : value;
}

static inline int64_t ties_away(int64_t value, int shift)
{
    return value < 0 ? -ties_up(-value, shift) : ties_up(value, shift);
}

static inline int64_t scaled(int32_t value, int32_t multiplier, int shift)
{
    const int64_t product = (int64_t)value * multiplier;
    return ties_away(ties_up(product, 31), shift);
}

void my_kernel(const int32_t *accumulators, const int32_t *bias, const int32_t *multiplier, const int32_t *right_shift,
               int32_t zero_point, int8_t *output, size_t rows, size_t channels)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t c = 0; c < channels; ++c) {
            const size_t at = row * channels + c;
            const int64_t y = scaled(accumulators[at] + bias[c], multiplier[c], right_shift[c]) + zero_point;
            output[at] = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
        }
}
