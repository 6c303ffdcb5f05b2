"""matrix_product as a sequence of intrinsics: a block of the output at once, a step of the depth after another.

The arguments are those of kernel.c, after the intrinsics for the bytes.  All raise TypeError for pointers of other
dtypes, and what the memory raises for an access that it does not allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vdotq_laneq_s32,
    vdotq_laneq_u32,
    vdupq_n_s32,
    vdupq_n_u32,
    vget_high_s16,
    vget_high_u16,
    vget_low_s16,
    vget_low_u16,
    vld1_s8,
    vld1_u8,
    vld1q_s8,
    vld1q_u8,
    vmlal_lane_s16,
    vmlal_lane_u16,
    vmmlaq_s32,
    vmmlaq_u32,
    vmovl_s8,
    vmovl_u8,
    vreinterpretq_s32_s64,
    vreinterpretq_s32_u32,
    vreinterpretq_s64_s32,
    vst1q_s32,
    vuzp1q_s64,
    vuzp2q_s64,
)

One = Callable[[VectorValue], VectorValue]
Load = Callable[[ElementPointer], VectorValue]
Element = Callable[[VectorValue, VectorValue, VectorValue, int], VectorValue]


@dataclass(frozen=True, kw_only=True)
class MultipliedBytes:
    """Those of one type; sums of int8 are int32x4, of uint8 uint32x4, which `signed` reads as the former."""

    load_eight: Load
    load: Load
    widen: One
    halves: tuple[One, One]
    zeros: Callable[[int], VectorValue]
    add_product: Element
    add_dot: Element
    add_matrix: Callable[[VectorValue, VectorValue, VectorValue], VectorValue]
    signed: One


BYTES: Final = {
    "uint8": MultipliedBytes(
        load_eight=vld1_u8, load=vld1q_u8, widen=vmovl_u8, halves=(vget_low_u16, vget_high_u16), zeros=vdupq_n_u32,
        add_product=vmlal_lane_u16, add_dot=vdotq_laneq_u32, add_matrix=vmmlaq_u32, signed=vreinterpretq_s32_u32,
    ),
    "int8": MultipliedBytes(
        load_eight=vld1_s8, load=vld1q_s8, widen=vmovl_s8, halves=(vget_low_s16, vget_high_s16), zeros=vdupq_n_s32,
        add_product=vmlal_lane_s16, add_dot=vdotq_laneq_s32, add_matrix=vmmlaq_s32, signed=lambda words: words,
    ),
}  # fmt: skip


def by_long_products(
    by: MultipliedBytes, a: ElementPointer, b: ElementPointer, output: ElementPointer, row_blocks: int,
    column_blocks: int, steps: int,
) -> None:  # fmt: skip
    """Four rows by sixteen columns at once, byte by byte, inside of a `Program`."""
    low, high = by.halves
    for block in range(row_blocks * column_blocks):
        g, j = divmod(block, column_blocks)
        sums = [[by.zeros(0) for _ in range(4)] for _ in range(4)]
        for k in range(steps):
            rows = low(by.widen(by.load_eight(a + 4 * (g * steps + k))))
            words = [by.widen(by.load_eight(b + (16 * (j * steps + k) + eight))) for eight in (0, 8)]
            columns = [half(word) for word in words for half in (low, high)]
            sums = [
                [by.add_product(total, four, rows, row) for total, four in zip(sums[row], columns, strict=True)]
                for row in range(4)
            ]
        for row in range(4):
            for part in range(4):
                at = (4 * g + row) * 16 * column_blocks + 16 * j + 4 * part
                vst1q_s32(output + at, by.signed(sums[row][part]))


def by_dot_products(
    by: MultipliedBytes, a: ElementPointer, b: ElementPointer, output: ElementPointer, row_blocks: int,
    column_blocks: int, steps: int,
) -> None:  # fmt: skip
    """Eight rows by twelve columns at once, four bytes of each a step, inside of a `Program`."""
    for block in range(row_blocks * column_blocks):
        g, j = divmod(block, column_blocks)
        sums = [[by.zeros(0) for _ in range(3)] for _ in range(8)]
        for k in range(steps):
            fours = [by.load(a + (32 * (g * steps + k) + 16 * half)) for half in range(2)]
            columns = [by.load(b + (48 * (j * steps + k) + 16 * part)) for part in range(3)]
            sums = [
                [
                    by.add_dot(total, four, fours[row // 4], row % 4)
                    for total, four in zip(sums[row], columns, strict=True)
                ]
                for row in range(8)
            ]
        for row in range(8):
            for part in range(3):
                vst1q_s32(output + (96 * block + 12 * row + 4 * part), by.signed(sums[row][part]))


def by_matrix_products(
    by: MultipliedBytes, a: ElementPointer, b: ElementPointer, output: ElementPointer, row_blocks: int,
    column_blocks: int, steps: int,
) -> None:  # fmt: skip
    """Eight rows by twelve columns at once in sums of two by two, eight bytes a step, inside of a `Program`."""
    for block in range(row_blocks * column_blocks):
        g, j = divmod(block, column_blocks)
        sums = [[by.zeros(0) for _ in range(6)] for _ in range(4)]
        for k in range(steps):
            rows = [by.load(a + (64 * (g * steps + k) + 16 * pair)) for pair in range(4)]
            columns = [by.load(b + (96 * (j * steps + k) + 16 * two)) for two in range(6)]
            sums = [
                [by.add_matrix(total, rows[pair], two) for total, two in zip(sums[pair], columns, strict=True)]
                for pair in range(4)
            ]
        for pair in range(4):
            for part in range(3):
                left, right = (vreinterpretq_s64_s32(by.signed(total)) for total in sums[pair][2 * part : 2 * part + 2])
                at = output + (96 * block + 24 * pair + 4 * part)
                vst1q_s32(at, vreinterpretq_s32_s64(vuzp1q_s64(left, right)))
                vst1q_s32(at + 12, vreinterpretq_s32_s64(vuzp2q_s64(left, right)))


PROGRAMS: Final = {1: by_long_products, 4: by_dot_products, 8: by_matrix_products}
"""By how many bytes of a row and a column one instruction sums up."""
