"""interleave4x4 as a sequence of intrinsics: a register of four rows each, and one interleaving store a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    uint8x8x4_t,
    uint16x4x4_t,
    uint32x4x4_t,
    vld1_u8,
    vld1_u16,
    vld1q_u32,
    vst4_u8,
    vst4_u16,
    vst4q_u32,
)

ROWS: Final = 4


class InterleavedElements(NamedTuple):
    """How those of one size are moved, `step` at once."""

    step: int
    load: Callable[[ElementPointer], VectorValue]
    four: Callable[..., Any]
    store: Callable[[ElementPointer, Any], None]


ELEMENTS: Final = {
    "uint8": InterleavedElements(8, vld1_u8, uint8x8x4_t, vst4_u8),
    "uint16": InterleavedElements(4, vld1_u16, uint16x4x4_t, vst4_u16),
    "uint32": InterleavedElements(4, vld1q_u32, uint32x4x4_t, vst4q_u32),
}


def interleave(by: InterleavedElements, input: ElementPointer, output: ElementPointer, groups: int, steps: int) -> None:
    """Every group of rows, inside of a `Program`; the arguments are those of kernel.c, after how elements are moved.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    width = by.step * steps
    for group in range(groups):
        for step in range(steps):
            rows = (input + ((ROWS * group + r) * width + by.step * step) for r in range(ROWS))
            by.store(output + ROWS * (group * width + by.step * step), by.four(*map(by.load, rows)))
