#include "scalar.h"

static int16x8_t scaled(int16x8_t value, int16_t gain)
{
    return vqrdmulhq_n_s16(value, gain);
}

static int16x8_t scaled_down(int16x8_t value, int16_t gain)
{
    return vqdmulhq_n_s16(value, gain);
}

/* Both sides of a sound with a gain each, and some of the other side. */
void balance_s16(const int16_t *in, int16_t *output, size_t frames, int16_t gain_left, int16_t gain_right, int16_t cross)
{
    size_t i = 0;
    for (; i + 8 <= frames; i += 8) {
        int16x8x2_t x = vld2q_s16(in + 2 * i);
        const int16x8_t left = scaled(x.val[0], gain_left);  //! called: const int16x8_t left = scaled_down(x.val[0], gain_left);
        const int16x8_t right = scaled(x.val[1], gain_right);  //! argument: const int16x8_t right = scaled(x.val[1], gain_left);
        const int16x8_t from_left = scaled_down(left, cross);  //! other: const int16x8_t from_left = scaled(left, cross);
        const int16x8_t from_right = scaled_down(right, cross);
        x.val[0] = vqaddq_s16(left, from_right);  //! wrap: x.val[0] = vaddq_s16(left, from_right);
        x.val[1] = vqaddq_s16(right, from_left);  //! side: x.val[1] = vqaddq_s16(right, from_right);
        vst2q_s16(output + 2 * i, x);
    }
    for (; i < frames; ++i) {
        const int32_t left = clamp((in[2 * i] * gain_left + 16384) >> 15, -32768, 32767);  //! tail: const int32_t left = clamp((in[2 * i] * gain_left) >> 15, -32768, 32767);
        const int32_t right = clamp((in[2 * i + 1] * gain_right + 16384) >> 15, -32768, 32767);
        output[2 * i] = (int16_t)clamp(left + clamp(right * cross >> 15, -32768, 32767), -32768, 32767);
        output[2 * i + 1] = (int16_t)clamp(right + clamp(left * cross >> 15, -32768, 32767), -32768, 32767);
    }
}
