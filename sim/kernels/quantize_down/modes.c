/* The other arithmetics of quantize_down with NEON intrinsics, one function each.
 *
 * All take what the function of kernel.c takes, sixteen lanes a step, then the last (length mod 16) elements one by
 * one; what differs is said at each.  What is the same in all columns is done on every lane of a vector in the tail.
 * Those to int16 take eight lanes a step and no offset.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

static inline int32x4_t load_biased(const int32_t *accumulators, const int32_t *bias)
{
    const int32x4_t value = vld1q_s32(accumulators);
    return bias ? vaddq_s32(value, vld1q_s32(bias)) : value;
}

static inline int32x4_t load_one_biased(const int32_t *accumulator, const int32_t *bias)
{
    const int32x4_t value = vld1q_dup_s32(accumulator);
    return bias ? vaddq_s32(value, vld1q_dup_s32(bias)) : value;
}

static inline int32x4_t divide_by_power_of_two(int32x4_t value, int32x4_t minus_shift)
{
    const int32x4_t fix = vshrq_n_s32(vandq_s32(value, minus_shift), 31);
    return vrshlq_s32(vqaddq_s32(value, fix), minus_shift);
}

static inline uint8x16_t saturate(const int32x4_t part[4], uint8_t lower, uint8_t upper)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const int16x8_t low = vcombine_s16(vqmovn_s32(vmaxq_s32(part[0], zero)), vqmovn_s32(vmaxq_s32(part[1], zero)));
    const int16x8_t high = vcombine_s16(vqmovn_s32(vmaxq_s32(part[2], zero)), vqmovn_s32(vmaxq_s32(part[3], zero)));
    const uint8x16_t bytes = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
    return vminq_u8(vmaxq_u8(bytes, vdupq_n_u8(lower)), vdupq_n_u8(upper));
}

static inline uint8_t saturate_one(int32x4_t value, uint8_t lower, uint8_t upper)
{
    const int32x4_t part[4] = {value, value, value, value};
    return vgetq_lane_u8(saturate(part, lower, upper), 0);
}

/* v20.02 and v20.05: a negative shift is a left shift before the multiply, which wraps. */
static inline int32x4_t scale_with_left_shift(int32x4_t value, int32_t multiplier, int32_t shift, int32_t offset)
{
    const int32x4_t left = vdupq_n_s32(shift < 0 ? -shift : 0);
    const int32x4_t minus_right = vdupq_n_s32(shift > 0 ? -shift : 0);
    const int32x4_t scaled = vqrdmulhq_n_s32(vshlq_s32(value, left), multiplier);
    return vaddq_s32(divide_by_power_of_two(scaled, minus_right), vdupq_n_s32(offset));
}

void quantize_down_left_shift(const int32_t *accumulators, const int32_t *bias, uint8_t *output, size_t length,
                              int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            const int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            part[k] = scale_with_left_shift(value, multiplier, shift, offset);
        }
        vst1q_u8(output + i, saturate(part, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        output[i] = saturate_one(scale_with_left_shift(value, multiplier, shift, offset), lower, upper);
    }
}

/* The public page: a literal >>, which rounds down. */
static inline int32x4_t scale_rounding_down(int32x4_t value, int32_t multiplier, int32_t shift, int32_t offset)
{
    const int32x4_t scaled = vqrdmulhq_n_s32(value, multiplier);
    return vaddq_s32(vshlq_s32(scaled, vdupq_n_s32(-shift)), vdupq_n_s32(offset));
}

void quantize_down_page(const int32_t *accumulators, const int32_t *bias, uint8_t *output, size_t length,
                        int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            const int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            part[k] = scale_rounding_down(value, multiplier, shift, offset);
        }
        vst1q_u8(output + i, saturate(part, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        output[i] = saturate_one(scale_rounding_down(value, multiplier, shift, offset), lower, upper);
    }
}

/* v19.08 for any shift at all: SRSHL takes the low byte of its count, the tail the count modulo 32, said here because
 * C leaves it undefined. */
static inline int32_t divide_one_by_power_of_two(int32_t value, uint32_t count)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << (count & 31)) - 1);
    const int32_t threshold = (mask >> 1) + (value < 0);
    return (value >> (count & 31)) + ((value & mask) > threshold);
}

void quantize_down_lanes_and_tail(const int32_t *accumulators, const int32_t *bias, uint8_t *output, size_t length,
                                  int32_t multiplier, int32_t shift, int32_t offset, uint8_t lower, uint8_t upper)
{
    const int32x4_t minus_shift = vnegq_s32(vdupq_n_s32(shift));
    const int32x4_t offsets = vdupq_n_s32(offset);
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            const int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            const int32x4_t scaled = vqrdmulhq_n_s32(value, multiplier);
            part[k] = vaddq_s32(divide_by_power_of_two(scaled, minus_shift), offsets);
        }
        vst1q_u8(output + i, saturate(part, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        const int32_t scaled = vgetq_lane_s32(vqrdmulhq_n_s32(value, multiplier), 0);
        const int32_t shifted = divide_one_by_power_of_two(scaled, (uint32_t)shift);
        output[i] = saturate_one(vaddq_s32(vdupq_n_s32(shifted), offsets), lower, upper);
    }
}

/* v19.08's fused path: always bounded, on 32 bits by any lower and upper, then the low byte. */
static inline uint8x16_t low_bytes(const int32x4_t part[4])
{
    const int16x8_t low = vuzp1q_s16(vreinterpretq_s16_s32(part[0]), vreinterpretq_s16_s32(part[1]));
    const int16x8_t high = vuzp1q_s16(vreinterpretq_s16_s32(part[2]), vreinterpretq_s16_s32(part[3]));
    return vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high));
}

static inline int32x4_t scale_and_bound(int32x4_t value, int32_t multiplier, int32_t shift, int32_t offset,
                                        int32_t lower, int32_t upper)
{
    const int32x4_t scaled = divide_by_power_of_two(vqrdmulhq_n_s32(value, multiplier), vdupq_n_s32(-shift));
    const int32x4_t placed = vaddq_s32(scaled, vdupq_n_s32(offset));
    return vminq_s32(vmaxq_s32(placed, vdupq_n_s32(lower)), vdupq_n_s32(upper));
}

void quantize_down_fused(const int32_t *accumulators, const int32_t *bias, uint8_t *output, size_t length,
                         int32_t multiplier, int32_t shift, int32_t offset, int32_t lower, int32_t upper)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            const int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            part[k] = scale_and_bound(value, multiplier, shift, offset, lower, upper);
        }
        vst1q_u8(output + i, low_bytes(part));
    }
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        output[i] = (uint8_t)vgetq_lane_s32(scale_and_bound(value, multiplier, shift, offset, lower, upper), 0);
    }
}

/* v20.02 and v20.05 to int8. */
static inline int8x16_t saturate_signed(const int32x4_t part[4], int8_t lower, int8_t upper)
{
    const int16x8_t low = vcombine_s16(vqmovn_s32(part[0]), vqmovn_s32(part[1]));
    const int16x8_t high = vcombine_s16(vqmovn_s32(part[2]), vqmovn_s32(part[3]));
    const int8x16_t bytes = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
    return vminq_s8(vmaxq_s8(bytes, vdupq_n_s8(lower)), vdupq_n_s8(upper));
}

void quantize_down_s8(const int32_t *accumulators, const int32_t *bias, int8_t *output, size_t length,
                      int32_t multiplier, int32_t shift, int32_t offset, int8_t lower, int8_t upper)
{
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        int32x4_t part[4];
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = i + 4 * k;
            const int32x4_t value = load_biased(accumulators + at, bias ? bias + at : NULL);
            part[k] = scale_with_left_shift(value, multiplier, shift, offset);
        }
        vst1q_s8(output + i, saturate_signed(part, lower, upper));
    }
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        const int32x4_t one = scale_with_left_shift(value, multiplier, shift, offset);
        const int32x4_t part[4] = {one, one, one, one};
        output[i] = vgetq_lane_s8(saturate_signed(part, lower, upper), 0);
    }
}

/* v19.08 to int16. */
static inline int16x8_t saturate_to_int16(int32x4_t low, int32x4_t high, int16_t lower, int16_t upper)
{
    const int16x8_t words = vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
    return vminq_s16(vmaxq_s16(words, vdupq_n_s16(lower)), vdupq_n_s16(upper));
}

static inline size_t blocks_to_int16(const int32_t *accumulators, const int32_t *bias, int16_t *output, size_t length,
                                     int32_t multiplier, int32_t shift, int16_t lower, int16_t upper)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int32x4_t low = load_biased(accumulators + i, bias ? bias + i : NULL);
        const int32x4_t high = load_biased(accumulators + i + 4, bias ? bias + i + 4 : NULL);
        vst1q_s16(output + i, saturate_to_int16(scale_with_left_shift(low, multiplier, shift, 0),
                                                scale_with_left_shift(high, multiplier, shift, 0), lower, upper));
    }
    return i;
}

void quantize_down_s16(const int32_t *accumulators, const int32_t *bias, int16_t *output, size_t length,
                       int32_t multiplier, int32_t shift, int16_t lower, int16_t upper)
{
    size_t i = blocks_to_int16(accumulators, bias, output, length, multiplier, shift, lower, upper);
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        const int32x4_t one = scale_with_left_shift(value, multiplier, shift, 0);
        output[i] = vgetq_lane_s16(saturate_to_int16(one, one, lower, upper), 0);
    }
}

/* v20.05 to int16: in the tail the product keeps 64 bits, shifted left too, until it is rounded; then it is cut. */
void quantize_down_s16_lanes_and_tail(const int32_t *accumulators, const int32_t *bias, int16_t *output,
                                      size_t length, int32_t multiplier, int32_t shift, int16_t lower, int16_t upper)
{
    const int64x2_t left = vdupq_n_s64(shift < 0 ? -shift : 0);
    const int32x4_t minus_right = vdupq_n_s32(shift > 0 ? -shift : 0);
    size_t i = blocks_to_int16(accumulators, bias, output, length, multiplier, shift, lower, upper);
    for (; i < length; ++i) {
        const int32x4_t value = load_one_biased(accumulators + i, bias ? bias + i : NULL);
        const int64x2_t product = vshlq_s64(vmull_n_s32(vget_low_s32(value), multiplier), left);
        const int32x2_t cut = vshrn_n_s64(vaddq_s64(product, vdupq_n_s64(INT64_C(1) << 30)), 31);
        const int32x4_t one = divide_by_power_of_two(vcombine_s32(cut, cut), minus_right);
        output[i] = vgetq_lane_s16(saturate_to_int16(one, one, lower, upper), 0);
    }
}
