/* interleave4x4 with NEON intrinsics: groups of four rows, column by column.
 *
 * Arm Compute Library 19.08, NEGEMMInterleave4x4Kernel: eight columns a step of elements of one byte, four of others.
 * The input has 4 * groups rows of `steps` whole steps, what rows and columns lack to them being padding; both arrays
 * are contiguous.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

void interleave4x4_8(const uint8_t *input, uint8_t *output, size_t groups, size_t steps)
{
    const size_t width = 8 * steps;
    for (size_t group = 0; group < groups; ++group, input += 4 * width)
        for (size_t k = 0; k < width; k += 8, output += 32) {
            const uint8x8x4_t rows = {{vld1_u8(input + k), vld1_u8(input + width + k), vld1_u8(input + 2 * width + k),
                                       vld1_u8(input + 3 * width + k)}};
            vst4_u8(output, rows);
        }
}

void interleave4x4_16(const uint16_t *input, uint16_t *output, size_t groups, size_t steps)
{
    const size_t width = 4 * steps;
    for (size_t group = 0; group < groups; ++group, input += 4 * width)
        for (size_t k = 0; k < width; k += 4, output += 16) {
            const uint16x4x4_t rows = {{vld1_u16(input + k), vld1_u16(input + width + k),
                                        vld1_u16(input + 2 * width + k), vld1_u16(input + 3 * width + k)}};
            vst4_u16(output, rows);
        }
}

void interleave4x4_32(const uint32_t *input, uint32_t *output, size_t groups, size_t steps)
{
    const size_t width = 4 * steps;
    for (size_t group = 0; group < groups; ++group, input += 4 * width)
        for (size_t k = 0; k < width; k += 4, output += 16) {
            const uint32x4x4_t rows = {{vld1q_u32(input + k), vld1q_u32(input + width + k),
                                        vld1q_u32(input + 2 * width + k), vld1q_u32(input + 3 * width + k)}};
            vst4q_u32(output, rows);
        }
}
