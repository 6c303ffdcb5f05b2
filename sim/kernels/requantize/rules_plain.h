/* The rules of rules.h in plain C, one number at a time. */
#pragma once
#include <stdint.h>

typedef int32_t rule(int32_t value, int32_t multiplier, int32_t shift);

static inline int32_t shift_left(int32_t value, int32_t shift)
{
    return (int32_t)((uint32_t)value << (shift > 0 ? shift : 0));
}

static inline int64_t high_half(int32_t value, int32_t multiplier)
{
    return ((int64_t)value * multiplier + (INT64_C(1) << 30)) >> 31;
}

static inline int32_t saturate(int64_t value)
{
    return (int32_t)(value > INT32_MAX ? INT32_MAX : value);
}

static inline int32_t divide_ties_away(int32_t value, int32_t shift)
{
    const int32_t right = shift < 0 ? -shift : 0;
    const int32_t mask = (int32_t)((UINT32_C(1) << right) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> right) + ((value & mask) > threshold);
}

static inline int32_t divide_ties_up(int32_t value, int32_t shift)
{
    const int32_t right = shift < 0 ? -shift : 0;
    return (int32_t)(((int64_t)value + ((INT64_C(1) << right) >> 1)) >> right);
}

static inline int32_t double_rounding(int32_t value, int32_t multiplier, int32_t shift)
{
    return divide_ties_away(saturate(high_half(shift_left(value, shift), multiplier)), shift);
}

static inline int32_t double_rounding_ties_up(int32_t value, int32_t multiplier, int32_t shift)
{
    return divide_ties_up(saturate(high_half(shift_left(value, shift), multiplier)), shift);
}

static inline int32_t double_rounding_unsaturated(int32_t value, int32_t multiplier, int32_t shift)
{
    return divide_ties_away((int32_t)high_half(shift_left(value, shift), multiplier), shift);
}

static inline int32_t single_rounding(int32_t value, int32_t multiplier, int32_t shift)
{
    return (int32_t)(((int64_t)value * multiplier + (INT64_C(1) << (30 - shift))) >> (31 - shift));
}

static inline int32_t single_rounding_narrowed(int32_t value, int32_t multiplier, int32_t shift)
{
    const uint32_t doubled = (uint32_t)((int64_t)value * multiplier >> (30 - shift));
    return (int32_t)(doubled + 1) >> 1;
}

static inline int32_t single_rounding_by_vector(int32_t value, int32_t multiplier, int32_t shift)
{
    const int32_t right = shift < -1 ? shift : -1;
    const int64_t high = (int64_t)shift_left(value, shift - right) * multiplier >> 31;
    return divide_ties_up((int32_t)high, right);
}

/* The sum has no bits below the unit, so the addition rounds to nearest, ties to even; |value| stays below 2^22. */
static inline int32_t round_to_even(float value)
{
    const union {
        float number;
        int32_t bits;
    } shifted = {.number = value + 12582912.0f};
    return shifted.bits - INT32_C(0x4B400000);
}
