/* quantize_down with NEON intrinsics: one row of int32 accumulators to uint8.
 *
 * Arithmetic of Arm Compute Library 19.08, NEGEMMLowpQuantizeDownInt32ToUint8ScaleByFixedPoint;
 * sixteen lanes a step, then the last (length mod 16) elements one by one.
 * bias may be null; shift is 0..31; lower and upper bound the result after it was clamped to 0..255
 * (0 and 255 where the operator is not bounded).
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int32x4_t divide_by_power_of_two(int32x4_t value, int32x4_t minus_shift)
{
    const int32x4_t fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31);
    return vrshlq_s32(vqaddq_s32(value, fix), minus_shift);
}

static inline int32x4_t load_biased(const int32_t *accumulators, const int32_t *bias)
{
    const int32x4_t value = vld1q_s32(accumulators);
    return bias ? vaddq_s32(value, vld1q_s32(bias)) : value;
}

static inline int32_t doubling_high_multiply(int32_t value, int32_t multiplier)
{
    return vgetq_lane_s32(vqrdmulhq_n_s32(vdupq_n_s32(value), multiplier), 0);
}

static inline int32_t divide_one_by_power_of_two(int32_t value, int32_t shift)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << shift) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> shift) + ((value & mask) > threshold);
}

static inline uint8_t clamp_to_bounds(int32_t value, uint8_t lower, uint8_t upper)
{
    const int32_t byte = value < 0 ? 0 : value > 255 ? 255 : value;
    return (uint8_t)(byte < lower ? lower : byte > upper ? upper : byte);
}

void quantize_down(const int32_t *accumulators, const int32_t *bias, uint8_t *output, size_t length,
                   int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    const int32x4_t minus_shift = vdupq_n_s32(-shift);
    const int32x4_t offsets = vdupq_n_s32(offset);
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            value = vqrdmulhq_n_s32(value, multiplier);
            value = vaddq_s32(divide_by_power_of_two(value, minus_shift), offsets);
            part[k] = vmaxq_s32(value, vdupq_n_s32(0));
        }
        const int16x8_t low = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]));
        const int16x8_t high = vcombine_s16(vqmovn_s32(part[2]), vqmovn_s32(part[3]));
        const uint8x16_t bytes = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
        vst1q_u8(output + i, vminq_u8(vmaxq_u8(bytes, vdupq_n_u8(lower)), vdupq_n_u8(upper)));
    }
    for (; i < length; ++i) {
        const uint32_t biased = (uint32_t)accumulators[i] + (bias ? (uint32_t)bias[i] : 0u);
        const int32_t scaled = doubling_high_multiply((int32_t)biased, multiplier);
        const uint32_t shifted = (uint32_t)divide_one_by_power_of_two(scaled, shift) + (uint32_t)offset;
        output[i] = clamp_to_bounds((int32_t)shifted, lower, upper);
    }
}
