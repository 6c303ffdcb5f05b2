/* arithmetic_addition with NEON intrinsics: the sum of two rows of one type.
 *
 * Arm Compute Library 19.08, NEArithmeticAdditionKernel: a register a step, then one element in every lane of a vector.
 * Compiled without contraction; where upstream's builds contract, that is said by vfmaq_f32.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

void arithmetic_addition_u8_wrap(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16)
        vst1q_u8(output + i, vaddq_u8(vld1q_u8(a + i), vld1q_u8(b + i)));
    for (; i < length; ++i)
        vst1q_lane_u8(output + i, vaddq_u8(vld1q_dup_u8(a + i), vld1q_dup_u8(b + i)), 0);
}

void arithmetic_addition_u8_saturate(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16)
        vst1q_u8(output + i, vqaddq_u8(vld1q_u8(a + i), vld1q_u8(b + i)));
    for (; i < length; ++i)
        vst1q_lane_u8(output + i, vqaddq_u8(vld1q_dup_u8(a + i), vld1q_dup_u8(b + i)), 0);
}

void arithmetic_addition_s16_wrap(const int16_t *a, const int16_t *b, int16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8)
        vst1q_s16(output + i, vaddq_s16(vld1q_s16(a + i), vld1q_s16(b + i)));
    for (; i < length; ++i)
        vst1q_lane_s16(output + i, vaddq_s16(vld1q_dup_s16(a + i), vld1q_dup_s16(b + i)), 0);
}

void arithmetic_addition_s16_saturate(const int16_t *a, const int16_t *b, int16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8)
        vst1q_s16(output + i, vqaddq_s16(vld1q_s16(a + i), vld1q_s16(b + i)));
    for (; i < length; ++i)
        vst1q_lane_s16(output + i, vqaddq_s16(vld1q_dup_s16(a + i), vld1q_dup_s16(b + i)), 0);
}

typedef struct {
    int32_t a, b, output;
} zero_points;

typedef struct {
    float a, b, output;
} scales;

static inline float32x4_t dequantize(int32x4_t numbers, int32_t zero, float scale)
{
    return vmulq_f32(vcvtq_f32_s32(vsubq_s32(numbers, vdupq_n_s32(zero))), vdupq_n_f32(scale));
}

static inline int32x4_t widened(uint16x4_t numbers)
{
    return vreinterpretq_s32_u32(vmovl_u16(numbers));
}

/* Sixteen sums as float32x4x4_t. */
static inline float32x4x4_t sums_of_bytes(uint8x16_t a, uint8x16_t b, zero_points zero, scales scale)
{
    const uint16x8_t a_half[2] = {vmovl_u8(vget_low_u8(a)), vmovl_u8(vget_high_u8(a))};
    const uint16x8_t b_half[2] = {vmovl_u8(vget_low_u8(b)), vmovl_u8(vget_high_u8(b))};
    float32x4x4_t sums;
    for (int i = 0; i < 2; ++i) {
        sums.val[2 * i] = vaddq_f32(dequantize(widened(vget_low_u16(a_half[i])), zero.a, scale.a),
                                    dequantize(widened(vget_low_u16(b_half[i])), zero.b, scale.b));
        sums.val[2 * i + 1] = vaddq_f32(dequantize(widened(vget_high_u16(a_half[i])), zero.a, scale.a),
                                        dequantize(widened(vget_high_u16(b_half[i])), zero.b, scale.b));
    }
    return sums;
}

static inline uint8x16_t narrowed(const int32x4_t words[4])
{
    const int16x8_t low = vcombine_s16(vqmovn_s32(words[0]), vqmovn_s32(words[1]));
    const int16x8_t high = vcombine_s16(vqmovn_s32(words[2]), vqmovn_s32(words[3]));
    return vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
}

/* In a step: by the reciprocal, ties to even after the zero point. */
static inline int32x4_t quantize_unfused(float32x4_t sum, float32x4_t zero, float32x4_t reciprocal)
{
    return vcvtnq_s32_f32(vaddq_f32(zero, vmulq_f32(sum, reciprocal)));
}

static inline int32x4_t quantize_fused(float32x4_t sum, float32x4_t zero, float32x4_t reciprocal)
{
    return vcvtnq_s32_f32(vfmaq_f32(zero, sum, reciprocal));
}

/* In the tail: by the quotient, ties away before the zero point. */
static inline int32x4_t quantize_in_tail(float32x4_t sum, int32_t zero, float scale)
{
    return vaddq_s32(vcvtaq_s32_f32(vdivq_f32(sum, vdupq_n_f32(scale))), vdupq_n_s32(zero));
}

typedef int32x4_t quantize(float32x4_t sum, float32x4_t zero, float32x4_t reciprocal);

static inline __attribute__((always_inline)) void add_bytes(quantize *by, const uint8_t *a, const uint8_t *b,
                                                            uint8_t *output, size_t length, zero_points zero,
                                                            scales scale)
{
    const float32x4_t reciprocal = vdupq_n_f32(1.0f / scale.output);
    const float32x4_t output_zero = vdupq_n_f32((float)zero.output);
    int32x4_t words[4];
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const float32x4x4_t sums = sums_of_bytes(vld1q_u8(a + i), vld1q_u8(b + i), zero, scale);
        for (int k = 0; k < 4; ++k)
            words[k] = by(sums.val[k], output_zero, reciprocal);
        vst1q_u8(output + i, narrowed(words));
    }
    for (; i < length; ++i) {
        const float32x4x4_t sums = sums_of_bytes(vld1q_dup_u8(a + i), vld1q_dup_u8(b + i), zero, scale);
        for (int k = 0; k < 4; ++k)
            words[k] = quantize_in_tail(sums.val[k], zero.output, scale.output);
        vst1q_lane_u8(output + i, narrowed(words), 0);
    }
}

void arithmetic_addition_qasymm8_unfused(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length,
                                         int32_t a_zero, int32_t b_zero, int32_t output_zero, float a_scale,
                                         float b_scale, float output_scale)
{
    add_bytes(quantize_unfused, a, b, output, length, (zero_points){a_zero, b_zero, output_zero},
              (scales){a_scale, b_scale, output_scale});
}

void arithmetic_addition_qasymm8_fused(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length,
                                       int32_t a_zero, int32_t b_zero, int32_t output_zero, float a_scale,
                                       float b_scale, float output_scale)
{
    add_bytes(quantize_fused, a, b, output, length, (zero_points){a_zero, b_zero, output_zero},
              (scales){a_scale, b_scale, output_scale});
}

static inline float32x4_t sum_of_words(int16x4_t a, int16x4_t b, float a_scale, float b_scale)
{
    return vaddq_f32(dequantize(vmovl_s16(a), 0, a_scale), dequantize(vmovl_s16(b), 0, b_scale));
}

void arithmetic_addition_qsymm16(const int16_t *a, const int16_t *b, int16_t *output, size_t length, float a_scale,
                                 float b_scale, float output_scale)
{
    const float32x4_t reciprocal = vdupq_n_f32(1.0f / output_scale);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vld1q_s16(a + i), y = vld1q_s16(b + i);
        const float32x4_t low = sum_of_words(vget_low_s16(x), vget_low_s16(y), a_scale, b_scale);
        const float32x4_t high = sum_of_words(vget_high_s16(x), vget_high_s16(y), a_scale, b_scale);
        vst1q_s16(output + i, vcombine_s16(vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(low, reciprocal))),
                                           vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(high, reciprocal)))));
    }
    for (; i < length; ++i) {
        const float32x4_t sum = sum_of_words(vld1_dup_s16(a + i), vld1_dup_s16(b + i), a_scale, b_scale);
        vst1_lane_s16(output + i, vqmovn_s32(quantize_in_tail(sum, 0, output_scale)), 0);
    }
}
