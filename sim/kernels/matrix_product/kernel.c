/* matrix_product with NEON intrinsics: panels of rows times panels of columns, all bytes of one type.
 *
 * Arm Compute Library. By UMLAL and SMLAL as NEGEMMLowpMatrixMultiplyKernel of 19.08: panels of 4 rows and of 16 columns,
 * byte by byte; the output is a matrix. By dot products and matrix multiply-accumulates as the kernels 8x12 of arm_gemm:
 * panels of 8 rows and of 12 columns, 4 or 8 bytes of a row behind each other; the output's blocks lie behind each other.
 * `steps` is how often so many bytes come.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

/* One row of four by sixteen columns: lane `row` of the bytes of A. */
#define ROW(suffix, row)                                                                                            \
    for (int part = 0; part < 4; ++part)                                                                            \
        sums[row][part] = vmlal_lane_##suffix(sums[row][part], columns[part], rows, row)

/* Eight bytes of A are read a step and four of them used: four behind the last panel, as upstream. */
#define BY_LONG_PRODUCTS(name, byte, half, vector8, vector4, sum, bytes, halves, words, signed_words)               \
    void matrix_product_##name(const byte *a, const byte *b, int32_t *output, size_t row_blocks,                    \
                               size_t column_blocks, size_t steps)                                                  \
    {                                                                                                               \
        for (size_t g = 0; g < row_blocks; ++g)                                                                     \
            for (size_t j = 0; j < column_blocks; ++j) {                                                            \
                sum sums[4][4] = {};                                                                                \
                for (size_t k = 0; k < steps; ++k) {                                                                \
                    const vector4 rows = vget_low_##halves(vmovl_##bytes(vld1_##bytes(a + 4 * (g * steps + k))));   \
                    const byte *own = b + 16 * (j * steps + k);                                                     \
                    const vector8 low = vmovl_##bytes(vld1_##bytes(own));                                           \
                    const vector8 high = vmovl_##bytes(vld1_##bytes(own + 8));                                      \
                    const vector4 columns[4] = {vget_low_##halves(low), vget_high_##halves(low),                    \
                                                vget_low_##halves(high), vget_high_##halves(high)};                 \
                    ROW(halves, 0);                                                                                 \
                    ROW(halves, 1);                                                                                 \
                    ROW(halves, 2);                                                                                 \
                    ROW(halves, 3);                                                                                 \
                }                                                                                                   \
                int32_t *block = output + 4 * g * 16 * column_blocks + 16 * j;                                      \
                for (int row = 0; row < 4; ++row)                                                                   \
                    for (int part = 0; part < 4; ++part)                                                            \
                        vst1q_s32(block + row * 16 * column_blocks + 4 * part, signed_words(sums[row][part]));      \
            }                                                                                                       \
    }

#define SAME(words) words
BY_LONG_PRODUCTS(umlal_u8, uint8_t, uint16_t, uint16x8_t, uint16x4_t, uint32x4_t, u8, u16, u32, vreinterpretq_s32_u32)
BY_LONG_PRODUCTS(smlal_s8, int8_t, int16_t, int16x8_t, int16x4_t, int32x4_t, s8, s16, s32, SAME)

/* Rows `row` and `row` + 4 of eight by twelve columns: lane `row` of the first and of the second register of A. */
#define TWO_ROWS(suffix, row)                                                                                       \
    for (int part = 0; part < 3; ++part) {                                                                          \
        sums[row][part] = vdotq_laneq_##suffix(sums[row][part], columns[part], first, row);                         \
        sums[row + 4][part] = vdotq_laneq_##suffix(sums[row + 4][part], columns[part], second, row);                \
    }

#define BY_DOT_PRODUCTS(name, byte, vector, sum, bytes, words, signed_words)                                        \
    void matrix_product_##name(const byte *a, const byte *b, int32_t *output, size_t row_blocks,                    \
                               size_t column_blocks, size_t steps)                                                  \
    {                                                                                                               \
        for (size_t g = 0; g < row_blocks; ++g)                                                                     \
            for (size_t j = 0; j < column_blocks; ++j, output += 96) {                                              \
                sum sums[8][3] = {};                                                                                \
                const byte *rows = a + 32 * g * steps, *own = b + 48 * j * steps;                                   \
                for (size_t k = 0; k < steps; ++k, rows += 32, own += 48) {                                         \
                    const vector first = vld1q_##bytes(rows), second = vld1q_##bytes(rows + 16);                    \
                    const vector columns[3] = {vld1q_##bytes(own), vld1q_##bytes(own + 16),                         \
                                               vld1q_##bytes(own + 32)};                                            \
                    TWO_ROWS(words, 0)                                                                              \
                    TWO_ROWS(words, 1)                                                                              \
                    TWO_ROWS(words, 2)                                                                              \
                    TWO_ROWS(words, 3)                                                                              \
                }                                                                                                   \
                for (int row = 0; row < 8; ++row)                                                                   \
                    for (int part = 0; part < 3; ++part)                                                            \
                        vst1q_s32(output + 12 * row + 4 * part, signed_words(sums[row][part]));                     \
            }                                                                                                       \
    }

#ifdef __ARM_FEATURE_DOTPROD
BY_DOT_PRODUCTS(udot_u8, uint8_t, uint8x16_t, uint32x4_t, u8, u32, vreinterpretq_s32_u32)
BY_DOT_PRODUCTS(sdot_s8, int8_t, int8x16_t, int32x4_t, s8, s32, SAME)
#endif

/* A sum is of two rows by two columns: two of them are four columns of each row. */
#define BY_MATRIX_PRODUCTS(name, byte, vector, sum, bytes, words, pairs)                                            \
    void matrix_product_##name(const byte *a, const byte *b, int32_t *output, size_t row_blocks,                    \
                               size_t column_blocks, size_t steps)                                                  \
    {                                                                                                               \
        for (size_t g = 0; g < row_blocks; ++g)                                                                     \
            for (size_t j = 0; j < column_blocks; ++j, output += 96) {                                              \
                sum sums[4][6] = {};                                                                                \
                const byte *rows = a + 64 * g * steps, *own = b + 96 * j * steps;                                   \
                for (size_t k = 0; k < steps; ++k, rows += 64, own += 96)                                           \
                    for (int two = 0; two < 6; ++two) {                                                             \
                        const vector columns = vld1q_##bytes(own + 16 * two);                                       \
                        for (int pair = 0; pair < 4; ++pair)                                                        \
                            sums[pair][two] =                                                                       \
                                vmmlaq_##words(sums[pair][two], vld1q_##bytes(rows + 16 * pair), columns);          \
                    }                                                                                               \
                for (int pair = 0; pair < 4; ++pair)                                                                \
                    for (int part = 0; part < 3; ++part) {                                                          \
                        const int64x2_t left = pairs(sums[pair][2 * part]), right = pairs(sums[pair][2 * part + 1]); \
                        vst1q_s32(output + 24 * pair + 4 * part, vreinterpretq_s32_s64(vuzp1q_s64(left, right)));   \
                        vst1q_s32(output + 24 * pair + 12 + 4 * part,                                               \
                                  vreinterpretq_s32_s64(vuzp2q_s64(left, right)));                                  \
                    }                                                                                               \
            }                                                                                                       \
    }

#ifdef __ARM_FEATURE_MATMUL_INT8
BY_MATRIX_PRODUCTS(ummla_u8, uint8_t, uint8x16_t, uint32x4_t, u8, u32, vreinterpretq_s64_u32)
BY_MATRIX_PRODUCTS(smmla_s8, int8_t, int8x16_t, int32x4_t, s8, s32, vreinterpretq_s64_s32)
#endif
