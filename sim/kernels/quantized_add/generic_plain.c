/* SynetQuantizedAdd where a tensor is float32, and its page, in plain C: functions and arguments as in generic.c. */
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32_t zero;
    float scale;
} quantization_t;

static inline int32_t wrap(uint32_t bits)
{
    return (int32_t)bits;
}

static inline float load_byte(uint8_t value, quantization_t by)
{
    return (float)wrap((uint32_t)value - (uint32_t)by.zero) * by.scale;
}

static inline float load_float(float value, quantization_t by)
{
    (void)by;
    return value;
}

static inline float activate(float value, uint8_t relu)
{
    return relu && value < 0.0f ? 0.0f : value;
}

static inline float larger(float x, float y)
{
    return x > y ? x : y;
}

static inline float smaller(float x, float y)
{
    return x < y ? x : y;
}

/* as Simd numbers its activations */
enum { RELU = 1, LEAKY_RELU = 2, RESTRICT_RANGE = 3, HARD_SWISH = 6, HARD_SIGMOID = 8 };

static inline float activate_as_page(float value, uint8_t kind, float first, float second)
{
    switch (kind) {
    case RELU:
        return larger(0.0f, value);
    case LEAKY_RELU:
        return larger(0.0f, value) + first * smaller(0.0f, value);
    case RESTRICT_RANGE:
        return smaller(larger(first, value), second);
    case HARD_SWISH:
        return larger(smaller(value, first) + first, 0.0f) * second * value;
    case HARD_SIGMOID:
        return larger(0.0f, smaller(value * first + second, 1.0f));
    default:
        return value;
    }
}

/* to the nearest int32, ties to even; saturates, NaN gives 0: C leaves the conversion itself undefined there */
static inline int32_t to_integer(float value)
{
    if (value != value)
        return 0;
    if (value >= 0x1p31f)
        return INT32_MAX;
    return value <= -0x1p31f ? INT32_MIN : (int32_t)__builtin_rintf(value);
}

static inline uint8_t clamp(int64_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static inline uint8_t store_byte(float value, quantization_t by)
{
    const float reciprocal = 1.0f / by.scale;
    return clamp(wrap((uint32_t)to_integer(value * reciprocal) + (uint32_t)by.zero));
}

static inline uint8_t store_page_byte(float value, quantization_t by)
{
    return clamp((int64_t)to_integer(value / by.scale) + by.zero);
}

static inline float store_float(float value, quantization_t by)
{
    (void)by;
    return value;
}

#define DEFINE_ADD(NAME, A, LOAD_A, B, LOAD_B, OUTPUT, STORE)                                                  \
    void NAME(const A *restrict a, const B *restrict b, OUTPUT *restrict output, size_t length,                \
              int32_t a_zero, float a_scale, int32_t b_zero, float b_scale, int32_t output_zero,               \
              float output_scale, uint8_t relu)                                                                \
    {                                                                                                          \
        const quantization_t by_a = {a_zero, a_scale}, by_b = {b_zero, b_scale};                               \
        const quantization_t by_output = {output_zero, output_scale};                                          \
        for (size_t i = 0; i < length; ++i)                                                                    \
            output[i] = STORE(activate(LOAD_A(a[i], by_a) + LOAD_B(b[i], by_b), relu), by_output);             \
    }

DEFINE_ADD(quantized_add_u8_u8_to_f32, uint8_t, load_byte, uint8_t, load_byte, float, store_float)
DEFINE_ADD(quantized_add_u8_f32_to_u8, uint8_t, load_byte, float, load_float, uint8_t, store_byte)
DEFINE_ADD(quantized_add_u8_f32_to_f32, uint8_t, load_byte, float, load_float, float, store_float)
DEFINE_ADD(quantized_add_f32_u8_to_u8, float, load_float, uint8_t, load_byte, uint8_t, store_byte)
DEFINE_ADD(quantized_add_f32_u8_to_f32, float, load_float, uint8_t, load_byte, float, store_float)
DEFINE_ADD(quantized_add_f32_f32_to_u8, float, load_float, float, load_float, uint8_t, store_byte)
DEFINE_ADD(quantized_add_f32_f32_to_f32, float, load_float, float, load_float, float, store_float)

void quantized_add_page(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict output, size_t length,
                        int32_t a_zero, float a_scale, int32_t b_zero, float b_scale, int32_t output_zero,
                        float output_scale, uint8_t activation, float parameter_0, float parameter_1)
{
    const quantization_t by_a = {a_zero, a_scale}, by_b = {b_zero, b_scale};
    const quantization_t by_output = {output_zero, output_scale};
    for (size_t i = 0; i < length; ++i) {
        const float total = load_byte(a[i], by_a) + load_byte(b[i], by_b);
        output[i] = store_page_byte(activate_as_page(total, activation, parameter_0, parameter_1), by_output);
    }
}
