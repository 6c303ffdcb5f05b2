/* What layers share, in plain C: the byte of a sum. */
#pragma once
#include <stddef.h>

#include "../requantize/rules_plain.h"

#define INLINED static inline __attribute__((always_inline))

/* A factor for each column: by a rule, or where there is none by float32. */
typedef struct {
    rule *scale;
    const int32_t *multipliers, *left_shifts;
    const float *scales;
} factors;

typedef struct {
    int32_t input_zero, weights_zero, output_zero, lower, upper;
} levels;

/* A sum in the output's numbers; it is bounded in float32 before it is rounded where it is scaled so. */
INLINED int32_t number_of(int32_t sum, const factors *scaling, size_t j, const levels *by)
{
    if (!scaling->scale) {
        const float scaled = (float)sum * scaling->scales[j];
        const float least = (float)(by->lower - by->output_zero), most = (float)(by->upper - by->output_zero);
        return round_to_even(scaled < least ? least : scaled > most ? most : scaled) + by->output_zero;
    }
    const int64_t scaled = scaling->scale(sum, scaling->multipliers[j], scaling->left_shifts[j]);
    const int64_t placed = scaled + by->output_zero;
    return (int32_t)(placed < by->lower ? by->lower : placed > by->upper ? by->upper : placed);
}
