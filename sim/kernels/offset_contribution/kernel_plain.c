/* offset_contribution in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline size_t rounded_up(size_t columns, size_t step)
{
    return (columns + step - 1) / step * step;
}

static inline void add_to_row(int32_t *restrict mm, size_t columns, uint32_t row_term,
                              const int32_t *restrict column_sums, uint32_t a_offset)
{
    for (size_t x = 0; x < columns; ++x)
        mm[x] = (int32_t)((uint32_t)mm[x] + row_term + (column_sums ? (uint32_t)column_sums[x] * a_offset : 0u));
}

void offset_contribution_cl(int32_t *restrict mm, const int32_t *restrict column_sums,
                            const int32_t *restrict row_sums, const int32_t *restrict bias,
                            size_t columns, size_t stride, size_t rows, size_t depth, size_t batches,
                            size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset)
{
    const uint32_t a = (uint32_t)a_offset, b = (uint32_t)b_offset, k_term = (uint32_t)k * a * b;
    const size_t touched = rounded_up(columns, 4);
    for (size_t batch = 0; batch < batches; ++batch) {
        const int32_t *sums = column_sums && column_batches > 1 ? column_sums + batch * stride : column_sums;
        for (size_t y = 0; y < depth * rows; ++y) {
            const size_t row = batch * depth * rows + y;
            add_to_row(mm + row * stride, touched, k_term + (row_sums ? (uint32_t)row_sums[row] * b : 0u), sums, a);
            if (bias)
                add_to_row(mm + row * stride, touched, 0u, bias, 1u);
        }
    }
}

void offset_contribution_cl_window(int32_t *restrict mm, const int32_t *restrict column_sums,
                                   const int32_t *restrict row_sums, const int32_t *restrict bias,
                                   size_t columns, size_t stride, size_t rows, size_t depth, size_t batches,
                                   size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset,
                                   size_t first_plane, size_t end_plane, size_t first_row, size_t end_row)
{
    const uint32_t a = (uint32_t)a_offset, b = (uint32_t)b_offset, k_term = (uint32_t)k * a * b;
    const size_t touched = rounded_up(columns, 4);
    (void)batches;
    for (size_t plane = first_plane; plane < end_plane; ++plane) {
        const size_t z = plane - first_plane; /* from the window's start, as the sums are taken */
        const int32_t *sums = column_sums && column_batches > 1 ? column_sums + z / depth * stride : column_sums;
        for (size_t y = first_row; y < end_row; ++y) {
            const uint32_t row_term = row_sums ? (uint32_t)row_sums[z * rows + y - first_row] * b : 0u;
            int32_t *row = mm + (plane * rows + y) * stride;
            add_to_row(row, touched, k_term + row_term, sums, a);
            if (bias)
                add_to_row(row, touched, 0u, bias, 1u);
        }
    }
}

void offset_contribution_neon(int32_t *restrict mm, const int32_t *restrict column_sums,
                              const int32_t *restrict row_sums,
                              size_t columns, size_t stride, size_t rows, size_t planes, size_t outer, size_t depth,
                              size_t column_batches, size_t column_z_stride,
                              int32_t k, int32_t a_offset, int32_t b_offset)
{
    const uint32_t a = (uint32_t)a_offset, b = (uint32_t)b_offset, k_term = (uint32_t)k * a * b;
    if (!a && !b)
        return;
    for (size_t o = 0; o < outer; ++o) {
        for (size_t p = 0; p < planes; ++p) {
            const size_t plane = o * planes + p, z = a && b ? plane : p;
            const size_t first = column_batches > 1 ? z / depth * column_z_stride : 0;
            for (size_t y = 0; y < rows; ++y)
                add_to_row(mm + (plane * rows + y) * stride, rounded_up(columns, 16),
                           k_term + (b ? (uint32_t)row_sums[z * rows + y] * b : 0u), a ? column_sums + first : NULL, a);
        }
    }
}
