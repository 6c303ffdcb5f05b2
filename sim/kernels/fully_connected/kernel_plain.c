/* fully_connected in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include "layer_plain.h"

#define LAYER(type, byte)                                                                                           \
    INLINED void layer_##type(const byte *restrict input, const byte *restrict weights,                             \
                              const int32_t *restrict bias, const factors scaling, byte *restrict output,           \
                              size_t rows, size_t columns, size_t depth, const levels by)                           \
    {                                                                                                               \
        for (size_t r = 0; r < rows; ++r)                                                                           \
            for (size_t j = 0; j < columns; ++j) {                                                                  \
                uint32_t sum = bias ? (uint32_t)bias[j] : 0;                                                        \
                for (size_t k = 0; k < depth; ++k)                                                                  \
                    sum += (uint32_t)((input[r * depth + k] - by.input_zero) *                                      \
                                      (weights[j * depth + k] - by.weights_zero));                                  \
                output[r * columns + j] = (byte)number_of((int32_t)sum, &scaling, j, &by);                          \
            }                                                                                                       \
    }

LAYER(s8, int8_t)
LAYER(u8, uint8_t)

#define BY_RULE_S8(rounding)                                                                                        \
    void fully_connected_s8_##rounding(                                                                             \
        const int8_t *restrict input, const int8_t *restrict weights, const int32_t *restrict bias,                 \
        const int32_t *restrict multipliers, const int32_t *restrict left_shifts, int8_t *restrict output,          \
        size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t output_zero, int32_t lower,          \
        int32_t upper)                                                                                              \
    {                                                                                                               \
        layer_s8(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, rows, columns,  \
                 depth, (levels){input_zero, 0, output_zero, lower, upper});                                        \
    }

#define BY_RULE_U8(rounding)                                                                                        \
    void fully_connected_u8_##rounding(                                                                             \
        const uint8_t *restrict input, const uint8_t *restrict weights, const int32_t *restrict bias,               \
        const int32_t *restrict multipliers, const int32_t *restrict left_shifts, uint8_t *restrict output,         \
        size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t weights_zero, int32_t output_zero,   \
        int32_t lower, int32_t upper)                                                                               \
    {                                                                                                               \
        layer_u8(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, rows, columns,  \
                 depth, (levels){input_zero, weights_zero, output_zero, lower, upper});                             \
    }

BY_RULE_S8(double_rounding)
BY_RULE_S8(double_rounding_ties_up)
BY_RULE_S8(single_rounding)
BY_RULE_U8(double_rounding)
BY_RULE_U8(double_rounding_ties_up)
BY_RULE_U8(single_rounding)

void fully_connected_s8_fp32(const int8_t *restrict input, const int8_t *restrict weights,
                             const int32_t *restrict bias, const float *restrict scales, int8_t *restrict output,
                             size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t output_zero,
                             int32_t lower, int32_t upper)
{
    layer_s8(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, rows, columns, depth,
             (levels){input_zero, 0, output_zero, lower, upper});
}

void fully_connected_u8_fp32(const uint8_t *restrict input, const uint8_t *restrict weights,
                             const int32_t *restrict bias, const float *restrict scales, uint8_t *restrict output,
                             size_t rows, size_t columns, size_t depth, int32_t input_zero, int32_t weights_zero,
                             int32_t output_zero, int32_t lower, int32_t upper)
{
    layer_u8(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, rows, columns, depth,
             (levels){input_zero, weights_zero, output_zero, lower, upper});
}
