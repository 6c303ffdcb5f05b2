"""conv2d as a sequence of intrinsics: four output channels at once, then one; sixteen bytes of a pixel, then one."""

from __future__ import annotations

from isa.intrinsics import ElementPointer, vdupq_n_s32
from sim.kernels.fully_connected.program import (
    LayerBytes,
    Scale,
    constant_terms,
    factors_from,
    store_totals,
    with_products,
)


def conv2d(
    scale: Scale, data: LayerBytes, *, input: ElementPointer, weights: ElementPointer, bias: ElementPointer | None,
    output: ElementPointer, padding: ElementPointer, batches: int, height: int, width: int, channels: int,
    columns: int, kernel_height: int, kernel_width: int, out_height: int, out_width: int, stride_y: int,
    stride_x: int, top: int, left: int, input_zero: int, weights_zero: int = 0, output_zero: int, lower: int,
    upper: int, **factors: ElementPointer,
) -> None:  # fmt: skip
    """Every window by every column, inside of a `Program`; all that is named are the arguments of kernel.c.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    zeros, levels = (data.zero(input_zero), data.zero(weights_zero)), (output_zero, lower, upper)
    taps = [(ky, kx) for ky in range(kernel_height) for kx in range(kernel_width)]
    places = [(n, y, x) for n in range(batches) for y in range(out_height) for x in range(out_width)]
    length, end = len(taps) * channels, columns - columns % 4
    for j in (*range(0, end, 4), *range(end, columns)):
        count = 4 if j < end else 1
        own = [weights + (j + i) * length for i in range(count)]
        terms = constant_terms(None if bias is None else bias + j, data, own, length, zeros)
        for number, (n, y, x) in enumerate(places):
            sums = [vdupq_n_s32(0) for _ in range(count + 1)]
            for tap, (ky, kx) in enumerate(taps):
                row, place = y * stride_y + ky - top, x * stride_x + kx - left
                pixel = padding
                if 0 <= row < height and 0 <= place < width:
                    pixel = input + ((n * height + row) * width + place) * channels
                sums = with_products(sums, data, pixel, [column + tap * channels for column in own], channels)
            at = output + (number * columns + j)
            store_totals(scale, data, at, sums, terms, zeros[1], factors_from(factors, j), levels, count)
