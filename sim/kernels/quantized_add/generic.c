/* SynetQuantizedAdd (Simd Library) where a tensor is float32, and what its page says for uint8:
 * dequantize, add, activate, quantize.
 *
 * One function for each combination of types. Eight lanes a step, then the last (length mod 8) elements one by one,
 * each in every lane of a vector. A float32 tensor ignores its zero point and scale.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32x4_t zero;
    float32x4_t scale;
} quantization_t;

static inline float32x4_t dequantize(uint16x4_t values, quantization_t by)
{
    const int32x4_t difference = vsubq_s32(vreinterpretq_s32_u32(vmovl_u16(values)), by.zero);
    return vmulq_f32(vcvtq_f32_s32(difference), by.scale);
}

static inline float32x4x2_t dequantize_eight(uint8x8_t bytes, quantization_t by)
{
    const uint16x8_t wide = vmovl_u8(bytes);
    return (float32x4x2_t){{dequantize(vget_low_u16(wide), by), dequantize(vget_high_u16(wide), by)}};
}

static inline float32x4x2_t load_bytes(const uint8_t *from, size_t i, quantization_t by)
{
    return dequantize_eight(vld1_u8(from + i), by);
}

static inline float32x4x2_t load_byte(const uint8_t *from, size_t i, quantization_t by)
{
    return dequantize_eight(vld1_dup_u8(from + i), by);
}

static inline float32x4x2_t load_floats(const float *from, size_t i, quantization_t by)
{
    const float *at = from + i;
    (void)by;
    return (float32x4x2_t){{vld1q_f32(at), vld1q_f32(at + 4)}};
}

static inline float32x4x2_t load_float(const float *from, size_t i, quantization_t by)
{
    const float32x4_t value = vld1q_dup_f32(from + i);
    (void)by;
    return (float32x4x2_t){{value, value}};
}

static inline uint8x8_t narrow(int32x4_t low, int32x4_t high)
{
    return vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)));
}

static inline int32x4_t quantize(float32x4_t value, quantization_t by)
{
    const float32x4_t reciprocal = vdivq_f32(vdupq_n_f32(1.0f), by.scale);
    return vaddq_s32(vcvtnq_s32_f32(vmulq_f32(value, reciprocal)), by.zero);
}

static inline int32x4_t quantize_as_page(float32x4_t value, quantization_t by)
{
    return vqaddq_s32(vcvtnq_s32_f32(vdivq_f32(value, by.scale)), by.zero);
}

static inline void store_bytes(uint8_t *to, size_t i, float32x4x2_t values, quantization_t by)
{
    vst1_u8(to + i, narrow(quantize(values.val[0], by), quantize(values.val[1], by)));
}

static inline void store_byte(uint8_t *to, size_t i, float32x4x2_t values, quantization_t by)
{
    const int32x4_t value = quantize(values.val[0], by);
    vst1_lane_u8(to + i, narrow(value, value), 0);
}

static inline void store_page_bytes(uint8_t *to, size_t i, float32x4x2_t values, quantization_t by)
{
    vst1_u8(to + i, narrow(quantize_as_page(values.val[0], by), quantize_as_page(values.val[1], by)));
}

static inline void store_page_byte(uint8_t *to, size_t i, float32x4x2_t values, quantization_t by)
{
    const int32x4_t value = quantize_as_page(values.val[0], by);
    vst1_lane_u8(to + i, narrow(value, value), 0);
}

static inline void store_floats(float *to, size_t i, float32x4x2_t values, quantization_t by)
{
    (void)by;
    vst1q_f32(to + i, values.val[0]);
    vst1q_f32(to + i + 4, values.val[1]);
}

static inline void store_float(float *to, size_t i, float32x4x2_t values, quantization_t by)
{
    (void)by;
    vst1q_lane_f32(to + i, values.val[0], 0);
}

/* 0 where a value is below 0; NaN and -0.0 stay */
static inline float32x4_t activate(float32x4_t value, uint32x4_t relu)
{
    const uint32x4_t dropped = vandq_u32(vcltq_f32(value, vdupq_n_f32(0.0f)), relu);
    return vbslq_f32(dropped, vdupq_n_f32(0.0f), value);
}

static inline float32x4_t larger(float32x4_t x, float32x4_t y)
{
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}

static inline float32x4_t smaller(float32x4_t x, float32x4_t y)
{
    return vbslq_f32(vcltq_f32(x, y), x, y);
}

/* as Simd numbers its activations */
enum { RELU = 1, LEAKY_RELU = 2, RESTRICT_RANGE = 3, HARD_SWISH = 6, HARD_SIGMOID = 8 };

typedef struct {
    uint8_t kind;
    float32x4_t first, second;
} activation_t;

static inline float32x4_t activate_as_page(float32x4_t value, activation_t by)
{
    const float32x4_t zero = vdupq_n_f32(0.0f), one = vdupq_n_f32(1.0f);
    switch (by.kind) {
    case RELU:
        return larger(zero, value);
    case LEAKY_RELU:
        return vaddq_f32(larger(zero, value), vmulq_f32(by.first, smaller(zero, value)));
    case RESTRICT_RANGE:
        return smaller(larger(by.first, value), by.second);
    case HARD_SWISH:
        return vmulq_f32(vmulq_f32(larger(vaddq_f32(smaller(value, by.first), by.first), zero), by.second), value);
    case HARD_SIGMOID:
        return larger(zero, smaller(vaddq_f32(vmulq_f32(value, by.first), by.second), one));
    default:
        return value;
    }
}

static inline float32x4x2_t add_as_page(float32x4x2_t a, float32x4x2_t b, activation_t by)
{
    const float32x4_t low = vaddq_f32(a.val[0], b.val[0]), high = vaddq_f32(a.val[1], b.val[1]);
    return (float32x4x2_t){{activate_as_page(low, by), activate_as_page(high, by)}};
}

static inline float32x4x2_t add(float32x4x2_t a, float32x4x2_t b, uint32x4_t relu)
{
    const float32x4_t low = vaddq_f32(a.val[0], b.val[0]), high = vaddq_f32(a.val[1], b.val[1]);
    return (float32x4x2_t){{activate(low, relu), activate(high, relu)}};
}

static inline quantization_t quantization(int32_t zero, float scale)
{
    return (quantization_t){vdupq_n_s32(zero), vdupq_n_f32(scale)};
}

#define DEFINE_ADD(NAME, A, LOAD_A, B, LOAD_B, OUTPUT, STORE)                                                  \
    void NAME(const A *a, const B *b, OUTPUT *output, size_t length, int32_t a_zero, float a_scale,            \
              int32_t b_zero, float b_scale, int32_t output_zero, float output_scale, uint8_t relu)            \
    {                                                                                                          \
        const quantization_t by_a = quantization(a_zero, a_scale), by_b = quantization(b_zero, b_scale);       \
        const quantization_t by_output = quantization(output_zero, output_scale);                              \
        const uint32x4_t active = vdupq_n_u32(relu ? UINT32_MAX : 0);                                          \
        size_t i = 0;                                                                                          \
        for (; i + 8 <= length; i += 8)                                                                        \
            STORE##s(output, i, add(LOAD_A##s(a, i, by_a), LOAD_B##s(b, i, by_b), active), by_output);         \
        for (; i < length; ++i)                                                                                \
            STORE(output, i, add(LOAD_A(a, i, by_a), LOAD_B(b, i, by_b), active), by_output);                  \
    }

DEFINE_ADD(quantized_add_u8_u8_to_f32, uint8_t, load_byte, uint8_t, load_byte, float, store_float)
DEFINE_ADD(quantized_add_u8_f32_to_u8, uint8_t, load_byte, float, load_float, uint8_t, store_byte)
DEFINE_ADD(quantized_add_u8_f32_to_f32, uint8_t, load_byte, float, load_float, float, store_float)
DEFINE_ADD(quantized_add_f32_u8_to_u8, float, load_float, uint8_t, load_byte, uint8_t, store_byte)
DEFINE_ADD(quantized_add_f32_u8_to_f32, float, load_float, uint8_t, load_byte, float, store_float)
DEFINE_ADD(quantized_add_f32_f32_to_u8, float, load_float, float, load_float, uint8_t, store_byte)
DEFINE_ADD(quantized_add_f32_f32_to_f32, float, load_float, float, load_float, float, store_float)

void quantized_add_page(const uint8_t *a, const uint8_t *b, uint8_t *output, size_t length, int32_t a_zero,
                        float a_scale, int32_t b_zero, float b_scale, int32_t output_zero, float output_scale,
                        uint8_t activation, float parameter_0, float parameter_1)
{
    const quantization_t by_a = quantization(a_zero, a_scale), by_b = quantization(b_zero, b_scale);
    const quantization_t by_output = quantization(output_zero, output_scale);
    const activation_t by = {activation, vdupq_n_f32(parameter_0), vdupq_n_f32(parameter_1)};
    size_t i = 0;
    for (; i + 8 <= length; i += 8)
        store_page_bytes(output, i, add_as_page(load_bytes(a, i, by_a), load_bytes(b, i, by_b), by), by_output);
    for (; i < length; ++i)
        store_page_byte(output, i, add_as_page(load_byte(a, i, by_a), load_byte(b, i, by_b), by), by_output);
}
