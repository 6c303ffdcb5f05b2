#include "scalar.h"

__attribute__((target("arch=armv8.2-a+dotprod")))
void sdot_rows_s8(const int8_t *weights, const int8_t *in, const int32_t *bias, const int32_t *factor, int8_t *output,
                  size_t rows, size_t depth, int32_t zero, int32_t shift)
{
    for (size_t r = 0; r < rows; ++r) {
        const int8_t *w = weights + r * depth;
        int32x4_t products = vdupq_n_s32(0);
        int32x4_t sums = vdupq_n_s32(0);
        size_t k = 0;
        for (; k + 16 <= depth; k += 16) {
            const int8x16_t some = vld1q_s8(w + k);
            products = vdotq_s32(products, some, vld1q_s8(in + k));
            sums = vdotq_s32(sums, some, vdupq_n_s8(1));  //! constant: sums = vdotq_s32(sums, some, vdupq_n_s8(2));
        }
        int32_t total = vaddvq_s32(products);  //! lane: int32_t total = vaddv_s32(vget_low_s32(products));
        int32_t weight = vaddvq_s32(sums);
        for (; k < depth; ++k) {
            total += w[k] * in[k];
            weight += w[k];  //! operand: weight += in[k];
        }
        total += bias[r] - zero * weight;  //! sign: total += bias[r] + zero * weight;
        const int64_t scaled = (int64_t)total * factor[r];
        const int64_t rounded = (scaled + (INT64_C(1) << (shift - 1))) >> shift;  //! round: const int64_t rounded = (scaled + (INT64_C(1) << (shift - 2))) >> shift;
        output[r] = (int8_t)clamp(saturated(rounded), -128, 127);
    }
}
