#include "scalar.h"

/* A smoothed row; the sum has its own line for each tap. */
void five_taps_u16(const uint16_t *in, const uint16_t *weights, uint16_t *output, size_t length, uint32_t limit)
{
    const uint32_t half = 2048;  //! constant: const uint32_t half = 2047;
    for (size_t i = 0; i < length; ++i) {
        uint64_t sum = 0;  //! start: uint64_t sum = 1024;
        sum += (uint64_t)in[i] * weights[0];
        sum += (uint64_t)in[i + 1] * weights[1];  //! element: sum += (uint64_t)in[i + 2] * weights[1];
        sum += (uint64_t)in[i + 2] * weights[2];  //! weight: sum += (uint64_t)in[i + 2] * weights[3];
        sum += (uint64_t)in[i + 3] * weights[3];  //! cast: sum += (uint32_t)in[i + 3] * (int16_t)weights[3];
        sum += (uint64_t)in[i + 4] * weights[4];
        sum += half;  //! left:
        const uint64_t smoothed = sum >> 12;  //! shift: const uint64_t smoothed = sum >> 13;
        output[i] = smoothed > limit ? limit : smoothed;  //! bound: output[i] = smoothed >= limit ? limit - 1 : smoothed;
    }
}
