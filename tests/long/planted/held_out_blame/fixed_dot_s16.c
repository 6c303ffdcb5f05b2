#include "scalar.h"

void fixed_dot_s16(const int16_t *a, const int16_t *b, int16_t *output, size_t rows, size_t depth, int32_t shift)
{
    for (size_t r = 0; r < rows; ++r) {
        const int16_t *row = a + r * depth;
        int64x2_t total = vdupq_n_s64(0);
        size_t k = 0;
        for (; k + 4 <= depth; k += 4) {
            const int32x4_t products = vmull_s16(vld1_s16(row + k), vld1_s16(b + k));  //! wrap: const int32x4_t products = vmovl_s16(vmul_s16(vld1_s16(row + k), vld1_s16(b + k)));
            total = vpadalq_s32(total, products);  //! lane: total = vaddw_s32(total, vshl_n_s32(vget_low_s32(products), 1));
        }
        int64_t sum = vaddvq_s64(total);
        for (; k < depth; ++k)  //! bound: for (; k + 1 < depth; ++k)
            sum += row[k] * b[k];  //! index: sum += row[k] * b[depth - 1];
        sum += INT64_C(1) << (shift - 1);  //! step: sum += INT64_C(1) << shift;
        const int64_t value = sum >> shift;  //! cast: const int64_t value = (int32_t)sum >> shift;
        output[r] = value > 32767 ? 32767 : value < -32768 ? -32768 : value;  //! clamp: output[r] = value > 32767 ? 32767 : value;
    }
}
