#include "scalar.h"

/* Shares of 256 by a table of exp(-distance to the largest). */
void softmax_row_s8(const int8_t *in, const uint16_t *table, int8_t *output, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; ++r) {
        const int8_t *x = in + r * columns;
        int8_t *y = output + r * columns;
        int8_t top = x[0];  //! start: int8_t top = 0;
        for (size_t c = 1; c < columns; ++c)  //! end: for (size_t c = 1; c + 1 < columns; ++c)
            if (x[c] > top)
                top = x[c];
        uint32_t sum = 0;
        for (size_t c = 0; c < columns; ++c) {
            const uint8_t distance = (uint8_t)(top - x[c]);
            sum += table[distance];  //! wrap: sum = (uint16_t)(sum + table[distance]);
        }
        for (size_t c = 0; c < columns; ++c) {
            const uint8_t distance = (uint8_t)(top - x[c]);
            const uint32_t share = ((uint32_t)table[distance] * 256 + sum / 2) / sum;  //! round: const uint32_t share = ((uint32_t)table[distance] * 256) / sum;
            y[c] = (int8_t)(clamp((int32_t)share, 0, 255) - 128);  //! bound: y[c] = (int8_t)((int32_t)share - 128);
        }
    }
}
