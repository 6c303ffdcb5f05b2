/* uint8 + uint8 -> uint8 of SynetQuantizedAdd in plain C: the same functions and arguments as kernel.c.
 *
 * A value is brought to 0..255 before it becomes an integer, since C leaves other conversions undefined; NaN becomes 0.
 */
#include <stddef.h>
#include <stdint.h>

typedef struct {
    float a_factor, b_factor, constant;
} folded_t;

static inline float sum_fused(float a, float b, folded_t by)
{
    return __builtin_fmaf(b, by.b_factor, __builtin_fmaf(a, by.a_factor, by.constant));
}

static inline float sum_unfused(float a, float b, folded_t by)
{
    const float first = by.constant + a * by.a_factor;
    return first + b * by.b_factor;
}

static inline float sum_in_double(float a, float b, folded_t by)
{
    const float first = (float)((double)b * by.b_factor + by.constant);
    return (float)((double)a * by.a_factor + first);
}

static inline float clamp(float value)
{
    const float at_least = value > 0.0f ? value : 0.0f;
    return at_least < 255.0f ? at_least : 255.0f;
}

static inline uint8_t round_ties_even(float value)
{
    return (uint8_t)__builtin_rintf(clamp(value));
}

static inline uint8_t round_ties_away(float value)
{
    return (uint8_t)clamp(value > 0.0f ? value + 0.5f : 0.0f);
}

#define DEFINE_ADD(NAME, SUM, ROUND)                                                                          \
    void NAME(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output, size_t length,  \
              float a_factor, float b_factor, float constant)                                                 \
    {                                                                                                         \
        const folded_t by = {a_factor, b_factor, constant};                                                   \
        for (size_t i = 0; i < length; ++i)                                                                   \
            output[i] = ROUND(SUM(a[i], b[i], by));                                                           \
    }

DEFINE_ADD(quantized_add_neon_ties_away, sum_fused, round_ties_away)
DEFINE_ADD(quantized_add_neon_ties_away_unfused, sum_unfused, round_ties_away)
DEFINE_ADD(quantized_add_neon_ties_even, sum_fused, round_ties_even)
DEFINE_ADD(quantized_add_neon_ties_even_unfused, sum_unfused, round_ties_even)
DEFINE_ADD(quantized_add_base, sum_in_double, round_ties_even)
