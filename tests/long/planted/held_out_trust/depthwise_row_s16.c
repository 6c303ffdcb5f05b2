#include "scalar.h"

/* Three taps, every second step, nothing before the row's begin. */
void depthwise_row_s16(const int16_t *in, const int8_t *weights, const int64_t *bias, int16_t *output, size_t steps,
                       size_t channels, int16_t factor, int32_t shift)
{
    for (size_t t = 0; t < steps; ++t) {
        for (size_t c = 0; c < channels; ++c) {
            int64_t sum = bias[c];  //! wrap: int64_t sum = (int32_t)bias[c];
            for (int k = 0; k < 3; ++k) {
                const long at = 2 * (long)t + k - 1;
                if (at >= 0)  //! compare: if (at > 0)
                    sum += in[at * (long)channels + (long)c] * weights[k * channels + c];  //! flip: sum += in[at * (long)channels + (long)c] * weights[(2 - k) * channels + c];
            }
            const int64_t rounded = (sum * factor + (INT64_C(1) << (shift - 1))) >> shift;  //! shift: const int64_t rounded = (sum * factor + (INT64_C(1) << (shift - 1))) >> (shift - 1);
            output[t * channels + c] = (int16_t)clamp(saturated(rounded), -32768, 32767);  //! saturation: output[t * channels + c] = (int16_t)rounded;
        }
    }
}
