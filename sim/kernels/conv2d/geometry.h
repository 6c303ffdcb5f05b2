/* The sizes of images, windows and outputs, strides and padding: as arguments of functions, and as one structure. */
#pragma once
#include <stddef.h>

typedef struct {
    size_t batches, height, width, channels, columns, kernel_height, kernel_width, out_height, out_width;
    size_t stride_y, stride_x, top, left;
} geometry;

#define OF_GEOMETRY                                                                                                 \
    size_t batches, size_t height, size_t width, size_t channels, size_t columns, size_t kernel_height,             \
        size_t kernel_width, size_t out_height, size_t out_width, size_t stride_y, size_t stride_x, size_t top,     \
        size_t left
#define GEOMETRY                                                                                                    \
    (geometry)                                                                                                      \
    {                                                                                                               \
        batches, height, width, channels, columns, kernel_height, kernel_width, out_height, out_width, stride_y,    \
            stride_x, top, left                                                                                     \
    }
