#include "scalar.h"

/* 2^-x for a softmax: x has 12 bits behind the point, the result is a polynomial of the fraction shifted right. */
void exp2_q15(const uint16_t *in, int16_t *output, size_t length)
{
    const int16x4_t factors = {6983, 22713, 1271, 32767};  //! constant: const int16x4_t factors = {6984, 22713, 1271, 32767};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const uint16x8_t x = vld1q_u16(in + i);
        const int16x8_t whole = vreinterpretq_s16_u16(vshrq_n_u16(x, 12));  //! sign: const int16x8_t whole = vshrq_n_s16(vreinterpretq_s16_u16(x), 12);
        const int16x8_t part = vreinterpretq_s16_u16(vshrq_n_u16(vshlq_n_u16(x, 4), 1));  //! shift: const int16x8_t part = vreinterpretq_s16_u16(vshrq_n_u16(vshlq_n_u16(x, 4), 2));
        int16x8_t sum = vqrdmulhq_lane_s16(part, factors, 2);  //! round: int16x8_t sum = vqdmulhq_lane_s16(part, factors, 2);
        sum = vqrdmulhq_s16(part, vsubq_s16(vdupq_n_s16(6983), sum));  //! offset: sum = vsubq_s16(vqrdmulhq_n_s16(part, 6983), vqrdmulhq_s16(part, sum));
        sum = vqrdmulhq_s16(part, vsubq_s16(vdupq_lane_s16(factors, 1), sum));
        sum = vsubq_s16(vdupq_lane_s16(factors, 3), sum);  //! lane: sum = vsubq_s16(vdupq_laneq_s16(vcombine_s16(factors, vdup_n_s16(32766)), 4), sum);
        sum = vrshlq_s16(sum, vnegq_s16(whole));  //! fixup: sum = vrshlq_s16(vqsubq_s16(sum, vshrq_n_s16(vnegq_s16(whole), 15)), vnegq_s16(whole));
        vst1q_s16(output + i, sum);
    }
    for (; i < length; ++i) {
        const int32_t part = (in[i] & 4095) << 3;
        int32_t sum = 6983 - ((part * 1271 + 16384) >> 15);
        sum = 22713 - ((part * sum + 16384) >> 15);
        sum = 32767 - ((part * sum + 16384) >> 15);
        output[i] = ties_up(sum, in[i] >> 12);  //! tail: output[i] = sum >> (in[i] >> 12);
    }
}
