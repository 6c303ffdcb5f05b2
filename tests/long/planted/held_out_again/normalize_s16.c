#include "scalar.h"

/* The last stage of a layer normalization: (x - mean) / deviation, then gain and offset of each channel. */
void normalize_s16(const int16_t *in, const int16_t *gains, const int16_t *offsets, int16_t *output, size_t channels,
                   int16_t mean, int32_t inverse, int32_t shift)
{
    const int32x4_t minus = vdupq_n_s32(-shift);
    size_t c = 0;
    for (; c + 4 <= channels; c += 4) {
        int32x4_t x = vsubl_s16(vld1_s16(in + c), vdup_n_s16(mean));  //! saturation: int32x4_t x = vmovl_s16(vqsub_s16(vld1_s16(in + c), vdup_n_s16(mean)));
        x = vqrdmulhq_n_s32(vshlq_n_s32(x, 12), inverse);  //! round: x = vqdmulhq_n_s32(vshlq_n_s32(x, 12), inverse);
        x = vrshlq_s32(x, minus);  //! fixup: x = vrshlq_s32(fix_up(x, minus), minus);
        const int16x4_t unit = vqmovn_s32(x);  //! narrowing: const int16x4_t unit = vmovn_s32(x);
        int32x4_t y = vmull_s16(unit, vld1_s16(gains + c));
        y = vrshrq_n_s32(y, 10);  //! shift: y = vrshrq_n_s32(vshlq_n_s32(vshrq_n_s32(y, 1), 1), 10);
        y = vaddw_s16(y, vld1_s16(offsets + c));  //! sign: y = vreinterpretq_s32_u32(vaddw_u16(vreinterpretq_u32_s32(y), vreinterpret_u16_s16(vld1_s16(offsets + c))));
        vst1_s16(output + c, vqmovn_s32(y));  //! offset: vst1_s16(output + c, vqadd_s16(vqmovn_s32(vrshrq_n_s32(vmull_s16(unit, vld1_s16(gains + c)), 10)), vld1_s16(offsets + c)));
    }
    for (; c < channels; ++c) {
        const int32_t x = ties_up(high((in[c] - mean) * 4096, inverse), shift);  //! constant: const int32_t x = ties_up(high((in[c] - mean) * 4096, inverse - 1), shift);
        const int32_t y = ties_up(clamp(x, -32768, 32767) * gains[c], 10);  //! tail: const int32_t y = ties_away(clamp(x, -32768, 32767) * gains[c], 10);
        output[c] = clamp(y + offsets[c], -32768, 32767);
    }
}
