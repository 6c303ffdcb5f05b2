/* pool in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c; the quotient is one of integers.
 */
#include <stddef.h>
#include <stdint.h>

static inline int32_t bounded(int32_t value, int32_t lower, int32_t upper)
{
    const int32_t raised = value < lower ? lower : value;
    return raised > upper ? upper : raised;
}

/* To nearest, ties away from zero: the quotient of integers is cut towards zero. */
static inline int32_t divided(int32_t sum, int32_t count)
{
    return (sum < 0 ? sum - count / 2 : sum + count / 2) / count;
}

void pool_average_s8(const int8_t *restrict pixels, int8_t *restrict output, size_t count, size_t channels,
                     int8_t lower, int8_t upper)
{
    for (size_t c = 0; c < channels; ++c) {
        int32_t sum = 0;
        for (size_t pixel = 0; pixel < count; ++pixel)
            sum += pixels[pixel * channels + c];
        output[c] = (int8_t)bounded(divided(sum, (int32_t)count), lower, upper);
    }
}

void pool_average_u8(const uint8_t *restrict pixels, uint8_t *restrict output, size_t count, size_t channels,
                     uint8_t lower, uint8_t upper)
{
    for (size_t c = 0; c < channels; ++c) {
        int32_t sum = 0;
        for (size_t pixel = 0; pixel < count; ++pixel)
            sum += pixels[pixel * channels + c];
        output[c] = (uint8_t)bounded(divided(sum, (int32_t)count), lower, upper);
    }
}

void pool_max_s8(const int8_t *restrict pixels, int8_t *restrict output, size_t count, size_t channels, int8_t lower,
                 int8_t upper)
{
    for (size_t c = 0; c < channels; ++c) {
        int32_t highest = pixels[c];
        for (size_t pixel = 1; pixel < count; ++pixel)
            highest = bounded(highest, pixels[pixel * channels + c], 127);
        output[c] = (int8_t)bounded(highest, lower, upper);
    }
}

void pool_max_u8(const uint8_t *restrict pixels, uint8_t *restrict output, size_t count, size_t channels,
                 uint8_t lower, uint8_t upper)
{
    for (size_t c = 0; c < channels; ++c) {
        int32_t highest = pixels[c];
        for (size_t pixel = 1; pixel < count; ++pixel)
            highest = bounded(highest, pixels[pixel * channels + c], 255);
        output[c] = (uint8_t)bounded(highest, lower, upper);
    }
}
