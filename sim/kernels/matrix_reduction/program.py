"""matrix_reduction as a sequence of intrinsics: sixteen bytes a step, then one byte among zeros.

The arguments are those of kernel.c, after the intrinsics for the bytes.  Both raise TypeError for pointers of other
dtypes, and what the memory raises for an access that it does not allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    part,
    vaddl_s8,
    vaddl_u8,
    vaddq_s32,
    vaddw_s16,
    vaddw_u16,
    vdupq_n_s8,
    vdupq_n_s32,
    vdupq_n_u8,
    vget_high_s8,
    vget_high_s16,
    vget_high_u8,
    vget_high_u16,
    vget_low_s8,
    vget_low_s16,
    vget_low_u8,
    vget_low_u16,
    vld1q_lane_s8,
    vld1q_lane_u8,
    vld1q_s8,
    vld1q_u8,
    vmovl_s8,
    vmovl_u8,
    vpaddlq_s16,
    vpaddlq_u16,
    vpaddq_s32,
    vreinterpretq_s32_u32,
    vreinterpretq_u32_s32,
    vst1q_lane_s32,
    vst1q_s32,
)

STEP: Final = 16
ROWS: Final = 8
"""So many are added by one part."""
One = Callable[[VectorValue], VectorValue]
Two = Callable[[VectorValue, VectorValue], VectorValue]


def _same(value: VectorValue) -> VectorValue:
    return value


@dataclass(frozen=True, kw_only=True)
class SummedBytes:
    """Those of one type of bytes; `signed` and `own` read 32 bits as int32x4, and as what they are."""

    load: Callable[[ElementPointer], VectorValue]
    load_lane: Callable[[ElementPointer, VectorValue, int], VectorValue]
    zeros: Callable[[int], VectorValue]
    halves: tuple[One, One]
    add_long: Two
    add_pairs_long: One
    widen: One
    halves_of_16: tuple[One, One]
    add_wide: Two
    signed: One
    own: One


BYTES: Final = {
    "uint8": SummedBytes(
        load=vld1q_u8, load_lane=vld1q_lane_u8, zeros=vdupq_n_u8, halves=(vget_low_u8, vget_high_u8),
        add_long=vaddl_u8, add_pairs_long=vpaddlq_u16, widen=vmovl_u8, halves_of_16=(vget_low_u16, vget_high_u16),
        add_wide=vaddw_u16, signed=vreinterpretq_s32_u32, own=vreinterpretq_u32_s32,
    ),
    "int8": SummedBytes(
        load=vld1q_s8, load_lane=vld1q_lane_s8, zeros=vdupq_n_s8, halves=(vget_low_s8, vget_high_s8),
        add_long=vaddl_s8, add_pairs_long=vpaddlq_s16, widen=vmovl_s8, halves_of_16=(vget_low_s16, vget_high_s16),
        add_wide=vaddw_s16, signed=_same, own=_same,
    ),
}  # fmt: skip


def load(data: SummedBytes, at: ElementPointer, count: int) -> VectorValue:
    """Sixteen bytes, or one and fifteen zeros."""
    return data.load(at) if count == STEP else data.load_lane(at, data.zeros(0), 0)


def sums_of_rows(data: SummedBytes, matrix: ElementPointer, sums: ElementPointer, rows: int, columns: int) -> None:
    """The sum of each row, inside of a `Program`."""
    for i in range(rows):
        store_sum_of_row(data, matrix + i * columns, sums + i, columns)


@part
def store_sum_of_row(data: SummedBytes, row: ElementPointer, to: ElementPointer, columns: int) -> None:
    """The sum of one row."""
    end = columns - columns % STEP
    low, high = data.halves
    total = vdupq_n_s32(0)
    for k in (*range(0, end, STEP), *range(end, columns)):
        bytes_ = load(data, row + k, STEP if k < end else 1)
        pairs = data.add_pairs_long(data.add_long(low(bytes_), high(bytes_)))
        total = vaddq_s32(total, data.signed(pairs))
    halves = vpaddq_s32(total, total)
    vst1q_lane_s32(to, vpaddq_s32(halves, halves), 0)


def sums_of_columns(data: SummedBytes, matrix: ElementPointer, sums: ElementPointer, rows: int, columns: int) -> None:
    """The sum of each column, inside of a `Program`."""
    end = columns - columns % STEP
    for j in (*range(0, end, STEP), *range(end, columns)):
        count = STEP if j < end else 1
        totals = [vdupq_n_s32(0) for _ in range(4)]
        for first in range(0, rows, ROWS):
            some = [matrix + (k * columns + j) for k in range(first, min(first + ROWS, rows))]
            totals = with_rows(totals, data, some, count)
        if count == 1:
            vst1q_lane_s32(sums + j, totals[0], 0)
            continue
        for number, total in enumerate(totals):
            vst1q_s32(sums + (j + 4 * number), total)


@part
def with_rows(
    totals: list[VectorValue], data: SummedBytes, rows: list[ElementPointer], count: int
) -> list[VectorValue]:
    """The sums of sixteen columns, or of one, with the bytes of some rows added."""
    for row in rows:
        bytes_ = load(data, row, count)
        words = [half(data.widen(eight(bytes_))) for eight in data.halves for half in data.halves_of_16]
        totals = [data.signed(data.add_wide(data.own(total), four)) for total, four in zip(totals, words, strict=True)]
    return totals
