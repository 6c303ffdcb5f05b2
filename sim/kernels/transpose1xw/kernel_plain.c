/* transpose1xw in plain C, without intrinsics: the compiler vectorises it as it sees fit.
 *
 * The same functions and arguments as kernel.c, written from the output: where does each byte of it come from?
 */
#include <stddef.h>
#include <stdint.h>

enum { CHUNK = 16 };

static inline void stack_chunks(const uint8_t *restrict input, uint8_t *restrict output, size_t first, size_t width,
                                size_t rows, size_t input_stride)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t i = 0; i < CHUNK; ++i)
            output[row * CHUNK + i] = first + i < width ? input[row * input_stride + first + i] : 0;
}

static inline void stack_planes(const uint8_t *restrict input, uint8_t *restrict output, size_t width, size_t chunks,
                                size_t rows, size_t planes, size_t input_stride, size_t output_stride)
{
    for (size_t plane = 0; plane < planes; ++plane)
        for (size_t chunk = 0; chunk < chunks; ++chunk)
            stack_chunks(input + plane * rows * input_stride, output + (plane * chunks + chunk) * output_stride,
                         chunk * CHUNK, width, rows, input_stride);
}

void transpose1xw_19_08(const uint8_t *restrict input, uint8_t *restrict output, size_t chunks, size_t rows,
                        size_t planes, size_t input_stride, size_t output_stride)
{
    stack_planes(input, output, chunks * CHUNK, chunks, rows, planes, input_stride, output_stride);
}

void transpose1xw_20_11(const uint8_t *restrict input, uint8_t *restrict output, size_t width, size_t chunks,
                        size_t rows, size_t planes, size_t input_stride, size_t output_stride)
{
    stack_planes(input, output, width, chunks, rows, planes, input_stride, output_stride);
}
