/* What layers share: sums of products of bytes by SDOT, and what makes bytes of the sums of some columns.
 *
 * Bytes are int8 or uint8. Of uint8 the top bit is flipped, which takes 128 from each: with zero points 128 less, the
 * products are those of int8. `count` columns are taken at once, 4 or 1.
 */
#pragma once
#include <stddef.h>

#include "../requantize/rules.h"

#define INLINED static inline __attribute__((always_inline))

/* A factor for each column: by a rule, or where there is none by float32. */
typedef struct {
    rule *scale;
    const int32_t *multipliers, *left_shifts;
    const float *scales;
} factors;

/* Zero points, those of bytes that are flipped 128 less, and the bounds of the output. */
typedef struct {
    uint8x16_t flip;
    int32_t input_zero, weights_zero, output_zero, lower, upper;
} levels;

INLINED int8x16_t sixteen_bytes(const uint8_t *bytes, uint8x16_t flip)
{
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(bytes), flip));
}

/* One byte, and fifteen zeros. */
INLINED int8x16_t one_byte(const uint8_t *byte, uint8x16_t flip)
{
    return vreinterpretq_s8_u8(veorq_u8(vld1q_lane_u8(byte, flip, 0), flip));
}

/* In four parts each: to sums[i] the products of `length` bytes and the weights of column i, to sums[count] the bytes. */
INLINED void add_products(int32x4_t *sums, const uint8_t *bytes, const uint8_t *weights, size_t stride, size_t length,
                          uint8x16_t flip, int count)
{
    const int8x16_t ones = vdupq_n_s8(1);
    size_t k = 0;
    for (; k + 16 <= length; k += 16) {
        const int8x16_t part = sixteen_bytes(bytes + k, flip);
        for (int i = 0; i < count; ++i)
            sums[i] = vdotq_s32(sums[i], sixteen_bytes(weights + i * stride + k, flip), part);
        sums[count] = vdotq_s32(sums[count], part, ones);
    }
    for (; k < length; ++k) {
        const int8x16_t part = one_byte(bytes + k, flip);
        for (int i = 0; i < count; ++i)
            sums[i] = vdotq_s32(sums[i], one_byte(weights + i * stride + k, flip), part);
        sums[count] = vdotq_s32(sums[count], part, ones);
    }
}

/* The totals of four sums of four parts, or that of one in every lane. */
INLINED int32x4_t totals(const int32x4_t *sums, int count)
{
    const int32x4_t last = count == 4 ? vpaddq_s32(sums[2], sums[3]) : vpaddq_s32(sums[0], sums[0]);
    return vpaddq_s32(count == 4 ? vpaddq_s32(sums[0], sums[1]) : last, last);
}

INLINED int32x4_t numbers_of(const int32_t *numbers, int count)
{
    return count == 4 ? vld1q_s32(numbers) : vld1q_dup_s32(numbers);
}

/* What sums of `length` products are added to: bias - input_zero * weights + length * input_zero * weights_zero. */
INLINED int32x4_t constant_terms(const int32_t *bias, const uint8_t *weights, size_t length, const levels *by,
                                 int count)
{
    int32x4_t of_weights[4] = {};
    for (int i = 0; i < count; ++i)
        add_products(of_weights + i, weights + i * length, weights, 0, length, by->flip, 0);
    const int32x4_t biases = bias ? numbers_of(bias, count) : vdupq_n_s32(0);
    const uint32_t zeros = (uint32_t)length * (uint32_t)by->input_zero * (uint32_t)by->weights_zero;
    return vaddq_s32(vmlsq_n_s32(biases, totals(of_weights, count), by->input_zero), vdupq_n_s32((int32_t)zeros));
}

/* The bytes of `count` columns from column j on: their numbers scaled, placed, bounded. */
INLINED void write_values(uint8_t *output, int32x4_t value, const factors *scaling, size_t j, const levels *by,
                          int count)
{
    int32x4_t scaled;
    if (scaling->scale) {
        scaled = scaling->scale(value, numbers_of(scaling->multipliers + j, count),
                                numbers_of(scaling->left_shifts + j, count));
    } else {
        const float32x4_t scales =
            count == 4 ? vld1q_f32(scaling->scales + j) : vld1q_dup_f32(scaling->scales + j);
        scaled = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(value), scales));
    }
    const int32x4_t placed = vqaddq_s32(scaled, vdupq_n_s32(by->output_zero));
    const int32x4_t bounded = vmaxq_s32(vminq_s32(placed, vdupq_n_s32(by->upper)), vdupq_n_s32(by->lower));
    const int16x4_t halves = vmovn_s32(bounded);
    const uint8x8_t bytes = vreinterpret_u8_s8(vmovn_s16(vcombine_s16(halves, halves)));
    vst1_lane_u8(output, bytes, 0);
    if (count == 4) {
        vst1_lane_u8(output + 1, bytes, 1);
        vst1_lane_u8(output + 2, bytes, 2);
        vst1_lane_u8(output + 3, bytes, 3);
    }
}

/* The same of sums of products and of bytes. */
INLINED void write_bytes(uint8_t *output, const int32x4_t *sums, int32x4_t terms, const factors *scaling, size_t j,
                         const levels *by, int count)
{
    const int32x4_t of_bytes = vmulq_n_s32(totals(sums + count, 1), by->weights_zero);
    const int32x4_t value = vsubq_s32(vaddq_s32(terms, totals(sums, count)), of_bytes);
    write_values(output, value, scaling, j, by, count);
}
