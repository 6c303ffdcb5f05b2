#include "scalar.h"

/* A function by table: 513 numbers, and between two of them a straight line. */
void lut_s16(const int16_t *in, const int16_t *table, int16_t *output, size_t length)
{
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        int16_t base[4], next[4];
        const int16x4_t x = vld1_s16(in + i);
        for (int k = 0; k < 4; ++k) {
            const int at = (in[i + k] >> 7) + 256;
            base[k] = table[at];
            next[k] = table[at + 1];  //! saturation: next[k] = table[at < 511 ? at + 1 : 511];
        }
        const int16x4_t rest = vand_s16(x, vdup_n_s16(127));  //! constant: const int16x4_t rest = vand_s16(x, vdup_n_s16(126));
        const int32x4_t slope = vsubl_s16(vld1_s16(next), vld1_s16(base));  //! narrowing: const int32x4_t slope = vmovl_s16(vqsub_s16(vld1_s16(next), vld1_s16(base)));
        int32x4_t moved = vmulq_s32(slope, vmovl_s16(rest));  //! sign: int32x4_t moved = vreinterpretq_s32_u32(vmulq_u32(vreinterpretq_u32_s32(vabsq_s32(slope)), vmovl_u16(vreinterpret_u16_s16(rest))));
        moved = vrshrq_n_s32(moved, 7);  //! round: moved = vshrq_n_s32(moved, 7);
        const int32x4_t sum = vaddw_s16(moved, vld1_s16(base));  //! fixup: const int32x4_t sum = vaddw_s16(vrshrq_n_s32(vsraq_n_s32(vmulq_s32(slope, vmovl_s16(rest)), slope, 31), 7), vld1_s16(base));
        vst1_s16(output + i, vmovn_s32(sum));  //! offset: vst1_s16(output + i, vmovn_s32(vrshrq_n_s32(vaddq_s32(vmulq_s32(slope, vmovl_s16(rest)), vshll_n_s16(vld1_s16(base), 6)), 7)));
    }
    for (; i < length; ++i) {
        const int at = (in[i] >> 7) + 256, rest = in[i] & 127;
        output[i] = table[at] + (((table[at + 1] - table[at]) * rest + 64) >> 7);  //! tail: output[i] = table[at] + ((table[at + 1] - table[at]) * rest + 64) / 128;
    }
}
