/* int32 accumulators to uint8 by a single-precision scale, half to even: XNNPACK's default requantization. */
#include <arm_neon.h>
#include <stdint.h>

static int32x4_t scaled(const int32_t *in, float32x4_t scale)
{
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(vld1q_s32(in)), scale));
}

static int16x8_t offset(const int32_t *in, float32x4_t scale, int16x8_t zero_point)
{
    const int16x8_t narrow = vcombine_s16(vqmovn_s32(scaled(in, scale)), vqmovn_s32(scaled(in + 4, scale)));
    return vqaddq_s16(narrow, zero_point);
}

void requantize(const int32_t *in, uint8_t *out, int length, float scale, int zero_point)
{
    const float32x4_t scales = vdupq_n_f32(scale);
    const int16x8_t zero_points = vdupq_n_s16(zero_point);
    for (; length >= 16; length -= 16, in += 16, out += 16) {
        const uint8x8_t low = vqmovun_s16(offset(in, scales, zero_points));
        const uint8x8_t high = vqmovun_s16(offset(in + 8, scales, zero_points));
        vst1q_u8(out, vcombine_u8(low, high));
    }
}
