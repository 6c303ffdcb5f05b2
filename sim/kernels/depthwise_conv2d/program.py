"""depthwise_conv2d as a sequence of intrinsics: eight channels at once, then one, with sums of 32 bits."""

from __future__ import annotations

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
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
from sim.kernels.fully_connected.program import LayerBytes, Scale, bounded, load_numbers


def bytes_at(is_signed: bool, at: ElementPointer, zero: int, count: int) -> VectorValue:
    """Eight bytes, or one in every lane, without their zero point, as int16x8."""
    if is_signed:
        wide = vmovl_s8(vld1_s8(at) if count == 8 else vld1_dup_s8(at))
    else:
        wide = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(at) if count == 8 else vld1_dup_u8(at)))
    without: VectorValue = vsubq_s16(wide, vdupq_n_s16(zero))
    return without


def depthwise_conv2d(
    scale: Scale, data: LayerBytes, *, input: ElementPointer, weights: ElementPointer, bias: ElementPointer | None,
    output: ElementPointer, batches: int, height: int, width: int, channels: int, kernel_height: int,
    kernel_width: int, out_height: int, out_width: int, stride_y: int, stride_x: int, top: int, left: int,
    input_zero: int, weights_zero: int = 0, output_zero: int, lower: int, upper: int, **factors: ElementPointer,
) -> None:  # fmt: skip
    """Every window of every channel, inside of a `Program`; all that is named are the arguments of kernel.c.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    is_signed, levels = not data.is_flipped, (output_zero, lower, upper)
    taps = [(ky, kx) for ky in range(kernel_height) for kx in range(kernel_width)]
    places = [(n, y, x) for n in range(batches) for y in range(out_height) for x in range(out_width)]
    end = channels - channels % 8
    for c in (*range(0, end, 8), *range(end, channels)):
        count, parts = (8, (0, 4)) if c < end else (1, (0,))
        each = min(count, 4)
        for number, (n, y, x) in enumerate(places):
            sums = [vdupq_n_s32(0) if bias is None else load_numbers(bias + (c + part), each) for part in parts]
            for tap, (ky, kx) in enumerate(taps):
                row, place = y * stride_y + ky - top, x * stride_x + kx - left
                if not (0 <= row < height and 0 <= place < width):
                    continue
                pixel = input + (((n * height + row) * width + place) * channels + c)
                bytes_ = bytes_at(is_signed, pixel, input_zero, count)
                own = bytes_at(is_signed, weights + (tap * channels + c), weights_zero, count)
                halves = (vget_low_s16, vget_high_s16)[: len(sums)]
                sums = [vmlal_s16(total, half(bytes_), half(own)) for total, half in zip(sums, halves, strict=True)]
            for part, total in zip(parts, sums, strict=True):
                scaled = scale(total, factors, c + part, each)
                data.store(output + (number * channels + c + part), bounded(scaled, levels), each)
