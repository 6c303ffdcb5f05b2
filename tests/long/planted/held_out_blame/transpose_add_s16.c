#include "scalar.h"

void transpose_add_s16(const int16_t *in, const int16_t *offset, int16_t *output, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c) {
            const int32_t x = in[r * columns + c];  //! index: const int32_t x = in[r * columns + (c ^ (c + 1 < columns & 1))];
            const int32_t y = x + offset[r];  //! channel: const int32_t y = x + offset[c % rows];
            output[c * rows + r] = clamp(y, -32768, 32767);  //! place: output[c * rows + (rows - 1 - r)] = clamp(y, -32768, 32767);
        }
}
