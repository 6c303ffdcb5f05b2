#include "scalar.h"

/* x * relu6(x + 3) / 6 in 16 bits, as TFLite does it. */
void hard_swish_s8(const int8_t *in, int8_t *output, size_t length, int16_t in_zero, int16_t out_zero,
                   int16_t out_factor, int16_t relu_factor, int16_t relu_left, int16_t right)
{
    const int16x4_t factors = {relu_factor, out_factor, relu_left, right};
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t x = vsubq_s16(vmovl_s8(vld1_s8(in + i)), vdupq_n_s16(in_zero));
        const int16x8_t fine = vshlq_n_s16(x, 7);  //! saturation: const int16x8_t fine = vshlq_n_s16(vmovl_s8(vqmovn_s16(x)), 7);
        const int16x8_t on_output = vqrdmulhq_lane_s16(fine, factors, 1);  //! lane: const int16x8_t on_output = vqrdmulhq_lane_s16(fine, factors, 0);
        int16x8_t relu = vqshlq_s16(fine, vdupq_n_s16(relu_left));  //! sign: int16x8_t relu = vreinterpretq_s16_u16(vqshlq_u16(vreinterpretq_u16_s16(fine), vdupq_n_s16(relu_left)));
        relu = vqrdmulhq_lane_s16(relu, factors, 0);
        relu = vqaddq_s16(relu, relu);
        const uint16x8_t moved = veorq_u16(vreinterpretq_u16_s16(relu), vdupq_n_u16(0x8000));
        relu = vreinterpretq_s16_u16(vshrq_n_u16(moved, 1));  //! constant: relu = vreinterpretq_s16_u16(vshrq_n_u16(vqaddq_u16(moved, vdupq_n_u16(1)), 1));
        int16x8_t product = vqdmulhq_s16(relu, on_output);  //! round: int16x8_t product = vqrdmulhq_s16(relu, on_output);
        product = vqaddq_s16(product, vshrq_n_s16(vandq_s16(product, vdupq_n_s16(-right)), 15));  //! fixup:
        product = vrshlq_s16(product, vdupq_n_s16(-right));  //! shift: product = vrshlq_s16(product, vdupq_n_s16(-right - 1));
        product = vaddq_s16(product, vdupq_n_s16(out_zero));  //! offset: product = vaddq_s16(product, vdupq_n_s16(out_zero + (right > 8)));
        vst1_s8(output + i, vqmovn_s16(product));  //! narrowing: vst1_s8(output + i, vqadd_s8(vqmovn_s16(vsubq_s16(product, vdupq_n_s16(out_zero))), vdup_n_s8(out_zero)));
    }
    for (; i < length; ++i) {
        const int32_t fine = (in[i] - in_zero) * 128;
        const int32_t on_output = clamp((fine * out_factor + 16384) >> 15, -32768, 32767);
        int32_t relu = clamp(fine * (1 << relu_left), -32768, 32767);
        relu = clamp((relu * relu_factor + 16384) >> 15, -32768, 32767);
        relu = (clamp(2 * relu, -32768, 32767) + 32768) >> 1;
        const int32_t product = clamp((relu * on_output) >> 15, -32768, 32767);
        output[i] = clamp(ties_away(product, right) + out_zero, -128, 127);  //! tail: output[i] = clamp(ties_up(product, right) + out_zero, -128, 127);
    }
}
