/* fully_connected with NEON intrinsics: rows of bytes times the weights of each column, scaled to bytes.
 *
 * Four columns at once, then the last (columns mod 4) one by one; sixteen bytes a step, then one by one.
 */
#include "layer.h"

INLINED void columns_at(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors *scaling,
                        uint8_t *output, size_t rows, size_t columns, size_t depth, size_t j, const levels *by,
                        int count)
{
    const uint8_t *own = weights + j * depth;
    const int32x4_t terms = constant_terms(bias ? bias + j : NULL, own, depth, by, count);
    for (size_t r = 0; r < rows; ++r) {
        int32x4_t sums[5] = {};
        add_products(sums, input + r * depth, own, depth, depth, by->flip, count);
        write_bytes(output + r * columns + j, sums, terms, scaling, j, by, count);
    }
}

INLINED void layer(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors scaling,
                   uint8_t *output, size_t rows, size_t columns, size_t depth, const levels by)
{
    size_t j = 0;
    for (; j + 4 <= columns; j += 4)
        columns_at(input, weights, bias, &scaling, output, rows, columns, depth, j, &by, 4);
    for (; j < columns; ++j)
        columns_at(input, weights, bias, &scaling, output, rows, columns, depth, j, &by, 1);
}

/* int8, whose weights have the zero point 0. */
#define BY_RULE_S8(rounding)                                                                                        \
    void fully_connected_s8_##rounding(const int8_t *input, const int8_t *weights, const int32_t *bias,             \
                                       const int32_t *multipliers, const int32_t *left_shifts, int8_t *output,      \
                                       size_t rows, size_t columns, size_t depth, int32_t input_zero,               \
                                       int32_t output_zero, int32_t lower, int32_t upper)                           \
    {                                                                                                               \
        layer((const uint8_t *)input, (const uint8_t *)weights, bias,                                               \
              (factors){rounding, multipliers, left_shifts, NULL}, (uint8_t *)output, rows, columns, depth,         \
              (levels){vdupq_n_u8(0), input_zero, 0, output_zero, lower, upper});                                   \
    }

#define BY_RULE_U8(rounding)                                                                                        \
    void fully_connected_u8_##rounding(const uint8_t *input, const uint8_t *weights, const int32_t *bias,           \
                                       const int32_t *multipliers, const int32_t *left_shifts, uint8_t *output,     \
                                       size_t rows, size_t columns, size_t depth, int32_t input_zero,               \
                                       int32_t weights_zero, int32_t output_zero, int32_t lower, int32_t upper)     \
    {                                                                                                               \
        layer(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, rows, columns,     \
              depth,                                                                                                \
              (levels){vdupq_n_u8(128), input_zero - 128, weights_zero - 128, output_zero, lower, upper});          \
    }

BY_RULE_S8(double_rounding)
BY_RULE_S8(double_rounding_ties_up)
BY_RULE_S8(single_rounding)
BY_RULE_U8(double_rounding)
BY_RULE_U8(double_rounding_ties_up)
BY_RULE_U8(single_rounding)

void fully_connected_s8_fp32(const int8_t *input, const int8_t *weights, const int32_t *bias, const float *scales,
                             int8_t *output, size_t rows, size_t columns, size_t depth, int32_t input_zero,
                             int32_t output_zero, int32_t lower, int32_t upper)
{
    layer((const uint8_t *)input, (const uint8_t *)weights, bias, (factors){NULL, NULL, NULL, scales},
          (uint8_t *)output, rows, columns, depth,
          (levels){vdupq_n_u8(0), input_zero, 0, output_zero, lower, upper});
}

void fully_connected_u8_fp32(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const float *scales,
                             uint8_t *output, size_t rows, size_t columns, size_t depth, int32_t input_zero,
                             int32_t weights_zero, int32_t output_zero, int32_t lower, int32_t upper)
{
    layer(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, rows, columns, depth,
          (levels){vdupq_n_u8(128), input_zero - 128, weights_zero - 128, output_zero, lower, upper});
}
