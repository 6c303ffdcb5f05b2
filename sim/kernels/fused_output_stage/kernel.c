/* fused_output_stage with NEON intrinsics: what the offsets add to a product of matrices, then its output stage, to uint8.
 *
 * Arithmetic of Arm Compute Library 19.08, NEGEMMLowpOffsetContributionOutputStageKernel, and of the AArch64 path that takes
 * its place; sixteen columns a step, then the last (columns mod 16) one by one, each in every lane of a vector.
 * All arrays are contiguous. Null pointers stand for what an offset of 0 or a missing bias makes needless; shift is 0..31.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

struct stage {
    int32_t multiplier, shift, offset, lower, upper;
};

typedef int32x4_t load(const int32_t *numbers);
typedef uint8x16_t finish(const int32x4_t part[4], struct stage by);

static inline int32x4_t load_four(const int32_t *numbers)
{
    return vld1q_s32(numbers);
}

static inline int32x4_t load_one(const int32_t *number)
{
    return vld1q_dup_s32(number);
}

static inline int32_t wrapped_product(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static inline __attribute__((always_inline)) int32x4_t contribute(load *loaded, const int32_t *mm,
                                                                  const int32_t *column_sums, const int32_t *bias,
                                                                  int32_t a_offset, int32x4_t row_terms)
{
    int32x4_t value = loaded(mm);
    if (column_sums)
        value = vmlaq_n_s32(value, loaded(column_sums), a_offset);
    if (bias)
        value = vaddq_s32(value, loaded(bias));
    return vaddq_s32(value, row_terms);
}

/* Rows of all batches; batch_step is how far the column sums of two batches lie apart. */
static inline __attribute__((always_inline)) void each(finish *finished, const int32_t *mm, const int32_t *column_sums,
                                                       const int32_t *row_sums, const int32_t *bias, uint8_t *output,
                                                       size_t columns, size_t rows, size_t batches, size_t batch_step,
                                                       int32_t k, int32_t a_offset, int32_t b_offset, struct stage by)
{
    const int32x4_t k_terms = vdupq_n_s32(wrapped_product(wrapped_product(k, a_offset), b_offset));
    for (size_t row = 0; row < batches * rows; ++row) {
        const int32_t *sums = column_sums ? column_sums + row / rows * batch_step : NULL;
        const int32x4_t terms = row_sums ? vmlaq_n_s32(k_terms, load_one(row_sums + row), b_offset) : k_terms;
        const int32_t *values = mm + row * columns;
        uint8_t *bytes = output + row * columns;
        size_t x = 0;
        for (; x + 16 <= columns; x += 16) {
            int32x4_t part[4];
            for (size_t i = 0; i < 4; ++i) {
                const size_t at = x + 4 * i;
                part[i] = contribute(load_four, values + at, sums ? sums + at : NULL, bias ? bias + at : NULL,
                                     a_offset, terms);
            }
            vst1q_u8(bytes + x, finished(part, by));
        }
        for (; x < columns; ++x) {
            const int32x4_t one = contribute(load_one, values + x, sums ? sums + x : NULL, bias ? bias + x : NULL,
                                             a_offset, terms);
            const int32x4_t part[4] = {one, one, one, one};
            vst1q_lane_u8(bytes + x, finished(part, by), 0);
        }
    }
}

static inline int32x4_t ties_away(int32x4_t value, int32x4_t minus_shift)
{
    const int32x4_t fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31);
    return vrshlq_s32(vqaddq_s32(value, fix), minus_shift);
}

static inline uint8x16_t saturate(const int32x4_t part[4], struct stage by)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const int16x8_t low = vcombine_s16(vqmovn_s32(vmaxq_s32(part[0], zero)), vqmovn_s32(vmaxq_s32(part[1], zero)));
    const int16x8_t high = vcombine_s16(vqmovn_s32(vmaxq_s32(part[2], zero)), vqmovn_s32(vmaxq_s32(part[3], zero)));
    const uint8x16_t bytes = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
    return vminq_u8(vmaxq_u8(bytes, vdupq_n_u8((uint8_t)by.lower)), vdupq_n_u8((uint8_t)by.upper));
}

static inline uint8x16_t by_fixed_point(const int32x4_t part[4], struct stage by)
{
    const int32x4_t minus_shift = vdupq_n_s32(-by.shift), offset = vdupq_n_s32(by.offset);
    int32x4_t placed[4];
    for (size_t i = 0; i < 4; ++i)
        placed[i] = vaddq_s32(ties_away(vqrdmulhq_n_s32(part[i], by.multiplier), minus_shift), offset);
    return saturate(placed, by);
}

/* The offset comes first, the multiplier is an integer, the shift rounds down. */
static inline uint8x16_t by_integers(const int32x4_t part[4], struct stage by)
{
    const int32x4_t minus_shift = vdupq_n_s32(-by.shift), offset = vdupq_n_s32(by.offset);
    int32x4_t shifted[4];
    for (size_t i = 0; i < 4; ++i)
        shifted[i] = vshlq_s32(vmulq_n_s32(vaddq_s32(part[i], offset), by.multiplier), minus_shift);
    return saturate(shifted, by);
}

/* Bounded on 32 bits by any lower and upper, then the low byte. */
static inline uint8x16_t bound_then_cut(const int32x4_t shifted[4], struct stage by)
{
    const int32x4_t lower = vdupq_n_s32(by.lower), upper = vdupq_n_s32(by.upper), offset = vdupq_n_s32(by.offset);
    int16x8_t bounded[4];
    for (size_t i = 0; i < 4; ++i)
        bounded[i] = vreinterpretq_s16_s32(vminq_s32(vmaxq_s32(vaddq_s32(shifted[i], offset), lower), upper));
    const int16x8_t low = vuzp1q_s16(bounded[0], bounded[1]), high = vuzp1q_s16(bounded[2], bounded[3]);
    return vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high));
}

static inline uint8x16_t by_assembly(const int32x4_t part[4], struct stage by)
{
    const int32x4_t minus_shift = vdupq_n_s32(-by.shift);
    int32x4_t shifted[4];
    for (size_t i = 0; i < 4; ++i)
        shifted[i] = ties_away(vqrdmulhq_n_s32(part[i], by.multiplier), minus_shift);
    return bound_then_cut(shifted, by);
}

static inline uint8x16_t by_assembly_without_fix_up(const int32x4_t part[4], struct stage by)
{
    const int32x4_t minus_shift = vdupq_n_s32(-by.shift);
    int32x4_t shifted[4];
    for (size_t i = 0; i < 4; ++i)
        shifted[i] = vrshlq_s32(vqrdmulhq_n_s32(part[i], by.multiplier), minus_shift);
    return bound_then_cut(shifted, by);
}

/* lower and upper bound the byte, 0 and 255 where the stage is not bounded. The upstream kernel's fault is kept: the step
 * between batches of column sums is the Z stride of a tensor that has none, so that all use those of the first batch. */
void fused_output_stage_fixed_point(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                    const int32_t *bias, uint8_t *output, size_t columns, size_t rows, size_t batches,
                                    size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset,
                                    int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    const struct stage by = {multiplier, shift, offset, lower, upper};
    (void)column_batches;
    each(by_fixed_point, mm, column_sums, row_sums, bias, output, columns, rows, batches, 0, k, a_offset, b_offset, by);
}

void fused_output_stage_integer_scale(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                      const int32_t *bias, uint8_t *output, size_t columns, size_t rows,
                                      size_t batches, size_t column_batches, int32_t k, int32_t a_offset,
                                      int32_t b_offset, int32_t multiplier, int32_t shift, int32_t offset,
                                      uint8_t lower, uint8_t upper)
{
    const struct stage by = {multiplier, shift, offset, lower, upper};
    (void)column_batches;
    each(by_integers, mm, column_sums, row_sums, bias, output, columns, rows, batches, 0, k, a_offset, b_offset, by);
}

/* As upstream, no fix-up for ties of what the lower bound covers. */
void fused_output_stage_assembly(const int32_t *mm, const int32_t *column_sums, const int32_t *row_sums,
                                 const int32_t *bias, uint8_t *output, size_t columns, size_t rows, size_t batches,
                                 size_t column_batches, int32_t k, int32_t a_offset, int32_t b_offset,
                                 int32_t multiplier, int32_t shift, int32_t offset, int32_t lower, int32_t upper)
{
    const struct stage by = {multiplier, shift, offset, lower, upper};
    const size_t step = column_batches > 1 ? columns : 0;
    if (lower >= offset)
        each(by_assembly_without_fix_up, mm, column_sums, row_sums, bias, output, columns, rows, batches, step, k,
             a_offset, b_offset, by);
    else
        each(by_assembly, mm, column_sums, row_sums, bias, output, columns, rows, batches, step, k, a_offset, b_offset,
             by);
}
