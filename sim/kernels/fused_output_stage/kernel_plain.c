/* fused_output_stage in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t multiply(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static inline int32_t doubling_high_multiply(int32_t value, int32_t multiplier)
{
    if (value == INT32_MIN && multiplier == INT32_MIN)
        return INT32_MAX;
    return (int32_t)(((int64_t)value * multiplier + (INT64_C(1) << 30)) >> 31);
}

static inline int32_t ties_away(int32_t value, int32_t shift)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> shift) + ((value & mask) > threshold);
}

static inline int32_t ties_up(int32_t value, int32_t shift)
{
    return (int32_t)(((int64_t)value + ((INT64_C(1) << shift) >> 1)) >> shift);
}

static inline int32_t clamp(int32_t value, int32_t lower, int32_t upper)
{
    const int32_t raised = value < lower ? lower : value;
    return raised > upper ? upper : raised;
}

/* One row's sums with all that is added to them, in place of the loads of kernel.c. */
struct row {
    const int32_t *mm, *column_sums, *bias;
    int32_t a_offset, terms;
};

static inline struct row row_at(size_t row, const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                const int32_t *bias, size_t columns, int32_t k, int32_t a_offset, int32_t b_offset)
{
    const int32_t k_term = multiply(multiply(k, a_offset), b_offset);
    const int32_t terms = row_sums ? add(k_term, multiply(row_sums[row], b_offset)) : k_term;
    return (struct row){mm + row * columns, column_sums, bias, a_offset, terms};
}

static inline int32_t contributed(struct row row, size_t x)
{
    const int32_t with_column = row.column_sums ? multiply(row.column_sums[x], row.a_offset) : 0;
    return add(add(add(row.mm[x], with_column), row.bias ? row.bias[x] : 0), row.terms);
}

void fused_output_stage_fixed_point(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                    const int32_t *bias, uint8_t *restrict output, size_t columns, size_t rows,
                                    size_t batches, size_t column_batches, int32_t k, int32_t a_offset,
                                    int32_t b_offset, int32_t multiplier, int32_t shift, int32_t offset,
                                    uint8_t lower, uint8_t upper)
{
    (void)column_batches;
    for (size_t y = 0; y < batches * rows; ++y) {
        const struct row row = row_at(y, mm, column_sums, row_sums, bias, columns, k, a_offset, b_offset);
        for (size_t x = 0; x < columns; ++x) {
            const int32_t scaled = ties_away(doubling_high_multiply(contributed(row, x), multiplier), shift);
            output[y * columns + x] = (uint8_t)clamp(clamp(add(scaled, offset), 0, 255), lower, upper);
        }
    }
}

void fused_output_stage_integer_scale(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                      const int32_t *bias, uint8_t *restrict output, size_t columns, size_t rows,
                                      size_t batches, size_t column_batches, int32_t k, int32_t a_offset,
                                      int32_t b_offset, int32_t multiplier, int32_t shift, int32_t offset,
                                      uint8_t lower, uint8_t upper)
{
    (void)column_batches;
    for (size_t y = 0; y < batches * rows; ++y) {
        const struct row row = row_at(y, mm, column_sums, row_sums, bias, columns, k, a_offset, b_offset);
        for (size_t x = 0; x < columns; ++x) {
            const int32_t scaled = multiply(add(contributed(row, x), offset), multiplier) >> shift;
            output[y * columns + x] = (uint8_t)clamp(clamp(scaled, 0, 255), lower, upper);
        }
    }
}

void fused_output_stage_assembly(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                 const int32_t *bias, uint8_t *restrict output, size_t columns, size_t rows,
                                 size_t batches, size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset,
                                 int32_t multiplier, int32_t shift, int32_t offset, int32_t lower, int32_t upper)
{
    for (size_t y = 0; y < batches * rows; ++y) {
        const int32_t *sums = column_sums && column_batches > 1 ? column_sums + y / rows * columns : column_sums;
        const struct row row = row_at(y, mm, sums, row_sums, bias, columns, k, a_offset, b_offset);
        for (size_t x = 0; x < columns; ++x) {
            const int32_t multiplied = doubling_high_multiply(contributed(row, x), multiplier);
            const int32_t shifted = lower >= offset ? ties_up(multiplied, shift) : ties_away(multiplied, shift);
            output[y * columns + x] = (uint8_t)clamp(add(shifted, offset), lower, upper);
        }
    }
}
