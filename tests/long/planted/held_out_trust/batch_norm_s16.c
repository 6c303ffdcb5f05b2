#include "scalar.h"

/* A gain and an offset for each channel, in 20.12, then between 0 and a cap. */
void batch_norm_s16(const int16_t *in, const int16_t *gain, const int32_t *offset, int16_t *output, size_t rows,
                    size_t channels, int16_t cap)
{
    const int16x4_t zero = vdup_n_s16(0), most = vdup_n_s16(cap);
    for (size_t r = 0; r < rows; ++r) {
        const int16_t *x = in + r * channels;
        int16_t *y = output + r * channels;
        size_t c = 0;
        for (; c + 4 <= channels; c += 4) {
            const int16x4_t v = vld1_s16(x + c);
            const int16x4_t factor = vld1_s16(gain + c);  //! lane: const int16x4_t factor = vdup_n_s16(gain[c]);
            const int32x4_t sum = vmlal_s16(vld1q_s32(offset + c), v, factor);  //! sign: const int32x4_t sum = vmlsl_s16(vld1q_s32(offset + c), v, factor);
            const int16x4_t narrow = vqrshrn_n_s32(sum, 12);  //! narrowing: const int16x4_t narrow = vmovn_s32(vrshrq_n_s32(sum, 12));
            vst1_s16(y + c, vmin_s16(vmax_s16(narrow, zero), most));  //! swapped: vst1_s16(y + c, vmin_s16(vmax_s16(narrow, most), zero));
        }
        for (; c < channels; ++c) {
            const int32_t sum = offset[c] + x[c] * gain[c];
            const int32_t rounded = (int32_t)(((int64_t)sum + 2048) >> 12);  //! round: const int32_t rounded = ((x[c] * gain[c]) >> 12) + (offset[c] >> 12);
            y[c] = (int16_t)clamp(rounded, 0, cap);
        }
    }
}
