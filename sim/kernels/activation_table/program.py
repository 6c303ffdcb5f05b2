"""activation_table as a sequence of intrinsics: four look-ups of 64 bytes each, sixteen bytes a step, then one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    uint8x16x4_t,
    vdupq_n_u8,
    vld1q_dup_s8,
    vld1q_dup_u8,
    vld1q_s8,
    vld1q_u8,
    vqtbl4q_u8,
    vqtbx4q_u8,
    vreinterpretq_s8_u8,
    vreinterpretq_u8_s8,
    vst1q_lane_s8,
    vst1q_lane_u8,
    vst1q_s8,
    vst1q_u8,
    vsubq_u8,
)

STEP: Final = 16
QUARTER: Final = 64  # bytes of four registers


@dataclass(frozen=True, kw_only=True)
class IndexBytes:
    """How those of one type are loaded as uint8x16 and stored from it."""

    load: Callable[[ElementPointer], VectorValue]
    load_one: Callable[[ElementPointer], VectorValue]
    store: Callable[[ElementPointer, VectorValue], None]
    store_one: Callable[[ElementPointer, VectorValue], None]


BYTES: Final = {
    "uint8": IndexBytes(
        load=vld1q_u8, load_one=vld1q_dup_u8, store=vst1q_u8,
        store_one=lambda at, bytes_: vst1q_lane_u8(at, bytes_, 0),
    ),
    "int8": IndexBytes(
        load=lambda at: vreinterpretq_u8_s8(vld1q_s8(at)),
        load_one=lambda at: vreinterpretq_u8_s8(vld1q_dup_s8(at)),
        store=lambda at, bytes_: vst1q_s8(at, vreinterpretq_s8_u8(bytes_)),
        store_one=lambda at, bytes_: vst1q_lane_s8(at, vreinterpretq_s8_u8(bytes_), 0),
    ),
}  # fmt: skip


def look_up(by: IndexBytes, input: ElementPointer, table: ElementPointer, output: ElementPointer, length: int) -> None:
    """Every byte, inside of a `Program`; the arguments are those of kernel.c, after how bytes are moved.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    quarters = [
        uint8x16x4_t(*(by.load(table + (QUARTER * quarter + STEP * part)) for part in range(4))) for quarter in range(4)
    ]
    end = length - length % STEP
    for i in (*range(0, end, STEP), *range(end, length)):
        index = by.load(input + i) if i < end else by.load_one(input + i)
        found = vqtbl4q_u8(quarters[0], index)
        for quarter in quarters[1:]:
            index = vsubq_u8(index, vdupq_n_u8(QUARTER))
            found = vqtbx4q_u8(found, quarter, index)
        (by.store if i < end else by.store_one)(output + i, found)
