/* interleave4x4 in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c.
 */
#include <stddef.h>
#include <stdint.h>

void interleave4x4_8(const uint8_t *restrict input, uint8_t *restrict output, size_t groups, size_t steps)
{
    for (size_t row = 0; row < 4 * groups; ++row)
        for (size_t k = 0; k < 8 * steps; ++k)
            output[row / 4 * 32 * steps + 4 * k + row % 4] = input[row * 8 * steps + k];
}

void interleave4x4_16(const uint16_t *restrict input, uint16_t *restrict output, size_t groups, size_t steps)
{
    for (size_t row = 0; row < 4 * groups; ++row)
        for (size_t k = 0; k < 4 * steps; ++k)
            output[row / 4 * 16 * steps + 4 * k + row % 4] = input[row * 4 * steps + k];
}

void interleave4x4_32(const uint32_t *restrict input, uint32_t *restrict output, size_t groups, size_t steps)
{
    for (size_t row = 0; row < 4 * groups; ++row)
        for (size_t k = 0; k < 4 * steps; ++k)
            output[row / 4 * 16 * steps + 4 * k + row % 4] = input[row * 4 * steps + k];
}
