/* matrix_reduction with NEON intrinsics: sums of the rows or columns of a matrix of bytes, in int32.
 *
 * Arm Compute Library 19.08, NEGEMMLowpMatrixAReductionKernel and NEGEMMLowpMatrixBReductionKernel, of uint8; the same
 * of int8.  Sixteen bytes a step, then one by one: upstream's sums of columns read and write padding instead.  Sums of
 * single bytes are unsigned, so that they wrap.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

void sums_of_rows_u8(const uint8_t *matrix, int32_t *sums, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; ++i, matrix += columns) {
        uint32x4_t total = vdupq_n_u32(0);
        size_t k = 0;
        for (; k + 16 <= columns; k += 16) {
            const uint8x16_t part = vld1q_u8(matrix + k);
            total = vaddq_u32(total, vpaddlq_u16(vaddl_u8(vget_low_u8(part), vget_high_u8(part))));
        }
        uint32_t sum = vaddvq_u32(total);
        for (; k < columns; ++k)
            sum += matrix[k];
        sums[i] = (int32_t)sum;
    }
}

void sums_of_rows_s8(const int8_t *matrix, int32_t *sums, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; ++i, matrix += columns) {
        int32x4_t total = vdupq_n_s32(0);
        size_t k = 0;
        for (; k + 16 <= columns; k += 16) {
            const int8x16_t part = vld1q_s8(matrix + k);
            total = vaddq_s32(total, vpaddlq_s16(vaddl_s8(vget_low_s8(part), vget_high_s8(part))));
        }
        uint32_t sum = (uint32_t)vaddvq_s32(total);
        for (; k < columns; ++k)
            sum += (uint32_t)(int32_t)matrix[k];
        sums[i] = (int32_t)sum;
    }
}

void sums_of_columns_u8(const uint8_t *matrix, int32_t *sums, size_t rows, size_t columns)
{
    size_t j = 0;
    for (; j + 16 <= columns; j += 16) {
        uint32x4_t total[4] = {vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0)};
        for (size_t k = 0; k < rows; ++k) {
            const uint8x16_t part = vld1q_u8(matrix + k * columns + j);
            const uint16x8_t low = vmovl_u8(vget_low_u8(part));
            const uint16x8_t high = vmovl_u8(vget_high_u8(part));
            total[0] = vaddw_u16(total[0], vget_low_u16(low));
            total[1] = vaddw_u16(total[1], vget_high_u16(low));
            total[2] = vaddw_u16(total[2], vget_low_u16(high));
            total[3] = vaddw_u16(total[3], vget_high_u16(high));
        }
        for (size_t part = 0; part < 4; ++part)
            vst1q_s32(sums + j + 4 * part, vreinterpretq_s32_u32(total[part]));
    }
    for (; j < columns; ++j) {
        uint32_t sum = 0;
        for (size_t k = 0; k < rows; ++k)
            sum += matrix[k * columns + j];
        sums[j] = (int32_t)sum;
    }
}

void sums_of_columns_s8(const int8_t *matrix, int32_t *sums, size_t rows, size_t columns)
{
    size_t j = 0;
    for (; j + 16 <= columns; j += 16) {
        int32x4_t total[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t k = 0; k < rows; ++k) {
            const int8x16_t part = vld1q_s8(matrix + k * columns + j);
            const int16x8_t low = vmovl_s8(vget_low_s8(part));
            const int16x8_t high = vmovl_s8(vget_high_s8(part));
            total[0] = vaddw_s16(total[0], vget_low_s16(low));
            total[1] = vaddw_s16(total[1], vget_high_s16(low));
            total[2] = vaddw_s16(total[2], vget_low_s16(high));
            total[3] = vaddw_s16(total[3], vget_high_s16(high));
        }
        for (size_t part = 0; part < 4; ++part)
            vst1q_s32(sums + j + 4 * part, total[part]);
    }
    for (; j < columns; ++j) {
        uint32_t sum = 0;
        for (size_t k = 0; k < rows; ++k)
            sum += (uint32_t)(int32_t)matrix[k * columns + j];
        sums[j] = (int32_t)sum;
    }
}
