"""transpose1xw as a sequence of intrinsics, step by step what kernel.c does.

The arguments are those of kernel.c: pointers to uint8, sizes and strides in bytes. Both raise TypeError for pointers of
other dtypes and what the memory raises for an access it does not allow. Source: docs/spec/transpose1xw.md section 2.
"""

from __future__ import annotations

from isa.intrinsics import ElementPointer, vdupq_n_u8, vld1q_dup_u8, vld1q_u8, vst1q_lane_u8, vst1q_u8

CHUNK = 16


def stack_whole_chunks(
    input: ElementPointer,
    output: ElementPointer,
    chunks: int,
    rows: int,
    planes: int,
    input_stride: int,
    output_stride: int,
) -> None:
    """transpose1xw_19_08, inside of a `Program`."""
    for plane in range(planes):
        for row in range(rows):
            for chunk in range(chunks):
                taken = vld1q_u8(input + ((plane * rows + row) * input_stride + chunk * CHUNK))
                vst1q_u8(output + ((plane * chunks + chunk) * output_stride + row * CHUNK), taken)


def stack_chunks_and_zeros(
    input: ElementPointer, output: ElementPointer, width: int, chunks: int, rows: int, planes: int, input_stride: int,
    output_stride: int,
) -> None:  # fmt: skip
    """transpose1xw_20_11, inside of a `Program`."""
    for plane in range(planes):
        for row in range(rows):
            source = input + (plane * rows + row) * input_stride
            for chunk in range(chunks):
                place = output + ((plane * chunks + chunk) * output_stride + row * CHUNK)
                copy_chunk(source + chunk * CHUNK, place, min(CHUNK, width - chunk * CHUNK))


def copy_chunk(source: ElementPointer, place: ElementPointer, size: int) -> None:
    """`size` bytes of a chunk, 1 to 16, and zeros for the rest."""
    if size == CHUNK:
        vst1q_u8(place, vld1q_u8(source))
        return
    vst1q_u8(place, vdupq_n_u8(0))
    for byte in range(size):
        vst1q_lane_u8(place + byte, vld1q_dup_u8(source + byte), 0)
