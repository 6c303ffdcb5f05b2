/* requantize in plain C, fixed point, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>

#include "rules_plain.h"

static inline __attribute__((always_inline)) void each(rule *scale, const int32_t *restrict values,
                                                       const int32_t *restrict multipliers,
                                                       const int32_t *restrict left_shifts, int32_t *restrict output,
                                                       size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c)
            output[r * columns + c] = scale(values[r * columns + c], multipliers[c], left_shifts[c]);
}

#define REQUANTIZE(scale)                                                                                           \
    void requantize_##scale(const int32_t *restrict values, const int32_t *restrict multipliers,                    \
                            const int32_t *restrict left_shifts, int32_t *restrict output, size_t rows,             \
                            size_t columns)                                                                         \
    {                                                                                                               \
        each(scale, values, multipliers, left_shifts, output, rows, columns);                                       \
    }

REQUANTIZE(double_rounding)
REQUANTIZE(double_rounding_ties_up)
REQUANTIZE(double_rounding_unsaturated)
REQUANTIZE(single_rounding)
REQUANTIZE(single_rounding_narrowed)
REQUANTIZE(single_rounding_by_vector)
