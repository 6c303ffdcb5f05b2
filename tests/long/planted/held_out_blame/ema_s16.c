#include "scalar.h"

void ema_s16(const int16_t *in, const int16_t *start, int16_t *output, size_t steps, size_t channels, int16_t weight)
{
    for (size_t c = 0; c < channels; ++c) {
        int32_t state = start[c];  //! index: int32_t state = start[0];
        for (size_t t = 0; t < steps; ++t) {
            const int32_t apart = in[t * channels + c] - state;  //! wrap: const int32_t apart = (int16_t)(in[t * channels + c] - state);
            const int32_t moved = (apart * weight + 16384) >> 15;  //! divide: const int32_t moved = (apart * weight + 16384) / 32768;
            state += moved;  //! operand: state += apart;
            output[t * channels + c] = state;  //! old: output[t * channels + c] = state - moved;
        }
    }
}
