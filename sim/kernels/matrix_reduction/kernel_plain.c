/* matrix_reduction in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c; sums are unsigned, so that they wrap.
 */
#include <stddef.h>
#include <stdint.h>

void sums_of_rows_u8(const uint8_t *restrict matrix, int32_t *restrict sums, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; ++i) {
        uint32_t sum = 0;
        for (size_t k = 0; k < columns; ++k)
            sum += matrix[i * columns + k];
        sums[i] = (int32_t)sum;
    }
}

void sums_of_rows_s8(const int8_t *restrict matrix, int32_t *restrict sums, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; ++i) {
        uint32_t sum = 0;
        for (size_t k = 0; k < columns; ++k)
            sum += (uint32_t)(int32_t)matrix[i * columns + k];
        sums[i] = (int32_t)sum;
    }
}

void sums_of_columns_u8(const uint8_t *restrict matrix, int32_t *restrict sums, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; ++j)
        sums[j] = 0;
    for (size_t k = 0; k < rows; ++k)
        for (size_t j = 0; j < columns; ++j)
            sums[j] = (int32_t)((uint32_t)sums[j] + matrix[k * columns + j]);
}

void sums_of_columns_s8(const int8_t *restrict matrix, int32_t *restrict sums, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; ++j)
        sums[j] = 0;
    for (size_t k = 0; k < rows; ++k)
        for (size_t j = 0; j < columns; ++j)
            sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)(int32_t)matrix[k * columns + j]);
}
