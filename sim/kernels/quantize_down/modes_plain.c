/* The other arithmetics of quantize_down in plain C, without intrinsics.
 *
 * The same functions and arguments as modes.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t add(int32_t value, int32_t other)
{
    return (int32_t)((uint32_t)value + (uint32_t)other);
}

static inline int32_t doubling_high_multiply(int32_t value, int32_t multiplier)
{
    if (value == INT32_MIN && multiplier == INT32_MIN)
        return INT32_MAX;
    return (int32_t)(((int64_t)value * multiplier + (INT64_C(1) << 30)) >> 31);
}

static inline int32_t divide_by_power_of_two(int32_t value, uint32_t count)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << (count & 31)) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> (count & 31)) + ((value & mask) > threshold);
}

static inline int32_t clamp(int32_t value, int32_t lower, int32_t upper)
{
    return value < lower ? lower : value > upper ? upper : value;
}

static inline uint8_t saturate(int32_t value, uint8_t lower, uint8_t upper)
{
    return (uint8_t)clamp(clamp(value, 0, 255), lower, upper);
}

void quantize_down_left_shift(const int32_t *restrict accumulators, const int32_t *restrict bias,
                              uint8_t *restrict output, size_t length, int32_t multiplier, int32_t shift,
                              int32_t offset, uint8_t lower, uint8_t upper)
{
    const uint32_t left = shift < 0 ? (uint32_t)-shift : 0;
    const uint32_t right = shift > 0 ? (uint32_t)shift : 0;
    for (size_t i = 0; i < length; ++i) {
        const uint32_t biased = (uint32_t)add(accumulators[i], bias ? bias[i] : 0);
        const int32_t scaled = doubling_high_multiply((int32_t)(biased << left), multiplier);
        output[i] = saturate(add(divide_by_power_of_two(scaled, right), offset), lower, upper);
    }
}

void quantize_down_page(const int32_t *restrict accumulators, const int32_t *restrict bias, uint8_t *restrict output,
                        size_t length, int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t scaled = doubling_high_multiply(add(accumulators[i], bias ? bias[i] : 0), multiplier);
        output[i] = saturate(add(scaled >> shift, offset), lower, upper);
    }
}

/* The rounding shift of a lane by any count, the low byte of -shift as a signed number: left with wrap, or right with
 * ties up; a negative value loses 1 before where -shift is negative as a whole, which makes it ties away. */
static inline int32_t shift_lane(int32_t value, int32_t shift)
{
    const int32_t minus_shift = (int32_t)(0u - (uint32_t)shift);
    const int32_t left = (int8_t)(uint8_t)minus_shift;
    const int64_t fixed = (int64_t)value - (value < 0 && minus_shift < 0);
    if (left >= 0)
        return left > 31 ? 0 : (int32_t)((uint32_t)fixed << left);
    return left < -31 ? 0 : (int32_t)((fixed + (INT64_C(1) << (-left - 1))) >> -left);
}

void quantize_down_lanes_and_tail(const int32_t *restrict accumulators, const int32_t *restrict bias,
                                  uint8_t *restrict output, size_t length, int32_t multiplier, int32_t shift,
                                  int32_t offset, uint8_t lower, uint8_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t scaled = doubling_high_multiply(add(accumulators[i], bias ? bias[i] : 0), multiplier);
        const int is_lane = i < length - length % 16;
        const int32_t shifted = is_lane ? shift_lane(scaled, shift) : divide_by_power_of_two(scaled, (uint32_t)shift);
        output[i] = saturate(add(shifted, offset), lower, upper);
    }
}

void quantize_down_fused(const int32_t *restrict accumulators, const int32_t *restrict bias, uint8_t *restrict output,
                         size_t length, int32_t multiplier, int32_t shift, int32_t offset, int32_t lower, int32_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t scaled = doubling_high_multiply(add(accumulators[i], bias ? bias[i] : 0), multiplier);
        const int32_t placed = add(divide_by_power_of_two(scaled, (uint32_t)shift), offset);
        const int32_t raised = placed < lower ? lower : placed;
        output[i] = (uint8_t)(raised > upper ? upper : raised);
    }
}

static inline int32_t scale_with_left_shift(int32_t value, int32_t multiplier, int32_t shift)
{
    const uint32_t left = shift < 0 ? (uint32_t)-shift : 0;
    const uint32_t right = shift > 0 ? (uint32_t)shift : 0;
    return divide_by_power_of_two(doubling_high_multiply((int32_t)((uint32_t)value << left), multiplier), right);
}

void quantize_down_s8(const int32_t *restrict accumulators, const int32_t *restrict bias, int8_t *restrict output,
                      size_t length, int32_t multiplier, int32_t shift, int32_t offset, int8_t lower, int8_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t value = add(accumulators[i], bias ? bias[i] : 0);
        const int32_t placed = add(scale_with_left_shift(value, multiplier, shift), offset);
        output[i] = (int8_t)clamp(clamp(placed, -128, 127), lower, upper);
    }
}

void quantize_down_s16(const int32_t *restrict accumulators, const int32_t *restrict bias, int16_t *restrict output,
                       size_t length, int32_t multiplier, int32_t shift, int16_t lower, int16_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t value = add(accumulators[i], bias ? bias[i] : 0);
        const int32_t scaled = scale_with_left_shift(value, multiplier, shift);
        output[i] = (int16_t)clamp(clamp(scaled, -32768, 32767), lower, upper);
    }
}

static inline int32_t scale_in_64_bits(int32_t value, int32_t multiplier, int32_t shift)
{
    const uint64_t product = (uint64_t)((int64_t)value * multiplier) << (shift < 0 ? -shift : 0);
    const int32_t rounded = (int32_t)((int64_t)(product + (UINT64_C(1) << 30)) >> 31);
    return divide_by_power_of_two(rounded, shift > 0 ? (uint32_t)shift : 0);
}

void quantize_down_s16_lanes_and_tail(const int32_t *restrict accumulators, const int32_t *restrict bias,
                                      int16_t *restrict output, size_t length, int32_t multiplier, int32_t shift,
                                      int16_t lower, int16_t upper)
{
    for (size_t i = 0; i < length; ++i) {
        const int32_t value = add(accumulators[i], bias ? bias[i] : 0);
        const int32_t scaled = i < length - length % 8 ? scale_with_left_shift(value, multiplier, shift)
                                                       : scale_in_64_bits(value, multiplier, shift);
        output[i] = (int16_t)clamp(clamp(scaled, -32768, 32767), lower, upper);
    }
}
