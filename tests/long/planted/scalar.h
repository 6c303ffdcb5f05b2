/* One element of what the kernels here do to vectors. */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static inline int32_t saturated(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

static inline int32_t high(int32_t a, int32_t b)
{
    return saturated(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

static inline int32_t high_floor(int32_t a, int32_t b)
{
    return saturated(((int64_t)a * b) >> 31);
}

static inline int32_t ties_up(int32_t value, int32_t shift)
{
    return (int32_t)(((int64_t)value + (INT64_C(1) << shift >> 1)) >> shift);
}

static inline int32_t ties_away(int32_t value, int32_t shift)
{
    return (int32_t)(((int64_t)value - (value < 0 && shift) + (INT64_C(1) << shift >> 1)) >> shift);
}

static inline int32x4_t fix_up(int32x4_t value, int32x4_t minus_shift)
{
    return vqaddq_s32(value, vshrq_n_s32(vandq_s32(value, minus_shift), 31));
}
