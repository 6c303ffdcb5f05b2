"""depthwise_conv2d as a sequence of intrinsics: eight columns at once, then one, with sums of 32 bits."""

from __future__ import annotations

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    part,
    vdupq_n_s16,
    vdupq_n_s32,
    vget_high_s16,
    vget_low_s16,
    vld1_dup_s8,
    vld1_dup_u8,
    vld1_s8,
    vld1_u8,
    vmlal_s16,
    vmovl_s8,
    vmovl_u8,
    vreinterpretq_s16_u16,
    vsubq_s16,
)
from sim.kernels.fully_connected.program import LayerBytes, Scale, factors_from, load_numbers, store_scaled


def bytes_at(is_signed: bool, at: ElementPointer, zero: int, count: int) -> VectorValue:
    """Eight bytes, or one in every lane, without their zero point, as int16x8."""
    if is_signed:
        wide = vmovl_s8(vld1_s8(at) if count == 8 else vld1_dup_s8(at))
    else:
        wide = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(at) if count == 8 else vld1_dup_u8(at)))
    without: VectorValue = vsubq_s16(wide, vdupq_n_s16(zero))
    return without


@part
def with_taps(
    sums: list[VectorValue], is_signed: bool, taps: list[tuple[ElementPointer, ElementPointer]],
    zeros: tuple[int, int], channels: int,
) -> list[VectorValue]:  # fmt: skip
    """Two sums of four columns, or one of one, with the products of bytes of the image and weights, tap by tap.

    The bytes of the image are those of 8 channels or of 1.
    """
    count, halves = (8, (vget_low_s16, vget_high_s16)) if len(sums) == 2 else (1, (vget_low_s16,))
    for pixel, weight in taps:
        bytes_, own = bytes_at(is_signed, pixel, zeros[0], channels), bytes_at(is_signed, weight, zeros[1], count)
        sums = [vmlal_s16(total, half(bytes_), half(own)) for total, half in zip(sums, halves, strict=True)]
    return sums


def depthwise_conv2d(
    scale: Scale, data: LayerBytes, *, input: ElementPointer, weights: ElementPointer, bias: ElementPointer | None,
    output: ElementPointer, batches: int, height: int, width: int, channels: int, columns: int,
    kernel_height: int, kernel_width: int, out_height: int, out_width: int, stride_y: int, stride_x: int,
    top: int, left: int, input_zero: int, weights_zero: int = 0, output_zero: int, lower: int, upper: int,
    **factors: ElementPointer,
) -> None:  # fmt: skip
    """Every window of every channel, inside of a `Program`; all that is named are the arguments of kernel.c.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    is_signed, zeros, levels = not data.is_flipped, (input_zero, weights_zero), (output_zero, lower, upper)
    taps = [(ky, kx) for ky in range(kernel_height) for kx in range(kernel_width)]
    places = [(n, y, x) for n in range(batches) for y in range(out_height) for x in range(out_width)]
    windows = columns if columns == channels else columns // channels
    whole = windows - windows % 8
    firsts = (*range(0, whole, 8), *range(whole, windows))
    for c, first in ((start + first, first) for start in range(0, columns, windows or 1) for first in firsts):
        each, starts = (4, (0, 4)) if first < whole else (1, (0,))
        channel, beside = (c, len(starts) * each) if columns == channels else (c // windows, 1)
        for number, (n, y, x) in enumerate(places):
            sums = [vdupq_n_s32(0) if bias is None else load_numbers(bias + (c + start), each) for start in starts]
            inside = []
            for tap, (ky, kx) in enumerate(taps):
                row, place = y * stride_y + ky - top, x * stride_x + kx - left
                if not (0 <= row < height and 0 <= place < width):
                    continue
                pixel = input + (((n * height + row) * width + place) * channels + channel)
                inside.append((pixel, weights + (tap * columns + c)))
            for start, total in zip(starts, with_taps(sums, is_signed, inside, zeros, beside), strict=True):
                at = output + (number * columns + c + start)
                store_scaled(scale, data, at, total, factors_from(factors, c + start), levels, each)
