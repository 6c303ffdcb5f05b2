/* requantize with NEON intrinsics, fixed point: rows of int32 accumulators, one Q0.31 multiplier and one left shift
 * (negative to the right) for each column.
 *
 * Four columns a step, then the last (columns mod 4) one by one.
 */
#include <stddef.h>

#include "rules.h"

static inline __attribute__((always_inline)) void each(rule *scale, const int32_t *values, const int32_t *multipliers,
                                                       const int32_t *left_shifts, int32_t *output, size_t rows,
                                                       size_t columns)
{
    for (; rows > 0; --rows, values += columns, output += columns) {
        size_t c = 0;
        for (; c + 4 <= columns; c += 4)
            vst1q_s32(output + c, scale(vld1q_s32(values + c), vld1q_s32(multipliers + c), vld1q_s32(left_shifts + c)));
        for (; c < columns; ++c)
            vst1q_lane_s32(output + c,
                           scale(vld1q_dup_s32(values + c), vld1q_dup_s32(multipliers + c),
                                 vld1q_dup_s32(left_shifts + c)),
                           0);
    }
}

#define REQUANTIZE(scale)                                                                                           \
    void requantize_##scale(const int32_t *values, const int32_t *multipliers, const int32_t *left_shifts,          \
                            int32_t *output, size_t rows, size_t columns)                                           \
    {                                                                                                               \
        each(scale, values, multipliers, left_shifts, output, rows, columns);                                       \
    }

REQUANTIZE(double_rounding)             /* TFLite, default: left_shift -31..30 */
REQUANTIZE(double_rounding_ties_up)     /* TFLite, the NEON helper for four rows: -31..30 */
REQUANTIZE(double_rounding_unsaturated) /* CMSIS-NN, default: -31..30 */
REQUANTIZE(single_rounding)             /* TFLite, single rounding: multiplier >= 0, -31..30; ruy: -31..7 */
REQUANTIZE(single_rounding_narrowed)    /* CMSIS-NN, single rounding: -31..30 */
REQUANTIZE(single_rounding_by_vector)   /* TFLite, single rounding in NEON: multiplier >= 0, -31..30 */
