/* pool with NEON intrinsics: the average or the highest of the pixels of a window, sixteen channels a step.
 *
 * TFLite's AVERAGE_POOL_2D and MAX_POOL_2D on bytes, of `count` pixels behind each other, 1 to 65,536.  A quotient is
 * exact in float32: the sum with half the count lies below 2^24, and so a quotient below a whole number is never rounded
 * up to it.  The last channels go one by one, in every lane of a vector.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

/* To nearest, ties away from zero. */
static inline int16x4_t divided(int32x4_t sums, int32_t count)
{
    const int32x4_t sign = vshrq_n_s32(sums, 31);
    const int32x4_t half = vsubq_s32(veorq_s32(vdupq_n_s32(count / 2), sign), sign);
    return vmovn_s32(vcvtq_s32_f32(vdivq_f32(vcvtq_f32_s32(vaddq_s32(sums, half)), vdupq_n_f32((float)count))));
}

static inline void add(int32x4_t sums[4], int16x8_t low, int16x8_t high)
{
    sums[0] = vaddw_s16(sums[0], vget_low_s16(low));
    sums[1] = vaddw_s16(sums[1], vget_high_s16(low));
    sums[2] = vaddw_s16(sums[2], vget_low_s16(high));
    sums[3] = vaddw_s16(sums[3], vget_high_s16(high));
}

static inline int16x8_t low_half(const int32x4_t sums[4], size_t count)
{
    return vcombine_s16(divided(sums[0], (int32_t)count), divided(sums[1], (int32_t)count));
}

static inline int16x8_t high_half(const int32x4_t sums[4], size_t count)
{
    return vcombine_s16(divided(sums[2], (int32_t)count), divided(sums[3], (int32_t)count));
}

void pool_average_s8(const int8_t *pixels, int8_t *output, size_t count, size_t channels, int8_t lower, int8_t upper)
{
    for (size_t c = 0; c < channels;) {
        const int is_step = c + 16 <= channels;
        int32x4_t sums[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t pixel = 0; pixel < count; ++pixel) {
            const int8_t *at = pixels + pixel * channels + c;
            const int8x16_t bytes = is_step ? vld1q_s8(at) : vld1q_dup_s8(at);
            add(sums, vmovl_s8(vget_low_s8(bytes)), vmovl_s8(vget_high_s8(bytes)));
        }
        const int8x16_t averages = vcombine_s8(vqmovn_s16(low_half(sums, count)), vqmovn_s16(high_half(sums, count)));
        const int8x16_t bounded = vminq_s8(vmaxq_s8(averages, vdupq_n_s8(lower)), vdupq_n_s8(upper));
        if (is_step)
            vst1q_s8(output + c, bounded);
        else
            vst1q_lane_s8(output + c, bounded, 0);
        c += is_step ? 16 : 1;
    }
}

void pool_average_u8(const uint8_t *pixels, uint8_t *output, size_t count, size_t channels, uint8_t lower,
                     uint8_t upper)
{
    for (size_t c = 0; c < channels;) {
        const int is_step = c + 16 <= channels;
        int32x4_t sums[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t pixel = 0; pixel < count; ++pixel) {
            const uint8_t *at = pixels + pixel * channels + c;
            const uint8x16_t bytes = is_step ? vld1q_u8(at) : vld1q_dup_u8(at);
            add(sums, vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes))),
                vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(bytes))));
        }
        const uint8x16_t averages =
            vcombine_u8(vqmovun_s16(low_half(sums, count)), vqmovun_s16(high_half(sums, count)));
        const uint8x16_t bounded = vminq_u8(vmaxq_u8(averages, vdupq_n_u8(lower)), vdupq_n_u8(upper));
        if (is_step)
            vst1q_u8(output + c, bounded);
        else
            vst1q_lane_u8(output + c, bounded, 0);
        c += is_step ? 16 : 1;
    }
}

void pool_max_s8(const int8_t *pixels, int8_t *output, size_t count, size_t channels, int8_t lower, int8_t upper)
{
    for (size_t c = 0; c < channels;) {
        const int is_step = c + 16 <= channels;
        int8x16_t highest = is_step ? vld1q_s8(pixels + c) : vld1q_dup_s8(pixels + c);
        for (size_t pixel = 1; pixel < count; ++pixel) {
            const int8_t *at = pixels + pixel * channels + c;
            highest = vmaxq_s8(highest, is_step ? vld1q_s8(at) : vld1q_dup_s8(at));
        }
        const int8x16_t bounded = vminq_s8(vmaxq_s8(highest, vdupq_n_s8(lower)), vdupq_n_s8(upper));
        if (is_step)
            vst1q_s8(output + c, bounded);
        else
            vst1q_lane_s8(output + c, bounded, 0);
        c += is_step ? 16 : 1;
    }
}

void pool_max_u8(const uint8_t *pixels, uint8_t *output, size_t count, size_t channels, uint8_t lower, uint8_t upper)
{
    for (size_t c = 0; c < channels;) {
        const int is_step = c + 16 <= channels;
        uint8x16_t highest = is_step ? vld1q_u8(pixels + c) : vld1q_dup_u8(pixels + c);
        for (size_t pixel = 1; pixel < count; ++pixel) {
            const uint8_t *at = pixels + pixel * channels + c;
            highest = vmaxq_u8(highest, is_step ? vld1q_u8(at) : vld1q_dup_u8(at));
        }
        const uint8x16_t bounded = vminq_u8(vmaxq_u8(highest, vdupq_n_u8(lower)), vdupq_n_u8(upper));
        if (is_step)
            vst1q_u8(output + c, bounded);
        else
            vst1q_lane_u8(output + c, bounded, 0);
        c += is_step ? 16 : 1;
    }
}
