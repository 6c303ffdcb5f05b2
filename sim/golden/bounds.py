"""The bounds of a fused activation in the output's numbers, and what ACL's stages make of two such bounds.

What an activation comes to: real bounds are divided by the output's scale in float32, rounded to nearest with ties away
from zero, and placed by the zero point. Then, when (minimum, maximum) mean "not bounded", and what they limit.

A rule of a version has a `..._fault`, the sentence with which it refuses the two numbers or None, and gives the
(lower, upper) that it applies, to an output of the range `low`..`high`, uint8 by default; the conventions
`bounded_...` apply it to int32 values and give the output byte.
Their operands broadcast; `TypeError` and `ValueError` as in `sim.golden.fixed_point`.
Sources: docs/spec/quantize_down.md section 6; docs/spec/neighbours.md sections 5, 7, 9 and 26.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from sim.golden.byte_rounding import round_away_then_offset
from sim.golden.declaration import convention
from sim.golden.fixed_point import Int32Array, Integers, as_int32, clamp, int32_operand

UINT8_MAX: Final = 255
REALS: Final[Mapping[str, tuple[float | None, float | None]]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""The activations that TFLite fuses as bounds, by its names, with their bounds as real numbers."""
ACL_ACTIVATIONS: Final = ("NONE", "RELU", "BOUNDED_RELU", "LU_BOUNDED_RELU")
"""Those that ACL merges into the output stage; NONE stands for no activation."""
DTYPES: Final = ("uint8", "int8", "int16")


def activation_bounds_tflite(
    activation: str, scale: np.float32 | float, zero_point: int, dtype: str = "int8"
) -> tuple[int, int]:
    """The bounds by CalculateActivationRangeQuantized: an end of the dtype, or a real bound where that is nearer.

    `scale` is that of the output, taken as float32, `dtype` uint8, int8 or int16. NONE gives the ends of the dtype.
    `ValueError`: another activation or dtype, a scale that is not above 0 and finite, or so small that a bound leaves
    int32, which TFLite refuses too.

    >>> activation_bounds_tflite("RELU6", 0.0235, -128), activation_bounds_tflite("RELU_N1_TO_1", 0.4, 10)
    ((-128, 127), (7, 13))
    """
    if activation not in REALS:
        raise ValueError(f"the fused activation {activation} is not computed: give one of {', '.join(REALS)}")
    if dtype not in DTYPES:
        raise ValueError(f"the dtype is {dtype}: give one of {', '.join(DTYPES)}")
    _require_scale(scale)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low, high = REALS[activation]
    return (
        least if low is None else max(_placed(low, scale, zero_point), least),
        most if high is None else min(_placed(high, scale, zero_point), most),
    )


def activation_bounds_acl_19_08(
    activation: str, scale: np.float32 | float, zero_point: int, a: float = 0.0, b: float = 0.0
) -> tuple[int, int]:
    """The (minimum, maximum) that NEGEMMConvolutionLayer gives its output stage, of uint8.

    `a` is the upper bound of BOUNDED_RELU and LU_BOUNDED_RELU, `b` the lower one of the latter, as real numbers; each
    saturates to 0..255. A RELU whose zero point is 255 gives (255, 255), which the stage of 19.08 takes for "not
    bounded", so that the activation is lost (`bounded_unless_equal`).
    `ValueError`: another activation, a zero point outside of 0..255, or a scale that is not above 0 and finite.

    >>> activation_bounds_acl_19_08("BOUNDED_RELU", 0.05, 3, a=6.0), activation_bounds_acl_19_08("RELU", 0.05, 255)
    ((3, 123), (255, 255))
    """
    if activation not in ACL_ACTIVATIONS:
        raise ValueError(f"the activation {activation} is not merged: give one of {', '.join(ACL_ACTIVATIONS)}")
    if not 0 <= zero_point <= 255:
        raise ValueError(f"the zero point is {zero_point}: it must lie in 0..255")
    _require_scale(scale)
    if activation == "NONE":
        return 0, 255
    lower, upper = (int(round_away_then_offset(np.float32(real), np.float32(scale), zero_point)) for real in (b, a))
    return (
        lower if activation == "LU_BOUNDED_RELU" else zero_point,
        255 if activation == "RELU" else upper,
    )


def _require_scale(scale: np.float32 | float) -> None:
    if not 0 < np.float32(scale) < np.inf:
        raise ValueError(f"the scale is {scale}: it must be above 0 and finite")


def _placed(real: float, scale: np.float32 | float, zero_point: int) -> int:
    """A real bound in the numbers of a tensor, which has no ends yet."""
    with np.errstate(over="ignore"):
        quotient = float(np.float32(real) / np.float32(scale))
    rounded = np.copysign(np.floor(abs(quotient) + 0.5), quotient)
    if abs(rounded) >= 1 << 31:
        raise ValueError(f"the scale is {scale}: {real:g} in its units is no int32")
    return zero_point + int(rounded)


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
    return clamp(values, *bounds_19_08(minimum, maximum))  # they lie in 0..255


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
    return clamp(values, *bounds_20_05(minimum, maximum))  # they lie in 0..255


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
