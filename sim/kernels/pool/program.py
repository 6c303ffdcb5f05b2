"""pool as a sequence of intrinsics: sixteen channels a step, then one, in every lane of a vector.

The arguments are those of kernel.c, after the intrinsics for the bytes.  Both raise TypeError for pointers of other
dtypes, and what the memory raises for an access that it does not allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    vaddq_s32,
    vcombine_s8,
    vcombine_s16,
    vcombine_u8,
    vcvtq_f32_s32,
    vcvtq_s32_f32,
    vdivq_f32,
    vdupq_n_f32,
    vdupq_n_s8,
    vdupq_n_s32,
    vdupq_n_u8,
    veorq_s32,
    vget_high_s8,
    vget_high_s16,
    vget_high_u8,
    vget_low_s8,
    vget_low_s16,
    vget_low_u8,
    vld1q_dup_s8,
    vld1q_dup_u8,
    vld1q_s8,
    vld1q_u8,
    vmaxq_s8,
    vmaxq_u8,
    vminq_s8,
    vminq_u8,
    vmovl_s8,
    vmovl_s16,
    vmovl_u8,
    vmovn_s32,
    vqmovn_s16,
    vqmovun_s16,
    vreinterpretq_s16_u16,
    vshrq_n_s32,
    vst1q_lane_s8,
    vst1q_lane_u8,
    vst1q_s8,
    vst1q_u8,
    vsubq_s32,
)

STEP: Final = 16
One = Callable[[VectorValue], VectorValue]
Two = Callable[[VectorValue, VectorValue], VectorValue]


@dataclass(frozen=True, kw_only=True)
class PooledBytes:
    """Those of one type of bytes; `widen` gives the two int16x8 of a vector, `narrow` takes them back."""

    load: Callable[[ElementPointer], VectorValue]
    load_one: Callable[[ElementPointer], VectorValue]
    store: Callable[[ElementPointer, VectorValue], None]
    store_one: Callable[[ElementPointer, VectorValue, int], None]
    fill: Callable[[int], VectorValue]
    highest: Two
    lowest: Two
    widen: Callable[[VectorValue], list[VectorValue]]
    narrow: Callable[[Sequence[VectorValue]], VectorValue]

    def bound(self, bytes_: VectorValue, lower: int, upper: int) -> VectorValue:
        """Raised to `lower`, then lowered to `upper`."""
        return self.lowest(self.highest(bytes_, self.fill(lower)), self.fill(upper))


BYTES: Final = {
    "uint8": PooledBytes(
        load=vld1q_u8, load_one=vld1q_dup_u8, store=vst1q_u8, store_one=vst1q_lane_u8, fill=vdupq_n_u8,
        highest=vmaxq_u8, lowest=vminq_u8,
        widen=lambda bytes_: [vreinterpretq_s16_u16(vmovl_u8(half(bytes_))) for half in (vget_low_u8, vget_high_u8)],
        narrow=lambda words: vcombine_u8(vqmovun_s16(words[0]), vqmovun_s16(words[1])),
    ),
    "int8": PooledBytes(
        load=vld1q_s8, load_one=vld1q_dup_s8, store=vst1q_s8, store_one=vst1q_lane_s8, fill=vdupq_n_s8,
        highest=vmaxq_s8, lowest=vminq_s8,
        widen=lambda bytes_: [vmovl_s8(vget_low_s8(bytes_)), vmovl_s8(vget_high_s8(bytes_))],
        narrow=lambda words: vcombine_s8(vqmovn_s16(words[0]), vqmovn_s16(words[1])),
    ),
}  # fmt: skip


def divide(sums: VectorValue, count: int) -> VectorValue:
    """int32x4 by a count, to nearest, ties away: exact in float32, of sums below 2^24."""
    sign = vshrq_n_s32(sums, 31)
    half = vsubq_s32(veorq_s32(vdupq_n_s32(count // 2), sign), sign)
    quotient: VectorValue = vcvtq_s32_f32(vdivq_f32(vcvtq_f32_s32(vaddq_s32(sums, half)), vdupq_n_f32(float(count))))
    return quotient


def average(
    by: PooledBytes, pixels: ElementPointer, output: ElementPointer, count: int, channels: int, lower: int, upper: int
) -> None:
    """The average of every channel, inside of a `Program`."""
    end = channels - channels % STEP
    for c in (*range(0, end, STEP), *range(end, channels)):
        sums = [vdupq_n_s32(0) for _ in range(4)]
        for pixel in range(count):
            at = pixels + (pixel * channels + c)
            words = by.widen(by.load(at) if c < end else by.load_one(at))
            parts = [vmovl_s16(part(half)) for half in words for part in (vget_low_s16, vget_high_s16)]
            sums = [vaddq_s32(total, part) for total, part in zip(sums, parts, strict=True)]
        quotients = [vmovn_s32(divide(total, count)) for total in sums]
        halves = [vcombine_s16(quotients[0], quotients[1]), vcombine_s16(quotients[2], quotients[3])]
        _store(by, output + c, by.bound(by.narrow(halves), lower, upper), c < end)


def highest(
    by: PooledBytes, pixels: ElementPointer, output: ElementPointer, count: int, channels: int, lower: int, upper: int
) -> None:
    """The highest of every channel, inside of a `Program`."""
    end = channels - channels % STEP
    for c in (*range(0, end, STEP), *range(end, channels)):
        load = by.load if c < end else by.load_one
        found = load(pixels + c)
        for pixel in range(1, count):
            found = by.highest(found, load(pixels + (pixel * channels + c)))
        _store(by, output + c, by.bound(found, lower, upper), c < end)


def _store(by: PooledBytes, at: ElementPointer, bytes_: VectorValue, is_whole: bool) -> None:
    if is_whole:
        by.store(at, bytes_)
    else:
        by.store_one(at, bytes_, 0)
