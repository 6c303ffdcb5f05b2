"""quantized_add in intrinsics, step by step what kernel.c and generic.c do.

Whole steps of 16 lanes (uint8 only) or 8, then one element at a time, each in every lane of a vector.
Arithmetic: docs/spec/quantized_add.md sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from isa import intrinsics as neon
from isa.intrinsics import ElementPointer, VectorValue

Pair = tuple[VectorValue, VectorValue]
"""Eight numbers: two float32x4 or two int32x4."""


class Factors(NamedTuple):
    """a_factor, b_factor and constant of the uint8 kernels, each in every lane of a float32x4."""

    a: VectorValue
    b: VectorValue
    constant: VectorValue


Sum = Callable[[VectorValue, VectorValue, Factors], VectorValue]
Round = Callable[[VectorValue], VectorValue]


def sum_fused(a: VectorValue, b: VectorValue, by: Factors) -> VectorValue:
    """float32x4 of b * b_factor + (a * a_factor + constant), each product and sum rounded once."""
    total: VectorValue = neon.vfmaq_f32(neon.vfmaq_f32(by.constant, a, by.a), b, by.b)
    return total


def sum_unfused(a: VectorValue, b: VectorValue, by: Factors) -> VectorValue:
    """The same with every product and every sum rounded."""
    total: VectorValue = neon.vmlaq_f32(neon.vmlaq_f32(by.constant, a, by.a), b, by.b)
    return total


def sum_in_double(a: VectorValue, b: VectorValue, by: Factors) -> VectorValue:
    """b first; each product and each sum in float64, every second of them rounded to float32."""
    return _add_in_double(a, by.a, _add_in_double(b, by.b, by.constant))


def _add_in_double(x: VectorValue, factor: VectorValue, addend: VectorValue) -> VectorValue:
    low = neon.vmulq_f64(_low_in_double(x), _low_in_double(factor))
    high = neon.vmulq_f64(neon.vcvt_high_f64_f32(x), neon.vcvt_high_f64_f32(factor))
    first = neon.vcvt_f32_f64(neon.vaddq_f64(low, _low_in_double(addend)))
    both: VectorValue = neon.vcvt_high_f32_f64(first, neon.vaddq_f64(high, neon.vcvt_high_f64_f32(addend)))
    return both


def _low_in_double(values: VectorValue) -> VectorValue:
    wide: VectorValue = neon.vcvt_f64_f32(neon.vget_low_f32(values))
    return wide


def round_ties_even(values: VectorValue) -> VectorValue:
    """int32x4, to nearest, ties to even, saturated; NaN gives 0."""
    rounded: VectorValue = neon.vcvtnq_s32_f32(values)
    return rounded


def round_ties_away(values: VectorValue) -> VectorValue:
    """int32x4, truncated after a half was added to what is above 0 and subtracted from all else."""
    half, positive = neon.vdupq_n_f32(0.5), neon.vcgtq_f32(values, neon.vdupq_n_f32(0.0))
    moved = neon.vbslq_f32(positive, neon.vaddq_f32(values, half), neon.vsubq_f32(values, half))
    rounded: VectorValue = neon.vcvtq_s32_f32(moved)
    return rounded


def narrow(low: VectorValue, high: VectorValue) -> VectorValue:
    """Two int32x4 as one uint8x8, saturated."""
    halves = neon.vcombine_s16(neon.vqmovn_s32(low), neon.vqmovn_s32(high))
    packed: VectorValue = neon.vqmovun_s16(halves)
    return packed


def _widened(values: VectorValue) -> Pair:
    """uint8x8 as two uint32x4."""
    wide = neon.vmovl_u8(values)
    return neon.vmovl_u16(neon.vget_low_u16(wide)), neon.vmovl_u16(neon.vget_high_u16(wide))


def add_row(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int, a_factor: float, b_factor: float,
    constant: float,
    *, total: Sum, to_integers: Round,
) -> None:  # fmt: skip
    """uint8[length] of a * a_factor + b * b_factor + constant, inside of a `Program`; arguments as in kernel.c."""
    by = Factors(*(neon.vdupq_n_f32(float(number)) for number in (a_factor, b_factor, constant)))

    def add_eight(x: VectorValue, y: VectorValue) -> VectorValue:
        parts = zip(_widened(x), _widened(y), strict=True)
        sums = (total(neon.vcvtq_f32_u32(p), neon.vcvtq_f32_u32(q), by) for p, q in parts)
        return narrow(*(to_integers(value) for value in sums))

    end = length - length % 16
    for i in range(0, end, 16):
        x, y = neon.vld1q_u8(a + i), neon.vld1q_u8(b + i)
        low = add_eight(neon.vget_low_u8(x), neon.vget_low_u8(y))
        neon.vst1q_u8(output + i, neon.vcombine_u8(low, add_eight(neon.vget_high_u8(x), neon.vget_high_u8(y))))
    for i in range(end, length):
        neon.vst1_lane_u8(output + i, add_eight(neon.vld1_dup_u8(a + i), neon.vld1_dup_u8(b + i)), 0)


class QuantizationVectors(NamedTuple):
    """A zero point as int32x4 and a scale as float32x4, the same in every lane."""

    zero: VectorValue
    scale: VectorValue

    @classmethod
    def of(cls, zero: int, scale: float) -> QuantizationVectors:
        return cls(neon.vdupq_n_s32(zero), neon.vdupq_n_f32(float(scale)))


Store = Callable[[ElementPointer, Pair, QuantizationVectors, bool], None]


def load(pointer: ElementPointer, by: QuantizationVectors, whole: bool) -> Pair:
    """Eight reals from a pointer to uint8, which are dequantized, or to float32; of one element, eight times it."""
    if pointer.dtype == "float32":
        if whole:
            return neon.vld1q_f32(pointer), neon.vld1q_f32(pointer + 4)
        return (neon.vld1q_dup_f32(pointer),) * 2
    low, high = _widened(neon.vld1_u8(pointer) if whole else neon.vld1_dup_u8(pointer))
    return _dequantized(low, by), _dequantized(high, by)


def _dequantized(values: VectorValue, by: QuantizationVectors) -> VectorValue:
    difference = neon.vsubq_s32(neon.vreinterpretq_s32_u32(values), by.zero)
    real: VectorValue = neon.vmulq_f32(neon.vcvtq_f32_s32(difference), by.scale)
    return real


def quantize(values: VectorValue, to: QuantizationVectors) -> VectorValue:
    """int32x4: times the reciprocal of the scale, ties to even, plus the zero point, which wraps."""
    reciprocal = neon.vdivq_f32(neon.vdupq_n_f32(1.0), to.scale)
    placed: VectorValue = neon.vaddq_s32(round_ties_even(neon.vmulq_f32(values, reciprocal)), to.zero)
    return placed


def quantize_as_page(values: VectorValue, to: QuantizationVectors) -> VectorValue:
    """int32x4: divided by the scale, ties to even, plus the zero point, which saturates."""
    placed: VectorValue = neon.vqaddq_s32(round_ties_even(neon.vdivq_f32(values, to.scale)), to.zero)
    return placed


def store_floats(pointer: ElementPointer, values: Pair, to: QuantizationVectors, whole: bool) -> None:
    """Eight float32, or the first of them."""
    if whole:
        neon.vst1q_f32(pointer, values[0])
        neon.vst1q_f32(pointer + 4, values[1])
    else:
        neon.vst1q_lane_f32(pointer, values[0], 0)


def store_bytes(pointer: ElementPointer, values: Pair, to: QuantizationVectors, whole: bool) -> None:
    """Eight uint8 of `quantize`, or the first of them."""
    _store_narrowed(pointer, (quantize(values[0], to), quantize(values[1], to)), whole)


def store_page_bytes(pointer: ElementPointer, values: Pair, to: QuantizationVectors, whole: bool) -> None:
    """Eight uint8 of `quantize_as_page`, or the first of them."""
    _store_narrowed(pointer, (quantize_as_page(values[0], to), quantize_as_page(values[1], to)), whole)


def _store_narrowed(pointer: ElementPointer, integers: Pair, whole: bool) -> None:
    packed = narrow(*integers)
    if whole:
        neon.vst1_u8(pointer, packed)
    else:
        neon.vst1_lane_u8(pointer, packed, 0)


def activate(values: VectorValue, relu: VectorValue) -> VectorValue:
    """0 where a value is below 0 and the lane of `relu` is all ones, else the value; NaN and -0.0 stay."""
    zero = neon.vdupq_n_f32(0.0)
    dropped = neon.vandq_u32(neon.vcltq_f32(values, zero), relu)
    active: VectorValue = neon.vbslq_f32(dropped, zero, values)
    return active


def larger(x: VectorValue, y: VectorValue) -> VectorValue:
    """float32x4 of x where x > y, else y."""
    chosen: VectorValue = neon.vbslq_f32(neon.vcgtq_f32(x, y), x, y)
    return chosen


def smaller(x: VectorValue, y: VectorValue) -> VectorValue:
    """float32x4 of x where x < y, else y."""
    chosen: VectorValue = neon.vbslq_f32(neon.vcltq_f32(x, y), x, y)
    return chosen


def activate_as_page(values: VectorValue, kind: int, first: VectorValue, second: VectorValue) -> VectorValue:
    """float32x4 activated by the function that Simd numbers so; any other number is none."""
    zero = neon.vdupq_n_f32(0.0)
    active = values
    if kind == 1:  # ReLU
        active = larger(zero, values)
    elif kind == 2:  # LeakyRelu
        active = neon.vaddq_f32(larger(zero, values), neon.vmulq_f32(first, smaller(zero, values)))
    elif kind == 3:  # RestrictRange
        active = smaller(larger(first, values), second)
    elif kind == 6:  # Hswish
        positive = larger(neon.vaddq_f32(smaller(values, first), first), zero)
        active = neon.vmulq_f32(neon.vmulq_f32(positive, second), values)
    elif kind == 8:  # HardSigmoid
        line = neon.vaddq_f32(neon.vmulq_f32(values, first), second)
        active = larger(zero, smaller(line, neon.vdupq_n_f32(1.0)))
    return active


def add_page_row(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int,
    a_zero: int, a_scale: float, b_zero: int, b_scale: float,
    output_zero: int, output_scale: float, activation: int, parameter_0: float, parameter_1: float,
) -> None:  # fmt: skip
    """A row of uint8 as the page has it, inside of a `Program`; arguments as in generic.c."""
    by_a, by_b = QuantizationVectors.of(a_zero, a_scale), QuantizationVectors.of(b_zero, b_scale)
    to = QuantizationVectors.of(output_zero, output_scale)
    first, second = neon.vdupq_n_f32(float(parameter_0)), neon.vdupq_n_f32(float(parameter_1))
    end = length - length % 8
    for i in (*range(0, end, 8), *range(end, length)):
        whole = i < end
        parts = zip(load(a + i, by_a, whole), load(b + i, by_b, whole), strict=True)
        low, high = (activate_as_page(neon.vaddq_f32(x, y), activation, first, second) for x, y in parts)
        store_page_bytes(output + i, (low, high), to, whole)


def add_generic_row(
    a: ElementPointer, b: ElementPointer, output: ElementPointer, length: int,
    a_zero: int, a_scale: float, b_zero: int, b_scale: float, output_zero: int, output_scale: float, relu: int,
    *, store: Store,
) -> None:  # fmt: skip
    """A row of the types of the pointers, inside of a `Program`; arguments as in generic.c."""
    by_a, by_b = QuantizationVectors.of(a_zero, a_scale), QuantizationVectors.of(b_zero, b_scale)
    to, active = QuantizationVectors.of(output_zero, output_scale), neon.vdupq_n_u32(0xFFFFFFFF if relu else 0)
    end = length - length % 8
    for i in (*range(0, end, 8), *range(end, length)):
        whole = i < end
        parts = zip(load(a + i, by_a, whole), load(b + i, by_b, whole), strict=True)
        low, high = (activate(neon.vaddq_f32(x, y), active) for x, y in parts)
        store(output + i, (low, high), to, whole)
