/* depthwise_conv2d with NEON intrinsics: a window of weights for each channel of images with the channels last.
 *
 * Each channel has as many windows as it has columns of the output, behind each other. Where that is one, eight
 * channels go at once, then the last (channels mod 8) one by one; else eight columns of a channel, then the last one by
 * one. Zero points are taken from bytes of 16 bits before they are multiplied, so what a window has outside of its image
 * is left out.
 */
#include "../conv2d/geometry.h"
#include "../fully_connected/layer.h"

/* Eight bytes, or one in every lane, without their zero point. */
INLINED int16x8_t bytes_at(const uint8_t *at, int32_t zero, int is_signed, int count)
{
    const uint8x8_t bytes = count == 8 ? vld1_u8(at) : vld1_dup_u8(at);
    const int16x8_t wide =
        is_signed ? vmovl_s8(vreinterpret_s8_u8(bytes)) : vreinterpretq_s16_u16(vmovl_u8(bytes));
    return vsubq_s16(wide, vdupq_n_s16((int16_t)zero));
}

/* Of `count` columns from column c on, 8 or 1; the windows lie on as many channels, 1 or count, from `channel` on. */
INLINED void columns_at(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors *scaling,
                        uint8_t *output, const geometry *of, size_t c, size_t channel, const levels *by, int is_signed,
                        int count, int channels)
{
    const int32x4_t none = vdupq_n_s32(0);
    const int32x4_t low_bias = bias ? numbers_of(bias + c, count == 8 ? 4 : 1) : none;
    const int32x4_t high_bias = bias && count == 8 ? vld1q_s32(bias + c + 4) : none;
    for (size_t n = 0; n < of->batches; ++n, input += of->height * of->width * of->channels)
        for (size_t y = 0; y < of->out_height; ++y)
            for (size_t x = 0; x < of->out_width; ++x, output += of->columns) {
                int32x4_t low = low_bias, high = high_bias;
                const uint8_t *tap = weights + c;
                for (size_t ky = 0; ky < of->kernel_height; ++ky) {
                    const size_t row = y * of->stride_y + ky - of->top; /* above the image it is very large */
                    for (size_t kx = 0; kx < of->kernel_width; ++kx, tap += of->columns) {
                        const size_t place = x * of->stride_x + kx - of->left;
                        if (row >= of->height || place >= of->width)
                            continue;
                        const uint8_t *pixel = input + (row * of->width + place) * of->channels + channel;
                        const int16x8_t bytes = bytes_at(pixel, by->input_zero, is_signed, channels);
                        const int16x8_t own = bytes_at(tap, by->weights_zero, is_signed, count);
                        low = vmlal_s16(low, vget_low_s16(bytes), vget_low_s16(own));
                        if (count == 8)
                            high = vmlal_high_s16(high, bytes, own);
                    }
                }
                write_values(output + c, low, scaling, c, by, count == 8 ? 4 : 1);
                if (count == 8)
                    write_values(output + c + 4, high, scaling, c + 4, by, 4);
            }
}

INLINED void layer(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const factors scaling,
                   uint8_t *output, const geometry of, const levels by, int is_signed)
{
    size_t c = 0;
    if (of.columns == of.channels)
        for (; c + 8 <= of.channels; c += 8)
            columns_at(input, weights, bias, &scaling, output, &of, c, c, &by, is_signed, 8, 8);
    const size_t windows = of.channels ? of.columns / of.channels : 0;
    while (c < of.columns) {
        const size_t channel = c / windows, end = (channel + 1) * windows;
        for (; c + 8 <= end; c += 8)
            columns_at(input, weights, bias, &scaling, output, &of, c, channel, &by, is_signed, 8, 1);
        for (; c < end; ++c)
            columns_at(input, weights, bias, &scaling, output, &of, c, channel, &by, is_signed, 1, 1);
    }
}

#define LEVELS_S8 (levels){vdupq_n_u8(0), input_zero, 0, output_zero, lower, upper}
#define LEVELS_U8 (levels){vdupq_n_u8(0), input_zero, weights_zero, output_zero, lower, upper}

/* int8, whose weights have the zero point 0. */
#define BY_RULE_S8(rounding)                                                                                        \
    void depthwise_conv2d_s8_##rounding(const int8_t *input, const int8_t *weights, const int32_t *bias,            \
                                        const int32_t *multipliers, const int32_t *left_shifts, int8_t *output,     \
                                        OF_GEOMETRY, int32_t input_zero, int32_t output_zero, int32_t lower,        \
                                        int32_t upper)                                                              \
    {                                                                                                               \
        layer((const uint8_t *)input, (const uint8_t *)weights, bias,                                               \
              (factors){rounding, multipliers, left_shifts, NULL}, (uint8_t *)output, GEOMETRY, LEVELS_S8, 1);      \
    }

#define BY_RULE_U8(rounding)                                                                                        \
    void depthwise_conv2d_u8_##rounding(const uint8_t *input, const uint8_t *weights, const int32_t *bias,          \
                                        const int32_t *multipliers, const int32_t *left_shifts, uint8_t *output,    \
                                        OF_GEOMETRY, int32_t input_zero, int32_t weights_zero,                      \
                                        int32_t output_zero, int32_t lower, int32_t upper)                          \
    {                                                                                                               \
        layer(input, weights, bias, (factors){rounding, multipliers, left_shifts, NULL}, output, GEOMETRY,          \
              LEVELS_U8, 0);                                                                                        \
    }

BY_RULE_S8(double_rounding)
BY_RULE_S8(double_rounding_ties_up)
BY_RULE_S8(single_rounding)
BY_RULE_U8(double_rounding)
BY_RULE_U8(double_rounding_ties_up)
BY_RULE_U8(single_rounding)

void depthwise_conv2d_s8_fp32(const int8_t *input, const int8_t *weights, const int32_t *bias, const float *scales,
                              int8_t *output, OF_GEOMETRY, int32_t input_zero, int32_t output_zero, int32_t lower,
                              int32_t upper)
{
    layer((const uint8_t *)input, (const uint8_t *)weights, bias, (factors){NULL, NULL, NULL, scales},
          (uint8_t *)output, GEOMETRY, LEVELS_S8, 1);
}

void depthwise_conv2d_u8_fp32(const uint8_t *input, const uint8_t *weights, const int32_t *bias, const float *scales,
                              uint8_t *output, OF_GEOMETRY, int32_t input_zero, int32_t weights_zero,
                              int32_t output_zero, int32_t lower, int32_t upper)
{
    layer(input, weights, bias, (factors){NULL, NULL, NULL, scales}, output, GEOMETRY, LEVELS_U8, 0);
}
