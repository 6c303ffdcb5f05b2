/* depthwise_conv2d in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include "../conv2d/geometry.h"
#include "../fully_connected/layer_plain.h"

#define LAYER(type, byte)                                                                                           \
    INLINED void layer_##type(const byte *restrict input, const byte *restrict weights,                             \
                              const int32_t *restrict bias, const factors scaling, byte *restrict output,           \
                              const geometry of, const levels by)                                                   \
    {                                                                                                               \
        for (size_t n = 0; n < of.batches; ++n)                                                                     \
            for (size_t y = 0; y < of.out_height; ++y)                                                              \
                for (size_t x = 0; x < of.out_width; ++x)                                                           \
                    for (size_t channel = 0, c = 0; channel < of.channels; ++channel)                               \
                        for (size_t end = c + of.columns / of.channels; c < end; ++c) {                             \
                            uint32_t sum = bias ? (uint32_t)bias[c] : 0;                                            \
                            for (size_t ky = 0; ky < of.kernel_height; ++ky)                                        \
                                for (size_t kx = 0; kx < of.kernel_width; ++kx) {                                   \
                                    const size_t row = y * of.stride_y + ky - of.top;                               \
                                    const size_t place = x * of.stride_x + kx - of.left;                            \
                                    if (row >= of.height || place >= of.width)                                      \
                                        continue;                                                                   \
                                    const byte *pixel =                                                             \
                                        input + ((n * of.height + row) * of.width + place) * of.channels;           \
                                    const byte tap = weights[(ky * of.kernel_width + kx) * of.columns + c];         \
                                    sum += (uint32_t)((pixel[channel] - by.input_zero) * (tap - by.weights_zero));  \
                                }                                                                                   \
                            *output++ = (byte)number_of((int32_t)sum, &scaling, c, &by);                            \
                        }                                                                                           \
    }

LAYER(s8, int8_t)
LAYER(u8, uint8_t)

#define LEVELS_S8 (levels){input_zero, 0, output_zero, lower, upper}
#define LEVELS_U8 (levels){input_zero, weights_zero, output_zero, lower, upper}

#define BY_RULE_S8(rounding)                                                                                        \
    void depthwise_conv2d_s8_##rounding(                                                                            \
        const int8_t *restrict input, const int8_t *restrict weights, const int32_t *restrict bias,                 \
        const int32_t *restrict multipliers, const int32_t *restrict left_shifts, int8_t *restrict output,          \
        OF_GEOMETRY, int32_t input_zero, int32_t output_zero, int32_t lower, int32_t upper)                         \
    {                                                                                                               \
        layer_s8(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, GEOMETRY,       \
                 LEVELS_S8);                                                                                        \
    }

#define BY_RULE_U8(rounding)                                                                                        \
    void depthwise_conv2d_u8_##rounding(                                                                            \
        const uint8_t *restrict input, const uint8_t *restrict weights, const int32_t *restrict bias,               \
        const int32_t *restrict multipliers, const int32_t *restrict left_shifts, uint8_t *restrict output,         \
        OF_GEOMETRY, int32_t input_zero, int32_t weights_zero, int32_t output_zero, int32_t lower, int32_t upper)   \
    {                                                                                                               \
        layer_u8(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, GEOMETRY,       \
                 LEVELS_U8);                                                                                        \
    }

BY_RULE_S8(double_rounding)
BY_RULE_S8(double_rounding_ties_up)
BY_RULE_S8(single_rounding)
BY_RULE_U8(double_rounding)
BY_RULE_U8(double_rounding_ties_up)
BY_RULE_U8(single_rounding)

void depthwise_conv2d_s8_fp32(const int8_t *restrict input, const int8_t *restrict weights,
                              const int32_t *restrict bias, const float *restrict scales, int8_t *restrict output,
                              OF_GEOMETRY, int32_t input_zero, int32_t output_zero, int32_t lower, int32_t upper)
{
    layer_s8(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, GEOMETRY, LEVELS_S8);
}

void depthwise_conv2d_u8_fp32(const uint8_t *restrict input, const uint8_t *restrict weights,
                              const int32_t *restrict bias, const float *restrict scales, uint8_t *restrict output,
                              OF_GEOMETRY, int32_t input_zero, int32_t weights_zero, int32_t output_zero,
                              int32_t lower, int32_t upper)
{
    layer_u8(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, GEOMETRY, LEVELS_U8);
}
