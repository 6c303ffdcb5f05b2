/* The integer add of TFLite and CMSIS-NN in plain C: the same function and arguments as tflite.c.
 *
 * No operand and no sum reaches -2^31, so that the multiply has nothing to saturate.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t divide_by_power_of_two(int32_t value, int32_t shift)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> shift) + ((value & mask) > threshold);
}

static inline int32_t rescale(int32_t value, int32_t multiplier, int32_t shift)
{
    const int64_t high = ((int64_t)value * multiplier + (INT64_C(1) << 30)) >> 31;
    return divide_by_power_of_two((int32_t)high, -shift);
}

static inline uint8_t clamp(int32_t value, int32_t lower, int32_t upper)
{
    return (uint8_t)(value < lower ? lower : value > upper ? upper : value);
}

void quantized_add_tflite(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output,
                          size_t length, int32_t a_offset, int32_t a_multiplier, int32_t a_shift, int32_t b_offset,
                          int32_t b_multiplier, int32_t b_shift, int32_t left_shift, int32_t offset,
                          int32_t multiplier, int32_t shift, uint8_t lower, uint8_t upper)
{
    const int32_t unit = INT32_C(1) << left_shift;
    for (size_t i = 0; i < length; ++i) {
        const int32_t placed_a = rescale((a[i] + a_offset) * unit, a_multiplier, a_shift);
        const int32_t placed_b = rescale((b[i] + b_offset) * unit, b_multiplier, b_shift);
        output[i] = clamp(rescale(placed_a + placed_b, multiplier, shift) + offset, lower, upper);
    }
}

void quantized_add_tflite_s16(const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict output,
                              size_t length, int32_t a_multiplier, int32_t a_shift, int32_t b_multiplier,
                              int32_t b_shift, int32_t left_shift, int32_t multiplier, int32_t shift, int16_t lower,
                              int16_t upper)
{
    const int32_t power = 1 << left_shift;
    for (size_t i = 0; i < length; ++i) {
        const int32_t sum = rescale(a[i] * power, a_multiplier, a_shift) + rescale(b[i] * power, b_multiplier, b_shift);
        const int32_t whole = rescale(sum, multiplier, shift);
        output[i] = (int16_t)(whole < lower ? lower : whole > upper ? upper : whole);
    }
}

static inline int32_t bound_of_16(int32_t value, int32_t lower, int32_t upper)
{
    const int32_t raised = value < lower ? lower : value;
    return raised > upper ? upper : raised;
}

void quantized_add_tflite_s16_pot(const int16_t *restrict a, const int16_t *restrict b, int16_t *restrict output,
                                  size_t length, int32_t a_shift, int32_t b_shift, int16_t lower, int16_t upper)
{
    const int16_t *kept = a_shift ? b : a, *moved = a_shift ? a : b;
    const int32_t right = -(a_shift ? a_shift : b_shift);
    for (size_t i = 0; i < length; ++i) {
        const int32_t sign = moved[i] < 0 ? -1 : 1;
        const int32_t divided = right > 15 ? sign : divide_by_power_of_two(moved[i], right);
        output[i] = (int16_t)bound_of_16(bound_of_16(kept[i] + divided, INT16_MIN, INT16_MAX), lower, upper);
    }
}
