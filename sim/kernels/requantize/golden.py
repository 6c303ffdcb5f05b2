"""Golden reference of requantize: int32 accumulators scaled by a real factor, in the form each system keeps it.

Three families, each with modes that name a system (docs/spec/neighbours.md sections 6, 10, 11, 12 and 15):

* fixed point: a Q0.31 multiplier and a left shift for each column, int32 to int32 (TFLite, ruy, CMSIS-NN);
* float scale: a float32 scale, a zero point and bounds, int32 to int8 or uint8 (XNNPACK's fp32 requantization);
* integer scale: an offset, an integer multiplier, a right shift and bounds, int32 to uint8 (ACL, gemmlowp).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from sim.golden.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    Int32Array,
    clamp,
    divide_by_power_of_two_ties_away,
    divide_by_power_of_two_ties_up,
    doubling_high_multiply,
    doubling_high_multiply_unsaturated,
    shift_left_wrap,
    shift_right_floor,
    wrap_int32,
)
from sim.golden.scaling import (
    scale_float_ties_even,
    single_rounding,
    single_rounding_by_vector,
    single_rounding_narrowed,
)

T = TypeVar("T")
AnyArray = npt.NDArray[Any]
Steps = dict[str, AnyArray]
Divide = Callable[[Int32Array, Int32Array | int], Int32Array]
Multiply = Callable[[Int32Array, Int32Array], Int32Array]
StepsOf = Callable[[Int32Array, Int32Array, Int32Array], Steps]
"""int32 values, multipliers and left shifts, the last two one a column, to the steps."""
SHIFTS: Final = range(-31, 31)


@dataclass(frozen=True)
class Channels:
    """Q0.31 multipliers and left shifts (negative to the right), one of each a column, or one for all columns.

    `TypeError` for a number that is no integer.
    """

    multipliers: tuple[int, ...]
    left_shifts: tuple[int, ...]

    def __post_init__(self) -> None:
        _require_integers("multiplier", *self.multipliers)
        _require_integers("left shift", *self.left_shifts)


@dataclass(frozen=True)
class FloatScale:
    """The float32 `scale`, and in output units the zero point that is added and the bounds, both included.

    `TypeError` for a scale of another type, and for another number that is no integer.
    """

    scale: np.float32
    zero_point: int
    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        if not isinstance(self.scale, np.float32):
            raise TypeError(f"scale is {self.scale!r}: give a numpy.float32, nothing is rounded silently")
        _require_integers("zero point", self.zero_point)
        _require_integers("bound", self.minimum, self.maximum)


@dataclass(frozen=True)
class IntegerScale:
    """(accumulator + `offset`) * `multiplier` / 2^`right_shift`, bounded in output units; equal bounds do not bound.

    `TypeError` for a number that is no integer.
    """

    offset: int
    multiplier: int
    right_shift: int
    minimum: int = 0
    maximum: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            _require_integers(field.name, getattr(self, field.name))


@dataclass(frozen=True)
class FixedPointMode:
    """One fixed-point convention: its steps, and the left shifts and multipliers that it defines."""

    source: str
    steps: StepsOf
    left_shifts: range = SHIFTS
    multipliers: range = range(INT32_MIN, INT32_MAX + 1)


def _in_two_roundings(multiply: Multiply, divide: Divide) -> StepsOf:
    def steps(values: Int32Array, multipliers: Int32Array, left_shifts: Int32Array) -> Steps:
        shifted = shift_left_wrap(values, np.maximum(left_shifts, 0))
        multiplied = multiply(shifted, multipliers)
        divided = divide(multiplied, np.maximum(-left_shifts, 0))
        return {"left shift": shifted, "multiply": multiplied, "right shift": divided}

    return steps


def _in_one_rounding(rule: Callable[[Int32Array, Int32Array, Int32Array], Int32Array]) -> StepsOf:
    def steps(values: Int32Array, multipliers: Int32Array, left_shifts: Int32Array) -> Steps:
        return {"round": rule(values, multipliers, left_shifts)}

    return steps


_NOT_NEGATIVE: Final = range(INT32_MAX + 1)

FIXED_POINT: Final[dict[str, FixedPointMode]] = {
    "tflite_double_rounding": FixedPointMode(
        "TFLite's default build: MultiplyByQuantizedMultiplier on int32 (docs/spec/known_differences.md rows 1, 2, 8)",
        _in_two_roundings(doubling_high_multiply, divide_by_power_of_two_ties_away),
    ),
    "tflite_single_rounding": FixedPointMode(
        "TFLite built with TFLITE_SINGLE_ROUNDING (docs/spec/known_differences.md rows 1, 8)",
        _in_one_rounding(single_rounding),
        multipliers=_NOT_NEGATIVE,
    ),
    "tflite_neon_helper": FixedPointMode(
        "TFLite's NEON helper for four rows, default build: SRSHL without a fix-up "
        "(docs/spec/known_differences.md row 2)",
        _in_two_roundings(doubling_high_multiply, divide_by_power_of_two_ties_up),
    ),
    "tflite_single_rounding_neon": FixedPointMode(
        "TFLite's NEON code built with TFLITE_SINGLE_ROUNDING: SQDMULH, then SRSHL "
        "(docs/spec/known_differences.md row 17)",
        _in_one_rounding(single_rounding_by_vector),
        multipliers=_NOT_NEGATIVE,
    ),
    "cmsis_double_rounding": FixedPointMode(
        "CMSIS-NN's default build in C, documented for multipliers above -2^31 only "
        "(docs/spec/known_differences.md rows 5, 8, 19)",
        _in_two_roundings(doubling_high_multiply_unsaturated, divide_by_power_of_two_ties_away),
    ),
    "cmsis_single_rounding": FixedPointMode(
        "CMSIS-NN built with CMSIS_NN_USE_SINGLE_ROUNDING: twice the result is cut to int32",
        _in_one_rounding(single_rounding_narrowed),
    ),
    "ruy": FixedPointMode(
        "ruy's MultiplyByQuantizedMultiplier: TFLite's single rounding on fewer shifts "
        "(docs/spec/known_differences.md row 1)",
        _in_one_rounding(single_rounding),
        left_shifts=range(-31, 8),
        multipliers=_NOT_NEGATIVE,
    ),
}

FLOAT_SCALE: Final = {"xnnpack_fp32_qs8": np.dtype(np.int8), "xnnpack_fp32_qu8": np.dtype(np.uint8)}
"""The modes of the float scale and what they give: XNNPACK's fp32 requantization of the operators qs8 and qu8."""

INTEGER_SCALE: Final[dict[str, Divide]] = {
    "acl_integer_scale": shift_right_floor,
    "gemmlowp_integer_scale": divide_by_power_of_two_ties_away,
}
"""The modes of the integer scale and their shift: QuantizeDownInt32ToUint8Scale of both.

Ties up, which gemmlowp's comment says, would give the same bytes: it differs on negative numbers only, which become 0.
Source: docs/spec/neighbours.md section 6; docs/spec/known_differences.md row 4.
"""


def fixed_point_steps(values: Int32Array, channels: Channels, mode: str = "tflite_double_rounding") -> Steps:
    """Every intermediate value, keyed by step, in order of execution.

    `values` is int32 of any rank, the last axis being the columns; each step is int32 of that shape.
    Two roundings: left shift, multiply, right shift; one rounding: round.
    `TypeError`: not an int32 array. `ValueError`: what `fixed_point_faults` names, or an unknown mode.
    """
    _require_int32_array("values", values)
    _refuse(fixed_point_faults(channels, values.shape[-1] if values.ndim else 1, mode))
    multipliers, left_shifts = (np.array(part, np.int32) for part in (channels.multipliers, channels.left_shifts))
    return FIXED_POINT[mode].steps(values, multipliers, left_shifts)


def requantize(values: Int32Array, channels: Channels, mode: str = "tflite_double_rounding") -> Int32Array:
    """The scaled int32 values, the last of `fixed_point_steps`, whose contract and errors it shares.

    >>> requantize(np.array([[1, 100]], np.int32), Channels((2**30, 3 * 2**29), (-1, 1)))
    array([[  1, 150]], dtype=int32)
    """
    *_, last = fixed_point_steps(values, channels, mode).values()
    return last


def fixed_point_faults(channels: Channels, columns: int, mode: str = "tflite_double_rounding") -> Sequence[str]:
    """A sentence for each fault: the number of channels, then multipliers, then shifts outside of the mode's."""
    rule = _mode(FIXED_POINT, mode)
    faults = []
    counts = len(channels.multipliers), len(channels.left_shifts)
    if counts not in ((columns, columns), (1, 1)):
        faults.append(f"there are {counts[0]} multipliers and {counts[1]} shifts: give one of each, or {columns}")
    for name, numbers, legal in (
        ("multiplier", channels.multipliers, rule.multipliers),
        ("left shift", channels.left_shifts, rule.left_shifts),
    ):
        wrong = [number for number in numbers if not legal[0] <= number <= legal[-1]]
        faults += [f"the {name} {number} is not defined: {mode} takes {legal[0]}..{legal[-1]}" for number in wrong]
    return faults


def float_scale_steps(values: Int32Array, parameters: FloatScale, mode: str = "xnnpack_fp32_qs8") -> Steps:
    """Every intermediate value, keyed by step: convert and scale (float32), round, zero point, bounds.

    `values` is int32 of any shape. The first three steps round, each to nearest with ties to even.
    The bounds act on the exact sum, as the clamp in float before the rounding does upstream, and as saturation does.
    `TypeError`: not an int32 array. `ValueError`: what `float_scale_faults` names, or an unknown mode.
    """
    _require_int32_array("values", values)
    _refuse(float_scale_faults(parameters, mode))
    converted = values.astype(np.float32)
    rounded = scale_float_ties_even(values, parameters.scale)
    placed = rounded.astype(np.int64) + parameters.zero_point
    bounded = np.clip(placed, parameters.minimum, parameters.maximum)
    scaled = {"convert": converted, "scale": converted * parameters.scale, "round": rounded}
    return scaled | {"zero point": placed, "bounds": bounded}


def requantize_float(values: Int32Array, parameters: FloatScale, mode: str = "xnnpack_fp32_qs8") -> AnyArray:
    """The int8 or uint8 output, the last of `float_scale_steps`, whose contract and errors it shares.

    >>> requantize_float(np.array([1, 3, 900], np.int32), FloatScale(np.float32(0.5), 1, -128, 127))
    array([  1,   3, 127], dtype=int8)
    """
    return float_scale_steps(values, parameters, mode)["bounds"].astype(FLOAT_SCALE[mode])


def float_scale_faults(parameters: FloatScale, mode: str = "xnnpack_fp32_qs8") -> Sequence[str]:
    """A sentence for each fault: the scale, the zero point, the bounds and their order."""
    limits = np.iinfo(_mode(FLOAT_SCALE, mode))
    faults = []
    if not 2.0**-32 <= parameters.scale < 256:
        faults.append(f"scale is {parameters.scale}: it must lie in 2^-32 up to, not including, 256")
    for name in ("zero_point", "minimum", "maximum"):
        if not limits.min <= getattr(parameters, name) <= limits.max:
            faults.append(f"{name} is {getattr(parameters, name)}: it must lie in {limits.min}..{limits.max}")
    if parameters.minimum >= parameters.maximum:
        faults.append(f"minimum {parameters.minimum} is not below maximum {parameters.maximum}")
    return faults


def integer_scale_steps(
    values: Int32Array, bias: Int32Array | None, parameters: IntegerScale, mode: str = "acl_integer_scale"
) -> Steps:
    """Every intermediate value, keyed by step: bias, offset, multiply, shift, clamp, bounds.

    `values` is int32 of rank 1 or more, `bias` int32 of the length of the last axis, or None. All but the shift wraps.
    `TypeError`: not an int32 array. `ValueError`: bias shape, what `integer_scale_faults` names, or an unknown mode.
    """
    _require_int32_array("values", values)
    faults = []
    if bias is not None:
        _require_int32_array("bias", bias)
        if bias.shape != values.shape[-1:]:
            faults.append(f"bias has shape {bias.shape}: it must be {values.shape[-1:]}, one for each column")
    _refuse([*faults, *integer_scale_faults(parameters, mode)])
    biased = values.copy() if bias is None else wrap_int32(values.astype(np.int64) + bias)
    placed = wrap_int32(biased.astype(np.int64) + parameters.offset)
    multiplied = wrap_int32(placed.astype(np.int64) * parameters.multiplier)
    shifted = INTEGER_SCALE[mode](multiplied, parameters.right_shift)
    clamped = clamp(shifted, 0, 255)
    bounded = clamp(clamped, *effective_bounds(parameters))
    scaled = {"bias": biased, "offset": placed, "multiply": multiplied, "shift": shifted}
    return scaled | {"clamp": clamped, "bounds": bounded}


def requantize_integer(
    values: Int32Array, bias: Int32Array | None, parameters: IntegerScale, mode: str = "acl_integer_scale"
) -> npt.NDArray[np.uint8]:
    """The uint8 output, the last of `integer_scale_steps`, whose contract and errors it shares.

    >>> requantize_integer(np.array([-1, 1, 3], np.int32), None, IntegerScale(0, 1, 1))
    array([0, 0, 1], dtype=uint8)
    """
    return integer_scale_steps(values, bias, parameters, mode)["bounds"].astype(np.uint8)


def integer_scale_faults(parameters: IntegerScale, mode: str = "acl_integer_scale") -> Sequence[str]:
    """A sentence for each fault: bounds in ACL 19.08's order, then numbers outside of int32, then the shift."""
    _mode(INTEGER_SCALE, mode)
    faults = []
    if parameters.maximum > 255:
        faults.append(f"maximum is {parameters.maximum}: it must not exceed 255")
    if parameters.minimum < 0:
        faults.append(f"minimum is {parameters.minimum}: it must not be below 0")
    if parameters.minimum > parameters.maximum:
        faults.append(f"minimum {parameters.minimum} is above maximum {parameters.maximum}: give minimum <= maximum")
    for name in ("offset", "multiplier"):
        if not INT32_MIN <= getattr(parameters, name) <= INT32_MAX:
            faults.append(f"{name} is {getattr(parameters, name)}: it must lie in int32")
    if parameters.right_shift not in range(32):
        faults.append(f"the right shift is {parameters.right_shift}: it must lie in 0..31")
    return faults


def effective_bounds(parameters: IntegerScale) -> tuple[int, int]:
    """The (lower, upper) that the last step applies: (0, 255) where minimum equals maximum, as ACL 19.08 has it."""
    bounded = parameters.minimum != parameters.maximum
    return (parameters.minimum, parameters.maximum) if bounded else (0, 255)


def _mode(modes: dict[str, T], mode: str) -> T:
    if mode not in modes:
        raise ValueError(f"unknown mode {mode!r}: give one of {', '.join(modes)}")
    return modes[mode]


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise ValueError(faults[0])


def _require_integers(name: str, *numbers: object) -> None:
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise TypeError(f"a {name} is {number!r}: give an integer")


def _require_int32_array(name: str, array: AnyArray) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}: give a numpy array of dtype int32")
    if array.dtype != np.int32:
        raise TypeError(f"{name} has dtype {array.dtype}: give int32, nothing is cast silently")
