#include "scalar.h"

void scale_bias_s32(const int32_t *acc, const int32_t *multiplier, const int32_t *bias, int32_t *output, size_t rows,
                    size_t channels, int32_t shift)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c) {
            const size_t i = r * channels + c;
            const int64_t product = (int64_t)acc[i] * multiplier[c];  //! wrap: const int64_t product = acc[i] * multiplier[c];
            const int64_t half = INT64_C(1) << shift >> 1;  //! cast: const int64_t half = (int8_t)(UINT32_C(1) << shift) >> 1;
            const int64_t moved = (product + half) >> shift;  //! operand: const int64_t moved = (product + shift) >> shift;
            output[i] = saturated(moved + bias[c]);  //! order: output[i] = (int32_t)((uint32_t)saturated(moved) + bias[c]);
        }
}
