/* uint8 + uint8 -> uint8 in integers alone, as TFLite and CMSIS-NN add with double rounding.
 *
 *   u = (a + a_offset) << left_shift, likewise v;  output = clamp(M(M(u) + M(v)) + offset, lower, upper)
 *   M: multiply by a Q0.31 multiplier (ties up), shift right (ties away from zero)
 *
 * a_offset and b_offset are minus the zero points, -255..0; offset is that of the output, 0..255; left_shift is 0..20,
 * so that no sum leaves int32. a_shift, b_shift and shift are -31..0, negative to the right, as TFLite keeps them.
 * Sixteen lanes a step, then the last (length mod 16) elements one by one, each in every lane of a vector.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32x4_t offset, shift;
    int32_t multiplier;
} scale_t;

typedef struct {
    scale_t a, b, total;
    int32x4_t left_shift;
    uint8x8_t lower, upper;
} parameters_t;

static inline scale_t scale_of(int32_t offset, int32_t multiplier, int32_t shift)
{
    const scale_t scale = {vdupq_n_s32(offset), vdupq_n_s32(shift), multiplier};
    return scale;
}

static inline int32x4_t rescale(int32x4_t value, scale_t by)
{
    const int32x4_t high = vqrdmulhq_n_s32(value, by.multiplier);
    const int32x4_t fix = vshrq_n_s32(vandq_s32(high, by.shift), 31);
    return vrshlq_s32(vqaddq_s32(high, fix), by.shift);
}

static inline int32x4_t place(uint16x4_t bytes, scale_t by, int32x4_t left_shift)
{
    const int32x4_t difference = vaddq_s32(vreinterpretq_s32_u32(vmovl_u16(bytes)), by.offset);
    return rescale(vshlq_s32(difference, left_shift), by);
}

static inline int32x4_t add_four(uint16x4_t a, uint16x4_t b, parameters_t by)
{
    const int32x4_t total = vaddq_s32(place(a, by.a, by.left_shift), place(b, by.b, by.left_shift));
    return vaddq_s32(rescale(total, by.total), by.total.offset);
}

static inline uint8x8_t add_eight(uint8x8_t a, uint8x8_t b, parameters_t by)
{
    const uint16x8_t wide_a = vmovl_u8(a), wide_b = vmovl_u8(b);
    const int32x4_t low = add_four(vget_low_u16(wide_a), vget_low_u16(wide_b), by);
    const int32x4_t high = add_four(vget_high_u16(wide_a), vget_high_u16(wide_b), by);
    const uint8x8_t bytes = vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)));
    return vmin_u8(vmax_u8(bytes, by.lower), by.upper);
}

void quantized_add_tflite(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length, int32_t a_offset,
                          int32_t a_multiplier, int32_t a_shift, int32_t b_offset, int32_t b_multiplier,
                          int32_t b_shift, int32_t left_shift, int32_t offset, int32_t multiplier, int32_t shift,
                          uint8_t lower, uint8_t upper)
{
    const parameters_t by = {
        scale_of(a_offset, a_multiplier, a_shift), scale_of(b_offset, b_multiplier, b_shift),
        scale_of(offset, multiplier, shift),       vdupq_n_s32(left_shift),
        vdup_n_u8(lower),                          vdup_n_u8(upper),
    };
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        const uint8x16_t x = vld1q_u8(a + i), y = vld1q_u8(b + i);
        const uint8x8_t low = add_eight(vget_low_u8(x), vget_low_u8(y), by);
        vst1q_u8(output + i, vcombine_u8(low, add_eight(vget_high_u8(x), vget_high_u8(y), by)));
    }
    for (; i < length; ++i)
        vst1_lane_u8(output + i, add_eight(vld1_dup_u8(a + i), vld1_dup_u8(b + i), by), 0);
}

/* int16 + int16 -> int16, as TFLite adds tensors of 16 bits of any scales: zero points are 0, left_shift is 0..15.
 *
 * Multipliers are 0 and more, so that no sum leaves int32. Eight lanes a step, then the last (length mod 8) elements.
 */
static inline int32x4_t widened(int16x4_t numbers, scale_t by, int32x4_t left_shift)
{
    return rescale(vshlq_s32(vmovl_s16(numbers), left_shift), by);
}

static inline int16x8_t add_eight_of_16(int16x8_t a, int16x8_t b, parameters_t by)
{
    const int32x4_t low = vaddq_s32(widened(vget_low_s16(a), by.a, by.left_shift),
                                    widened(vget_low_s16(b), by.b, by.left_shift));
    const int32x4_t high = vaddq_s32(widened(vget_high_s16(a), by.a, by.left_shift),
                                     widened(vget_high_s16(b), by.b, by.left_shift));
    return vcombine_s16(vqmovn_s32(rescale(low, by.total)), vqmovn_s32(rescale(high, by.total)));
}

void quantized_add_tflite_s16(const int16_t *a, const int16_t *b, int16_t *output, size_t length,
                              int32_t a_multiplier, int32_t a_shift, int32_t b_multiplier, int32_t b_shift,
                              int32_t left_shift, int32_t multiplier, int32_t shift, int16_t lower, int16_t upper)
{
    const parameters_t by = {
        .a = scale_of(0, a_multiplier, a_shift),
        .b = scale_of(0, b_multiplier, b_shift),
        .total = scale_of(0, multiplier, shift),
        .left_shift = vdupq_n_s32(left_shift),
    };
    const int16x8_t lowest = vdupq_n_s16(lower), highest = vdupq_n_s16(upper);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t sums = add_eight_of_16(vld1q_s16(a + i), vld1q_s16(b + i), by);
        vst1q_s16(output + i, vminq_s16(vmaxq_s16(sums, lowest), highest));
    }
    for (; i < length; ++i) {
        const int16x8_t sums = add_eight_of_16(vld1q_dup_s16(a + i), vld1q_dup_s16(b + i), by);
        vst1q_lane_s16(output + i, vminq_s16(vmaxq_s16(sums, lowest), highest), 0);
    }
}

/* int16 + int16 -> int16, as TFLite adds tensors of 16 bits whose scales are powers of two: one operand is shifted to the
 * right, ties away from zero, and the sum saturates.
 *
 * a_shift and b_shift are -31..0; where that of a is 0, b is shifted, else a. By more than 15 upstream's mask of 16 bits has
 * all bits, and what is shifted becomes 1, or -1 where it is negative.
 */
static inline int16x8_t divide_by_power_of_two(int16x8_t value, int16x8_t shift)
{
    const int16x8_t fix = vshrq_n_s16(vandq_s16(value, shift), 15);
    return vrshlq_s16(vqaddq_s16(value, fix), shift);
}

static inline int16x8_t divide_of_16(int16x8_t value, int32_t shift)
{
    if (shift < -15)
        return vorrq_s16(vshrq_n_s16(value, 15), vdupq_n_s16(1));
    return divide_by_power_of_two(value, vdupq_n_s16((int16_t)shift));
}

void quantized_add_tflite_s16_pot(const int16_t *a, const int16_t *b, int16_t *output, size_t length, int32_t a_shift,
                                  int32_t b_shift, int16_t lower, int16_t upper)
{
    const int16_t *kept = a_shift ? b : a, *moved = a_shift ? a : b;
    const int32_t shift = a_shift ? a_shift : b_shift;
    const int16x8_t lowest = vdupq_n_s16(lower), highest = vdupq_n_s16(upper);
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        const int16x8_t sums = vqaddq_s16(vld1q_s16(kept + i), divide_of_16(vld1q_s16(moved + i), shift));
        vst1q_s16(output + i, vminq_s16(vmaxq_s16(sums, lowest), highest));
    }
    for (; i < length; ++i) {
        const int16x8_t sums = vqaddq_s16(vld1q_dup_s16(kept + i), divide_of_16(vld1q_dup_s16(moved + i), shift));
        vst1q_lane_s16(output + i, vminq_s16(vmaxq_s16(sums, lowest), highest), 0);
    }
}
