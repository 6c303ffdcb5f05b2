/* conv2d with NEON intrinsics: images of bytes with the channels last, a window of weights for each output channel.
 *
 * Four output channels (columns) at once, then the last (columns mod 4) one by one; sixteen bytes of a pixel a step, then
 * one by one. What a window has outside of its image are bytes of `padding`, a pixel of the input's zero point.
 */
#include "../fully_connected/layer.h"
#include "geometry.h"

INLINED void columns_at(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors *scaling,
                        uint8_t *output, const uint8_t *padding, const geometry *of, size_t j, const levels *by,
                        int count)
{
    const size_t length = of->kernel_height * of->kernel_width * of->channels;
    const uint8_t *own = weights + j * length;
    const int32x4_t terms = constant_terms(bias ? bias + j : NULL, own, length, by, count);
    output += j;
    for (size_t n = 0; n < of->batches; ++n, input += of->height * of->width * of->channels)
        for (size_t y = 0; y < of->out_height; ++y)
            for (size_t x = 0; x < of->out_width; ++x, output += of->columns) {
                int32x4_t sums[5] = {};
                const uint8_t *tap = own;
                for (size_t ky = 0; ky < of->kernel_height; ++ky) {
                    const size_t row = y * of->stride_y + ky - of->top; /* above the image it is very large */
                    for (size_t kx = 0; kx < of->kernel_width; ++kx, tap += of->channels) {
                        const size_t place = x * of->stride_x + kx - of->left;
                        const uint8_t *pixel = padding;
                        if (row < of->height && place < of->width)
                            pixel = input + (row * of->width + place) * of->channels;
                        add_products(sums, pixel, tap, length, of->channels, by->flip, count);
                    }
                }
                write_bytes(output, sums, terms, scaling, j, by, count);
            }
}

INLINED void layer(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors scaling,
                   uint8_t *output, const uint8_t *padding, const geometry of, const levels by)
{
    size_t j = 0;
    for (; j + 4 <= of.columns; j += 4)
        columns_at(input, weights, bias, &scaling, output, padding, &of, j, &by, 4);
    for (; j < of.columns; ++j)
        columns_at(input, weights, bias, &scaling, output, padding, &of, j, &by, 1);
}

#define LEVELS_S8 (levels){vdupq_n_u8(0), input_zero, 0, output_zero, lower, upper}
#define LEVELS_U8 (levels){vdupq_n_u8(128), input_zero - 128, weights_zero - 128, output_zero, lower, upper}

/* int8, whose weights have the zero point 0. */
#define BY_RULE_S8(rounding)                                                                                        \
    void conv2d_s8_##rounding(const int8_t *input, const int8_t *weights, const int32_t *bias,                      \
                              const int32_t *multipliers, const int32_t *left_shifts, int8_t *output,               \
                              const int8_t *padding, OF_GEOMETRY, int32_t input_zero, int32_t output_zero,          \
                              int32_t lower, int32_t upper)                                                         \
    {                                                                                                               \
        layer((const uint8_t *)input, (const uint8_t *)weights, bias,                                               \
              (factors){rounding, multipliers, left_shifts, NULL}, (uint8_t *)output, (const uint8_t *)padding,     \
              GEOMETRY, LEVELS_S8);                                                                                 \
    }

#define BY_RULE_U8(rounding)                                                                                        \
    void conv2d_u8_##rounding(const uint8_t *input, const uint8_t *weights, const int32_t *bias,                    \
                              const int32_t *multipliers, const int32_t *left_shifts, uint8_t *output,              \
                              const uint8_t *padding, OF_GEOMETRY, int32_t input_zero, int32_t weights_zero,        \
                              int32_t output_zero, int32_t lower, int32_t upper)                                    \
    {                                                                                                               \
        layer(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, padding, GEOMETRY, \
              LEVELS_U8);                                                                                           \
    }

BY_RULE_S8(double_rounding)
BY_RULE_S8(double_rounding_ties_up)
BY_RULE_S8(single_rounding)
BY_RULE_U8(double_rounding)
BY_RULE_U8(double_rounding_ties_up)
BY_RULE_U8(single_rounding)

void conv2d_s8_fp32(const int8_t *input, const int8_t *weights, const int32_t *bias, const float *scales,
                    int8_t *output, const int8_t *padding, OF_GEOMETRY, int32_t input_zero, int32_t output_zero,
                    int32_t lower, int32_t upper)
{
    layer((const uint8_t *)input, (const uint8_t *)weights, bias, (factors){NULL, NULL, NULL, scales},
          (uint8_t *)output, (const uint8_t *)padding, GEOMETRY, LEVELS_S8);
}

void conv2d_u8_fp32(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const float *scales,
                    uint8_t *output, const uint8_t *padding, OF_GEOMETRY, int32_t input_zero, int32_t weights_zero,
                    int32_t output_zero, int32_t lower, int32_t upper)
{
    layer(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, padding, GEOMETRY, LEVELS_U8);
}
