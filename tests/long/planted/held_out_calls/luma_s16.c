#include "scalar.h"

static int16x4_t moved(int32x4_t sum)
{
    return vqrshrn_n_s32(sum, 14);  //! helper: return vqshrn_n_s32(sum, 14);
}

/* Brightness and one difference of colour, of numbers with a sign. */
void luma_s16(const int16_t *red, const int16_t *green, const int16_t *blue, int16_t *light, int16_t *colour, size_t length)
{
    const int16x4_t factors = {4899, 9617, 1868, 9241};  //! element: const int16x4_t factors = {4899, 9617, 1869, 9241};
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        const int16x4_t r = vld1_s16(red + i), g = vld1_s16(green + i), b = vld1_s16(blue + i);
        int32x4_t sum = vmull_lane_s16(r, factors, 0);
        sum = vmlal_lane_s16(sum, g, factors, 1);  //! lane: sum = vmlal_lane_s16(sum, g, factors, 2);
        sum = vmlal_lane_s16(sum, b, factors, 2);  //! sign: sum = vmlsl_lane_s16(sum, b, factors, 2);
        const int16x4_t y = moved(sum);
        vst1_s16(light + i, y);
        const int16x4_t apart = vqsub_s16(b, y);  //! wrap: const int16x4_t apart = vsub_s16(b, y);
        vst1_s16(colour + i, moved(vmull_lane_s16(apart, factors, 3)));  //! called: vst1_s16(colour + i, vqrshrn_n_s32(vmull_lane_s16(apart, factors, 3), 13));
    }
    for (; i < length; ++i) {
        const int32_t y = clamp((4899 * red[i] + 9617 * green[i] + 1868 * blue[i] + 8192) >> 14, -32768, 32767);  //! tail: const int32_t y = clamp((4899 * red[i] + 9617 * green[i] + 1868 * blue[i] + 8191) >> 14, -32768, 32767);
        light[i] = (int16_t)y;
        colour[i] = (int16_t)clamp((clamp(blue[i] - y, -32768, 32767) * 9241 + 8192) >> 14, -32768, 32767);
    }
}
