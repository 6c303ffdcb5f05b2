/* quantize_down in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same function and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t doubling_high_multiply(int32_t value, int32_t multiplier)
{
    if (value == INT32_MIN && multiplier == INT32_MIN)
        return INT32_MAX;
    return (int32_t)(((int64_t)value * multiplier + (INT64_C(1) << 30)) >> 31);
}

static inline int32_t divide_by_power_of_two(int32_t value, int32_t shift)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> shift) + ((value & mask) > threshold);
}

static inline int32_t clamp(int32_t value, int32_t lower, int32_t upper)
{
    return value < lower ? lower : value > upper ? upper : value;
}

static inline uint8_t quantize_one(int32_t value, int32_t multiplier, int32_t shift, int32_t offset,
                                   uint8_t lower, uint8_t upper)
{
    const int32_t scaled = divide_by_power_of_two(doubling_high_multiply(value, multiplier), shift);
    const int32_t placed = (int32_t)((uint32_t)scaled + (uint32_t)offset);
    return (uint8_t)clamp(clamp(placed, 0, 255), lower, upper);
}

void quantize_down(const int32_t *restrict accumulators, const int32_t *restrict bias, uint8_t *restrict output,
                   size_t length, int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    if (bias) {
        for (size_t i = 0; i < length; ++i)
            output[i] = quantize_one((int32_t)((uint32_t)accumulators[i] + (uint32_t)bias[i]), multiplier, shift,
                                     offset, lower, upper);
    } else {
        for (size_t i = 0; i < length; ++i)
            output[i] = quantize_one(accumulators[i], multiplier, shift, offset, lower, upper);
    }
}
