/* uint8 + uint8 -> uint8 of SynetQuantizedAdd (Simd Library): a * a_factor + b * b_factor + constant, rounded, clamped.
 *
 * One function for each backend: the order of the additions and the rounding differ. Sixteen lanes a step, then the
 * last (length mod 16) elements one by one, each in every lane of a vector.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    float32x4_t a_factor, b_factor, constant;
} folded_t;

static inline float32x4_t sum_fused(float32x4_t a, float32x4_t b, folded_t by)
{
    return vfmaq_f32(vfmaq_f32(by.constant, a, by.a_factor), b, by.b_factor);
}

static inline float32x4_t sum_unfused(float32x4_t a, float32x4_t b, folded_t by)
{
    return vmlaq_f32(vmlaq_f32(by.constant, a, by.a_factor), b, by.b_factor);
}

/* product + addend, both rounded to double, then the sum to float */
static inline float32x4_t add_in_double(float32x4_t x, float32x4_t factor, float32x4_t addend)
{
    const float64x2_t low = vmulq_f64(vcvt_f64_f32(vget_low_f32(x)), vcvt_f64_f32(vget_low_f32(factor)));
    const float64x2_t high = vmulq_f64(vcvt_high_f64_f32(x), vcvt_high_f64_f32(factor));
    const float32x2_t sum = vcvt_f32_f64(vaddq_f64(low, vcvt_f64_f32(vget_low_f32(addend))));
    return vcvt_high_f32_f64(sum, vaddq_f64(high, vcvt_high_f64_f32(addend)));
}

static inline float32x4_t sum_in_double(float32x4_t a, float32x4_t b, folded_t by)
{
    return add_in_double(a, by.a_factor, add_in_double(b, by.b_factor, by.constant));
}

static inline int32x4_t round_ties_even(float32x4_t value)
{
    return vcvtnq_s32_f32(value);
}

static inline int32x4_t round_ties_away(float32x4_t value)
{
    const uint32x4_t positive = vcgtq_f32(value, vdupq_n_f32(0.0f));
    const float32x4_t half = vdupq_n_f32(0.5f);
    return vcvtq_s32_f32(vbslq_f32(positive, vaddq_f32(value, half), vsubq_f32(value, half)));
}

static inline float32x4_t widen(uint16x4_t values)
{
    return vcvtq_f32_u32(vmovl_u16(values));
}

static inline uint8x8_t narrow(int32x4_t low, int32x4_t high)
{
    return vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)));
}

typedef float32x4_t sum_t(float32x4_t a, float32x4_t b, folded_t by);
typedef int32x4_t round_t(float32x4_t value);

static inline __attribute__((always_inline)) uint8x8_t add_eight(uint8x8_t a, uint8x8_t b, folded_t by, sum_t *sum,
                                                                 round_t *round)
{
    const uint16x8_t wide_a = vmovl_u8(a), wide_b = vmovl_u8(b);
    const float32x4_t low = sum(widen(vget_low_u16(wide_a)), widen(vget_low_u16(wide_b)), by);
    const float32x4_t high = sum(widen(vget_high_u16(wide_a)), widen(vget_high_u16(wide_b)), by);
    return narrow(round(low), round(high));
}

static inline __attribute__((always_inline)) void add_row(const uint8_t *a, const uint8_t *b, uint8_t *output,
                                                          size_t length, folded_t by, sum_t *sum, round_t *round)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const uint8x16_t x = vld1q_u8(a + i), y = vld1q_u8(b + i);
        const uint8x8_t low = add_eight(vget_low_u8(x), vget_low_u8(y), by, sum, round);
        vst1q_u8(output + i, vcombine_u8(low, add_eight(vget_high_u8(x), vget_high_u8(y), by, sum, round)));
    }
    for (; i < length; ++i)
        vst1_lane_u8(output + i, add_eight(vld1_dup_u8(a + i), vld1_dup_u8(b + i), by, sum, round), 0);
}

#define DEFINE_ADD(NAME, SUM, ROUND)                                                                          \
    void NAME(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length, float a_factor,             \
              float b_factor, float constant)                                                                 \
    {                                                                                                         \
        const folded_t by = {vdupq_n_f32(a_factor), vdupq_n_f32(b_factor), vdupq_n_f32(constant)};            \
        add_row(a, b, output, length, by, SUM, ROUND);                                                        \
    }

DEFINE_ADD(quantized_add_neon_ties_away, sum_fused, round_ties_away)
DEFINE_ADD(quantized_add_neon_ties_away_unfused, sum_unfused, round_ties_away)
DEFINE_ADD(quantized_add_neon_ties_even, sum_fused, round_ties_even)
DEFINE_ADD(quantized_add_neon_ties_even_unfused, sum_unfused, round_ties_even)
DEFINE_ADD(quantized_add_base, sum_in_double, round_ties_even)
