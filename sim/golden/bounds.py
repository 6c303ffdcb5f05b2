"""The activation bounds of ACL's stages: when (minimum, maximum) mean "not bounded", and what they limit.

A rule of a version has a `..._fault`, the sentence with which it refuses the two numbers or None, and gives the
(lower, upper) that it applies, to an output of the range `low`..`high`, uint8 by default; the conventions
`bounded_...` apply it to int32 values and give the output byte.
Their operands broadcast; `TypeError` and `ValueError` as in `sim.golden.fixed_point`.
Sources: docs/spec/quantize_down.md section 6; docs/spec/neighbours.md sections 5 and 7.
"""

from typing import Final

import numpy as np

from sim.golden.declaration import convention
from sim.golden.fixed_point import Int32Array, Integers, as_int32, clamp, int32_operand

UINT8_MAX: Final = 255


def bounds_fault_19_08(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> str | None:
    """Sentence for bounds that 19.08 refuses, in upstream's order; None for low <= minimum <= maximum <= high."""
    if maximum > high:
        return f"maximum is {maximum}: it must not exceed {high}"
    if minimum < low:
        return f"minimum is {minimum}: it must not be below {low}"
    return order_fault(minimum, maximum)


def order_fault(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> str | None:
    """Sentence for bounds in the wrong order, all that 20.05 refuses; None for minimum <= maximum, in range or not."""
    if minimum > maximum:
        return f"minimum {minimum} is above maximum {maximum}: give minimum <= maximum"
    return None


def no_fault(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> None:
    """The fused path of 19.08 skips the range checks."""


def bounds_19_08(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> tuple[int, int]:
    """19.08: any minimum == maximum, the default 0, 0 among them, means "not bounded", given as (low, high)."""
    return (low, high) if minimum == maximum else (minimum, maximum)


def bounds_20_05(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> tuple[int, int]:
    """20.05: bounded unless minimum <= low and maximum >= high, so 0, 0 clamps everything to 0.

    A bounded call may still name a bound outside the range, and the spec does not say what number that becomes. It is
    taken where keeping the low bits and saturating give the same (of uint8 INT32_MIN: 0, INT32_MAX: 255), else
    `ValueError`.
    """
    if minimum <= low and maximum >= high:
        return (low, high)
    return (_in_range("minimum", minimum, low, high), _in_range("maximum", maximum, low, high))


def bounds_as_given(minimum: int, maximum: int, low: int = 0, high: int = UINT8_MAX) -> tuple[int, int]:
    """The fused path of 19.08: always bounded, by any int32 numbers, so 0, 0 clamps everything to 0."""
    return (minimum, maximum)


def limit_on_int32(values: Int32Array, lower: int, upper: int) -> Int32Array:
    """max with lower, then min with upper, so that the upper wins where it is the smaller."""
    return np.asarray(np.minimum(np.maximum(values, np.int32(lower)), np.int32(upper)))


def low_byte(values: Int32Array) -> Int32Array:
    """The number modulo 256: what the fused path stores."""
    return np.asarray(values & np.int32(UINT8_MAX))


@convention(
    formula="min(max(min(max(x, 0), 255), minimum), maximum) where minimum < maximum, else min(max(x, 0), 255)",
    users="the ACL 19.08 kernel and its reference, which refuse all but 0 <= minimum <= maximum <= 255",
    rows=("9", "9b", "9c"),
)
def bounded_unless_equal(values: Integers, minimum: int, maximum: int) -> Int32Array:
    """Saturate to 0..255, then limit to minimum..maximum, but not where these are equal.

    >>> bounded_unless_equal(np.array([50, 300]), 0, 0), bounded_unless_equal(np.array([50, 300]), 7, 7)
    (array([ 50, 255], dtype=int32), array([ 50, 255], dtype=int32))
    """
    _require(bounds_fault_19_08(minimum, maximum))
    return clamp(clamp(values, 0, UINT8_MAX), *bounds_19_08(minimum, maximum))


@convention(
    formula="min(max(min(max(x, 0), 255), minimum), maximum) unless minimum <= 0 and maximum >= 255",
    users="ACL 20.05 and later, which refuse only minimum > maximum",
    rows=("9", "9b"),
)
def bounded_unless_whole_range(values: Integers, minimum: int, maximum: int) -> Int32Array:
    """Saturate to 0..255, then limit to minimum..maximum, but not where these cover 0..255.

    >>> bounded_unless_whole_range(50, 0, 0), bounded_unless_whole_range(50, 7, 7)
    (array(0, dtype=int32), array(7, dtype=int32))
    """
    _require(order_fault(minimum, maximum))
    return clamp(clamp(values, 0, UINT8_MAX), *bounds_20_05(minimum, maximum))


@convention(
    formula="min(max(x, minimum), maximum) mod 256",
    users="ACL 19.08's fused AArch64 path, which checks nothing",
    rows=("9", "9b", "9c"),
)
def bounded_then_low_byte(values: Integers, minimum: int, maximum: int) -> Int32Array:
    """Limit to minimum..maximum, any int32 numbers, then keep the low byte.

    >>> bounded_then_low_byte(300, 0, 300), bounded_then_low_byte(50, 0, 0), bounded_then_low_byte(-5, -5, 200)
    (array(44, dtype=int32), array(0, dtype=int32), array(251, dtype=int32))
    """
    return low_byte(limit_on_int32(as_int32(int32_operand(values, "values")), minimum, maximum))


def _require(fault: str | None) -> None:
    """`ValueError` with the sentence, where there is a fault."""
    if fault is not None:
        raise ValueError(fault)


def _in_range(name: str, bound: int, low: int, high: int) -> int:
    saturated = min(max(bound, low), high)
    if (saturated - bound) & (high - low):
        raise ValueError(f"{name} is {bound}: a bound outside {low}..{high} is not modelled, saturate it yourself")
    return saturated
