"""fully_connected as a sequence of intrinsics: four columns at once, then one; sixteen bytes a step, then one.

All but the last function are what every layer's program has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from isa.intrinsics import (
    ElementPointer,
    VectorValue,
    part,
    vaddq_s32,
    vcombine_s16,
    vcvtnq_s32_f32,
    vcvtq_f32_s32,
    vdotq_s32,
    vdupq_n_s8,
    vdupq_n_s32,
    vdupq_n_u8,
    veorq_u8,
    vld1q_dup_f32,
    vld1q_dup_s32,
    vld1q_f32,
    vld1q_lane_s8,
    vld1q_lane_u8,
    vld1q_s8,
    vld1q_s32,
    vld1q_u8,
    vmaxq_s32,
    vminq_s32,
    vmlsq_n_s32,
    vmovn_s16,
    vmovn_s32,
    vmulq_f32,
    vpaddq_s32,
    vqaddq_s32,
    vreinterpret_u8_s8,
    vreinterpretq_s8_u8,
    vst1_lane_s8,
    vst1_lane_u8,
)
from sim.kernels.requantize import program as rules

STEP: Final = 16
Factors = Mapping[str, ElementPointer]
"""int32 multipliers and left shifts, or float32 scales, of the columns, by the names of kernel.c."""
Scale = Callable[[VectorValue, Factors, int], VectorValue]
"""int32x4 sums, the factors from their first column on, and how many columns, 4 or 1, to int32x4."""


@dataclass(frozen=True)
class LayerBytes:
    """int8, or uint8 with its top bit flipped, which takes 128 from each byte and from its zero point."""

    is_flipped: bool

    def zero(self, point: int) -> int:
        """A zero point, of the bytes as they are multiplied."""
        return point - 128 if self.is_flipped else point

    def load(self, at: ElementPointer) -> VectorValue:
        """Sixteen, as int8x16."""
        loaded: VectorValue = vld1q_s8(at) if not self.is_flipped else self._flipped(vld1q_u8(at))
        return loaded

    def load_one(self, at: ElementPointer) -> VectorValue:
        """One, and fifteen zeros, as int8x16."""
        if self.is_flipped:
            return self._flipped(vld1q_lane_u8(at, vdupq_n_u8(128), 0))
        loaded: VectorValue = vld1q_lane_s8(at, vdupq_n_s8(0), 0)
        return loaded

    def _flipped(self, loaded: VectorValue) -> VectorValue:
        signed: VectorValue = vreinterpretq_s8_u8(veorq_u8(loaded, vdupq_n_u8(128)))
        return signed

    def store(self, at: ElementPointer, values: VectorValue, count: int) -> None:
        """The low bytes of `count` numbers of int32x4."""
        halves = vmovn_s32(values)
        low = vmovn_s16(vcombine_s16(halves, halves))
        for lane in range(count):
            if self.is_flipped:
                vst1_lane_u8(at + lane, vreinterpret_u8_s8(low), lane)
            else:
                vst1_lane_s8(at + lane, low, lane)


def by_rule(rule: rules.Rule) -> Scale:
    """The scaling by a rule of requantize."""

    def scaled(sums: VectorValue, factors: Factors, count: int) -> VectorValue:
        multipliers, left_shifts = (load_numbers(factors[name], count) for name in ("multipliers", "left_shifts"))
        return rule(sums, multipliers, left_shifts)

    return scaled


def by_float(sums: VectorValue, factors: Factors, count: int) -> VectorValue:
    """The scaling by float32, rounded once more to int32, ties to even."""
    scales = vld1q_f32(factors["scales"]) if count == 4 else vld1q_dup_f32(factors["scales"])
    rounded: VectorValue = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sums), scales))
    return rounded


SCALES: Final[dict[str, Scale]] = {
    "double_rounding": by_rule(rules.double_rounding),
    "double_rounding_ties_up": by_rule(rules.double_rounding_ties_up),
    "single_rounding": by_rule(rules.single_rounding),
    "fp32": by_float,
}


def load_numbers(numbers: ElementPointer, count: int) -> VectorValue:
    """Four numbers of int32, or one in every lane."""
    loaded: VectorValue = vld1q_s32(numbers) if count == 4 else vld1q_dup_s32(numbers)
    return loaded


@part
def with_products(
    sums: list[VectorValue], data: LayerBytes, bytes_: ElementPointer, weights: list[ElementPointer], length: int
) -> list[VectorValue]:
    """Each sum with products of `length` bytes with a column's weights, the last with the bytes; four parts each."""
    *products, of_bytes = sums
    ones = vdupq_n_s8(1)
    end = length - length % STEP
    for k in (*range(0, end, STEP), *range(end, length)):
        load = data.load if k < end else data.load_one
        row = load(bytes_ + k)
        products = [vdotq_s32(total, load(column + k), row) for total, column in zip(products, weights, strict=True)]
        of_bytes = vdotq_s32(of_bytes, row, ones)
    return [*products, of_bytes]


@part
def products_of(
    data: LayerBytes, bytes_: ElementPointer, weights: list[ElementPointer], length: int
) -> list[VectorValue]:
    """As `with_products`, with nothing else."""
    return with_products([vdupq_n_s32(0) for _ in (*weights, bytes_)], data, bytes_, weights, length)


def totals(sums: list[VectorValue]) -> VectorValue:
    """The totals of four sums of four parts, or that of one in every lane."""
    a, b, c, d = sums if len(sums) == 4 else sums * 4
    across: VectorValue = vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d))
    return across


def constant_terms(
    bias: ElementPointer | None, data: LayerBytes, weights: list[ElementPointer], length: int, zeros: tuple[int, int]
) -> VectorValue:
    """What sums of `length` products are added to, of the zero points of input and weights."""
    of_weights = []
    for column in weights:
        of_weights += products_of(data, column, [], length)
    biases = vdupq_n_s32(0) if bias is None else load_numbers(bias, len(weights))
    both = (length * zeros[0] * zeros[1] + 2**31) % 2**32 - 2**31
    terms: VectorValue = vaddq_s32(vmlsq_n_s32(biases, totals(of_weights), zeros[0]), vdupq_n_s32(both))
    return terms


def accumulators(sums: list[VectorValue], terms: VectorValue, weights_zero: int) -> VectorValue:
    """int32x4 of the sums of products, the last of which is that of the bytes, with the constant terms."""
    *products, of_bytes = sums
    value: VectorValue = vmlsq_n_s32(vaddq_s32(terms, totals(products)), totals([of_bytes]), weights_zero)
    return value


@part
def store_scaled(
    scale: Scale, data: LayerBytes, output: ElementPointer, sums: VectorValue, factors: Factors,
    levels: tuple[int, int, int], count: int,
) -> None:  # fmt: skip
    """int32x4 sums, scaled, with the output's zero point and within its bounds: these three are `levels`."""
    output_zero, lower, upper = levels
    placed = vqaddq_s32(scale(sums, factors, count), vdupq_n_s32(output_zero))
    data.store(output, vmaxq_s32(vminq_s32(placed, vdupq_n_s32(upper)), vdupq_n_s32(lower)), count)


@part
def store_totals(
    scale: Scale, data: LayerBytes, output: ElementPointer, sums: list[VectorValue], terms: VectorValue,
    weights_zero: int, factors: Factors, levels: tuple[int, int, int], count: int,
) -> None:  # fmt: skip
    """`accumulators`, as `store_scaled` stores them."""
    store_scaled(scale, data, output, accumulators(sums, terms, weights_zero), factors, levels, count)


def factors_from(factors: Factors, column: int) -> Factors:
    """The factors from a column on."""
    return {name: pointer + column for name, pointer in factors.items()}


def fully_connected(
    scale: Scale, data: LayerBytes, *, input: ElementPointer, weights: ElementPointer, bias: ElementPointer | None,
    output: ElementPointer, rows: int, columns: int, depth: int, input_zero: int, weights_zero: int = 0,
    output_zero: int, lower: int, upper: int, **factors: ElementPointer,
) -> None:  # fmt: skip
    """Every row by every column, inside of a `Program`; all that is named are the arguments of kernel.c.

    Raises TypeError for pointers of other dtypes, and what the memory raises for an access that it does not allow.
    """
    zeros, levels = (data.zero(input_zero), data.zero(weights_zero)), (output_zero, lower, upper)
    end = columns - columns % 4
    for j in (*range(0, end, 4), *range(end, columns)):
        count = 4 if j < end else 1
        own = [weights + (j + i) * depth for i in range(count)]
        terms = constant_terms(None if bias is None else bias + j, data, own, depth, zeros)
        for r in range(rows):
            sums, at = products_of(data, input + r * depth, own, depth), output + (r * columns + j)
            store_totals(scale, data, at, sums, terms, zeros[1], factors_from(factors, j), levels, count)
