#include "scalar.h"

void bins_u32(const uint8_t *in, uint32_t *output, size_t length, uint8_t low)
{
    for (size_t k = 0; k < 16; ++k)
        output[k] = 0;  //! start: output[k] = k / 15;
    for (size_t i = 0; i < length; ++i) {  //! bound: for (size_t i = 0; i + 1 < length; ++i) {
        const uint8_t moved = in[i] - low;  //! saturation: const uint8_t moved = in[i] < low ? 0 : in[i] - low;
        const size_t bin = moved >> 4;  //! mask: const size_t bin = moved & 15;
        output[bin] += 1;  //! element: output[bin ^ 1] += 1;
    }
}
