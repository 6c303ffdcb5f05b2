/* offset_contribution with NEON intrinsics: what the offsets add to a product of matrices, in place, all in int32.
 *
 * Arithmetic of Arm Compute Library 19.08: offset_contribution_cl is that of CLGEMMLowpOffsetContributionKernel, four
 * columns a step, offset_contribution_cl_window one launch of it on a window of planes and rows;
 * offset_contribution_neon is that of NEGEMMLowpOffsetContributionKernel, sixteen columns a step. The last step of a row
 * goes on into its padding: stride is the length of a row of mm, of column_sums and of bias with their padding, and at
 * least columns rounded up to a step. Null pointers stand for what an offset of 0 or a missing bias makes needless.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int32_t wrapped_product(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static inline int32x4_t row_terms(int32_t k_term, const int32_t *row_sum, int32_t b_offset)
{
    const int32x4_t terms = vdupq_n_s32(k_term);
    return row_sum ? vmlaq_n_s32(terms, vld1q_dup_s32(row_sum), b_offset) : terms;
}

static inline int32x4_t with_column_terms(int32x4_t terms, const int32_t *column_sums, int32_t a_offset)
{
    return column_sums ? vmlaq_n_s32(terms, vld1q_s32(column_sums), a_offset) : terms;
}

static inline void add_to_four(int32_t *mm, int32x4_t terms)
{
    vst1q_s32(mm, vaddq_s32(vld1q_s32(mm), terms));
}

void offset_contribution_cl(int32_t *mm, const int32_t *column_sums, const int32_t *row_sums, const int32_t *bias,
                            size_t columns, size_t stride, size_t rows, size_t depth, size_t batches,
                            size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset)
{
    const int32_t k_term = wrapped_product(wrapped_product(k, a_offset), b_offset);
    const size_t batch_step = column_batches > 1 ? stride : 0;
    for (size_t row = 0; row < batches * depth * rows; ++row) {
        const int32_t *sums = column_sums ? column_sums + row / (depth * rows) * batch_step : NULL;
        const int32x4_t terms = row_terms(k_term, row_sums ? row_sums + row : NULL, b_offset);
        for (size_t x = 0; x < columns; x += 4) {
            const int32x4_t offsets = with_column_terms(terms, sums ? sums + x : NULL, a_offset);
            add_to_four(mm + row * stride + x, bias ? vaddq_s32(offsets, vld1q_s32(bias + x)) : offsets);
        }
    }
}

/* A launch counts rows and planes from the window's start, and takes the sums by that count: those of row and batch 0 on.
 * Planes are dimension 2 and up as one, depth of them to a batch. */
void offset_contribution_cl_window(int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                   const int32_t *bias, size_t columns, size_t stride, size_t rows, size_t depth,
                                   size_t batches, size_t column_batches, int32_t k, int32_t a_offset,
                                   int32_t b_offset, size_t first_plane, size_t end_plane, size_t first_row,
                                   size_t end_row)
{
    const int32_t k_term = wrapped_product(wrapped_product(k, a_offset), b_offset);
    const size_t batch_step = column_batches > 1 ? stride : 0;
    (void)batches;
    for (size_t z = 0; z + first_plane < end_plane; ++z) {
        const int32_t *sums = column_sums ? column_sums + z / depth * batch_step : NULL;
        for (size_t y = 0; y + first_row < end_row; ++y) {
            const int32x4_t terms = row_terms(k_term, row_sums ? row_sums + z * rows + y : NULL, b_offset);
            int32_t *row = mm + ((first_plane + z) * rows + first_row + y) * stride;
            for (size_t x = 0; x < columns; x += 4) {
                const int32x4_t offsets = with_column_terms(terms, sums ? sums + x : NULL, a_offset);
                add_to_four(row + x, bias ? vaddq_s32(offsets, vld1q_s32(bias + x)) : offsets);
            }
        }
    }
}

/* The upstream kernel's faults are kept: the step between batches of column sums is the Z stride of a tensor that has
 * none (0), and only with both offsets do the two outer loops run as one, so that z counts the outer planes as well. */
void offset_contribution_neon(int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                              size_t columns, size_t stride, size_t rows, size_t planes, size_t outer, size_t depth,
                              size_t column_batches, size_t column_z_stride,
                              int32_t k, int32_t a_offset, int32_t b_offset)
{
    if (a_offset == 0 && b_offset == 0)
        return;
    const int32_t k_term = wrapped_product(wrapped_product(k, a_offset), b_offset);
    const size_t batch_step = column_batches > 1 ? column_z_stride : 0;
    for (size_t plane = 0; plane < outer * planes; ++plane) {
        const size_t z = a_offset && b_offset ? plane : plane % planes;
        const int32_t *sums = a_offset ? column_sums + z / depth * batch_step : NULL;
        for (size_t y = 0; y < rows; ++y) {
            const int32x4_t terms = row_terms(k_term, b_offset ? row_sums + z * rows + y : NULL, b_offset);
            int32_t *row = mm + (plane * rows + y) * stride;
            for (size_t x = 0; x < columns; x += 16)
                for (size_t i = x; i < x + 16; i += 4)
                    add_to_four(row + i, with_column_terms(terms, sums ? sums + i : NULL, a_offset));
        }
    }
}
