/* matrix_product in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c; sums are unsigned, so that they wrap.
 */
#include <stddef.h>
#include <stdint.h>

/* Panels of so many rows and columns, `depth` bytes of one of them behind each other; `across` is how far rows of the
 * output lie apart, `right` and `below` its blocks. */
#define PRODUCT(type, byte)                                                                                         \
    static inline void product_##type(const byte *restrict a, const byte *restrict b, int32_t *restrict output,     \
                                      size_t row_blocks, size_t column_blocks, size_t steps, size_t rows,           \
                                      size_t columns, size_t depth, size_t across, size_t right, size_t below)      \
    {                                                                                                               \
        for (size_t g = 0; g < row_blocks; ++g)                                                                     \
            for (size_t j = 0; j < column_blocks; ++j)                                                              \
                for (size_t r = 0; r < rows; ++r)                                                                   \
                    for (size_t c = 0; c < columns; ++c) {                                                          \
                        uint32_t sum = 0;                                                                           \
                        for (size_t k = 0; k < steps; ++k)                                                          \
                            for (size_t d = 0; d < depth; ++d)                                                      \
                                sum += (uint32_t)(a[((g * steps + k) * rows + r) * depth + d] *                     \
                                                  b[((j * steps + k) * columns + c) * depth + d]);                  \
                        output[g * below + j * right + r * across + c] = (int32_t)sum;                              \
                    }                                                                                               \
    }

PRODUCT(u8, uint8_t)
PRODUCT(s8, int8_t)

#define FUNCTION(name, type, byte, rows, columns, depth, across, right, below)                                      \
    void matrix_product_##name(const byte *restrict a, const byte *restrict b, int32_t *restrict output,            \
                               size_t row_blocks, size_t column_blocks, size_t steps)                               \
    {                                                                                                               \
        product_##type(a, b, output, row_blocks, column_blocks, steps, rows, columns, depth, across, right, below); \
    }

FUNCTION(umlal_u8, u8, uint8_t, 4, 16, 1, 16 * column_blocks, 16, 64 * column_blocks)
FUNCTION(smlal_s8, s8, int8_t, 4, 16, 1, 16 * column_blocks, 16, 64 * column_blocks)
FUNCTION(udot_u8, u8, uint8_t, 8, 12, 4, 12, 96, 96 * column_blocks)
FUNCTION(sdot_s8, s8, int8_t, 8, 12, 4, 12, 96, 96 * column_blocks)
FUNCTION(ummla_u8, u8, uint8_t, 8, 12, 8, 12, 96, 96 * column_blocks)
FUNCTION(smmla_s8, s8, int8_t, 8, 12, 8, 12, 96, 96 * column_blocks)
