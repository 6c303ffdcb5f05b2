/* transpose1xw with NEON intrinsics: the 16-byte chunks of all rows of a plane, stacked.
 *
 * Arm Compute Library's NEGEMMTranspose1xWKernel: transpose1xw_19_08 loads the last chunk of a row whole, with the
 * padding that the caller must provide; transpose1xw_20_11 reads no padding and writes 0 for what is missing.
 * Sizes and strides are in bytes. The output has one row for each chunk of a row; the bytes behind its rows are kept.
 */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK = 16 };

static inline uint8_t *chunk_of_output(uint8_t *output, size_t plane, size_t row, size_t chunk, size_t chunks,
                                       size_t stride)
{
    return output + (plane * chunks + chunk) * stride + row * CHUNK;
}

void transpose1xw_19_08(const uint8_t *input, uint8_t *output, size_t chunks, size_t rows, size_t planes,
                        size_t input_stride, size_t output_stride)
{
    for (size_t plane = 0; plane < planes; ++plane)
        for (size_t row = 0; row < rows; ++row, input += input_stride)
            for (size_t chunk = 0; chunk < chunks; ++chunk)
                vst1q_u8(chunk_of_output(output, plane, row, chunk, chunks, output_stride),
                         vld1q_u8(input + chunk * CHUNK));
}

void transpose1xw_20_11(const uint8_t *input, uint8_t *output, size_t width, size_t chunks, size_t rows,
                        size_t planes, size_t input_stride, size_t output_stride)
{
    for (size_t plane = 0; plane < planes; ++plane)
        for (size_t row = 0; row < rows; ++row, input += input_stride) {
            size_t chunk = 0;
            for (; (chunk + 1) * CHUNK <= width; ++chunk)
                vst1q_u8(chunk_of_output(output, plane, row, chunk, chunks, output_stride),
                         vld1q_u8(input + chunk * CHUNK));
            if (chunk == chunks)
                continue;
            uint8_t *last = chunk_of_output(output, plane, row, chunk, chunks, output_stride);
            vst1q_u8(last, vdupq_n_u8(0));
            for (size_t i = chunk * CHUNK; i < width; ++i)
                last[i % CHUNK] = input[i];
        }
}
